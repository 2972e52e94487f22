//! A second reader of MCP requests, over `serde_json`, and random requests on which both must agree.

use core::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

use super::{JSON, Line, engine, from, mcp, rules};
use crate::reading;
use orbgate_gate::McpRequest;

enum Tree {
    Text(String),
    Number,
    Other,
    List(Vec<Tree>),
    Map(Vec<(String, Tree)>),
}

impl<'de> Deserialize<'de> for Tree {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Any;
        impl<'de> Visitor<'de> for Any {
            type Value = Tree;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("JSON")
            }
            fn visit_bool<E>(self, _: bool) -> Result<Tree, E> {
                Ok(Tree::Other)
            }
            fn visit_unit<E>(self) -> Result<Tree, E> {
                Ok(Tree::Other)
            }
            fn visit_i64<E>(self, _: i64) -> Result<Tree, E> {
                Ok(Tree::Number)
            }
            fn visit_u64<E>(self, _: u64) -> Result<Tree, E> {
                Ok(Tree::Number)
            }
            fn visit_f64<E>(self, _: f64) -> Result<Tree, E> {
                Ok(Tree::Number)
            }
            fn visit_str<E>(self, text: &str) -> Result<Tree, E> {
                Ok(Tree::Text(text.to_owned()))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Tree, A::Error> {
                let mut items = Vec::new();
                while let Some(item) = list.next_element()? {
                    items.push(item);
                }
                Ok(Tree::List(items))
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Tree, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Tree::Map(members))
            }
        }
        deserializer.deserialize_any(Any)
    }
}

impl Tree {
    fn get(&self, name: &str) -> Option<&Self> {
        let Self::Map(members) = self else { return None };
        members.iter().find(|(known, _)| known == name).map(|(_, value)| value)
    }

    fn text(&self) -> Option<&str> {
        if let Self::Text(text) = self { Some(text) } else { None }
    }

    fn depth(&self) -> usize {
        1 + match self {
            Self::List(items) => items.iter().map(Self::depth).max().unwrap_or_default(),
            Self::Map(members) => members.iter().map(|(_, value)| value.depth()).max().unwrap_or_default(),
            _ => return 0,
        }
    }

    /// Whether no object below has two members of one name.
    fn is_exact(&self) -> bool {
        match self {
            Self::List(items) => items.iter().all(Self::is_exact),
            Self::Map(members) => {
                let mut names: Vec<_> = members.iter().map(|(name, _)| name).collect();
                names.sort();
                names.windows(2).all(|pair| pair[0] != pair[1]) && members.iter().all(|(_, value)| value.is_exact())
            }
            _ => true,
        }
    }

    /// Whether each member's name is read alike by every decoder.
    fn is_clear(&self, known: &str) -> bool {
        let Self::Map(members) = self else { return true };
        let plain = |name: &str| {
            let name: String =
                name.chars().filter(|it| !('\0'..' ').contains(it) && !('\u{7f}'..'\u{a0}').contains(it)).collect();
            name.to_lowercase().replace('\u{17f}', "s").replace('\u{212a}', "k")
        };
        let mut names: Vec<_> = members.iter().map(|(name, _)| plain(name)).collect();
        // Some decoders end a name at NUL.
        let is_known = |name: &String| {
            !name.contains('\0') && known.split(' ').all(|known| known == name || plain(known) != plain(name))
        };
        names.sort();
        names.windows(2).all(|pair| pair[0] != pair[1]) && members.iter().all(|(name, _)| is_known(name))
    }
}

/// What a request does: `Err` if it is rejected, `Ok(None)` if no route can declare it.
fn reads(headers: &[(&str, String)], body: &str) -> Result<Option<String>, &'static str> {
    let root: Tree = serde_json::from_str(body).map_err(|_| "json")?;
    let Tree::Map(_) = root else { return Err("no object") };
    let none = Tree::Map(Vec::new());
    let params = root.get("params").unwrap_or(&none);
    let meta = params.get("_meta").unwrap_or(&none);
    let is_clear = root.is_exact()
        && root.depth() <= 64
        && root.is_clear("jsonrpc id method params result error")
        && params.is_clear("name uri arguments task taskId ref cursor notifications _meta")
        && params.get("ref").is_none_or(|it| it.is_clear("type name uri"))
        && params.get("notifications").is_none_or(|it| it.is_clear("resourceSubscriptions toolsListChanged"))
        && meta.is_clear("io.modelcontextprotocol/protocolVersion progressToken");
    if !is_clear {
        return Err("members");
    }
    if !matches!(params, Tree::Map(_)) || root.get("jsonrpc").and_then(Tree::text) != Some("2.0") {
        return Err("message");
    }
    let has_id = match root.get("id") {
        None => false,
        Some(Tree::Text(_) | Tree::Number) => true,
        Some(_) => return Err("id"),
    };
    let results = [root.get("result"), root.get("error")].into_iter().flatten().count();
    let method = match (root.get("method"), results) {
        (Some(method), 0) => Some(method.text().ok_or("method")?),
        (None, 1) if has_id => None,
        _ => return Err("kind"),
    };
    if method.is_some_and(|method| !has_id && !method.starts_with("notifications/")) {
        return Err("no id");
    }
    let named = match method {
        Some("tools/call" | "prompts/get") => Some(params.get("name")),
        Some("resources/read") => Some(params.get("uri")),
        _ => None,
    };
    let name = named.map(|value| value.and_then(Tree::text));
    // What `Mcp-Name` repeats, even where it isn't part of the route.
    let repeated = match method {
        Some("tasks/get" | "tasks/update" | "tasks/cancel") => params.get("taskId").and_then(Tree::text),
        _ => name.flatten(),
    };
    let one = |name: &str| {
        let mut values = headers.iter().filter(|(known, _)| *known == name).map(|(_, value)| value.as_str());
        let value = values.next();
        if values.next().is_some() { Err("two headers") } else { Ok(value) }
    };
    let (version, stated) = (one("mcp-protocol-version")?, meta.get("io.modelcontextprotocol/protocolVersion"));
    let stated = stated.map(|value| value.text().unwrap_or("no text"));
    let is_new = version == Some("2026-07-28");
    if stated.is_some() && version.is_some() && stated != version || stated == Some("2026-07-28") && !is_new {
        return Err("version");
    }
    if is_new && has_id && method.is_some() && (stated.is_none() || one("mcp-method")?.is_none()) {
        return Err("version or method is missing");
    }
    if one("mcp-method")?.is_some_and(|header| Some(header) != method) {
        return Err("method differs");
    }
    match (one("mcp-name")?, repeated) {
        (None, Some(_)) if is_new && has_id => return Err("name is missing"),
        (Some(header), Some(name)) if header == name => {}
        (Some("=?base64?bGlzdF9vcmRlcnM=?="), Some("list_orders")) | (None, _) => {}
        _ => return Err("name differs"),
    }
    let Some(method) = method else { return Ok(Some("/mcp/response".to_owned())) };
    if name == Some(None) {
        return Err("name is no text");
    }
    let notifications = params.get("notifications").unwrap_or(&none);
    let listened = match (notifications, notifications.get("resourceSubscriptions")) {
        (Tree::Map(_), None) => Some(Vec::new()),
        (Tree::Map(_), Some(Tree::List(uris))) => uris.iter().map(Tree::text).collect(),
        _ => None,
    };
    let fits = |name: &str| {
        !name.is_empty() && name != ".." && name.bytes().all(|it| it.is_ascii_alphanumeric() || b"_.-".contains(&it))
    };
    Ok(match (method, name.flatten()) {
        // It has no reference that names something.
        ("completion/complete" | "response" | "stream" | "session/end", _) => None,
        ("subscriptions/listen", _) => match listened {
            Some(uris) => uris.iter().all(|uri| uri.starts_with("orders://")).then(|| format!("/mcp/{method}")),
            None => return Err("resources"),
        },
        (method, None) if method.starts_with("tools/call/") => None,
        (method, None) => method.split('/').all(fits).then(|| format!("/mcp/{method}")),
        ("resources/read", Some(uri)) => match uri.strip_prefix("orders://") {
            Some(rest) if !rest.is_empty() && rest.bytes().all(|it| it.is_ascii_digit()) => {
                Some(format!("/mcp/{method}/orders:/{rest}"))
            }
            _ => None,
        },
        (method, Some(name)) => fits(name).then(|| format!("/mcp/{method}/{name}")),
    })
}

/// Numbers that look random, the same in each run (xorshift64*).
struct Random(u64);

impl Random {
    fn below(&mut self, most: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        usize::try_from(self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33).unwrap() % most
    }

    fn one<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }

    fn rarely(&mut self) -> bool {
        self.below(12) == 0
    }

    /// A member's name, mostly as it is.
    fn spelled(&mut self, name: &str) -> String {
        match self.below(60) {
            0 => name.to_uppercase(),
            1 => name.replace('s', "\u{17f}"),
            2 => name.replace('s', "\\u017f").replace('k', "\u{212a}"),
            3 => format!("{name}\\u0000"),
            4 => format!("{name}\\u0085"),
            5 => format!("\\u{:04x}{}", u32::from(name.as_bytes()[0]), &name[1..]),
            6 => format!("{name}x"),
            _ => name.to_owned(),
        }
    }

    fn members(&mut self, members: &mut Vec<String>) -> String {
        if self.rarely() {
            let again = self.one(&["\"x\":1", "\"X\":[]", "\"name\":\"refund\"", "\"Name\":\"refund\"", "\"id\":2"]);
            members.push(again.to_owned());
        }
        let (one, other) = (self.below(members.len() + 1), self.below(members.len() + 1));
        if one < members.len() && other < members.len() {
            members.swap(one, other);
        }
        format!("{{{}}}", members.join(","))
    }
}

const METHODS: &[&str] = &[
    "tools/call",
    "tools/call",
    "tools/call",
    "tools/call",
    "prompts/get",
    "resources/read",
    "tasks/get",
    "tasks/cancel",
    "tools/list",
    "initialize",
    "notifications/initialized",
    "completion/complete",
    "subscriptions/listen",
    "tools/call/refund",
    "stream",
    "a//b",
    "",
];
const NAMES: &[&str] = &[
    "list_orders",
    "list_orders",
    "refund",
    "refund",
    "REFUND",
    "orders://42",
    "orders://4 2",
    "a/b",
    "",
    "..",
    "x?y",
];
const VERSIONS: &[&str] = &["2026-07-28", "2026-07-28", "2025-11-25", "x"];

fn request(random: &mut Random) -> (Vec<(&'static str, String)>, String) {
    let (method, name, version) = (random.one(METHODS), random.one(NAMES), random.one(VERSIONS));
    let has_version = !random.rarely();
    let mut params = Vec::new();
    if !random.rarely() {
        let key = match method {
            "resources/read" => "uri",
            "tasks/get" | "tasks/cancel" => "taskId",
            _ => "name",
        };
        let value =
            if random.rarely() { random.one(&["1", "null", "[\"refund\"]"]).to_owned() } else { format!("\"{name}\"") };
        params.push(format!("\"{}\":{value}", random.spelled(key)));
    }
    if random.below(3) == 0 {
        let value = random.one(&[
            "{}",
            "{\"a\":1,\"A\":[{}]}",
            "{\"a\":1,\"a\":2}",
            "{\"Name\":1,\"name\":2}",
            "[1,2.5e3]",
            "\"\\u00e9\"",
        ]);
        params.push(format!("\"{}\":{value}", random.spelled("arguments")));
    }
    if random.rarely() {
        params.push(format!("\"{}\":{{\"{}\":1,\"type\":\"a\"}}", random.spelled("ref"), random.spelled("name")));
    }
    if method == "subscriptions/listen" && random.below(3) > 0 || random.rarely() {
        let uris = random.one(&[
            "[]",
            "[\"orders://42\"]",
            "[\"orders://42\",\"a/b\"]",
            "[\"orders://1\",7]",
            "\"orders://1\"",
            "null",
        ]);
        let (outer, inner) = (random.spelled("notifications"), random.spelled("resourceSubscriptions"));
        params.push(format!("\"{outer}\":{{\"{inner}\":{uris}}}"));
    }
    if has_version && version == "2026-07-28" && !random.rarely() || random.rarely() {
        let stated = if random.rarely() {
            random.one(&["\"2025-11-25\"", "7", "\"x\""]).to_owned()
        } else {
            format!("\"{version}\"")
        };
        let key = random.spelled("io.modelcontextprotocol/protocolVersion");
        params.push(format!("\"{}\":{{\"{key}\":{stated}}}", random.spelled("_meta")));
    }
    let mut message = vec![format!("\"{}\":\"2.0\"", random.spelled("jsonrpc"))];
    if !random.rarely() {
        message.push(format!(
            "\"{}\":{}",
            random.spelled("id"),
            random.one(&["1", "1", "-1.5", "\"a\"", "\"a\"", "null", "{}"])
        ));
    }
    match random.below(20) {
        0 => message.push(format!("\"{}\":{{}}", random.spelled("result"))),
        _ => message.push(format!("\"{}\":\"{method}\"", random.spelled("method"))),
    }
    if !random.rarely() {
        let params = random.members(&mut params);
        message.push(format!("\"{}\":{params}", random.spelled("params")));
    }
    let mut body = random.members(&mut message);
    if random.below(40) == 0 {
        let at = random.below(body.len() + 1);
        let part = random.one(&["{", "}", "[", "]", ",", "\"", " ", "\\", "0", "\u{feff}", "\u{1}", "/"]);
        if body.is_char_boundary(at) {
            body.insert_str(at, part);
        }
    }
    if random.below(60) == 0 {
        body = format!("[{body}]");
    }
    let mut headers = Vec::new();
    if has_version {
        headers.push(("mcp-protocol-version", version.to_owned()));
    }
    let is_new = has_version && version == "2026-07-28";
    if is_new != random.rarely() {
        headers.push(("mcp-method", if random.rarely() { random.one(METHODS) } else { method }.to_owned()));
    }
    let has_name = matches!(method, "tools/call" | "prompts/get" | "resources/read" | "tasks/get" | "tasks/cancel");
    if (is_new && has_name) != random.rarely() {
        let sent = if random.rarely() { random.one(NAMES) } else { name };
        let encoded = sent == "list_orders" && random.below(3) == 0;
        headers.push(("mcp-name", if encoded { "=?base64?bGlzdF9vcmRlcnM=?=" } else { sent }.to_owned()));
    }
    if random.below(40) == 0
        && let Some(again) = headers.last().cloned()
    {
        headers.push(again);
    }
    (headers, body)
}

/// The step `soak` sets `ORBGATE_MCP_PAIRS=1000000`.
#[test]
fn headers_and_bodies_are_read_as_the_oracle_reads_them() {
    let pairs = std::env::var("ORBGATE_MCP_PAIRS").map_or(20_000, |pairs| pairs.parse().unwrap());
    let (engine, rules) = (engine(super::POLICY), rules(mcp()));
    let mut random = Random(0x006d_6370);
    let (mut allowed, mut mapped, mut refused) = (0, 0, 0);
    for _ in 0..pairs {
        let (headers, body) = request(&mut random);
        let lines: Vec<Line<'_>> =
            headers.iter().map(|(name, value)| (name.as_bytes(), value.as_bytes())).chain([JSON]).collect();
        let request = McpRequest { headers: &lines, body: Ok(body.as_bytes()) };
        let reading = reading(from(&rules, &engine, ("POST", "/mcp"), "mcp:connect orders:read", &[]));
        let answer = rules.decide_body(&engine, reading, request);
        let call = answer.mcp.as_ref().unwrap();
        let actual = match call.fault() {
            None => Ok(call.target().map(str::to_owned)),
            Some(_) => Err(()),
        };
        let expected = reads(&headers, &body);
        // The oracle knows one kind of resource; the others have no route.
        let same = match (&actual, &expected) {
            (Ok(Some(target)), Ok(None)) if target.starts_with("/mcp/resources/read/orders:/") => {
                !answer.decision.is_allow()
            }
            (actual, expected) => actual.as_ref().ok() == expected.as_ref().ok(),
        };
        assert!(same, "{headers:?}\n{body}\n{actual:?} {:?}, not {expected:?}", call.fault());
        allowed += usize::from(answer.decision.is_allow());
        mapped += usize::from(actual.is_ok());
        refused += usize::from(actual.is_err());
    }
    // None of the three is rare, so that each is tried.
    assert!(
        allowed > pairs / 30 && mapped > pairs / 10 && refused > pairs / 10,
        "{allowed} {mapped} {refused} of {pairs}"
    );
}
