//! Findings as SARIF 2.1.0, the format that code hosts accept.

use orbgate::Location;
use orbgate_analysis::{Code, Finding};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Map, Value, json};

use super::linted::Linted;

/// The rule for the errors of an invalid policy.
const DIAGNOSTIC: &str = "diagnostic";

/// One run for all files.
pub(super) fn log(files: &[Linted]) -> Value {
    let rule = |id: &str, level: &str, text: &str| {
        json!({
            "id": id,
            "shortDescription": { "text": text },
            "helpUri": if id == DIAGNOSTIC { Code::PAGE.to_owned() } else { format!("{}#{id}", Code::PAGE) },
            "defaultConfiguration": { "level": level },
        })
    };
    let rules = Code::ALL.iter().map(|code| rule(code.as_str(), code.level().as_str(), code.explanation()));
    let diagnostic = rule(DIAGNOSTIC, "error", "the file is not a valid policy");
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "orbgate",
                "informationUri": "https://github.com/orbgate/orbgate",
                "version": env!("CARGO_PKG_VERSION"),
                "rules": rules.chain([diagnostic]).collect::<Vec<_>>(),
            } },
            "columnKind": "unicodeCodePoints",
            "results": files.iter().flat_map(results).collect::<Vec<_>>(),
        }],
    })
}

fn results(linted: &Linted) -> Vec<Value> {
    let diagnostics = linted.0.diagnostics.iter().map(|diagnostic| {
        json!({
            "ruleId": DIAGNOSTIC,
            "level": "error",
            "message": { "text": diagnostic.message },
            "locations": [location(&linted.0.file, diagnostic.location)],
        })
    });
    let findings = linted.0.findings.iter().map(|finding| result(&linted.0.file, finding));
    diagnostics.chain(findings).collect()
}

fn result(file: &str, finding: &Finding) -> Value {
    let mut result = Map::new();
    let mut set = |name: &str, value| drop(result.insert(name.to_owned(), value));
    set("ruleId", json!(finding.code.as_str()));
    set("level", json!(finding.level.as_str()));
    set("message", json!({ "text": finding.message }));
    set("locations", json!([location(file, finding.location)]));
    if let Some(other) = finding.other {
        set("relatedLocations", json!([location(file, other)]));
    }
    if let Some(reason) = &finding.suppressed {
        let why = json!([{ "kind": "inSource", "justification": reason }]);
        set("suppressions", why);
    }
    Value::Object(result)
}

fn location(file: &str, location: Location) -> Value {
    json!({ "physicalLocation": {
        "artifactLocation": { "uri": uri(file) },
        "region": { "startLine": location.line, "startColumn": location.column },
    } })
}

/// All characters that needn't be escaped in a reference (RFC 3986 §2.3), and the slash.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~').remove(b'/');

fn uri(file: &str) -> String {
    utf8_percent_encode(file, ESCAPED).to_string()
}
