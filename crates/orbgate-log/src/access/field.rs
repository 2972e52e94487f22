//! The fields of access logs.

/// A field with further data about a request.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Field {
    /// The server that received the request, a name and perhaps a port, if the log has it.
    VirtualHost,
    /// The client, an address or a name.
    Host,
    /// The response of `identd`.
    Identity,
    /// The user that the server authenticated.
    User,
    /// The time, for example `20/Nov/2026:13:05:00 +0000`, or any other format that the server
    /// uses.
    Time,
    /// The status of the response.
    Status,
    /// The size of the response.
    Size,
    /// The page that led to the request.
    Referer,
    /// The client's program.
    Agent,
    /// A field at this position, from 0, after the combined format or among those that HAProxy captured.
    Extra(usize),
    /// A field of a W3C log, by its name in `#Fields:`.
    Named(String),
}

impl Field {
    /// The names of the fields, in order. Fields after them are `extra1`, `extra2` and so on.
    pub const NAMES: [&str; 9] = ["vhost", "host", "identity", "user", "time", "status", "size", "referer", "agent"];

    const ALL: [Self; Self::NAMES.len()] = [
        Self::VirtualHost,
        Self::Host,
        Self::Identity,
        Self::User,
        Self::Time,
        Self::Status,
        Self::Size,
        Self::Referer,
        Self::Agent,
    ];

    /// The field with this name: one of [`NAMES`](Self::NAMES), `extra1`, `extra2` and so on, or a name in the form of a W3C
    /// log, such as `cs-username` and `cs(User-Agent)`.
    ///
    /// ```
    /// use orbgate_log::Field;
    /// assert_eq!(Field::from_name("agent"), Some(Field::Agent));
    /// assert_eq!(Field::from_name("extra1"), Some(Field::Extra(0)));
    /// assert_eq!(Field::from_name("cs(X-Scopes)"), Some(Field::Named("cs(X-Scopes)".to_owned())));
    /// assert_eq!(Field::from_name("extra0"), None);
    /// ```
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        if let Some(at) = Self::NAMES.iter().position(|known| *known == name) {
            return Self::ALL.get(at).cloned();
        }
        if let Some(number) = name.strip_prefix("extra") {
            let number: usize = number.parse().ok()?;
            return Some(Self::Extra(number.checked_sub(1)?));
        }
        is_w3c(name).then(|| Self::Named(name.to_owned()))
    }

    /// The position among [`NAMES`](Self::NAMES).
    pub(super) fn position(&self) -> Option<usize> {
        Self::ALL.iter().position(|known| known == self)
    }
}

/// Whether a name begins as W3C's extended format demands, with who sent the value: `cs-host`, `sc(Server)`, `x-scopes`.
fn is_w3c(name: &str) -> bool {
    let prefix = name.split(['-', '(']).next().unwrap_or_default();
    let has_more = prefix.len().saturating_add(1) < name.len() && !name.contains(char::is_whitespace);
    let is_header = !name.contains('(') || name.ends_with(')');
    matches!(prefix, "c" | "s" | "r" | "cs" | "sc" | "sr" | "rs" | "x") && has_more && is_header
}
