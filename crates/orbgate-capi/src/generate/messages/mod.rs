//! The messages of gates, as `shapes.txt` has them, in every other language, and the list of their numbers, which only grows.

mod c;
mod c_fields;
mod cpp;
mod go;
mod hostile;
mod java;
mod node;
mod python;
mod reference;
mod shape;

pub(super) use self::c::lower;

use super::committed::{compare, compare_section};
use shape::{Field, MADE, Message, Messages, Role, ValueType};

#[test]
fn every_language_has_the_messages() {
    let messages = Messages::read();
    compare("crates/orbgate-capi/messages.tsv", &reference::numbers(&messages));
    compare("docs/messages.md", &reference::page(&messages));
    compare("bindings/c/include/orbgate_gate.h", &c::header(&messages));
    compare("bindings/go/orbgate/internal/steps/messages.go", &go::messages(&messages));
    for (message, section) in [("Answer", "answer"), ("Token", "token")] {
        let [fields, values] = go::public(messages.find(message));
        compare_section("bindings/go/orbgate/gate/gate.go", section, &fields);
        compare_section("bindings/go/orbgate/gate/gate.go", &format!("{section} values"), &values);
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
        compare_section("bindings/cpp/include/orbgate_gate.hpp", section, text);
    }
    compare("bindings/node/lib/gate/messages.js", &node::messages(&messages));
    for (message, section, file) in
        [("Answer", "answer", "answer"), ("Token", "token", "answer"), ("IssuerStatus", "issuer", "keys")]
    {
        let [types, values] = node::public(messages.find(message));
        compare_section("bindings/node/gate.d.ts", section, &types);
        compare_section(&format!("bindings/node/lib/gate/{file}.js"), &format!("{section} values"), &values);
    }
    for (message, section) in [("Answer", "answer"), ("Token", "token")] {
        let [getters, properties] = python::public(messages.find(message));
        compare_section("crates/orbgate-python/src/answer.rs", section, &getters);
        compare_section("bindings/python/python/orbgate/_native.pyi", section, &properties);
    }
    let java = "bindings/java/src/main/java/io/github/orbgate";
    compare(&format!("{java}/Messages.java"), &java::messages(&messages));
    for (message, record) in [("Answer", "Answer"), ("Token", "BearerToken"), ("IssuerStatus", "IssuerKeys")] {
        let sections = ["descriptions", "parameters", "values"].into_iter().zip(java::public(messages.find(message)));
        for (section, lines) in sections {
            compare_section(&format!("{java}/{record}.java"), section, &lines);
        }
    }
    compare("crates/orbgate-capi/testdata/answers.tsv", &hostile::rows(&messages));
}
