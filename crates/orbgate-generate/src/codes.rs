//! The codes in every language and on the pages.

use anyhow::{Result, bail, ensure};

use orbgate_analysis::Code as Lint;

use crate::families::{Code, Family, families};
use crate::files::Files;
use crate::header::Header;
use crate::words::go_name;

/// The codes in every language.
pub(crate) fn make(files: &mut Files, header: &Header) -> Result<()> {
    let [status, effect, reason, detail, kind] = &families();
    // Java finds a code by its index.
    for family in [reason, detail] {
        ensure!(family.codes.iter().zip(1..).all(|(code, location)| code.number == location), "a number is left out");
    }
    let cpp = [status, reason, detail, kind].map(Family::cpp).join("\n");
    files.section("bindings/cpp/include/orbgate.hpp", "codes", &cpp)?;

    let go = "bindings/go/orbgate/codes.go";
    for (name, family) in [("kinds", kind), ("reasons", reason), ("details", detail), ("statuses", status)] {
        files.section(go, name, &family.go())?;
    }
    let denials = || reason.codes.iter().filter_map(|code| Some((code, code.status.filter(|status| *status != 0)?)));
    let statuses = denials().map(|(code, status)| {
        let name = go_name(code.word);
        format!("\tcase Reason{name}:\n\t\treturn {status}\n")
    });
    files.section(go, "denials", &statuses.collect::<String>())?;
    let numbers_of_go = numbers(header, &[status, reason, detail, kind]);
    let unexported = |name: &str| {
        let (first, rest) = name.split_once('_').unwrap();
        first.to_lowercase() + &go_name(&rest.to_lowercase())
    };
    // Package gate needs the codes of messages, and nothing needs those of the gate's structs.
    let starts_with = |code: &(String, String), starts: &[&str]| starts.iter().any(|start| code.0.starts_with(start));
    let of_structs = ["GATE_", "STEP_", "WITH_AUDIT", "HOLDS_THREAD"];
    let of_messages = ["FETCH_", "CHALLENGE_", "TEMPLATES_", "MATCHED_", "CORS_PREFLIGHT_", "DIFFERENCE_", "SECRET_"];
    let of_gates = |code: &&(String, String)| starts_with(code, &of_messages);
    let of_engines = numbers_of_go.iter().filter(|code| !of_gates(code) && !starts_with(code, &of_structs));
    let of_engines = of_engines.map(|(name, number)| (unexported(name), number));
    files.section(go, "numbers", &go_constants(of_engines))?;
    let of_gates = numbers_of_go.iter().filter(|code| of_gates(code));
    let of_gates = of_gates.map(|(name, number)| (go_name(&name.to_lowercase()), number));
    let steps = "bindings/go/orbgate/internal/steps/steps.go";
    files.section(steps, "numbers", &go_constants(of_gates))?;

    for (name, family) in [("Reason", reason), ("Detail", detail), ("TokenKind", kind)] {
        let java = format!("bindings/java/src/main/java/io/github/orbgate/{name}.java");
        files.section(&java, "codes", &family.java())?;
    }
    for family in [effect, reason, detail, kind] {
        let terms = "bindings/python/python/orbgate/_terms.py";
        files.section(terms, family.name, &family.python())?;
    }

    let denies = |code: &&Code| code.status != Some(0);
    let mut statuses: Vec<_> = denials().map(|(_, status)| status).collect();
    statuses.sort_unstable();
    statuses.dedup();
    let statuses: Vec<_> = statuses.iter().map(u16::to_string).collect();
    let node = [
        kind.node("TokenKind", "The kind of token: an unknown kind is denied as `invalid_token`.", |_| true),
        reason.node("AllowReason", "Why a call is allowed.", |code| !denies(code)),
        reason.node("DenyReason", "Why a call is denied.", denies),
        detail.node("Detail", "Which rule a `malformed_request` breaks.", |_| true),
        format!("/** The HTTP status of a denial. */\nexport type DenyStatus = {};\n", statuses.join(" | ")),
    ];
    files.section("bindings/node/index.d.ts", "codes", &node.concat())?;
    let numbers = numbers(header, &[reason, detail]).into_iter().filter(|code| !starts_with(code, &of_structs));
    let numbers: String = numbers.map(|(name, number)| format!("  {name}: {number},\n")).collect();
    files.section("bindings/node/lib/layout.js", "numbers", &numbers)?;
    let statuses = denials().map(|(code, status)| format!("  {}: {status}, // {}\n", code.number, code.word));
    files.section("bindings/node/lib/layout.js", "denials", &statuses.collect::<String>())?;
    Ok(())
}

/// The lints on their page.
pub(crate) fn lints(files: &mut Files) -> Result<()> {
    let row = |code: Lint| format!("| [`{code}`](#{code}) | {} | {} |\n", code.level(), code.explanation());
    let rows = Lint::ALL.map(row).concat();
    files.section("docs/lint.md", "lints", &format!("| code | level | |\n|---|---|---|\n{rows}"))
}

/// The reasons on the pages.
pub(crate) fn on_pages(files: &mut Files) -> Result<()> {
    let [_, _, reason, detail, ..] = &families();
    let (mut all, mut denials) = (String::new(), String::new());
    for Code { word, sentence, status, .. } in &reason.codes {
        match status {
            Some(0) => all.push_str(&format!("| `{word}` | allow | – | {sentence} |\n")),
            Some(status) => {
                let header = match status {
                    401 | 403 => "`WWW-Authenticate`",
                    402 => "`Retry-After`, if `temporarily_held`",
                    405 => "`Allow`: the methods that the policy declares",
                    503 => "`Retry-After`",
                    _ => "",
                };
                all.push_str(&format!("| `{word}` | deny | {status} | {sentence} |\n"));
                denials.push_str(&format!("| `{word}` | {status} | {header} |\n"));
            }
            None => bail!("the reason {word} has no status"),
        }
    }
    let all = format!("| reason | decision | status | when |\n|---|---|---|---|\n{all}");
    files.section("docs/codes.md", "reasons", &all)?;
    let denials = format!("| reason | status | header |\n|---|---|---|\n{denials}");
    files.section("docs/gates.md", "denials", &denials)?;
    let details = detail.codes.iter();
    let details = details.map(|code| format!("| `{}` | {} |\n", code.word, code.sentence));
    let details: String = details.collect();
    let details = format!("| detail | rule |\n|---|---|\n{details}");
    files.section("docs/codes.md", "details", &details)?;
    Ok(())
}

/// Constants aligned like gofmt does.
pub(crate) fn go_constants<'n>(constants: impl Iterator<Item = (String, &'n String)>) -> String {
    let constants: Vec<_> = constants.collect();
    let width = constants.iter().map(|(name, _)| name.len()).max().unwrap();
    let lines = constants.iter();
    let lines = lines.map(|(name, number)| format!("\t{name:<width$} = {number}\n"));
    lines.collect()
}

/// The constants of the C header without their prefix, except for some families.
fn numbers(header: &Header, without: &[&Family]) -> Vec<(String, String)> {
    let constants = header.constants().into_iter();
    let is_left = |name: &str| without.iter().all(|family| !name.starts_with(&format!("{}_", family.upper())));
    constants.filter(|(name, _)| is_left(name)).collect()
}
