//! Why an MCP endpoint's request can't be decided.

/// Why the body or the headers of a request to an MCP endpoint are rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum McpFault {
    /// The body is longer than the limit.
    TooLarge,
    /// The body couldn't be read.
    Unreadable,
    /// The body isn't `application/json`, or it is encoded.
    Encoding,
    /// The body isn't UTF-8.
    Utf8,
    /// The body isn't JSON.
    Json,
    /// The body has too many levels.
    Depth,
    /// A name contains half a surrogate pair, or a string of the protocol does.
    Surrogate,
    /// Two members have one name, or some decoders take them for one.
    Member,
    /// The body is a batch.
    Batch,
    /// The body isn't a message of JSON-RPC 2.0.
    Message,
    /// A method that isn't a notification's has no `id`, so it would run without a response.
    NoId,
    /// A parameter that the operation needs is missing or no string.
    Params,
    /// A header is missing, occurs twice or differs from the body.
    Header,
    /// The protocol version isn't accepted.
    Version,
    /// `Origin` names a page that isn't allowed.
    Origin,
    /// It consumes orbs and is in a session, where the endpoint's settings don't [accept](crate::Mcp::charge_sessions) such calls.
    Session,
    /// The program holds as many bytes of bodies as it may. The client can try again.
    Busy,
}

impl McpFault {
    /// The error code of JSON-RPC or MCP, and the message.
    pub(super) const fn error(self) -> (i32, &'static str) {
        match self {
            Self::TooLarge => (-32600, "the body is too large"),
            Self::Unreadable => (-32700, "the body could not be read"),
            Self::Encoding => (-32600, "the body is not application/json without a content encoding"),
            Self::Utf8 => (-32700, "the body is not UTF-8"),
            Self::Json => (-32700, "the body is not JSON"),
            Self::Depth => (-32600, "the body has over 64 levels"),
            Self::Surrogate => (-32600, "a string contains half a surrogate pair"),
            Self::Member => (-32600, "two members have the same name for some decoders"),
            Self::Batch => (-32600, "batches are not accepted"),
            Self::Message => (-32600, "the body is not a message of JSON-RPC 2.0"),
            Self::NoId => (-32600, "only notifications have no id"),
            Self::Params => (-32602, "a parameter is missing or not a string"),
            Self::Header => (-32020, "header mismatch: a header is missing, repeated or different from the body"),
            Self::Version => (-32022, "unsupported protocol version"),
            Self::Origin => (-32600, "the origin is not allowed"),
            Self::Session => (-32600, "calls that consume orbs are not accepted in sessions"),
            Self::Busy => (-32000, "too many requests at a time"),
        }
    }

    /// A code for logs.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::TooLarge => "too_large",
            Self::Unreadable => "unreadable",
            Self::Encoding => "encoding",
            Self::Utf8 => "utf8",
            Self::Json => "json",
            Self::Depth => "depth",
            Self::Surrogate => "surrogate",
            Self::Member => "member",
            Self::Batch => "batch",
            Self::Message => "message",
            Self::NoId => "no_id",
            Self::Params => "params",
            Self::Header => "header",
            Self::Version => "version",
            Self::Origin => "origin",
            Self::Session => "session",
            Self::Busy => "busy",
        }
    }
}
