//! Core and analysis as a WebAssembly module: engines by number, and questions about them in JSON.
//!
//! The module imports nothing and reads no memory but its own. A host makes a call in three steps. [`orbgate_wasm_input`] says where the
//! input goes, [`orbgate_wasm_load`] or [`orbgate_wasm_ask`] takes it and returns a status, and [`orbgate_wasm_answer`] with
//! [`orbgate_wasm_answer_len`] says where the answer is until the next call: UTF-8 JSON, unless another form is asked for. The memory may grow
//! in any call, so read it again after each one.
//!
//! A panic traps. The instance is then good for nothing, and no answer was given: make a new one.
#![allow(unsafe_code, reason = "exported names only, there is no block of unsafe code")]

mod module;

use core::cell::RefCell;

use crate::module::{Module, Status};

thread_local! {
    static MODULE: RefCell<Module> = RefCell::default();
}

fn with<T>(call: impl FnOnce(&mut Module) -> T) -> T {
    MODULE.with_borrow_mut(call)
}

/// Makes room for so many bytes of input and returns where it is; 0 if there is no such room. The last input and answer are gone.
#[unsafe(no_mangle)]
pub extern "C" fn orbgate_wasm_input(len: usize) -> *mut u8 {
    with(|module| module.input(len))
}

/// Makes an engine from the input, the YAML text of a policy. The answer is `{"engine":NUMBER,"policy":"sha256:…"}`.
///
/// [`Status::InvalidPolicy`]: the policy has errors.
#[unsafe(no_mangle)]
pub extern "C" fn orbgate_wasm_load() -> Status {
    with(Module::load)
}

/// Makes the engine of the policy that is compiled into the library. The answer is that of [`orbgate_wasm_load`].
#[unsafe(no_mangle)]
pub extern "C" fn orbgate_wasm_external() -> Status {
    with(Module::external)
}

/// Asks an engine. The first bytes of the input, as many as `question_len`, are one of the questions of [`orbgate_analysis::ask`], and all
/// others are its arguments. The form of the answer is 0 for JSON, 1 for fields, which `docs/messages.md` describes.
#[unsafe(no_mangle)]
pub extern "C" fn orbgate_wasm_ask(engine: u32, question_len: usize, form: u32) -> Status {
    with(|module| module.ask(engine, question_len, form))
}

/// Finds the fixes of lint for the input, the YAML text of a policy. The answer is `{"fixes":[{"finding":{…},"title":"…","span":{"start":0,"end":0},
/// "new":"…"}]}`, the results of [`orbgate_analysis::fixes`].
///
/// [`Status::InvalidPolicy`]: the policy has errors.
#[unsafe(no_mangle)]
pub extern "C" fn orbgate_wasm_fixes() -> Status {
    with(Module::fixes)
}

/// Decides the cases of the input, the YAML text of a test file, with an engine, and proves its properties. The answer is
/// `{"cases":[{"location":{…},"name":"…","wrong":["…"],"warning":null}],"properties":[…],"uncovered":[{"location":{…},"name":"…"}]}`: what is
/// wrong with each case and property, why a property holds trivially, and the routes and scopes that no passing case decides.
///
/// [`Status::InvalidPolicy`]: the test file has errors.
#[unsafe(no_mangle)]
pub extern "C" fn orbgate_wasm_test(engine: u32) -> Status {
    with(|module| module.test(engine))
}

/// Frees an engine. An unknown number is fine.
#[unsafe(no_mangle)]
pub extern "C" fn orbgate_wasm_unload(engine: u32) {
    with(|module| module.unload(engine));
}

/// The version of the module, and its codes with their meaning: `{"version":"1.2.3","reasons":{CODE:TEXT},"details":…,"missing_steps":…,
/// "pages":…}`.
#[unsafe(no_mangle)]
pub extern "C" fn orbgate_wasm_about() -> Status {
    with(Module::about)
}

/// Where the last answer is.
#[unsafe(no_mangle)]
pub extern "C" fn orbgate_wasm_answer() -> *const u8 {
    with(|module| module.answer().as_ptr())
}

/// How many bytes it has.
#[unsafe(no_mangle)]
pub extern "C" fn orbgate_wasm_answer_len() -> usize {
    with(|module| module.answer().len())
}
