//! The responses of each protocol, in one table of modes and decisions.

use std::borrow::Cow;

use bytes::Bytes;
use http::header::{ALLOW, CACHE_CONTROL, WWW_AUTHENTICATE};
use http::{HeaderName, HeaderValue, Response, StatusCode};
use http_body_util::Full;
use orbgate_gate::{Answer, Denial};
use orbgate_token::VerifiedToken;

use crate::config::mode::Mode;
use crate::config::promises::{Promises, denied, values};

/// A response over HTTP. Responses to authorization requests have no body.
pub(crate) type HttpAnswer = Response<Full<Bytes>>;

/// The status of an authorization request that was rejected without a decision.
pub(crate) const REFUSED: StatusCode = StatusCode::FORBIDDEN;

/// The status when a limit is exceeded. It means lack of capacity, and no decision has it.
pub(crate) const OVERLOADED: StatusCode = StatusCode::SERVICE_UNAVAILABLE;

/// The one status that every proxy reads as an allow. Envoy denies on a 204.
pub(crate) const ALLOWED: StatusCode = StatusCode::OK;

const NO_STORE: HeaderValue = HeaderValue::from_static(Denial::CACHE_CONTROL);

/// The status of a denial in a mode, given the status that the rules determine.
pub(crate) fn shown(mode: Mode, status: u16) -> StatusCode {
    let status = StatusCode::from_u16(status).unwrap_or(REFUSED);
    match mode {
        // nginx turns all other statuses into 500.
        Mode::Nginx if status != StatusCode::UNAUTHORIZED => StatusCode::FORBIDDEN,
        _ => status,
    }
}

pub(crate) fn answer(mode: Mode, promises: &Promises, answer: &Answer<'_, VerifiedToken>) -> HttpAnswer {
    let mut response = HttpAnswer::default();
    let denial = answer.denial.as_ref();
    let mut values = values(&answer.decision, denial.map(|denial| denial.status));
    let is_allow = answer.decision.is_allow() && denial.is_none();
    *response.status_mut() = match denial {
        None if is_allow => ALLOWED,
        None => REFUSED,
        Some(denial) => shown(mode, denial.status),
    };
    let headers = response.headers_mut();
    let token = answer.token().filter(|_| is_allow);
    if let (Some(kind), Some(token)) = (values.last_mut(), token) {
        *kind = HeaderValue::from_static(token.token().kind.as_str());
    }
    promises.write(values, token, headers);
    if !is_allow {
        headers.insert(CACHE_CONTROL, NO_STORE);
    }
    for (name, value) in denial.into_iter().flat_map(explained) {
        headers.insert(name, value);
    }
    response
}

/// The headers that explain a denial to the client.
pub(crate) fn explained(denial: &Denial) -> impl Iterator<Item = (HeaderName, HeaderValue)> {
    let challenge = denial.www_authenticate.as_ref().map(Cow::as_ref);
    let headers = [(WWW_AUTHENTICATE, challenge), (ALLOW, denial.allow.as_deref())];
    headers.into_iter().filter_map(|(name, value)| Some((name, HeaderValue::try_from(value?).ok()?)))
}

/// The response to a request that wasn't decided: a denial without an explanation.
pub(crate) fn refused(promises: &Promises, status: StatusCode) -> HttpAnswer {
    let mut response = HttpAnswer::default();
    *response.status_mut() = status;
    let headers = response.headers_mut();
    promises.write(denied(None), None, headers);
    headers.insert(CACHE_CONTROL, NO_STORE);
    response
}

#[cfg(test)]
mod tests {
    use orbgate::{By, Reason};

    use super::{ALLOWED, OVERLOADED, REFUSED, shown};
    use crate::config::mode::Mode;

    /// The reasons behind a proxy, where nothing is held.
    fn of_proxies() -> impl Iterator<Item = Reason> {
        Reason::ALL.into_iter().filter(|reason| match reason.by() {
            By::Engine | By::Gate => true,
            By::Ledger => false,
        })
    }

    /// The table of docs/gateway/responses.md: one row per decision, one column per mode.
    fn table() -> String {
        let modes = Mode::of_proxies().count();
        let head = Mode::of_proxies().map(|(name, _)| format!(" `{name}` |"));
        let head = head.collect::<String>();
        let row = |what: &str, status: Vec<u16>| {
            let cells = status.iter().map(|status| format!(" {status} |"));
            let cells = cells.collect::<String>();
            format!("| {what} |{cells}\n")
        };
        let mut rows = row("allowed", vec![ALLOWED.as_u16(); modes]);
        for reason in of_proxies() {
            if let Some(status) = reason.status() {
                let statuses = Mode::of_proxies().map(|(_, mode)| shown(mode, status).as_u16());
                rows.push_str(&row(&format!("`{reason}`"), statuses.collect()));
            }
        }
        rows.push_str(&row("an authorization request that is rejected", vec![REFUSED.as_u16(); modes]));
        rows.push_str(&row("more requests than `limits.requests`", vec![OVERLOADED.as_u16(); modes]));
        format!("| decision |{head}\n|---|{}\n{rows}", "--:|".repeat(modes))
    }

    #[test]
    fn the_page_has_the_table_of_answers() {
        let page = include_str!("../../../../docs/gateway/responses.md");
        let table = table();
        assert!(page.contains(&table), "responses.md must have:\n{table}");
    }

    #[test]
    fn nothing_but_an_allow_is_a_success_and_nginx_gets_what_it_honours() {
        for status in 0..=u16::MAX {
            let nginx = shown(Mode::Nginx, status).as_u16();
            assert!([401, 403].contains(&nginx), "{status}");
        }
        for reason in of_proxies() {
            for (_, mode) in Mode::of_proxies() {
                let status = reason.status().map(|status| shown(mode, status));
                assert!(status.is_none_or(|status| status.is_client_error()));
            }
        }
    }
}
