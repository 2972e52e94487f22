//! Opaque tokens: a verdict, or an introspection endpoint to ask.

use core::sync::atomic::Ordering;
use core::time::Duration;
use std::sync::Arc;
use std::time::SystemTime;

use sha2::{Digest as _, Sha256};

use super::attempt::{AttemptId, Fetch, Wait};
use super::discovery::Response;
use super::error::FetchError;
use super::introspection::{Flight, Introspection};
use super::verdicts::NEGATIVE;
use super::{Asked, Judged, KeyCache, Now};
use crate::claims::Stated;
use crate::config::error::ConfigError;
use crate::error::TokenError;
use crate::generations::Mark;
use crate::keys::KEY_SET_BYTES;
use crate::opaque::{Opaque, SecretSource};
use crate::proof::presented::Presented;
use crate::proof::unproved::Unproved;
use crate::verified::Fingerprint;
use crate::verifier::since_epoch;

impl KeyCache {
    /// The locations of all clients' secrets, in the order in which [`KeyCache::read_secrets`] reads them.
    pub fn secrets(&self) -> impl Iterator<Item = &SecretSource> {
        self.verifier.secrets()
    }

    /// Reads the secrets for introspection endpoints again, because they can change while a program runs. If a secret has
    /// changed, all responses of its endpoint are forgotten.
    ///
    /// # Errors
    ///
    /// The same as those of [`Verifier::with_secrets`](crate::Verifier::with_secrets). On an error, all secrets stay unchanged.
    pub fn read_secrets(
        &self,
        mut read: impl FnMut(&SecretSource) -> std::io::Result<Vec<u8>>,
    ) -> Result<(), ConfigError> {
        let (mut authorizations, mut diagnostics) = (Vec::new(), Vec::new());
        let mut files = Vec::new();
        for issuer in 0..self.introspections.len() {
            let Some((of, opaque)) = self.introspection(issuer) else {
                let rules = self.verifier.named(issuer).map(|(rules, _)| rules);
                if let Some((rules, file)) = rules.and_then(|rules| Some((rules, rules.jwks_file.as_ref()?))) {
                    match file.read(&rules.key_rules, &mut read) {
                        Ok(keys) => files.push((issuer, keys)),
                        Err(diagnostic) => diagnostics.push(diagnostic),
                    }
                }
                continue;
            };
            let mut opaque = opaque.clone();
            opaque.authorization = None;
            match opaque.read_secret(&mut read) {
                Ok(()) => authorizations.push((of, opaque.authorization)),
                Err(diagnostic) => diagnostics.push(diagnostic),
            }
        }
        if !diagnostics.is_empty() {
            return Err(ConfigError::of_secrets(diagnostics));
        }
        for (of, authorization) in authorizations {
            of.ask_with(authorization);
        }
        for (issuer, keys) in files {
            self.change(issuer, |next, name| next.put(issuer, name, Arc::clone(&keys), None));
        }
        Ok(())
    }

    /// The introspection of an issuer's tokens, if they are opaque.
    pub(super) fn introspection(&self, issuer: usize) -> Option<(&Introspection, &Opaque)> {
        let of = self.introspections.get(issuer)?.as_ref()?;
        let (rules, _) = self.verifier.named(issuer)?;
        Some((of, rules.opaque.as_ref()?))
    }

    /// What is known of a token that its issuer is asked about.
    pub(super) fn introspect(
        &self,
        issuer: usize,
        token: &[u8],
        presented: &Presented<'_>,
        progress: &mut Asked,
        now: Now,
    ) -> Judged {
        let mark: Mark = Sha256::digest(token).into();
        let verdict = match self.said(issuer, &mark, progress.at, now) {
            Some(Ok(unproved)) => return self.prove(issuer, token, unproved, presented, now),
            Some(Err(error)) => Err(error),
            None => match core::str::from_utf8(token) {
                Ok(token) => match self.answer(issuer, mark, token, progress, now.monotonic) {
                    Some(wait) => return Judged::Wait(wait),
                    None => Err(TokenError::Unanswered),
                },
                Err(_) => Err(TokenError::NotCompact),
            },
        };
        Judged::Verdict(verdict)
    }

    /// What the endpoint has said, if it is new enough: it was asked after this question, or not too long ago.
    fn said(&self, issuer: usize, mark: &Mark, at: Duration, now: Now) -> Option<Result<Unproved, TokenError>> {
        let (of, opaque) = self.introspection(issuer)?;
        let (active, refused) = of.verdicts().get(mark, now.monotonic);
        let is_new = |sent: Duration, longest: Duration| sent >= at || now.monotonic.saturating_sub(sent) < longest;
        let negative = NEGATIVE.min(opaque.max_cache);
        let active = active.and_then(|answer| {
            let verdict = self.verdict(issuer, mark, &answer.stated, now.time);
            let longest = match &verdict {
                Ok(unproved) if now.time < unproved.expires() => opaque.max_cache,
                Ok(_) => Duration::ZERO,
                Err(_) => negative,
            };
            is_new(answer.sent, longest).then_some(verdict)
        });
        active.or_else(|| {
            let (sent, error) = refused?;
            let longest = match error {
                TokenError::Unanswered => self.settings.retry,
                _ => negative,
            };
            is_new(sent, longest).then_some(Err(error))
        })
    }

    /// Checks the claims again, by the rules for any other token.
    fn verdict(&self, issuer: usize, mark: &Mark, stated: &Stated, now: SystemTime) -> Result<Unproved, TokenError> {
        let (rules, name) = self.verifier.named(issuer).ok_or(TokenError::Issuer)?;
        let fingerprint = Fingerprint::from_hash(mark).ok_or(TokenError::Clock)?;
        let stated = stated.clone();
        stated.judge(rules, name, fingerprint, since_epoch(now)?)
    }

    /// What to wait for until the endpoint answers; `None` if it isn't asked about this token now.
    fn answer(&self, issuer: usize, mark: Mark, token: &str, progress: &mut Asked, now: Duration) -> Option<Wait> {
        let timeout = self.settings.timeout;
        let (of, _) = self.introspection(issuer)?;
        if now.saturating_sub(progress.at) >= timeout {
            return None;
        }
        // Tokens that wait for keys have places of their own, which no flood of opaque tokens takes.
        let most = self.settings.max_waiting.div_ceil(2);
        let place = match progress.place.take() {
            Some(place) => place,
            None => self.asking_places.enter(most, progress.holds_thread)?,
        };
        let mut asking = of.asking();
        asking.expire(now, self.settings.retry);
        let known = asking.by_mark.get(&mark).copied();
        let known = known.and_then(|id| Some((id, asking.flights.get(&id)?)));
        let wait = match known.filter(|(_, flight)| !flight.discarded) {
            Some((id, flight)) => flight.wait(id),
            None => {
                let most = usize::try_from(most).unwrap_or(usize::MAX);
                if !asking.may_begin(now, most) {
                    return None;
                }
                let begun = self.begun.fetch_add(1, Ordering::SeqCst);
                let id = self.id(begun.saturating_add(1), issuer);
                let flight = Flight {
                    mark,
                    until: now.saturating_add(timeout),
                    sent: None,
                    token: token.into(),
                    discarded: false,
                };
                let wait = flight.wait(id);
                asking.order.push_back(id);
                asking.queue.push_back(id);
                asking.by_mark.insert(mark, id);
                asking.flights.insert(id, flight);
                wait
            }
        };
        if asking.has_next() {
            self.has_queued.store(true, Ordering::SeqCst);
        }
        let is_failing = asking.is_failing();
        drop(asking);
        self.until(progress, place, wait, is_failing, now)
    }

    /// The next token to ask an issuer's endpoint about.
    pub(super) fn next_question(&self, issuer: usize, now: Duration) -> Option<Fetch> {
        let (of, opaque) = self.introspection(issuer)?;
        let mut asking = of.asking();
        asking.expire(now, self.settings.retry);
        let fetch = asking.next(opaque, now, self.settings.timeout)?;
        self.has_queued.store(true, Ordering::SeqCst);
        Some(fetch)
    }

    /// What an endpoint has answered, or why it did not.
    pub(super) fn answered(
        &self,
        issuer: usize,
        attempt: AttemptId,
        result: Result<Response<'_>, FetchError>,
        now: Duration,
    ) -> Option<()> {
        let retry = self.settings.retry;
        let (of, _) = self.introspection(issuer)?;
        let mut asking = of.asking();
        asking.expire(now, retry);
        let flight = asking.flights.get(&attempt)?;
        let (mark, sent) = (flight.mark, flight.sent?);
        drop(asking);
        // Read before the lock is taken: it may be a long text.
        let answer = result.and_then(|response| match response.status {
            200 if response.body.len() > KEY_SET_BYTES => Err(FetchError::TooLarge),
            200 => match self.verifier.answered(response.body, Some(issuer)) {
                // Such as a firewall's page.
                Err(TokenError::BadClaims) => Err(FetchError::NotJson),
                answered => Ok(answered),
            },
            status => Err(FetchError::Status(status)),
        });
        let mut asking = of.asking();
        let flight = asking.flights.get(&attempt)?;
        let (stated, failure) = match answer {
            Ok(answered) => (answered.map(|(_, _, stated)| stated), None),
            Err(failure) => (Err(TokenError::Unanswered), Some(failure)),
        };
        // Before its attempt is over, so that those who wait for it find it.
        if !flight.discarded {
            of.verdicts().put(mark, sent, stated, now);
        }
        asking.end(attempt);
        match failure {
            Some(failure) if !failure.is_of_token() => asking.fail(failure, now, retry),
            failure => (asking.failures, asking.failure) = (0, failure),
        }
        if asking.has_next() {
            self.has_queued.store(true, Ordering::SeqCst);
        }
        Some(())
    }

    pub(super) fn is_asking(&self, issuer: usize, attempt: AttemptId) -> bool {
        let of = self.introspection(issuer);
        of.is_some_and(|(of, _)| of.asking().flights.contains_key(&attempt))
    }
}
