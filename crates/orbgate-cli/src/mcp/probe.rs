//! `orbgate mcp probe`: how a server, or a gateway before it, treats requests that others would read differently.

use core::hash::BuildHasher as _;
use std::borrow::Cow;
use std::hash::RandomState;
use std::io::Write as _;

use serde::Serialize;
use serde_json::json;

use super::arguments::Probe;
use super::wire::{Endpoint, Response};
use crate::output::{DENY, Exit, FAINT, STRONG, Stop, print_json};

const CURRENT: &str = "2026-07-28";
const OLD: &str = "2025-11-25";

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Verdict {
    Fine,
    /// Dangerous behind a proxy that reads the request differently.
    Note,
    Fault,
    /// The server doesn't speak what the check needs.
    Skipped,
}

#[derive(Serialize)]
struct Finding {
    check: &'static str,
    verdict: Verdict,
    status: u16,
    about: Cow<'static, str>,
}

struct Prober<'a> {
    endpoint: Endpoint,
    bearer: Option<String>,
    /// For an audience that isn't the server's.
    other: Option<String>,
    /// The header lines of a session of an older version, if the server has sessions.
    session: Vec<(&'static str, String)>,
    findings: Vec<Finding>,
    arguments: &'a Probe,
}

/// Values that no server has, because they are random.
struct Marks {
    /// If it appears in an answer, the server has looked for this tool.
    nobody: String,
    another: String,
    token: String,
}

impl Marks {
    fn random() -> Self {
        // The standard library's hasher has keys of the system's random numbers.
        let random = || format!("{:016x}", RandomState::new().hash_one(()));
        let nobody = format!("orbgate-probe-{}{}", random(), random());
        let another = format!("orbgate-probe-{}{}", random(), random());
        Self { nobody, another, token: format!("Bearer orbgate.{}.{}", random(), random()) }
    }
}

pub(super) fn run(arguments: &Probe) -> Result<Exit, Stop> {
    let (endpoint, session) = (Endpoint::of(&arguments.url)?, Vec::new());
    let (bearer, other) = (bearer(arguments.token_env.as_deref())?, bearer(arguments.other_token_env.as_deref())?);
    let (findings, marks) = (Vec::new(), Marks::random());
    let mut prober = Prober { endpoint, bearer, other, session, findings, arguments };
    prober.begin_session()?;
    prober.credentials(&marks)?;
    prober.messages(&marks)?;
    prober.end_session()?;
    let findings = prober.findings;
    let has_faults = findings.iter().any(|finding| finding.verdict == Verdict::Fault);
    if arguments.json {
        print_json(&json!({ "url": arguments.url, "checks": findings }))?;
    } else {
        let mut out = anstream::stdout();
        for Finding { check, verdict, status, about } in &findings {
            let (style, word) = match verdict {
                Verdict::Fine => (FAINT, "fine"),
                Verdict::Skipped => (FAINT, "skipped"),
                Verdict::Note => (STRONG, "note"),
                Verdict::Fault => (DENY, "fault"),
            };
            writeln!(out, "{style}{word:<8}{style:#}{status}  {check:<24}{about}")?;
        }
    }
    Ok(if has_faults { Exit::Findings } else { Exit::Fine })
}

fn bearer(variable: Option<&str>) -> Result<Option<String>, Stop> {
    let Some(name) = variable else { return Ok(None) };
    let token = std::env::var(name).ok().filter(|token| token.bytes().all(|byte| byte.is_ascii_graphic()));
    let token = token.ok_or_else(|| Stop::Error(format!("the environment variable `{name}` has no token")))?;
    Ok(Some(format!("Bearer {token}")))
}

impl Prober<'_> {
    /// Servers with sessions read requests of older versions only in one.
    fn begin_session(&mut self) -> Result<(), Stop> {
        let client = json!({ "name": "orbgate-probe", "version": env!("CARGO_PKG_VERSION") });
        let params = json!({ "protocolVersion": OLD, "capabilities": {}, "clientInfo": client });
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params }).to_string();
        let response = self.post(&[], self.bearer.as_deref(), &body)?;
        let mut lines =
            response.text.lines().take_while(|line| !line.is_empty()).filter_map(|line| line.split_once(": "));
        let id = lines.find(|(name, _)| name.eq_ignore_ascii_case("mcp-session-id")).map(|(_, id)| id.to_owned());
        self.session.extend(id.map(|id| ("Mcp-Session-Id", id)));
        if !self.session.is_empty() {
            let body = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }).to_string();
            self.post(&about(OLD, None, None), self.bearer.as_deref(), &body)?;
        }
        Ok(())
    }

    fn end_session(&self) -> Result<(), Stop> {
        if self.session.is_empty() {
            return Ok(());
        }
        let mut headers = about(OLD, None, None);
        headers.extend(self.session.iter().map(|(name, id)| (*name, &**id)));
        headers.extend(self.bearer.iter().map(|bearer| ("Authorization", &**bearer)));
        self.endpoint.send("DELETE", &self.endpoint.path, &headers, b"").map(|_| ())
    }

    /// Tokens, and the challenge that tells a client where to get one.
    fn credentials(&mut self, marks: &Marks) -> Result<(), Stop> {
        let nobody = &*marks.nobody;
        let body = call(nobody, true);
        let headers = about(CURRENT, Some("tools/call"), Some(nobody));
        for (check, authorization) in [("no token", None), ("a token of nobody", Some(&*marks.token))] {
            let response = self.post(&headers, authorization, &body)?;
            let (verdict, about) = match response.status {
                401 if response.text.to_ascii_lowercase().contains("resource_metadata=") => (Verdict::Fine, ""),
                401 => (Verdict::Note, "the 401 doesn't say where to get a token (`resource_metadata`)"),
                _ => (Verdict::Fault, "it is not answered with 401"),
            };
            self.found(check, verdict, &response, about);
        }
        let lying = about(OLD, Some("tools/list"), None);
        let response = self.post(&lying, None, &call(nobody, false))?;
        let is_denied = matches!(response.status, 400 | 401 | 403);
        let verdict = if is_denied { Verdict::Fine } else { Verdict::Fault };
        let about_it =
            if is_denied { "" } else { "`Mcp-Method` decides whether a token is needed, and the body what runs" };
        self.found("no token, lying method", verdict, &response, about_it);
        if let Some(other) = &self.other {
            let response = self.post(&headers, Some(other), &body)?;
            let (verdict, about_it) = match response.status {
                401 => (Verdict::Fine, ""),
                403 => (Verdict::Note, "a token for another audience is not answered with 401"),
                _ => (Verdict::Fault, "a token for another audience is accepted"),
            };
            self.found("a wrong audience", verdict, &response, about_it);
        }
        let path = format!("/.well-known/oauth-protected-resource{}", self.endpoint.path.trim_end_matches('/'));
        let response = self.endpoint.send("GET", &path, &[], b"")?;
        let is_metadata = response.status == 200 && response.text.contains("authorization_servers");
        let verdict = if is_metadata { Verdict::Fine } else { Verdict::Note };
        let url = format!("http://{}{path}", self.endpoint.authority);
        let about = if is_metadata { String::new() } else { format!("there is no metadata at `{url}` (RFC 9728)") };
        self.found("metadata", verdict, &response, about);
        let Some(tool) = &self.arguments.denied_tool else { return Ok(()) };
        let (headers, body) = (about_tool(tool), call(tool, true));
        let headers: Vec<_> = headers.iter().map(|(name, value)| (*name, &**value)).collect();
        let response = self.post(&headers, self.bearer.clone().as_deref(), &body)?;
        let names_scope = response.text.contains("insufficient_scope") && response.text.contains("scope=");
        let (verdict, about) = match response.status {
            403 if names_scope => (Verdict::Fine, ""),
            403 => (Verdict::Note, "the 403 doesn't name the scope, so no client asks for it"),
            200 => {
                (Verdict::Fault, "a missing scope is answered with 200, so no client asks for it, or the tool has run")
            }
            _ => (Verdict::Note, "a missing scope is not answered with 403"),
        };
        self.found("a missing scope", verdict, &response, about);
        if verdict == Verdict::Fault {
            return Ok(());
        }
        let batch = format!("[{},{}]", call(nobody, false), call(tool, false));
        for (check, headers, body, why) in [
            (
                "a scope, lying name",
                self::about(OLD, Some("tools/call"), Some(nobody)),
                call(tool, false),
                "`Mcp-Name` decides which scope is needed, and the body what runs",
            ),
            ("a scope in a batch", self::about(OLD, None, None), batch, "only the first message of a batch is checked"),
        ] {
            let response = self.post(&headers, self.bearer.as_deref(), &body)?;
            let is_denied = !(200..300).contains(&response.status);
            let verdict = if is_denied { Verdict::Fine } else { Verdict::Fault };
            self.found(check, verdict, &response, if is_denied { "" } else { why });
        }
        Ok(())
    }

    /// Messages that two readers would read differently.
    fn messages(&mut self, marks: &Marks) -> Result<(), Stop> {
        let (nobody, another) = (&*marks.nobody, &*marks.another);
        let bearer = self.bearer.clone();
        let bearer = bearer.as_deref();
        let honest = self.post(&about(CURRENT, Some("tools/call"), Some(nobody)), bearer, &call(nobody, true))?;
        if matches!(honest.status, 401 | 403) {
            self.found(
                "messages",
                Verdict::Skipped,
                &honest,
                "the server denies every call: give a token with --token-env",
            );
            return Ok(());
        }
        let is_current = !honest.text.contains("-32022");
        let lies: [(&'static str, &str, Option<&str>, Option<&str>); 6] = [
            ("a lying method", CURRENT, Some("tools/list"), Some(nobody)),
            ("a lying name", CURRENT, Some("tools/call"), Some(another)),
            ("no name", CURRENT, Some("tools/call"), None),
            ("a lying base64 name", CURRENT, Some("tools/call"), Some("=?base64?b3JiZ2F0ZS1wcm9iZQ==?=")),
            ("an old lying method", OLD, Some("tools/list"), None),
            ("an old lying name", OLD, Some("tools/call"), Some(another)),
        ];
        for (check, version, method, name) in lies {
            if version == CURRENT && !is_current {
                self.found(check, Verdict::Skipped, &honest, "the server doesn't speak this version");
                continue;
            }
            let response = self.post(&about(version, method, name), bearer, &call(nobody, version == CURRENT))?;
            let (verdict, about) = match (response.status, version == CURRENT) {
                (400, _) => (Verdict::Fine, ""),
                (_, true) => (Verdict::Fault, "headers that differ from the body are accepted"),
                (_, false) => (Verdict::Note, "the body decides: don't trust these headers in a proxy"),
            };
            self.found(check, verdict, &response, about);
        }
        let batch = format!("[{}]", call(nobody, false));
        let response = self.post(&about(OLD, None, None), bearer, &batch)?;
        let is_read = (200..300).contains(&response.status);
        let verdict = if is_read { Verdict::Note } else { Verdict::Fine };
        let about_it = if is_read { "a batch is read: a proxy that reads only objects sees nothing" } else { "" };
        self.found("a batch", verdict, &response, about_it);
        let version = if is_current { CURRENT } else { OLD };
        let name = is_current.then_some(nobody);
        let method = is_current.then_some("tools/call");
        let folded = call(nobody, is_current).replace("\"name\":", "\"Name\":");
        let twice = call(nobody, is_current).replace("\"name\":", &format!("\"name\":\"{another}\",\"name\":"));
        for (check, body, verdict, about_it) in [
            ("Name instead of name", folded, Verdict::Fault, "`Name` is read as `name`: a proxy sees no name"),
            ("two names", twice, Verdict::Note, "one of two names is taken: a proxy can take the other"),
        ] {
            let response = self.post(&about(version, method, name), bearer, &body)?;
            let is_read = response.status != 400 && response.text.contains(nobody);
            let (verdict, about_it) = if is_read { (verdict, about_it) } else { (Verdict::Fine, "") };
            self.found(check, verdict, &response, about_it);
        }
        Ok(())
    }

    fn post(&self, headers: &[(&str, &str)], authorization: Option<&str>, body: &str) -> Result<Response, Stop> {
        let mut all = vec![("Content-Type", "application/json"), ("Accept", "application/json, text/event-stream")];
        all.extend(headers);
        if headers.contains(&("MCP-Protocol-Version", OLD)) {
            all.extend(self.session.iter().map(|(name, id)| (*name, &**id)));
        }
        all.extend(authorization.map(|value| ("Authorization", value)));
        self.endpoint.send("POST", &self.endpoint.path, &all, body.as_bytes())
    }

    fn found(
        &mut self,
        check: &'static str,
        verdict: Verdict,
        response: &Response,
        about: impl Into<Cow<'static, str>>,
    ) {
        self.findings.push(Finding { check, verdict, status: response.status, about: about.into() });
    }
}

fn call(tool: &str, is_current: bool) -> String {
    let mut params = json!({ "name": tool, "arguments": {} });
    if let Some(params) = params.as_object_mut().filter(|_| is_current) {
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": CURRENT,
            "io.modelcontextprotocol/clientInfo": { "name": "orbgate-probe", "version": env!("CARGO_PKG_VERSION") },
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        params.insert("_meta".to_owned(), meta);
    }
    json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params }).to_string()
}

fn about<'a>(version: &'a str, method: Option<&'a str>, name: Option<&'a str>) -> Vec<(&'static str, &'a str)> {
    let lines = [("MCP-Protocol-Version", Some(version)), ("Mcp-Method", method), ("Mcp-Name", name)];
    lines.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
}

fn about_tool(tool: &str) -> Vec<(&'static str, String)> {
    let lines = about(CURRENT, Some("tools/call"), Some(tool));
    lines.into_iter().map(|(name, value)| (name, value.to_owned())).collect()
}
