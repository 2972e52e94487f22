//! The agreement of headers and body.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::fault::McpFault;
use super::message::Message;
use crate::header::same_header;

/// How requests of protocol versions are decided whose headers don't repeat the body.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "they are decided or they aren't")]
pub enum Legacy {
    /// By the body. Headers that are there must agree with it.
    #[default]
    Body,
    /// They are denied, with the versions that are accepted.
    Deny,
}

pub(super) struct Headers<'h>(pub(super) &'h [(&'h [u8], &'h [u8])]);

impl Headers<'_> {
    pub(super) fn has(&self, name: &str) -> bool {
        self.values(name).next().is_some()
    }

    /// The protocol version, as far as it is a string.
    pub(super) fn version(&self) -> &str {
        self.values("mcp-protocol-version").next().and_then(|value| str::from_utf8(value).ok()).unwrap_or_default()
    }

    /// The value of a header that occurs at most once.
    pub(super) fn one(&self, name: &str) -> Result<Option<&[u8]>, McpFault> {
        let mut values = self.values(name);
        let value = values.next();
        if values.next().is_some() { Err(McpFault::Header) } else { Ok(value) }
    }

    fn values(&self, name: &str) -> impl Iterator<Item = &[u8]> {
        let lines = self.0.iter().filter(move |(known, _)| same_header(known, name.as_bytes()));
        lines.map(|(_, value)| value.trim_ascii())
    }

    /// Checks that the body is JSON, as it came.
    pub(super) fn check_content(&self) -> Result<(), McpFault> {
        let content_type = self.one("content-type").map_err(|_| McpFault::Encoding)?.unwrap_or_default();
        let is_json = self.essence().eq_ignore_ascii_case(b"application/json");
        let charset = content_type.to_ascii_lowercase();
        let is_utf8 = match find(&charset, b"charset") {
            None => true,
            Some(at) => charset.get(at..).is_some_and(|rest| {
                let value = rest.strip_prefix(b"charset=").unwrap_or_default();
                matches!(value, b"utf-8" | b"\"utf-8\"" | b"utf8")
            }),
        };
        if is_json && is_utf8 && !self.is_encoded() { Ok(()) } else { Err(McpFault::Encoding) }
    }

    /// The media type without its parameters; empty unless it occurs once.
    pub(super) fn essence(&self) -> &[u8] {
        let content_type = self.one("content-type").ok().flatten().unwrap_or_default();
        content_type.split(|byte| *byte == b';').next().unwrap_or_default().trim_ascii()
    }

    pub(super) fn is_encoded(&self) -> bool {
        self.values("content-encoding").any(|value| !value.eq_ignore_ascii_case(b"identity"))
    }

    /// Whether the version is one whose headers repeat the body.
    pub(super) fn is_modern(&self, versions: &[String]) -> bool {
        let stated = self.one("mcp-protocol-version").ok().flatten();
        stated.is_some_and(|stated| versions.iter().any(|known| known.as_bytes() == stated))
    }

    /// Checks that the headers agree with the message.
    pub(super) fn check_agreement(
        &self,
        message: &Message,
        versions: &[String],
        legacy: Legacy,
    ) -> Result<(), McpFault> {
        let requires = |version: &[u8]| versions.iter().any(|known| known.as_bytes() == version);
        let stated = self.one("mcp-protocol-version")?;
        let is_modern = self.is_modern(versions);
        let version = message.version.as_deref().map(str::as_bytes);
        match (stated, version) {
            (Some(stated), Some(version)) if stated != version => return Err(McpFault::Header),
            // A server might decide by the body that it needs the headers.
            (None, Some(version)) if requires(version) => return Err(McpFault::Header),
            (_, None) if is_modern && message.method.is_some() && message.id.is_some() => return Err(McpFault::Header),
            _ => {}
        }
        if !is_modern && legacy == Legacy::Deny {
            return Err(McpFault::Version);
        }
        let method = message.method.as_deref();
        let name = message.repeated();
        let is_request = is_modern && message.id.is_some();
        agree(self.one("mcp-method")?, method, is_request && method.is_some())?;
        agree_encoded(self.one("mcp-name")?, name, is_request && name.is_some())
    }
}

fn find(text: &[u8], part: &[u8]) -> Option<usize> {
    text.windows(part.len()).position(|window| window == part)
}

fn agree(header: Option<&[u8]>, body: Option<&str>, is_required: bool) -> Result<(), McpFault> {
    let same = match header {
        Some(value) => body.is_some_and(|body| body.as_bytes() == value),
        None => !is_required,
    };
    if same { Ok(()) } else { Err(McpFault::Header) }
}

/// The same for a header that can be encoded. A second encoding of a value agrees with nothing.
fn agree_encoded(header: Option<&[u8]>, body: Option<&str>, is_required: bool) -> Result<(), McpFault> {
    let encoded = header.and_then(|value| value.strip_prefix(b"=?base64?")?.strip_suffix(b"?="));
    match (encoded, body) {
        (Some(encoded), Some(body)) if STANDARD.encode(body).as_bytes() == encoded => Ok(()),
        (Some(_), _) => Err(McpFault::Header),
        (None, _) => agree(header, body, is_required),
    }
}
