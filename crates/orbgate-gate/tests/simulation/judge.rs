//! The table of `orbgate-token`'s README, written a second time: what may be fetched, used and refused.

use core::time::Duration;

use orbgate_gate::{Answer, Matched};
use orbgate_token::TokenError;

use super::{Asking, Held, ROUTE, World};

impl World {
    /// The key of a token is used: it must be known, of the issuer, and not past its end.
    pub(super) fn judge_key(&mut self, issuer: usize, kid: u64) {
        let end = |held: &Held| held.since + held.ttl + self.settings.max_stale;
        let known = &self.issuers[issuer];
        let held = known.held.as_ref().unwrap();
        assert!(held.kids.contains(&kid), "{kid} is not among {:?}", held.kids);
        assert!(self.monotonic < end(held), "a key past its end");
        assert!(!known.revoked.contains(&kid));
        let stale = self.monotonic >= held.since + held.ttl;
        self.meet(if stale { "stale" } else { "fresh" });
    }

    /// The answer has all of the request, however long that has waited.
    pub(super) fn judge_answer(&mut self, answer: &Answer<'_>, is_right: bool, asking: &Asking) {
        let valid = self.wall < asking.expires + 60;
        let elsewhere = match asking.matched {
            Matched::Nothing | Matched::Template(ROUTE) => None,
            Matched::Template(other) => Some(other),
            Matched::Unknown => Some(""),
        };
        let is_allowed = is_right && valid && elsewhere.is_none();
        assert_eq!(answer.denial.is_none(), is_allowed);
        let misrouted = elsewhere.filter(|_| is_right && valid);
        assert_eq!(answer.misrouted.as_ref().map(|it| it.matched.as_str()), misrouted);
        let bonus = answer.decision.charge().map(|it| it.bonus_allowed);
        assert_eq!(bonus, is_allowed.then_some(asking.bonus));
        if misrouted.is_some() {
            self.meet("misrouted");
        }
        if bonus == Some(true) && !asking.waits.is_empty() {
            self.meet("bonus");
        }
        let code = answer.refused();
        match (is_right, valid) {
            (false, _) => assert_eq!(code, Some(TokenError::Signature.as_str())),
            (true, false) => assert_eq!(code, Some(TokenError::Expired.as_str())),
            (true, true) => assert_eq!(code, None),
        }
        self.meet(if answer.denial.is_none() { "allowed" } else { "denied" });
    }

    /// Whether nobody has asked the issuer for a minute: then a key that it publishes is asked for, and waited for.
    pub(super) fn has_rested(&self, issuer: usize) -> bool {
        let known = &self.issuers[issuer];
        let last = known.begun.last().map(|(at, _)| *at);
        // While an issuer fails, nobody waits for the attempt of another.
        known.flight.is_none() && last.is_none_or(|last| self.monotonic >= last + Duration::from_secs(60))
    }

    /// A token is refused for its key: that must be true, too.
    pub(super) fn judge_refusal(&mut self, asking: &Asking, reason: &str, rested: bool) {
        let Asking { issuer, kid, before, ref waits, .. } = *asking;
        let had_own_attempt = waits.iter().any(|attempt| *attempt > before);
        let known = &self.issuers[issuer];
        let held = known.held.as_ref().filter(|held| self.monotonic < held.since + held.ttl + self.settings.max_stale);
        match reason {
            "no_keys" => assert!(held.is_none(), "there are keys"),
            "key_revoked" => assert!(known.revoked.contains(&kid)),
            "key_unknown" => assert!(!held.unwrap().kids.contains(&kid)),
            other => panic!("{other}"),
        }
        let last = known.begun.last().map(|(at, _)| *at);
        let since = held.map(|held| held.since).filter(|since| last.is_some_and(|last| *since >= last));
        let is_ours = reason != "key_revoked" && known.published.contains(&kid);
        assert!(!(rested && is_ours && waits.is_empty()), "{reason} without a wait");
        if let (true, "key_unknown", Some(since)) = (had_own_attempt, reason, since) {
            self.issuers[issuer].missing.insert(kid, since);
        }
        self.meet(if reason == "no_keys" { "no keys" } else { "unknown" });
    }

    /// Whether the README's table allows an attempt now.
    pub(super) fn judge_attempt(&mut self, issuer: usize, kid: u64) {
        let (now, settings) = (self.monotonic, self.settings);
        let known = &mut self.issuers[issuer];
        let last = known.begun.last().map(|(at, _)| *at);
        let rested = |pause: Duration| last.is_none_or(|last| now >= last + pause);
        let held = known.held.as_ref().filter(|held| now < held.since + held.ttl + settings.max_stale);
        let is_unknown = held.is_some_and(|held| !held.kids.contains(&kid));
        let is_due = held.is_some_and(|held| now >= held.since + held.ttl * 8 / 10);
        let why = match held {
            None => rested(settings.retry).then_some("without keys"),
            Some(_) if is_due && rested(settings.cooldown) => Some("due"),
            Some(_) => is_unknown.then_some("for an unknown key"),
        };
        let why = why.unwrap_or_else(|| panic!("fetched too often: {now:?} after {last:?}"));
        let unknown = (why == "for an unknown key").then_some(kid);
        known.begun.push((now, unknown));
        if unknown.is_some() {
            let since = known.missing.get(&kid);
            assert!(since.is_none_or(|since| now >= *since + settings.cooldown), "asked again for {kid}");
            // Four at once and then one every 7.5 s: in any span, no more than that.
            let of_unknown: Vec<_> = known.begun.iter().filter(|(_, kid)| kid.is_some()).collect();
            for (position, (first, _)) in of_unknown.iter().enumerate() {
                let count = of_unknown.len() - position;
                let refilled = usize::try_from((now - *first).as_millis() / 7_500).unwrap();
                assert!(count <= 4 + refilled, "{count} attempts in {:?}", now - *first);
            }
        }
        self.meet(why);
    }
}
