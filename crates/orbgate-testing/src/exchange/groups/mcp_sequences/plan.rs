//! Sequences of calls by seed: everything that a caller chooses, each pair of choices at least once.

use std::collections::BTreeSet;

use crate::random::Random;

/// The tools that consume orbs: each call of a sequence has its own, so a hold's note tells which call made it.
pub(super) const TOOLS: [&str; 4] = ["one", "two", "three", "four"];
pub(super) const FREE: &str = "free";

/// One call, as its caller chooses.
#[derive(Clone, Copy, Debug)]
pub(super) struct Call {
    pub(super) is_free: bool,
    pub(super) is_task: bool,
    pub(super) id: Id,
    pub(super) version: Version,
    pub(super) session: Session,
    pub(super) end: End,
    pub(super) leaves: Leaves,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Id {
    One,
    OneAsText,
    OneAsFraction,
    Two,
    /// Of 300 bytes.
    Long,
    /// A notification.
    Absent,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Version {
    Newest,
    Older,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Session {
    None,
    Own,
    /// Of another caller.
    Other,
    Unknown,
    /// Two header lines.
    Both,
}

/// How the tool ends after it has done its work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    Result,
    Error,
    ToolError,
}

/// When the caller closes its connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Leaves {
    Never,
    /// Right after the request.
    AtOnce,
    /// Before the tool has worked, or while it works.
    Early,
    /// After this part of the response's pieces, by quarters.
    After(usize),
}

/// What happens, to one of the calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Event {
    Start,
    /// Its tool may end.
    Answer,
    Leave,
    /// `notifications/cancelled`.
    Cancel,
    /// DELETE of its session.
    EndSession,
    /// GET of its session.
    Listen,
    /// The same, with `Last-Event-ID`.
    Resume,
}

#[derive(Clone, Debug)]
pub(super) struct Sequence {
    pub(super) calls: Vec<Call>,
    pub(super) events: Vec<(Event, usize)>,
}

const IDS: [Id; 6] = [Id::One, Id::OneAsText, Id::OneAsFraction, Id::Two, Id::Long, Id::Absent];
const VERSIONS: [Version; 2] = [Version::Newest, Version::Older];
const SESSIONS: [Session; 5] = [Session::None, Session::Own, Session::Other, Session::Unknown, Session::Both];
const ENDS: [End; 3] = [End::Result, End::Error, End::ToolError];
const LEAVES: [Leaves; 6] =
    [Leaves::Never, Leaves::AtOnce, Leaves::Early, Leaves::After(1), Leaves::After(2), Leaves::After(3)];
const EVENTS: [Event; 7] =
    [Event::Start, Event::Answer, Event::Leave, Event::Cancel, Event::EndSession, Event::Listen, Event::Resume];

/// How many choices each field of a call has, and after these how many events.
const CHOICES: [usize; 8] = [2, 2, IDS.len(), VERSIONS.len(), SESSIONS.len(), ENDS.len(), LEAVES.len(), EVENTS.len()];

/// A choice: the field, and which of its values.
type Choice = (usize, usize);

/// Two choices for one call, or one each for two calls in a row.
type Pair = (bool, Choice, Choice);

impl Call {
    /// Whether both might be calls of one session with the same `id`, as loosely as servers compare: of two header lines, one counts.
    pub(super) fn shares_id(&self, other: &Self) -> bool {
        let number = |id| if matches!(id, Id::OneAsText | Id::OneAsFraction) { Id::One } else { id };
        let is_one_session = match (self.session, other.session) {
            (Session::None, _) | (_, Session::None) => false,
            (Session::Both, Session::Own | Session::Other) | (Session::Own | Session::Other, Session::Both) => true,
            (one, other) => one == other,
        };
        is_one_session && number(self.id) == number(other.id)
    }

    /// From one number for each field.
    const fn of(at: [usize; 7]) -> Self {
        let [is_free, is_task, id, version, session, end, leaves] = at;
        Self {
            is_free: is_free == 1,
            is_task: is_task == 1,
            id: IDS[id],
            version: VERSIONS[version],
            session: SESSIONS[session],
            end: ENDS[end],
            leaves: LEAVES[leaves],
        }
    }
}

/// Makes sequences that have pairs which no earlier one had.
pub(super) struct Plans {
    random: Random,
    seen: BTreeSet<Pair>,
}

impl Plans {
    pub(super) const fn new(seed: u64) -> Self {
        Self { random: Random::new(seed), seen: BTreeSet::new() }
    }

    /// The next one: of some at random, the one with the most new pairs.
    pub(super) fn next(&mut self) -> Sequence {
        let candidates: Vec<_> = (0..40).map(|_| self.any()).collect();
        let new = |pairs: &BTreeSet<Pair>| pairs.difference(&self.seen).count();
        let best = candidates.into_iter().max_by_key(|(_, pairs)| new(pairs));
        let (sequence, pairs) = best.expect("there are candidates");
        self.seen.extend(pairs);
        sequence
    }

    /// How many of the pairs of choices for one call there were, and how many there are.
    pub(super) fn pairs(&self) -> (usize, usize) {
        let seen = self.seen.iter().filter(|(is_of_two, ..)| !is_of_two).count();
        let fields = CHOICES.len();
        let all = (0..fields).flat_map(|one| (one + 1..fields).map(move |other| CHOICES[one] * CHOICES[other])).sum();
        (seen, all)
    }

    fn any(&mut self) -> (Sequence, BTreeSet<Pair>) {
        let random = &mut self.random;
        let count = 1 + random.index(TOOLS.len());
        let mut at: Vec<[usize; 7]> = Vec::new();
        for _ in 0..count {
            let mut one = [0; 7];
            for (value, choices) in one.iter_mut().zip(CHOICES) {
                *value = random.index(choices);
            }
            // Most calls should run.
            if random.below(2) == 0 {
                one[1] = 0;
                one[3] = 1;
                one[4] = 1;
            }
            at.push(one);
        }
        let mut events: Vec<(usize, usize)> =
            (0..2 + random.index(8)).map(|_| (random.index(EVENTS.len()), random.index(count))).collect();
        // Each starts, at the latest in the end.
        events.extend((0..count).map(|call| (0, call)));
        let mut pairs = BTreeSet::new();
        for (call, values) in at.iter().enumerate() {
            let mut choices: Vec<Choice> = values.iter().copied().enumerate().collect();
            let of_fields = choices.len();
            choices.extend(events.iter().filter(|(_, of)| *of == call).map(|(event, _)| (of_fields, *event)));
            for (at, one) in choices.iter().enumerate() {
                pairs.extend(
                    choices[at + 1..].iter().filter(|other| other.0 > one.0).map(|other| (false, *one, *other)),
                );
            }
        }
        for (one, other) in at.iter().zip(at.iter().skip(1)) {
            for (field, value) in one.iter().enumerate() {
                pairs.extend(other.iter().enumerate().map(|(other, its)| (true, (field, *value), (other, *its))));
            }
        }
        let calls = at.into_iter().map(Call::of).collect();
        let events = events.into_iter().map(|(event, call)| (EVENTS[event], call)).collect();
        (Sequence { calls, events }, pairs)
    }
}
