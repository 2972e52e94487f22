//! Any order of calls of the C ABI that keeps its rules of ownership: nothing is freed twice, lost, or read after its end, and a
//! handle and an engine decide alike.
#![no_main]

use core::ptr::{null, null_mut};

use libfuzzer_sys::arbitrary::{self, Arbitrary};
use libfuzzer_sys::fuzz_target;
use orbgate_capi::decide::{orbgate_engine_decide, orbgate_engine_decide_scope};
use orbgate_capi::decision::OrbgateDecision;
use orbgate_capi::engine::{
    OrbgateEngine, OrbgateEngineInfo, orbgate_engine_external, orbgate_engine_free, orbgate_engine_from_yaml,
    orbgate_engine_info, orbgate_engine_retain,
};
use orbgate_capi::error::{OrbgateError, OrbgateErrorInfo, orbgate_error_free, orbgate_error_info};
use orbgate_capi::handle::{
    OrbgateHandle, orbgate_handle_decide, orbgate_handle_free, orbgate_handle_load, orbgate_handle_new,
    orbgate_handle_retain, orbgate_handle_store,
};
use orbgate_capi::scope_set::{
    OrbgateScopeSet, orbgate_scope_set_free, orbgate_scope_set_from_string, orbgate_scope_set_retain,
};
use orbgate_capi::status::OrbgateStatus;
use orbgate_capi::token::OrbgateToken;

/// A call; numbers choose among what is alive.
#[derive(Arbitrary, Debug)]
enum Call<'a> {
    External,
    Compile(&'a [u8]),
    CompileShop(u8),
    Retain(u8),
    Free(u8),
    Describe(u8),
    Set(u8, &'a [u8]),
    RetainSet(u8),
    FreeSet(u8),
    Handle(u8),
    RetainHandle(u8),
    FreeHandle(u8),
    Store(u8, u8),
    Load(u8),
    Decide { engine: u8, method: &'a [u8], target: &'a [u8], kind: u8, set: Option<u8>, scopes: &'a [u8], flags: u8 },
    DecideScope { engine: u8, scope: &'a [u8], kind: u8, set: Option<u8> },
    ByHandle { handle: u8, target: &'a [u8], kind: u8, set: Option<u8> },
    WithNothing,
}

/// What has been made and not given back: one entry an owner.
#[derive(Default)]
struct Alive {
    engines: Vec<*mut OrbgateEngine>,
    sets: Vec<*mut OrbgateScopeSet>,
    handles: Vec<*mut OrbgateHandle>,
}

const OK: OrbgateStatus = OrbgateStatus::Ok;

/// One that is alive, or null where none is.
fn one<T>(alive: &[*mut T], number: u8) -> *mut T {
    alive.get(usize::from(number) % alive.len().max(1)).copied().unwrap_or(null_mut())
}

/// Takes an owner out; null where none is.
fn take<T>(alive: &mut Vec<*mut T>, number: u8) -> *mut T {
    if alive.is_empty() { null_mut() } else { alive.swap_remove(usize::from(number) % alive.len()) }
}

fuzz_target!(|calls: Vec<Call<'_>>| {
    let mut alive = Alive::default();
    for call in calls.iter().take(64) {
        // SAFETY: every pointer is null or of an owner in `alive`, and lengths are those of slices.
        unsafe { alive.run(call) }
    }
    // SAFETY: each owner once.
    unsafe {
        alive.handles.drain(..).for_each(|handle| orbgate_handle_free(handle));
        alive.sets.drain(..).for_each(|set| orbgate_scope_set_free(set));
        alive.engines.drain(..).for_each(|engine| orbgate_engine_free(engine));
    }
});

impl Alive {
    unsafe fn run(&mut self, call: &Call<'_>) {
        match *call {
            Call::External => {
                let mut engine = null_mut();
                assert_eq!(unsafe { orbgate_engine_external(&mut engine) }, OK);
                self.engines.push(engine);
            }
            Call::Compile(text) => unsafe { self.compile(text) },
            Call::CompileShop(number) => {
                let text = format!(
                    "orbgate: 1\nname: n{number}\napis: {{ a: {{ base_path: /v1, scopes: {{ r: {{ orbs: {}, routes: ['GET /a/{{id}}'] }} }} }} }}",
                    number % 2 == 0
                );
                unsafe { self.compile(text.as_bytes()) }
            }
            Call::Retain(number) => {
                let engine = one(&self.engines, number);
                let retained = unsafe { orbgate_engine_retain(engine) };
                assert_eq!(retained, engine);
                self.engines.extend((!retained.is_null()).then_some(retained));
            }
            Call::Free(number) => unsafe { orbgate_engine_free(take(&mut self.engines, number)) },
            Call::Describe(number) => {
                let engine = one(&self.engines, number);
                let mut info: OrbgateEngineInfo = unsafe { core::mem::zeroed() };
                info.struct_size = u32::try_from(size_of::<OrbgateEngineInfo>()).unwrap();
                let expected = if engine.is_null() { OrbgateStatus::InvalidArgument } else { OK };
                assert_eq!(unsafe { orbgate_engine_info(engine, &mut info) }, expected);
                if expected == OK {
                    let digest = info.digest;
                    let bytes = unsafe { core::slice::from_raw_parts(digest.data.cast::<u8>(), digest.len) };
                    assert!(bytes.starts_with(b"sha256:"));
                }
            }
            Call::Set(number, scopes) => {
                let (engine, mut set) = (one(&self.engines, number), null_mut());
                let status =
                    unsafe { orbgate_scope_set_from_string(engine, scopes.as_ptr().cast(), scopes.len(), &mut set) };
                assert_eq!(status == OK, !engine.is_null());
                self.sets.extend((status == OK).then_some(set));
            }
            Call::RetainSet(number) => {
                let set = unsafe { orbgate_scope_set_retain(one(&self.sets, number)) };
                self.sets.extend((!set.is_null()).then_some(set));
            }
            Call::FreeSet(number) => unsafe { orbgate_scope_set_free(take(&mut self.sets, number)) },
            Call::Handle(number) => {
                let (engine, mut handle) = (one(&self.engines, number), null_mut());
                let status = unsafe { orbgate_handle_new(engine, &mut handle) };
                assert_eq!(status == OK, !engine.is_null());
                self.handles.extend((status == OK).then_some(handle));
            }
            Call::RetainHandle(number) => {
                let handle = unsafe { orbgate_handle_retain(one(&self.handles, number)) };
                self.handles.extend((!handle.is_null()).then_some(handle));
            }
            Call::FreeHandle(number) => unsafe { orbgate_handle_free(take(&mut self.handles, number)) },
            Call::Store(handle, engine) => {
                let (handle, engine) = (one(&self.handles, handle), one(&self.engines, engine));
                let status = unsafe { orbgate_handle_store(handle, engine) };
                assert_eq!(status == OK, !handle.is_null() && !engine.is_null());
            }
            Call::Load(number) => {
                let (handle, mut engine) = (one(&self.handles, number), null_mut());
                let status = unsafe { orbgate_handle_load(handle, &mut engine) };
                assert_eq!(status == OK, !handle.is_null());
                self.engines.extend((status == OK).then_some(engine));
            }
            Call::Decide { engine, method, target, kind, set, scopes, flags } => {
                let token = self.token(kind, set, scopes);
                let engine = one(&self.engines, engine);
                let mut out = denial();
                let status = unsafe {
                    orbgate_engine_decide(
                        engine,
                        method.as_ptr().cast(),
                        method.len(),
                        target.as_ptr().cast(),
                        target.len(),
                        &token,
                        u32::from(flags),
                        &mut out,
                    )
                };
                check(status, &out);
            }
            Call::DecideScope { engine, scope, kind, set } => {
                let token = self.token(kind, set, &[]);
                let engine = one(&self.engines, engine);
                let mut out = denial();
                let status = unsafe {
                    orbgate_engine_decide_scope(engine, scope.as_ptr().cast(), scope.len(), &token, 0, &mut out)
                };
                check(status, &out);
            }
            Call::ByHandle { handle, target, kind, set } => unsafe { self.by_handle(handle, target, kind, set) },
            Call::WithNothing => {
                let mut out = denial();
                let status = unsafe { orbgate_engine_decide(null(), null(), 0, null(), 0, null(), 0, &mut out) };
                assert_eq!(status, OrbgateStatus::InvalidArgument);
                assert_eq!(unsafe { orbgate_handle_store(null(), null()) }, OrbgateStatus::InvalidArgument);
            }
        }
    }

    unsafe fn compile(&mut self, text: &[u8]) {
        let (mut engine, mut error): (_, *mut OrbgateError) = (null_mut(), null_mut());
        let status = unsafe { orbgate_engine_from_yaml(text.as_ptr().cast(), text.len(), &mut engine, &mut error) };
        assert_eq!((status == OK, status == OK), (!engine.is_null(), error.is_null()));
        self.engines.extend((status == OK).then_some(engine));
        if !error.is_null() {
            let mut info: OrbgateErrorInfo = unsafe { core::mem::zeroed() };
            info.struct_size = u32::try_from(size_of::<OrbgateErrorInfo>()).unwrap();
            assert_eq!(unsafe { orbgate_error_info(error, &mut info) }, OK);
            unsafe { orbgate_error_free(error) }
        }
    }

    /// A handle, and the engine in it, decide alike.
    unsafe fn by_handle(&mut self, handle: u8, target: &[u8], kind: u8, set: Option<u8>) {
        let token = self.token(kind, set, b"r read:orbs");
        let handle = one(&self.handles, handle);
        let (mut by_handle, mut by_engine) = (denial(), denial());
        let (data, len) = (target.as_ptr().cast(), target.len());
        let status = unsafe { orbgate_handle_decide(handle, c"GET".as_ptr(), 3, data, len, &token, 0, &mut by_handle) };
        check(status, &by_handle);
        let mut engine = null_mut();
        if unsafe { orbgate_handle_load(handle, &mut engine) } == OK {
            assert_eq!(
                unsafe { orbgate_engine_decide(engine, c"GET".as_ptr(), 3, data, len, &token, 0, &mut by_engine,) },
                status
            );
            assert_eq!(
                (by_handle.effect, by_handle.reason, by_handle.route),
                (by_engine.effect, by_engine.reason, by_engine.route)
            );
            unsafe { orbgate_engine_free(engine) }
        }
    }

    /// A token with a set, where there is one, or with text.
    fn token(&self, kind: u8, set: Option<u8>, scopes: &[u8]) -> OrbgateToken {
        let set = set.map_or(null_mut(), |number| one(&self.sets, number));
        OrbgateToken {
            struct_size: u32::try_from(size_of::<OrbgateToken>()).unwrap(),
            kind: u32::from(kind % 4),
            scopes: scopes.as_ptr().cast(),
            scopes_len: if set.is_null() { scopes.len() } else { 0 },
            scope_set: set,
        }
    }
}

/// What the caller has before the call: no answer that could be taken for one.
fn denial() -> OrbgateDecision {
    // SAFETY: integers.
    unsafe { core::mem::zeroed() }
}

/// Without `OK` nothing is written; an allow has no status, a denial no charge.
fn check(status: OrbgateStatus, out: &OrbgateDecision) {
    assert_ne!(status, OrbgateStatus::Panic);
    let is_allow = out.effect == orbgate::Effect::Allow as u8;
    if status != OK {
        assert!(!is_allow && out.reason == 0);
    }
    assert!(is_allow || (out.charge == 0 && out.amount == 0));
    assert!(!is_allow || out.http_status == 0);
}
