//! The questions' arguments and answers, as `shapes.txt` has them, in every language and as a JSON Schema.

#[cfg(test)]
mod check;
mod cpp;
mod go;
mod java;
#[allow(unreachable_pub, reason = "a module of another crate")]
#[path = "../../../orbgate-testing/src/json.rs"]
mod json;
mod schema;
pub(crate) mod shape;
mod typescript;

use anyhow::{Result, ensure};

use self::shape::Shapes;
use crate::files::Files;
use crate::table::MADE;

/// The names for the library.
fn literals(shapes: &Shapes) -> String {
    let literals = shapes.literals("    ");
    format!(
        "//! The numbers of the fields of answers. {MADE}\n\nuse phf::{{OrderedSet, phf_ordered_set}};\n\n\
         /// The names of the fields of answers, each at its number. There is no field 0.\n\
         #[rustfmt::skip]\npub(super) static NAMES: OrderedSet<&'static str> = phf_ordered_set! {{\n{literals}}};\n"
    )
}

/// The questions in every language.
pub(crate) fn make(files: &mut Files) -> Result<()> {
    let shapes = Shapes::read();
    let of_c = files.committed("crates/orbgate-capi/src/ask.rs")?;
    for question in &shapes.questions {
        ensure!(of_c.contains(&format!("`{}`", question.name)), "ask.rs doesn't explain `{}`", question.name);
    }
    let names: Vec<_> = shapes.questions.iter().map(|question| question.name).collect();
    ensure!(names == orbgate_analysis::QUESTIONS, "the library answers {:?}", orbgate_analysis::QUESTIONS);
    files.whole("policy/questions.schema.json", json::print(&schema::document(&shapes)));
    files.whole("crates/orbgate-analysis/src/ask/names.rs", literals(&shapes));
    let go = "bindings/go/orbgate";
    files.whole(&format!("{go}/questions/questions.go"), go::types(&shapes));
    files.whole(&format!("{go}/internal/answers/names.go"), go::names(&shapes));
    files.whole(&format!("{go}/questions.go"), go::methods(&shapes));
    // crates/orbgate-wasm/npm has a link to it.
    files.whole("bindings/node/questions.d.ts", typescript::types(&shapes));
    let methods = typescript::methods(&shapes);
    files.section("bindings/node/index.d.ts", "questions", &methods)?;
    let java = "bindings/java/src/main/java/io/github/orbgate";
    files.whole(&format!("{java}/Questions.java"), java::types(&shapes));
    files.section(&format!("{java}/Fields.java"), "names", &shapes.literals("        "))?;
    files.section(&format!("{java}/Engine.java"), "questions", &java::methods(&shapes))?;
    files.whole("bindings/cpp/include/orbgate_questions.hpp", cpp::header(&shapes));
    files.section("bindings/cpp/include/orbgate_json.hpp", "names", &shapes.literals("    "))?;
    Ok(())
}
