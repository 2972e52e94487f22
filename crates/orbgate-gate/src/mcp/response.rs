//! Reads the response to a call as it is sent, piece by piece and in bounded memory, for how the call has ended.
//!
//! It isn't the strict reader of requests: the service wrote these bytes, and a result can be larger than any limit. Only the
//! brackets, the strings and a few members count.

use super::headers::Headers;

/// Reads the response to one call at an MCP endpoint: JSON, or a stream of events.
#[derive(Clone, Debug)]
pub struct McpResponse {
    id: Id,
    is_legacy: bool,
    in_session: bool,
    seen: Seen,
    format: Format,
    message: Message,
}

/// What the response to a call has said so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct McpEnd {
    pub(crate) seen: Seen,
    /// In older versions, a client that closes a stream doesn't cancel its call.
    pub(crate) is_legacy: bool,
    /// In a session, the response can be that to another call.
    pub(crate) in_session: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Seen {
    /// No response has begun, or nothing of it can be read.
    Nothing,
    /// A stream without the call's response so far.
    Silence,
    /// A response with another `id`.
    Other,
    /// The call's result.
    Result,
    /// A result with `isError: true`.
    ToolError,
    /// A result that asks the client for more input.
    InputRequired,
    /// The call's JSON-RPC error.
    Error,
}

const SEEN: [Seen; 7] =
    [Seen::Nothing, Seen::Silence, Seen::Other, Seen::Result, Seen::ToolError, Seen::InputRequired, Seen::Error];

/// A longer `id` is that of no response.
const MOST_ID: usize = 256;

/// A longer string or number isn't kept: it is none of the names and values that count.
const MOST_TOKEN: usize = 2_048;

impl McpResponse {
    /// The response to a request with these bytes as its `id`: [`McpCall::id`](crate::McpCall::id) and
    /// [`McpCall::is_legacy`](crate::McpCall::is_legacy).
    #[must_use]
    pub fn new(id: &str, is_legacy: bool) -> Self {
        let (id, format, message) = (Id::of(id), Format::Unread, Message::default());
        Self { id, is_legacy, in_session: false, seen: Seen::Nothing, format, message }
    }

    /// The same for a request in a session or not: [`McpCall::is_in_session`](crate::McpCall::is_in_session). In one, nothing that
    /// the response says counts.
    #[must_use]
    pub const fn in_session(mut self, in_session: bool) -> Self {
        self.in_session = in_session;
        self
    }

    /// The response begins. `headers` are its header lines, or at least `Content-Type` and `Content-Encoding`. Returns
    /// whether its body must be read.
    pub fn begin(&mut self, headers: &[(&[u8], &[u8])]) -> bool {
        let headers = Headers(headers);
        (self.format, self.seen) = match headers.essence() {
            _ if self.in_session || headers.is_encoded() => (Format::Unread, Seen::Nothing),
            essence if essence.eq_ignore_ascii_case(b"application/json") => (Format::Json, Seen::Nothing),
            essence if essence.eq_ignore_ascii_case(b"text/event-stream") => {
                (Format::Stream(Lines::default()), Seen::Silence)
            }
            _ => (Format::Unread, Seen::Nothing),
        };
        !matches!(self.format, Format::Unread)
    }

    /// A piece of its body. Returns whether the next piece must be read.
    pub fn read(&mut self, piece: &[u8]) -> bool {
        match &mut self.format {
            Format::Unread => {}
            Format::Json => {
                self.message.read(piece);
                if self.message.is_over {
                    self.take();
                    self.format = Format::Unread;
                }
            }
            Format::Stream(lines) => {
                let mut lines = core::mem::take(lines);
                lines.read(piece, |line| match line {
                    Line::Data(data) => self.message.read(data),
                    Line::Event { is_message } => {
                        if is_message && self.message.is_over {
                            self.take();
                        }
                        self.message = Message::default();
                    }
                });
                let is_answered = !matches!(self.seen, Seen::Silence | Seen::Other);
                self.format = if is_answered { Format::Unread } else { Format::Stream(lines) };
            }
        }
        !matches!(self.format, Format::Unread)
    }

    /// A piece of its body has passed that can't be read.
    pub fn lose(&mut self) {
        self.format = Format::Unread;
        if self.seen == Seen::Silence {
            self.seen = Seen::Nothing;
        }
    }

    /// What it has said so far.
    #[must_use]
    pub const fn end(&self) -> McpEnd {
        McpEnd { seen: self.seen, is_legacy: self.is_legacy, in_session: self.in_session }
    }

    /// Takes what a whole message says. The first response to the call counts.
    fn take(&mut self) {
        let Some((id, seen)) = self.message.response() else { return };
        match id.is_some_and(|id| self.id.is(id)) {
            true if matches!(self.seen, Seen::Nothing | Seen::Silence | Seen::Other) => self.seen = seen,
            false if matches!(self.seen, Seen::Nothing | Seen::Silence) => self.seen = Seen::Other,
            _ => {}
        }
    }
}

/// The marks of an end's number, above that of what was seen.
const LEGACY: u8 = 0x10;
const IN_SESSION: u8 = 0x20;

impl McpEnd {
    /// A number for hosts that pass it on: not 0.
    #[must_use]
    pub fn number(self) -> u8 {
        let at = SEEN.iter().position(|seen| *seen == self.seen).unwrap_or_default();
        let at = u8::try_from(at).unwrap_or_default().saturating_add(1);
        let mark = |is_set, mark| if is_set { mark } else { 0 };
        at | mark(self.is_legacy, LEGACY) | mark(self.in_session, IN_SESSION)
    }

    /// What has this number.
    #[must_use]
    pub fn of_number(number: u8) -> Option<Self> {
        let at = usize::from(number & 0xf).checked_sub(1)?;
        let seen = *SEEN.get(at)?;
        let (is_legacy, in_session) = (number & LEGACY != 0, number & IN_SESSION != 0);
        (number <= LEGACY | IN_SESSION | 0xf).then_some(Self { seen, is_legacy, in_session })
    }
}

/// The `id` of a call. Servers may write it otherwise than the client: escapes, `1.0`, or a string as a number.
#[derive(Clone, Debug)]
struct Id {
    text: String,
    number: Option<f64>,
}

impl Id {
    fn of(raw: &str) -> Self {
        let text = serde_json::from_str::<String>(raw).unwrap_or_else(|_| raw.to_owned());
        let text = Some(text).filter(|text| text.len() <= MOST_ID).unwrap_or_default();
        let number = text.parse().ok();
        Self { text, number }
    }

    fn is(&self, raw: &[u8]) -> bool {
        if self.text.is_empty() && self.number.is_none() && raw != b"\"\"" {
            return false;
        }
        match decoded(raw) {
            Some(text) => text == self.text,
            None => str::from_utf8(raw).is_ok_and(|raw| {
                raw == self.text || raw.parse::<f64>().is_ok_and(|number| Some(number) == self.number)
            }),
        }
    }
}

fn decoded(raw: &[u8]) -> Option<String> {
    serde_json::from_slice(raw).ok()
}

#[derive(Clone, Debug)]
enum Format {
    /// Nothing more is read.
    Unread,
    Json,
    Stream(Lines),
}

/// A message, as far as it was read.
#[derive(Clone, Debug, Default)]
struct Message {
    depth: u64,
    /// The string that isn't closed, and whether its next byte is escaped.
    string: Option<bool>,
    /// The bytes of the string or word at hand, if it can count.
    token: Vec<u8>,
    /// The next string is a name.
    is_name: bool,
    /// The member of the message.
    member: Member,
    /// The member of the result.
    inner: Member,
    id: Option<Vec<u8>>,
    has_method: bool,
    has_result: bool,
    has_error: bool,
    is_tool_error: bool,
    needs_input: bool,
    is_over: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Member {
    #[default]
    Any,
    Id,
    Method,
    Result,
    Error,
    IsError,
    ResultType,
}

impl Message {
    /// The bytes of its `id` and what it says, if it is a response.
    fn response(&self) -> Option<(Option<&[u8]>, Seen)> {
        let seen = match (self.has_method, self.has_error, self.has_result) {
            (true, _, _) | (_, false, false) => return None,
            (_, true, _) => Seen::Error,
            _ if self.needs_input => Seen::InputRequired,
            _ if self.is_tool_error => Seen::ToolError,
            _ => Seen::Result,
        };
        Some((self.id.as_deref(), seen))
    }

    fn read(&mut self, mut piece: &[u8]) {
        while !self.is_over
            && let Some((byte, rest)) = piece.split_first()
        {
            if let Some(is_escaped) = self.string {
                let ends = |byte: &u8| matches!(byte, b'"' | b'\\');
                let plain = if is_escaped { 0 } else { piece.iter().position(ends).unwrap_or(piece.len()) };
                let (run, rest) = piece.split_at_checked(plain.max(1)).unwrap_or((piece, &[]));
                self.keep(run);
                self.string = match run {
                    _ if is_escaped => Some(false),
                    [b'\\'] => Some(true),
                    [b'"'] => None,
                    _ => Some(false),
                };
                if self.string.is_none() {
                    self.end_token();
                }
                piece = rest;
                continue;
            }
            match byte {
                b'"' => {
                    self.end_token();
                    self.string = Some(false);
                    self.keep(b"\"");
                }
                b'{' | b'[' => self.open(*byte == b'{'),
                b'}' | b']' => self.close(),
                b',' => {
                    self.end_token();
                    self.is_name |= self.counts();
                }
                b':' => self.end_token(),
                b' ' | b'\t' | b'\n' | b'\r' => self.end_token(),
                _ => self.keep(&[*byte]),
            }
            piece = rest;
        }
    }

    /// Whether the names and values at hand are those of the message or of its result.
    fn counts(&self) -> bool {
        self.depth == 1 || self.depth == 2 && self.member == Member::Result
    }

    fn keep(&mut self, bytes: &[u8]) {
        if self.counts() && self.token.len() < MOST_TOKEN {
            let room = MOST_TOKEN.saturating_sub(self.token.len());
            self.token.extend_from_slice(bytes.get(..room).unwrap_or(bytes));
        }
    }

    /// A string or word is over, if there is one.
    fn end_token(&mut self) {
        if self.token.is_empty() {
            return;
        }
        let token = core::mem::take(&mut self.token);
        let is_string = token.starts_with(b"\"");
        if self.is_name && is_string {
            self.is_name = false;
            let name = decoded(&token).unwrap_or_default();
            match (self.depth, name.as_str()) {
                (1, "id") => self.member = Member::Id,
                (1, "method") => self.member = Member::Method,
                (1, "result") => self.member = Member::Result,
                (1, "error") => self.member = Member::Error,
                (1, _) => self.member = Member::Any,
                (_, "isError") => self.inner = Member::IsError,
                (_, "resultType") => self.inner = Member::ResultType,
                _ => self.inner = Member::Any,
            }
            return;
        }
        match (self.depth, self.member, self.inner) {
            (1, Member::Id, _) => self.id = Some(token),
            (1, Member::Error, _) if token == b"null" => {}
            (1, ..) => self.begin_value(),
            (_, _, Member::IsError) => self.is_tool_error = token == b"true",
            (_, _, Member::ResultType) => {
                self.needs_input = decoded(&token).is_some_and(|text| text == "input_required");
            }
            _ => {}
        }
    }

    /// A member of the message has a value.
    const fn begin_value(&mut self) {
        match self.member {
            Member::Method => self.has_method = true,
            Member::Result => self.has_result = true,
            Member::Error => self.has_error = true,
            _ => {}
        }
    }

    fn open(&mut self, is_object: bool) {
        self.end_token();
        if self.depth == 1 {
            self.begin_value();
            self.inner = Member::Any;
            if !is_object && self.member == Member::Result {
                // No member of it counts.
                self.member = Member::Any;
            }
        }
        // A list of messages is the response to nothing: its members have no names.
        self.depth = self.depth.saturating_add(if self.depth == 0 && !is_object { 3 } else { 1 });
        self.is_name = is_object && self.counts();
    }

    fn close(&mut self) {
        self.end_token();
        self.depth = self.depth.saturating_sub(1);
        self.is_name = false;
        self.is_over = self.depth == 0;
    }
}

/// Splits a stream into its events (the HTML standard, 9.2.6).
#[derive(Clone, Debug, Default)]
struct Lines {
    at: At,
    /// The name of the field, or the value of `event`, as far as it can count.
    text: Vec<u8>,
    field: Field,
    /// The last byte was a CR, so an LF belongs to it.
    is_after_cr: bool,
    is_after_first: bool,
    has_data: bool,
    /// The event has another type than `message`.
    is_other: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum At {
    #[default]
    Name,
    Space,
    Value,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Field {
    #[default]
    Any,
    Data,
    Event,
}

enum Line<'p> {
    Data(&'p [u8]),
    Event { is_message: bool },
}

/// Longer names and types of events don't count.
const MOST_FIELD: usize = 16;

const BOM: &[u8] = b"\xef\xbb\xbf";

impl Lines {
    fn read(&mut self, mut piece: &[u8], mut pass: impl FnMut(Line<'_>)) {
        while let Some((byte, rest)) = piece.split_first() {
            let is_second = core::mem::take(&mut self.is_after_cr) && *byte == b'\n';
            match byte {
                _ if is_second => piece = rest,
                b'\r' | b'\n' => {
                    self.is_after_cr = *byte == b'\r';
                    self.end(&mut pass);
                    piece = rest;
                }
                _ => {
                    let ends = |byte: &u8| matches!(byte, b'\r' | b'\n');
                    let end = piece.iter().position(ends).unwrap_or(piece.len());
                    let (run, rest) = piece.split_at_checked(end).unwrap_or((piece, &[]));
                    self.run(run, &mut pass);
                    piece = rest;
                }
            }
        }
    }

    fn run(&mut self, mut run: &[u8], pass: &mut impl FnMut(Line<'_>)) {
        if self.at == At::Name {
            let colon = run.iter().position(|byte| *byte == b':');
            self.keep(run.get(..colon.unwrap_or(run.len())).unwrap_or_default());
            let Some(rest) = colon.and_then(|colon| run.get(colon.saturating_add(1)..)) else { return };
            self.name(pass);
            run = rest;
        }
        if self.at == At::Space
            && let Some(first) = run.first()
        {
            self.at = At::Value;
            run = if *first == b' ' { run.get(1..).unwrap_or_default() } else { run };
        }
        match self.field {
            Field::Data => pass(Line::Data(run)),
            Field::Event => self.keep(run),
            Field::Any => {}
        }
    }

    fn keep(&mut self, bytes: &[u8]) {
        let room = MOST_FIELD.saturating_sub(self.text.len());
        self.text.extend_from_slice(bytes.get(..room).unwrap_or(bytes));
    }

    /// The name of a field is over.
    fn name(&mut self, pass: &mut impl FnMut(Line<'_>)) {
        let name = core::mem::take(&mut self.text);
        let name = match name.strip_prefix(BOM) {
            Some(rest) if !self.is_after_first => rest,
            _ => &name,
        };
        self.is_after_first = true;
        self.at = At::Space;
        self.field = match name {
            b"data" => Field::Data,
            b"event" => Field::Event,
            _ => Field::Any,
        };
        if self.field == Field::Data && core::mem::replace(&mut self.has_data, true) {
            pass(Line::Data(b"\n"));
        }
    }

    fn end(&mut self, pass: &mut impl FnMut(Line<'_>)) {
        let is_empty = self.at == At::Name && (self.text.is_empty() || !self.is_after_first && self.text == BOM);
        if self.field == Field::Event {
            self.is_other = !matches!(&*self.text, b"" | b"message");
        }
        if is_empty {
            pass(Line::Event { is_message: !self.is_other });
            (self.has_data, self.is_other) = (false, false);
        } else if self.at == At::Name {
            // A field without a value.
            self.name(pass);
            if self.field == Field::Event {
                self.is_other = false;
            }
        }
        self.text.clear();
        (self.at, self.field, self.is_after_first) = (At::Name, Field::Any, true);
    }
}
