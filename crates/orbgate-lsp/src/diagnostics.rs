//! Converts errors and findings to the protocol's diagnostics.

use gen_lsp_types::{
    Code as LspCode, CodeDescription, Diagnostic, DiagnosticRelatedInformation, DiagnosticSeverity, Location, Message,
    Uri,
};
use orbgate::Location as PolicyLocation;
use orbgate_analysis::{Code, Finding, Level};

use crate::document::{Document, Found};
use crate::encoding::Encoding;

/// The errors of a document, or its likely mistakes.
pub(crate) fn of(document: &Document, encoding: Encoding) -> Vec<Diagnostic> {
    let Some(Found { diagnostics, findings, cut }) = &document.checked else {
        return Vec::new();
    };
    let diagnostics = diagnostics.iter().map(|diagnostic| {
        let error = DiagnosticSeverity::Error;
        plain(document, diagnostic.location, error, diagnostic.message.clone(), encoding)
    });
    let findings = findings.iter();
    let findings = findings.map(|finding| of_finding(document, finding, encoding));
    let cut = cut.iter().map(|code| {
        let message = format!("too many findings, or templates that overlap: not every `{code}` is listed");
        let start = PolicyLocation { line: 1, column: 1 };
        plain(document, start, DiagnosticSeverity::Warning, message, encoding)
    });
    diagnostics.chain(findings).chain(cut).collect()
}

/// A finding in a document.
pub(crate) fn of_finding(document: &Document, finding: &Finding, encoding: Encoding) -> Diagnostic {
    let severity = match finding.level {
        Level::Error => DiagnosticSeverity::Error,
        Level::Warning => DiagnosticSeverity::Warning,
        Level::Note => DiagnosticSeverity::Information,
    };
    let message = finding.message.clone();
    let other = finding.other.map(|location| {
        vec![DiagnosticRelatedInformation {
            location: Location {
                uri: document.uri.clone(),
                range: encoding.range(&document.text, document.text.word(location)),
            },
            message: "the other one".to_owned(),
        }]
    });
    let code = finding.code.as_str();
    Diagnostic {
        code: Some(LspCode::String(code.to_owned())),
        code_description: Some(CodeDescription { href: Uri(format!("{}#{code}", Code::PAGE)) }),
        related_information: other,
        ..plain(document, finding.location, severity, message, encoding)
    }
}

fn plain(
    document: &Document,
    location: PolicyLocation,
    severity: DiagnosticSeverity,
    message: String,
    encoding: Encoding,
) -> Diagnostic {
    Diagnostic {
        range: encoding.range(&document.text, document.text.word(location)),
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
