//! The names of gates' metrics and labels, as constants in every language.

use orbgate_gate::names;

use anyhow::Result;

use crate::codes::go_constants;
use crate::families::families;
use crate::files::Files;
use crate::words::go_name;

const ABOUT: &str = "The names of what gates count and say. Made by `cargo xtask codes`; not to be edited.";

/// The names of what is counted, in every language.
pub(crate) fn make(files: &mut Files) -> Result<()> {
    let [_, effect, ..] = &families();
    let effects = effect.codes.iter();
    let effects = effects.map(|code| (format!("EFFECT_{}", code.upper()), code.word));
    let counted = names::ALL.iter().copied();
    let counted = counted.map(|(name, word)| (name.to_owned(), word));
    let all: Vec<_> = effects.chain(counted).collect();
    // The library says which label a load has.
    let without_loads: Vec<_> = all.iter().filter(|(name, _)| !name.starts_with("LOAD_")).collect();
    let each = |line: &dyn Fn(&str, &str) -> String| -> String {
        without_loads.iter().map(|(name, word)| line(name, word)).collect()
    };
    let quoted: Vec<_> = without_loads.iter().map(|(_, word)| format!("\"{word}\"")).collect();
    let constants = without_loads.iter().zip(&quoted);
    let constants = go_constants(constants.map(|((name, _), word)| (go_name(&name.to_lowercase()), word)));
    let go = ABOUT.replace('`', "");
    let go = format!(
        "// Package terms has the names of what gates count and say.\npackage terms\n\n// {go}\nconst (\n{constants})\n"
    );
    files.whole("bindings/go/orbgate/internal/terms/terms.go", go);

    let constants = each(&|name, word| format!("    static final String {name} = \"{word}\";\n"));
    let java = ABOUT.replacen('`', "{@code ", 1).replacen('`', "}", 1);
    let java = format!(
        "package io.github.orbgate;\n\n/** {java} */\nfinal class Names {{\n    private Names() {{}}\n\n{constants}}}\n"
    );
    files.whole("bindings/java/src/main/java/io/github/orbgate/Names.java", java);

    let constants = each(&|name, word| format!("  {name}: \"{word}\",\n"));
    let node = format!(
        "\"use strict\";\n// {ABOUT}\n\nconst NAMES = Object.freeze({{\n{constants}}});\n\nmodule.exports = {{ NAMES }};\n"
    );
    files.whole("bindings/node/lib/names.js", node);

    let constants = each(&|name, word| format!("{name} = \"{word}\"\n"));
    let python = format!("\"\"\"{ABOUT}\"\"\"\n\n{constants}");
    files.whole("bindings/python/python/orbgate/gate/_names.py", python);

    // The C++ engine already defines allow and deny.
    let counted = all.iter().filter(|(name, _)| !name.starts_with("EFFECT_"));
    let constants = counted
        .map(|(name, word)| format!("inline constexpr std::string_view {} = \"{word}\";\n", name.to_lowercase()));
    files.section("bindings/cpp/include/orbgate_gate.hpp", "names", &constants.collect::<String>())?;
    Ok(())
}
