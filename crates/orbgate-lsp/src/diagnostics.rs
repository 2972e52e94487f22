//! Faults and findings as the protocol has them.

use gen_lsp_types::{
    Code as LspCode, CodeDescription, Diagnostic, DiagnosticRelatedInformation, DiagnosticSeverity,
    Location, Message, Uri,
};
use orbgate::Place;
use orbgate_analysis::{Finding, Level};

use crate::document::{Document, Found};
use crate::text::Encoding;

/// The pages of the codes.
const PAGES: &str = "https://github.com/orbgate/orbgate/blob/main/docs/lint";

/// What is wrong with a document, or likely not what was meant.
pub(crate) fn of(document: &Document, encoding: Encoding) -> Vec<Diagnostic> {
    let Some(Found {
        faults,
        findings,
        cut,
    }) = &document.found
    else {
        return Vec::new();
    };
    let faults = faults.iter().map(|fault| {
        let error = DiagnosticSeverity::Error;
        plain(
            document,
            fault.place,
            error,
            fault.message.clone(),
            encoding,
        )
    });
    let findings = findings.iter();
    let findings = findings.map(|finding| of_finding(document, finding, encoding));
    let cut = cut.iter().map(|code| {
        let message =
            format!("too many findings, or templates that overlap: not every `{code}` is listed");
        let start = Place { line: 1, column: 1 };
        plain(
            document,
            start,
            DiagnosticSeverity::Warning,
            message,
            encoding,
        )
    });
    faults.chain(findings).chain(cut).collect()
}

/// A finding of a document.
pub(crate) fn of_finding(document: &Document, finding: &Finding, encoding: Encoding) -> Diagnostic {
    let severity = match finding.level {
        Level::Error => DiagnosticSeverity::Error,
        Level::Warning => DiagnosticSeverity::Warning,
        Level::Note => DiagnosticSeverity::Information,
    };
    let message = finding.message.clone();
    let other = finding.other.map(|place| {
        vec![DiagnosticRelatedInformation {
            location: Location {
                uri: document.uri.clone(),
                range: document.text.range(document.text.word(place), encoding),
            },
            message: "the other one".to_owned(),
        }]
    });
    let code = finding.code.as_str();
    Diagnostic {
        code: Some(LspCode::String(code.to_owned())),
        code_description: Some(CodeDescription {
            href: Uri(format!("{PAGES}/{code}.md")),
        }),
        related_information: other,
        ..plain(document, finding.place, severity, message, encoding)
    }
}

fn plain(
    document: &Document,
    place: Place,
    severity: DiagnosticSeverity,
    message: String,
    encoding: Encoding,
) -> Diagnostic {
    Diagnostic {
        range: document.text.range(document.text.word(place), encoding),
        severity: Some(severity),
        code: None,
        code_description: None,
        source: Some("orbgate".to_owned()),
        message: Message::String(message),
        tags: None,
        related_information: None,
        data: None,
    }
}
