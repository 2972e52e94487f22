//! Python's side: no message crosses to it, so only its getters and its stub are made of the table.

use super::shape::{Field, Message};

/// The getters of a class, and its properties in the stub.
pub(crate) fn public(message: &Message) -> [String; 2] {
    let mut sections = [String::new(), String::new()];
    for field in &message.fields {
        if let Some([name, kind, head, value]) = shown(message, field) {
            let about = field.about.replace("; empty if the token doesn't state it", "");
            let about =
                about.replace("0 for an allow", "None for an allow").replace(": in milliseconds", ", in seconds");
            let about = about.replace("an `OrbgateTokenKind`", "\"user\" or \"organisation\"");
            sections[0] += &format!("    /// {about}\n    #[getter]\n    {head} {{\n        {value}\n    }}\n\n");
            sections[1] += &format!("    @property\n    def {name}(self) -> {kind}: ...\n");
        }
    }
    sections
}

/// A field's name and type in the stub, and the head and the value of its getter. A decision is an object in Python, headers are one list, and the
/// rest isn't for services.
fn shown(message: &Message, field: &Field) -> Option<[String; 4]> {
    let (name, kind, to, value) = match (message.name, field.name) {
        ("Answer", "http_status") => {
            ("status", "int | None", "Option<u16>", "self.denial.as_ref().map(|denial| denial.status)")
        }
        ("Answer", "preflight") => ("preflight", "bool", "bool", "self.preflight"),
        ("Answer", "refused") => ("refused", "str | None", "Option<&'static str>", "self.credentials.refused()"),
        ("Answer", "misrouted") => ("misrouted", "str | None", "Option<&str>", "self.misrouted.as_deref()"),
        ("Answer", "public_template") => ("public_template", "str | None", "Option<&str>", "self.public.as_deref()"),
        ("Answer", "token") => {
            ("token", "BearerToken | None", "Option<BearerToken>", "BearerToken::of(&self.credentials)")
        }
        ("Answer", "body") => (
            "body",
            "bytes",
            "&[u8]",
            "self.denial.as_ref().and_then(|denial| denial.body.as_deref()).unwrap_or_default()",
        ),
        ("Answer", "packed" | "www_authenticate" | "allow" | "audit" | "may_call" | "headers" | "retry_after") => {
            return None;
        }
        ("Answer", name) => panic!("Python's answer has no `{name}` yet"),
        (_, "kind") => ("kind", "TokenKind", "PyResult<Py<PyAny>>", "terms::kind_member(py, self.token.kind())"),
        (_, "scopes") => ("scopes", "str", "&str", "self.token.scopes()"),
        (_, "issuer") => ("issuer", "str", "&str", "self.token.issuer()"),
        (_, "fingerprint") => ("fingerprint", "str", "String", "self.token.fingerprint().to_string()"),
        (_, "expires_ms") => ("expires", "float", "f64", "seconds(self.token.expires())"),
        (_, name) => {
            let [name, value] = [name.to_owned(), format!("self.token.{name}()")];
            return Some([name.clone(), "str | None".to_owned(), format!("fn {name}(&self) -> Option<&str>"), value]);
        }
    };
    let (constant, more) = match name {
        "preflight" | "scopes" => ("const ", ""),
        "kind" => ("", ", py: Python<'_>"),
        _ => Default::default(),
    };
    let head = format!("{constant}fn {name}(&self{more}) -> {to}");
    Some([name.to_owned(), kind.to_owned(), head, value.to_owned()])
}
