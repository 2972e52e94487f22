//! The messages of gates, as `shapes.txt` has them, in every other language, and the list of their numbers, which only grows.

mod c;
pub(crate) mod c_fields;
mod cpp;
mod go;
mod hostile;
mod java;
mod node;
mod python;
mod reference;
mod rust;
pub(crate) mod shape;

use anyhow::Result;

use self::shape::Messages;
use crate::files::Files;

/// The messages in every language.
pub(crate) fn make(files: &mut Files) -> Result<()> {
    let messages = Messages::read();
    files.whole("crates/orbgate-capi/src/gate/messages.rs", rust::module(&messages));
    files.whole("crates/orbgate-capi/messages.tsv", reference::numbers(&messages));
    files.whole("docs/messages.md", reference::page(&messages));
    files.whole("bindings/c/include/orbgate_gate.h", c::header(&messages));
    files.whole("bindings/go/orbgate/internal/steps/messages.go", go::messages(&messages));
    for (message, section) in [("Answer", "answer"), ("Token", "token")] {
        let [fields, values] = go::public(messages.find(message));
        files.section("bindings/go/orbgate/gate/gate.go", section, &fields)?;
        files.section("bindings/go/orbgate/gate/gate.go", &format!("{section} values"), &values)?;
    }
    let [options, set] = cpp::options(messages.find("Make"));
    let [status, read] = cpp::structure(messages.find("IssuerStatus"));
    for (section, text) in [
        ("options", &options),
        ("set options", &set),
        ("answer", &cpp::answer(messages.find("Answer"), "message()")),
        ("token", &cpp::answer(messages.find("Token"), "token()")),
        ("issuer status", &status),
        ("read issuer status", &read),
    ] {
        files.section("bindings/cpp/include/orbgate_gate.hpp", section, text)?;
    }
    files.whole("bindings/node/lib/gate/messages.js", node::messages(&messages));
    for (message, section, file) in
        [("Answer", "answer", "answer"), ("Token", "token", "answer"), ("IssuerStatus", "issuer", "keys")]
    {
        let [types, values] = node::public(messages.find(message));
        files.section("bindings/node/gate.d.ts", section, &types)?;
        files.section(&format!("bindings/node/lib/gate/{file}.js"), &format!("{section} values"), &values)?;
    }
    for (message, section) in [("Answer", "answer"), ("Token", "token")] {
        let [getters, properties] = python::public(messages.find(message));
        files.section("crates/orbgate-python/src/answer.rs", section, &getters)?;
        files.section("bindings/python/python/orbgate/_native.pyi", section, &properties)?;
    }
    let java = "bindings/java/src/main/java/io/github/orbgate";
    files.whole(&format!("{java}/Messages.java"), java::messages(&messages));
    for (message, record) in [("Answer", "Answer"), ("Token", "BearerToken"), ("IssuerStatus", "IssuerKeys")] {
        let sections = ["descriptions", "parameters", "values"].into_iter().zip(java::public(messages.find(message)));
        for (section, lines) in sections {
            files.section(&format!("{java}/{record}.java"), section, &lines)?;
        }
    }
    files.whole("crates/orbgate-capi/testdata/answers.tsv", hostile::rows(&messages));
    Ok(())
}
