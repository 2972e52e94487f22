//! A request as received.

use crate::matched::Matched;

/// A request as received over the wire. The caller must not decode, strip or join any part of it.
#[derive(Clone, Copy, Debug, Default)]
#[expect(clippy::exhaustive_structs, reason = "what an adapter must give")]
pub struct Request<'a> {
    /// The method.
    pub method: &'a [u8],
    /// The target: path and query, in the bytes of the request line or of `:path`.
    pub target: &'a [u8],
    /// Every value of `Authorization`, one item for each line of the header.
    pub authorization: &'a [&'a [u8]],
    /// Every value of `Upgrade`, one item for each line of the header.
    pub upgrade: &'a [&'a [u8]],
    /// Every value of `Origin`, one item for each line of the header.
    pub origin: &'a [&'a [u8]],
    /// Every value of `Access-Control-Request-Method`, one item for each line of the header.
    pub access_control_request_method: &'a [&'a [u8]],
    /// The names of all headers, or at least those that contain `method`, in any letter case. A header can override the method of the
    /// request line.
    pub header_names: &'a [&'a [u8]],
    /// The route that a router before the gate chose.
    pub matched: Matched<'a>,
    /// Whether the request allows bonus orbs: see [`allows_bonus_orbs`](crate::allows_bonus_orbs).
    pub allow_bonus_orbs_use: bool,
    /// Whether a thread blocks while this request waits for keys, as in a server with one thread per request. Only one
    /// such request waits for longer than a second.
    pub holds_thread: bool,
}
