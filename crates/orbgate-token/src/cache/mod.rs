//! The issuers' keys, and the schedule of fetches: no I/O, no clock, no thread. The calling program performs the fetches and
//! reports their results.
#![expect(
    clippy::disallowed_types,
    reason = "a lock for each issuer's attempts, held for no I/O and no signature; fresh keys are read without it"
)]

mod attempt;
mod discovery;
mod error;
mod introspect;
mod introspection;
pub(crate) mod notices;
mod places;
mod progress;
pub(crate) mod refusals;
mod settings;
mod snapshot;
mod verdicts;
mod when;

use core::fmt;
use core::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use core::time::Duration;
use std::sync::{Arc, Mutex};
use std::time::SystemTime;

use arc_swap::ArcSwap;

pub use self::attempt::{AttemptId, Fetch, Post, Wait};
pub use self::discovery::Response;
pub use self::error::FetchError;
pub use self::settings::{FetchSettings, SettingsError};
pub use self::snapshot::KeyStatus;

use self::attempt::Schedule;
use self::discovery::{Found, Stage};
use self::introspection::Introspection;
use self::places::{Places, Ticket};
use self::refusals::Refusals;
use self::snapshot::{Noticed, Snapshot, State};
use self::when::{Cause, Times};
use crate::account::IssuerAccounts;
use crate::error::TokenError;
use crate::keys::{KEY_SET_BYTES, Keys};
use crate::proof::presented::Presented;
use crate::proof::replays::Replays;
use crate::proof::unproved::{Proving, Unproved};
#[cfg(feature = "aws-lc-rs")]
use crate::remembered::Remembered;
use crate::signature::SignatureCheck;
use crate::verified::VerifiedToken;
use crate::verifier::{Opened, Verifier, since_epoch};

/// A [`Verifier`] with the latest keys of its issuers. It tells the calling program what to fetch, and does no I/O itself.
///
/// To drive it from any language, pass a token to [`KeyCache::judge`]. It returns a verdict, or an attempt to
/// [wait](Wait) for before you pass the token again with the same [`Asked`]. After each call, perform the fetch that
/// [`KeyCache::next_fetch`] returns, and report the result to [`KeyCache::fetched`]. That can return another fetch, for
/// the keys after their discovery. Then call [`KeyCache::next_fetch`] again, because another token might have waited for its
/// turn. `KeyFetcher` does all this with tokio; its page explains when keys are fetched.
///
/// A token waits at most for the attempt that was running when its question was asked, and for one that began afterwards;
/// in total no longer than [`FetchSettings::timeout`]. The number of waiting tokens is limited: see
/// [`FetchSettings::max_waiting`].
pub struct KeyCache {
    verifier: Verifier,
    settings: FetchSettings,
    /// The keys of all issuers at one time. A reader takes it as a whole.
    snapshot: ArcSwap<Snapshot>,
    schedules: Vec<Mutex<Schedule>>,
    /// The introspection of each issuer whose tokens are opaque.
    introspections: Vec<Option<Introspection>>,
    /// How many attempts have begun, of any issuer.
    begun: AtomicU64,
    /// Whether an attempt might have a URL that isn't being fetched yet.
    has_queued: AtomicBool,
    refusals: Arc<Refusals>,
    /// Shared with the cache of the next configuration.
    replays: Arc<Replays>,
    places: Arc<Places>,
    /// The tokens that wait for an introspection endpoint.
    asking_places: Arc<Places>,
    /// The last notices about each issuer.
    noticed: Mutex<Vec<Noticed>>,
    /// Signatures are checked by the program.
    outside: bool,
    #[cfg(feature = "aws-lc-rs")]
    remembered: Option<Remembered>,
}

/// The time on two clocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "there are these two kinds of clocks")]
pub struct Now {
    /// The time of day, which determines whether tokens are valid.
    pub time: SystemTime,
    /// The time since any fixed moment, on a clock that is never set. It determines when keys are fetched.
    pub monotonic: Duration,
}

/// The progress of a token's verification. It belongs to one token and one [`KeyCache`]. Keep it until there is a verdict,
/// because it counts the token as waiting.
#[derive(Debug)]
pub struct Asked {
    at: Duration,
    /// The latest attempt that had begun by then.
    before: AttemptId,
    phase: Phase,
    holds_thread: bool,
    place: Option<Ticket>,
}

impl Asked {
    /// Sets whether a thread of the caller blocks while the token waits. All except one of these tokens wait for at most a
    /// second. Otherwise, a server with few threads could respond to no other request.
    #[must_use]
    pub const fn holding_a_thread(mut self, holds_thread: bool) -> Self {
        self.holds_thread = holds_thread;
        self
    }
}

#[derive(Clone, Copy, Debug)]
enum Phase {
    /// Are the keys current?
    Start,
    /// They are not, and these were seen.
    Stale { seen: u64 },
    /// They are as current as they can be, or do not have the token's.
    Current,
}

/// The verdict on a token, or the step that must precede it.
#[derive(Debug)]
#[expect(clippy::exhaustive_enums, reason = "a driver must handle each")]
pub enum Judged {
    /// The verdict.
    Verdict(Result<VerifiedToken, TokenError>),
    /// Call [`KeyCache::judge`] again when this attempt is over.
    Wait(Wait),
    /// Check this signature, and [proceed](SignatureCheck::proceed).
    CheckSignature(SignatureCheck),
}

impl Judged {
    const fn lacks_key(&self) -> bool {
        matches!(self, Self::Verdict(Err(TokenError::KeyUnknown)))
    }
}

impl KeyCache {
    /// Makes a cache without keys: the first token waits for them.
    ///
    /// # Errors
    ///
    /// Returns every setting that is out of range, or every issuer whose keys [can never be fetched](Verifier::unfetchable)
    /// and every [missing secret](Verifier::missing_secrets).
    pub fn new(verifier: Verifier, settings: FetchSettings) -> Result<Self, SettingsError> {
        settings.check()?;
        SettingsError::of_verifier(&verifier)?;
        let count = verifier.issuers().count();
        let opaque = (0..count).map(|index| verifier.named(index)?.0.opaque.as_ref());
        let introspections = opaque.map(|opaque| Some(Introspection::new(opaque?)));
        let introspections = introspections.collect();
        let mut snapshot = Snapshot::of(count);
        snapshot.put_files(&verifier);
        Ok(Self {
            #[cfg(feature = "aws-lc-rs")]
            remembered: Remembered::at_most(verifier.remembered_signatures()),
            verifier,
            settings,
            snapshot: ArcSwap::from_pointee(snapshot),
            schedules: core::iter::repeat_with(Mutex::default).take(count).collect(),
            introspections,
            begun: AtomicU64::new(0),
            has_queued: AtomicBool::new(false),
            refusals: Arc::new(Refusals::of(count)),
            replays: Arc::default(),
            places: Arc::default(),
            asking_places: Arc::default(),
            noticed: Mutex::new(vec![Noticed::default(); count]),
            outside: !cfg!(feature = "aws-lc-rs"),
        })
    }

    /// Lets the calling program check signatures: see [`Judged::CheckSignature`]. Without the feature `aws-lc-rs`, it always
    /// must.
    #[must_use]
    pub const fn signatures_outside(mut self) -> Self {
        self.outside = true;
        self
    }

    /// Takes over the keys from `former` for issuers whose rules are the same here, so that their callers needn't wait, and the
    /// responses of their introspection endpoints. Both share the memory of the proofs that were used. Both caches must get their time from the same clock.
    #[must_use]
    pub fn taking_over(mut self, former: &Self) -> Self {
        self.replays = Arc::clone(&former.replays);
        let known = former.snapshot.load();
        let mut next = Snapshot::of(self.schedules.len());
        next.keys = known.keys.clone();
        let issuers = 0..former.schedules.len();
        for (place, named) in issuers.filter_map(|it| Some((it, former.verifier.named(it)?))) {
            let (rules, name) = named;
            let mut indices = 0..self.schedules.len();
            let same = indices.find(|it| {
                let here = self.verifier.named(*it);
                here.is_some_and(|(here, _)| here == rules)
            });
            match same {
                Some(index) => {
                    next.set_times(index, known.times(place));
                    if let (Some(ours), Some(theirs)) = (self.noticed().get_mut(index), former.noticed().get(place)) {
                        // Whether it fails isn't known yet.
                        ours.warnings.clone_from(&theirs.warnings);
                    }
                    let ours = self.introspections.get_mut(index);
                    let theirs = former.introspections.get(place);
                    if let (Some(Some(ours)), Some(Some(theirs))) = (ours, theirs) {
                        ours.verdicts = Arc::clone(&theirs.verdicts);
                    }
                }
                None => next.keys = core::mem::take(&mut next.keys).without(name),
            }
        }
        // As they were read for this verifier, and so lately.
        next.put_files(&self.verifier);
        self.snapshot.store(Arc::new(next));
        self
    }

    /// Starts the verification of a token.
    #[must_use]
    pub fn ask(&self, now: Duration) -> Asked {
        let last = self.schedules.len().saturating_sub(1);
        Asked {
            at: now,
            before: self.id(self.begun.load(Ordering::SeqCst), last),
            phase: Phase::Start,
            holds_thread: false,
            place: None,
        }
    }

    /// Verifies this token at this time. Returns a verdict, or the step that must precede it. A token that is bound to a key
    /// is rejected.
    pub fn judge(&self, token: impl AsRef<[u8]>, progress: &mut Asked, now: Now) -> Judged {
        self.judge_presented(token, &Presented::default(), progress, now)
    }

    /// The same for a token that can be bound to a key of its holder, with what the request [presents](Presented) for it. A
    /// DPoP proof is recorded with the verdict, so pass the same request again only after a step that must precede it.
    pub fn judge_presented(
        &self,
        token: impl AsRef<[u8]>,
        presented: &Presented<'_>,
        progress: &mut Asked,
        now: Now,
    ) -> Judged {
        let text = token.as_ref();
        if let Some(issuer) = self.verifier.opaque_issuer(text) {
            return self.introspect(issuer, text, presented, progress, now);
        }
        let compact = match self.verifier.parse(text) {
            Ok(compact) => compact,
            Err(error) => return Judged::Verdict(Err(error)),
        };
        let token = match self.verifier.open(&compact) {
            Ok(token) => token,
            Err(error) => return Judged::Verdict(Err(error)),
        };
        let issuer = token.index;
        if token.issuer.opaque.is_some() {
            return self.introspect(issuer, text, presented, progress, now);
        }
        if token.issuer.jwks_file.is_some() {
            return self.judge_with(&token, presented, &self.snapshot.load().keys, now);
        }
        if let Some(wait) = self.refresh(issuer, progress, now.monotonic) {
            return Judged::Wait(wait);
        }
        let snapshot = self.usable(issuer, now.monotonic);
        let judged = self.judge_with(&token, presented, &snapshot.keys, now);
        if !judged.lacks_key() {
            return judged;
        }
        let Some(kid) = token.kid() else {
            return judged;
        };
        let cause = Cause::UnknownKey(kid);
        if let Some(wait) = self.since(issuer, progress, None, cause, now.monotonic) {
            return Judged::Wait(wait);
        }
        self.judge_lastly(&token, presented, progress.at, now)
    }

    /// The verdict with the current keys.
    fn judge_lastly(&self, token: &Opened<'_>, presented: &Presented<'_>, asked_at: Duration, now: Now) -> Judged {
        let snapshot = self.usable(token.index, now.monotonic);
        let judged = self.judge_with(token, presented, &snapshot.keys, now);
        if judged.lacks_key()
            && let (Some(kid), Some(mut schedule)) = (token.kid(), self.lock(token.index))
        {
            let known = snapshot.times(token.index);
            schedule.attempts.note_missing(kid, asked_at, known, &self.settings);
        }
        judged
    }

    fn judge_with(&self, token: &Opened<'_>, presented: &Presented<'_>, keys: &Keys, now: Now) -> Judged {
        #[cfg(feature = "aws-lc-rs")]
        if !self.outside {
            let remembered = self.remembered.as_ref();
            let remembered = remembered.map(|remembered| (remembered, now.monotonic));
            let verdict = token.judge(keys, now.time, remembered);
            self.refusals.note(token.index, verdict.as_ref().err());
            return match verdict {
                Ok(unproved) => self.prove(token.index, token.compact.token, unproved, presented, now),
                Err(error) => Judged::Verdict(Err(error)),
            };
        }
        match token.check(keys, now.time) {
            Ok(check) => Judged::CheckSignature(check.of(&self.refusals).presented(presented, &self.replays)),
            Err(error) => {
                self.refusals.note(token.index, Some(&error));
                Judged::Verdict(Err(error))
            }
        }
    }

    /// The verdict on a valid token, with what its request presents.
    fn prove(&self, issuer: usize, token: &[u8], unproved: Unproved, presented: &Presented<'_>, now: Now) -> Judged {
        let proving = || {
            let (rules, _) = self.verifier.named(issuer).ok_or(TokenError::Issuer)?;
            let now = since_epoch(now.time)?;
            Ok((unproved.prove(presented, &self.verifier.claimed(rules, token, now))?, now))
        };
        match proving() {
            Ok((Proving::Done(token), _)) => Judged::Verdict(Ok(token)),
            #[cfg(feature = "aws-lc-rs")]
            Ok((proving, now)) if !self.outside => Judged::Verdict(proving.finish(&self.replays, now)),
            Ok((Proving::Signature(by), _)) => Judged::CheckSignature(SignatureCheck::of_proof(by, &self.replays)),
            Err(error) => Judged::Verdict(Err(error)),
        }
    }

    /// The DPoP proofs that were used.
    #[must_use]
    pub fn replays(&self) -> &Replays {
        &self.replays
    }

    /// The algorithms with which DPoP proofs can be signed: see [`Verifier::dpop_algorithms`].
    #[must_use]
    pub fn dpop_algorithms(&self) -> String {
        self.verifier.dpop_algorithms()
    }

    /// Whether the program passes on what requests present for bound tokens.
    #[must_use]
    pub const fn takes_proofs(&self) -> bool {
        self.verifier.takes_proofs()
    }

    /// Whether a token can come with the scheme `DPoP`.
    #[must_use]
    pub const fn takes_dpop(&self) -> bool {
        self.verifier.takes_dpop()
    }

    /// Requests every issuer's keys at once, as far as the settings allow. Call it at startup, so that the first token needn't
    /// wait. Afterwards, perform the fetches of [`KeyCache::next_fetch`]. Returns the attempts to wait for.
    pub fn warm(&self, now: Duration) -> Vec<Wait> {
        let snapshot = self.snapshot.load();
        let fetches = |issuer: &usize| self.verifier.named(*issuer).is_some_and(|(rules, _)| rules.secret().is_none());
        let issuers = (0..self.schedules.len()).filter(fetches);
        let waits = issuers.filter_map(|issuer| {
            let mut schedule = self.lock(issuer)?;
            self.under_way(issuer, &mut schedule, snapshot.cause(issuer), now)
        });
        waits.collect()
    }

    /// The number of tokens that now wait for keys or for an introspection endpoint.
    #[must_use]
    pub fn waiting(&self) -> u32 {
        let asking = self.asking_places.taken();
        self.places.taken().saturating_add(asking)
    }

    /// The issuers of the keys.
    pub fn issuers(&self) -> impl Iterator<Item = &str> {
        self.verifier.issuers()
    }

    /// Where the tokens of each issuer name the account whose orbs a call consumes.
    pub fn accounts(&self) -> impl Iterator<Item = IssuerAccounts<'_>> {
        self.verifier.accounts()
    }

    /// Whether [`KeyCache::next_fetch`] might return a fetch.
    #[must_use]
    pub fn may_fetch(&self) -> bool {
        self.has_queued.load(Ordering::SeqCst) || self.refusals.has_any()
    }

    /// The next fetch, if there is one. Perform it, and report the result to [`KeyCache::fetched`].
    pub fn next_fetch(&self, now: Duration) -> Option<Fetch> {
        // Read first: nearly always there is nothing, and then no thread takes the flag from another.
        if !self.may_fetch() {
            return None;
        }
        for issuer in self.refusals.take() {
            self.refused(issuer, now);
        }
        if !self.has_queued.swap(false, Ordering::SeqCst) {
            return None;
        }
        for issuer in 0..self.schedules.len() {
            if self.introspection(issuer).is_some() {
                match self.next_question(issuer, now) {
                    Some(fetch) => return Some(fetch),
                    None => continue,
                }
            }
            let mut schedule = self.lock(issuer)?;
            self.expire(issuer, &mut schedule, now);
            if let Some(flight) = schedule.flights().find(|flight| !flight.taken) {
                flight.taken = true;
                self.has_queued.store(true, Ordering::SeqCst);
                return Some(flight.fetch(KEY_SET_BYTES, now, self.settings.timeout));
            }
        }
        None
    }

    /// Reports the result of a fetch. Returns the next fetch of the same attempt, or `None` if the attempt is over. Then pass
    /// the tokens that wait for it to [`KeyCache::judge`] again.
    ///
    /// An attempt is also over at the end of its time. A report for an attempt that is over changes nothing.
    pub fn fetched(
        &self,
        attempt: AttemptId,
        result: Result<Response<'_>, FetchError>,
        now: Duration,
    ) -> Option<Fetch> {
        let issuer = self.issuer_of(attempt)?;
        if self.introspection(issuer).is_some() {
            self.answered(issuer, attempt, result, now)?;
            return None;
        }
        let mut schedule = self.lock(issuer)?;
        self.expire(issuer, &mut schedule, now);
        let stage = schedule.flight_of(attempt)?.stage;
        drop(schedule);
        let (rules, _) = self.verifier.named(issuer)?;
        // Read before the lock is taken: it may be a long text.
        let discovered = result.and_then(|response| discovery::read(stage, response, rules, &self.settings));
        let mut schedule = self.lock(issuer)?;
        let flight = schedule.flight_of(attempt)?;
        match discovered {
            Ok(Found::Url(url)) => {
                flight.stage = Stage::Keys;
                flight.url = url;
                Some(flight.fetch(KEY_SET_BYTES, now, self.settings.timeout))
            }
            Ok(Found::Keys(keys, ttl)) => {
                let (keys, times) = (Arc::new(keys), Times::new(now, ttl, &self.settings));
                if schedule.end(attempt, true) {
                    self.change(issuer, |next, name| {
                        next.put(issuer, name, Arc::clone(&keys), times);
                        next.set_failure(issuer, None, false);
                    });
                }
                None
            }
            Err(failure) => {
                self.fail(issuer, &mut schedule, attempt, &failure, now);
                None
            }
        }
    }

    /// Whether the wait for this attempt is over.
    #[must_use]
    pub fn is_over(&self, wait: &Wait, now: Duration) -> bool {
        let is_flying = || {
            let issuer = self.issuer_of(wait.attempt)?;
            if self.is_asking(issuer, wait.attempt) {
                return Some(());
            }
            let mut schedule = self.lock(issuer)?;
            schedule.flight_of(wait.attempt).map(|_| ())
        };
        now >= wait.until || is_flying().is_none()
    }

    /// Never uses this issuer's key with this `kid` again, even if the issuer still publishes it. Call it if a private key was
    /// stolen.
    ///
    /// Tokens that name the key are rejected with [`TokenError::KeyRevoked`].
    pub fn revoke(&self, issuer: &str, kid: &str) {
        self.snapshot.rcu(|snapshot| {
            let mut next = Snapshot::clone(snapshot);
            next.keys = next.keys.revoke(issuer, kid);
            next
        });
    }

    /// Forgets the keys of this issuer. Call it if the issuer has withdrawn a key before it expired. The next token waits for
    /// a fetch; until one succeeds, every token of the issuer is rejected. If its tokens are opaque, this forgets the responses
    /// of its endpoint. Keys from a file stay: [`KeyCache::read_secrets`] reads it again.
    ///
    /// Returns the running attempt, whose result is discarded, because it might have begun before the issuer's change.
    pub fn forget(&self, issuer: &str) -> Option<Wait> {
        let issuer = self.verifier.issuers().position(|name| name == issuer)?;
        if let Some((of, _)) = self.introspection(issuer) {
            return of.forget();
        }
        if self.verifier.named(issuer)?.0.jwks_file.is_some() {
            return None;
        }
        let mut schedule = self.lock(issuer)?;
        self.drop_keys(issuer, |_| true);
        schedule.attempts.forget();
        schedule.aside = None;
        let flight = schedule.flight.as_mut()?;
        flight.discarded = true;
        Some(flight.wait())
    }

    /// The intervals and time limits of fetches.
    #[must_use]
    pub const fn settings(&self) -> &FetchSettings {
        &self.settings
    }

    /// The current keys, without waiting.
    #[must_use]
    pub fn keys(&self) -> Keys {
        self.snapshot.load().keys.clone()
    }

    /// The state of each issuer's keys, for logs and health checks. Times are on the clock of [`Now::monotonic`].
    #[must_use]
    pub fn status(&self) -> Vec<KeyStatus<Duration>> {
        let snapshot = self.snapshot.load();
        let issuers = self.verifier.issuers().zip(&snapshot.issuers);
        let issuers = issuers.enumerate();
        let status = |(index, (issuer, state)): (usize, (&str, &State))| {
            let introspection = self.introspection(index);
            let warnings = snapshot.keys.of(issuer).map(|keys| keys.warnings().to_vec());
            KeyStatus {
                issuer: issuer.to_owned(),
                keys: snapshot.keys.count(issuer),
                fetched: state.times.map(|times| times.fetched),
                warnings: warnings.unwrap_or_default(),
                is_opaque: introspection.is_some(),
                failure: match introspection {
                    Some((of, _)) => of.failure(),
                    None => state.failure.clone(),
                },
            }
        };
        issuers.map(status).collect()
    }
}

impl fmt::Debug for KeyCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeyCache")
            .field("settings", &self.settings)
            .field("status", &self.status())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
#[cfg(feature = "aws-lc-rs")]
mod tests {
    use core::time::Duration;
    use std::time::UNIX_EPOCH;

    use sha2::{Digest as _, Sha256};

    use super::{FetchSettings, Judged, KeyCache, Now, Response};
    use crate::{TokenError, VerifiedToken, Verifier};

    fn now() -> Now {
        Now { time: UNIX_EPOCH.checked_add(Duration::from_secs(1_800_000_000)).unwrap(), monotonic: Duration::ZERO }
    }

    fn judge(cache: &KeyCache, token: &str) -> Result<VerifiedToken, TokenError> {
        let now = now();
        let jwks = include_bytes!("../../testdata/jwks.json");
        loop {
            let judged = cache.judge(token, &mut cache.ask(now.monotonic), now);
            let mut next = cache.next_fetch(now.monotonic);
            while let Some(fetch) = next {
                let discovery = br#"{"issuer":"https://id.example.com","jwks_uri":"https://id.example.com/keys"}"#;
                let is_keys = fetch.url.ends_with("keys");
                let body: &[u8] = if is_keys { jwks } else { discovery };
                let response = Response { status: 200, cache_control: None, body };
                next = cache.fetched(fetch.attempt, Ok(response), now.monotonic);
            }
            if let Judged::Verdict(verdict) = judged {
                return verdict;
            }
        }
    }

    /// Two attempts begin at once, and each is there to be fetched; a third question begins no more.
    #[test]
    fn all_issuers_are_fetched_at_once() {
        let verifier = Verifier::from_yaml(include_str!("../../testdata/token.yaml")).unwrap();
        let cache = KeyCache::new(verifier, FetchSettings::default()).unwrap();
        let waits = cache.warm(Duration::ZERO);
        assert_eq!(waits.len(), cache.issuers().count());
        assert_eq!(cache.warm(Duration::ZERO), waits);
        let fetches = core::iter::from_fn(|| cache.next_fetch(Duration::ZERO));
        let attempts: Vec<_> = fetches.map(|fetch| fetch.attempt).collect();
        let waited: Vec<_> = waits.iter().map(|wait| wait.attempt).collect();
        assert_eq!(attempts, waited);
        assert!(attempts.len() > 1);
    }

    /// A signature that is known is not checked: one that is wrong passes here, because the test has put it there.
    #[test]
    fn what_is_remembered_is_not_checked_again() {
        let token = include_str!("../../testdata/token.jwt").trim();
        let (body, signature) = token.rsplit_once('.').unwrap();
        let forged = match signature.strip_prefix('A') {
            Some(rest) => format!("{body}.B{rest}"),
            None => format!("{body}.A{}", &signature[1..]),
        };
        for (most, is_known) in [(0, false), (10, true)] {
            let verifier = Verifier::from_yaml(include_str!("../../testdata/token.yaml")).unwrap();
            let verifier = verifier.remember_signatures(most);
            let cache = KeyCache::new(verifier, FetchSettings::default()).unwrap();
            let good = judge(&cache, token).unwrap();
            assert_eq!(judge(&cache, &forged), Err(TokenError::Signature));
            let check = cache.verifier.check(token, &cache.keys(), now().time).unwrap();
            let hash = Sha256::new_with_prefix(&forged).chain_update(check.key());
            if let Some(remembered) = &cache.remembered {
                assert!(remembered.knows_or(hash, now().monotonic, || true));
            }
            let scopes = judge(&cache, &forged).map(|token| token.scopes().to_owned());
            let expected = match is_known {
                true => Ok(good.scopes().to_owned()),
                false => Err(TokenError::Signature),
            };
            assert_eq!(scopes, expected, "{most}");
        }
    }
}
