//! What both registration and grants need.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

/// An error response (RFC 6749 §5.2).
#[derive(Debug)]
pub(super) struct OAuthError {
    pub(super) error: &'static str,
    pub(super) description: String,
}

impl OAuthError {
    pub(super) fn new(error: &'static str, description: &str) -> Self {
        Self { error, description: description.to_owned() }
    }
}

/// A new id, secret, code or refresh token.
pub(super) fn secret() -> Result<String, OAuthError> {
    let mut bytes = [0; 32];
    aws_lc_rs::rand::fill(&mut bytes).map_err(|_| OAuthError::new("server_error", "the system gives no randomness"))?;
    Ok(URL_SAFE_NO_PAD.encode(bytes))
}
