//! The paths of what tools, prompts and resources are named.

/// The most bytes of the name of a tool (SEP-986), a prompt or a method.
pub(super) const MOST_NAME: usize = 128;

/// The schemes whose addresses URL libraries rewrite, so that a server can see another host than the gate.
const SPECIAL: [&str; 6] = ["file", "ftp", "http", "https", "ws", "wss"];

/// Whether a tool or a prompt can have this name (SEP-986), and a path such a segment.
pub(super) fn is_name(name: &str) -> bool {
    let is_of_name = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
    (1..=MOST_NAME).contains(&name.len()) && name.bytes().all(is_of_name) && name.bytes().any(|byte| byte != b'.')
}

/// The path below the method of a tool or a prompt.
pub(super) fn of_tool(name: &str, _: bool) -> Option<String> {
    is_name(name).then(|| name.to_owned())
}

/// The segments of a URI: `orders://eu/7` is `orders:/eu/7`, and `~` is an empty authority. The engine checks the path.
pub(super) fn of_resource(uri: &str, has_escapes: bool) -> Option<String> {
    let (scheme, authority, path) = parts(uri)?;
    // A query and a fragment have more than one reading, and so has what the engine takes for them. Of escapes, the engine accepts
    // those with one, where the policy says so.
    let is_path = !uri.contains(['?', '#', '\\']) && (has_escapes || !uri.contains('%'));
    (is_path && is_authority(&scheme.to_ascii_lowercase(), authority)).then(|| joined(scheme, authority, path))
}

/// The template of a route for the resources of a URI template (RFC 6570), of which each variable is a whole segment.
pub(super) fn of_template(uri: &str) -> Option<String> {
    let (scheme, authority, path) = parts(uri)?;
    let is_of_name = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-');
    let is_variable = |segment: &str| {
        let name = segment.strip_prefix('{').and_then(|rest| rest.strip_suffix('}'));
        name.is_some_and(|name| !name.is_empty() && name.bytes().all(is_of_name))
    };
    // No resource could have another one.
    let is_host = authority.contains('{') || is_authority(&scheme.to_ascii_lowercase(), authority);
    let template = joined(scheme, authority, path);
    let is_whole = template.split('/').all(|segment| !segment.contains(['{', '}']) || is_variable(segment));
    (is_host && is_whole).then_some(template)
}

/// Scheme, authority and path of a URI or of a template.
fn parts(uri: &str) -> Option<(&str, &str, &str)> {
    let (scheme, rest) = uri.split_once("://")?;
    let is_scheme = scheme.starts_with(|first: char| first.is_ascii_alphabetic())
        && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte));
    let (authority, path) = match rest.find('/') {
        Some(at) => rest.split_at_checked(at)?,
        None => (rest, ""),
    };
    is_scheme.then_some((scheme, authority, path))
}

fn joined(scheme: &str, authority: &str, path: &str) -> String {
    let authority = if authority.is_empty() { "~" } else { authority };
    format!("{scheme}:/{authority}{path}")
}

/// Whether every URL library leaves an authority as it is.
fn is_authority(scheme: &str, authority: &str) -> bool {
    let (host, port) = authority.split_once(':').map_or((authority, None), |(host, port)| (host, Some(port)));
    let is_port = |port: &str| !port.starts_with('0') && port.parse::<u16>().is_ok_and(|_| !port.starts_with('+'));
    if authority == "~" || host.contains('@') || port.is_some_and(|port| host.is_empty() || !is_port(port)) {
        return false;
    }
    if !SPECIAL.contains(&scheme) {
        return true;
    }
    if scheme == "file" || authority.is_empty() {
        return scheme == "file" && authority.is_empty();
    }
    let is_of_label = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    let is_label = |label: &str| !label.is_empty() && label.bytes().all(is_of_label);
    let last = host.rsplit('.').next().unwrap_or_default();
    // A last label that starts with a digit can make an IPv4 address, which has many spellings; a default port is dropped.
    port.is_none() && host.split('.').all(is_label) && last.starts_with(|first: char| first.is_ascii_alphabetic())
}
