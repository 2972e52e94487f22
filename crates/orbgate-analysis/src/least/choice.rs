//! Chooses a smallest set of scopes that has an alternative of every requirement whole.
//!
//! A scope that all alternatives of a requirement have is in every such set. Without these scopes, and without
//! alternatives that contain another, most requirements are met. The rest fall into groups that share no scope, and each is
//! searched by itself: from a set that is too small, the first requirement that isn't met leads to as many larger sets as it
//! has alternatives. This passes every set that has no scope too many, and so every smallest one.

use std::collections::{BTreeSet, HashMap, HashSet};

use orbgate::sorted::{set_of, sort_by};

/// The alternatives of a requirement, each sorted. The scopes are numbered in the order of their bytes.
pub(super) type Alternatives = Vec<Vec<u32>>;

pub(super) struct Choice {
    pub(super) scopes: BTreeSet<u32>,
    /// Whether no smaller set is enough, and no other of this size comes before it by bytes. If not, it only has no scope
    /// too many.
    pub(super) is_smallest: bool,
}

/// The most scopes of a group that is searched.
const MOST_SCOPES: usize = 20;

/// The most sets that a search passes, over all groups. A search of as many scopes as are always decided takes no more.
const MOST_SETS: usize = 1 << MOST_SCOPES;

pub(super) fn choose(requirements: impl IntoIterator<Item = Alternatives>) -> Choice {
    let requirements = set_of(requirements);
    let mut scopes = set_of(requirements.iter().flat_map(|alternatives| forced(alternatives)));
    // Without the forced scopes, no requirement has a scope in all of its alternatives that it hadn't before.
    let open = set_of(requirements.into_iter().filter_map(|own| without(own, &scopes)));
    let (mut is_smallest, mut room) = (true, MOST_SETS);
    for group in groups(open) {
        let enough = irreducible(&group);
        let smallest = smallest(&group, enough.len(), &mut room);
        is_smallest &= smallest.is_some();
        scopes.extend(smallest.unwrap_or(enough));
    }
    Choice { scopes, is_smallest }
}

/// The scopes that all of these alternatives have.
pub(super) fn forced(alternatives: &[Vec<u32>]) -> Vec<u32> {
    let (Some(first), Some(others)) = (alternatives.first(), alternatives.get(1..)) else {
        return Vec::new();
    };
    let in_all = |scope: &&u32| others.iter().all(|other| other.contains(scope));
    first.iter().filter(in_all).copied().collect()
}

/// Whether a set has an alternative whole.
fn is_met(alternatives: &[Vec<u32>], set: &BTreeSet<u32>) -> bool {
    alternatives.iter().any(|scopes| scopes.iter().all(|scope| set.contains(scope)))
}

/// What a requirement still needs in addition to these scopes: alternatives of which none contains another; `None` if it is met.
fn without(mut alternatives: Alternatives, chosen: &BTreeSet<u32>) -> Option<Alternatives> {
    for scopes in &mut alternatives {
        scopes.retain(|scope| !chosen.contains(scope));
    }
    sort_by(&mut alternatives, |a, b| (a.len(), a).cmp(&(b.len(), b)));
    let mut least: Alternatives = Vec::new();
    for scopes in alternatives {
        if !least.iter().any(|fewer| fewer.iter().all(|scope| scopes.contains(scope))) {
            least.push(scopes);
        }
    }
    least.iter().all(|scopes| !scopes.is_empty()).then_some(least)
}

/// Groups of requirements that share no scope, in the order of their first scopes.
fn groups(open: BTreeSet<Alternatives>) -> Vec<Vec<Alternatives>> {
    let open: Vec<_> = open.into_iter().collect();
    let mut of_scope: HashMap<u32, Vec<usize>> = HashMap::new();
    for (at, alternatives) in open.iter().enumerate() {
        for scope in alternatives.iter().flatten() {
            of_scope.entry(*scope).or_default().push(at);
        }
    }
    let mut groups = Vec::new();
    let mut seen = HashSet::new();
    for first in 0..open.len() {
        let (mut next, mut group) = (vec![first], Vec::new());
        while let Some(at) = next.pop() {
            let Some(alternatives) = open.get(at).filter(|_| seen.insert(at)) else {
                continue;
            };
            group.push(alternatives.clone());
            // The requirements of a scope are visited once.
            let scopes = alternatives.iter().flatten();
            next.extend(scopes.filter_map(|scope| of_scope.remove(scope)).flatten());
        }
        if !group.is_empty() {
            groups.push(group);
        }
    }
    groups
}

/// Scopes that are enough, of which none is too many: the alternatives that add the fewest, without those that turned out
/// to be needless, the last by bytes first.
fn irreducible(group: &[Alternatives]) -> BTreeSet<u32> {
    let mut set = BTreeSet::new();
    let mut of_scope: HashMap<u32, Vec<&Alternatives>> = HashMap::new();
    for alternatives in group {
        if !is_met(alternatives, &set) {
            let added = |scopes: &&Vec<u32>| scopes.iter().filter(|scope| !set.contains(scope)).count();
            let least = alternatives.iter().min_by_key(added);
            set.extend(least.into_iter().flatten().copied().collect::<Vec<_>>());
        }
        for scope in set_of(alternatives.iter().flatten().copied()) {
            of_scope.entry(scope).or_default().push(alternatives);
        }
    }
    for scope in set.iter().rev().copied().collect::<Vec<_>>() {
        set.remove(&scope);
        let own = of_scope.get(&scope);
        if !own.into_iter().flatten().all(|alternatives| is_met(alternatives, &set)) {
            set.insert(scope);
        }
    }
    set
}

/// The smallest set that is enough, the first by bytes of several; `None` if there are too many scopes or sets. Its size is
/// at most the given one.
fn smallest(group: &[Alternatives], mut most: usize, room: &mut usize) -> Option<BTreeSet<u32>> {
    let scopes = set_of(group.iter().flatten().flatten().copied());
    if scopes.len() > MOST_SCOPES {
        return None;
    }
    // The first scope is the highest bit. So of two sets of one size, the first by bytes is the larger number.
    let bits: HashMap<u32, u32> = scopes.iter().rev().copied().zip((0..u32::BITS).map(|at| 1 << at)).collect();
    let mask = |scopes: &Vec<u32>| scopes.iter().filter_map(|scope| bits.get(scope)).fold(0, |mask, bit| mask | bit);
    let group: Vec<Vec<u32>> = group.iter().map(|alternatives| alternatives.iter().map(mask).collect()).collect();
    let size = |set: u32| usize::try_from(set.count_ones()).unwrap_or(usize::MAX);
    let (mut best, mut seen) = (None, HashSet::from([0]));
    // A set, and how many of the first requirements it meets.
    let mut open = vec![(0_u32, 0_usize)];
    while let Some((set, met)) = open.pop() {
        *room = room.checked_sub(1)?;
        let rest = group.get(met..).unwrap_or_default();
        let is_open = |alternatives: &Vec<u32>| !alternatives.iter().any(|scopes| set & scopes == *scopes);
        let Some(more) = rest.iter().position(is_open) else {
            best = best.filter(|best| (size(*best), !*best) < (size(set), !set)).or(Some(set));
            most = most.min(size(set));
            continue;
        };
        let met = met.saturating_add(more);
        for scopes in group.get(met).into_iter().flatten() {
            let larger = set | scopes;
            if size(larger) <= most && seen.insert(larger) {
                open.push((larger, met));
            }
        }
    }
    let best: u32 = best?;
    Some(scopes.into_iter().filter(|scope| bits.get(scope).is_some_and(|bit| best & bit > 0)).collect())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{Alternatives, MOST_SCOPES, MOST_SETS, choose, is_met, smallest};

    /// Pairs of which each scope is enough, in a circle: every other scope is enough.
    fn circle(scopes: u32) -> Vec<Alternatives> {
        let next = (1..scopes).chain([0]);
        (0..scopes).zip(next).map(|(scope, next)| vec![vec![scope], vec![next]]).collect()
    }

    #[test]
    fn up_to_20_undecided_scopes_are_decided_exactly() {
        assert_eq!(MOST_SCOPES, 20);
        let choice = choose(circle(20));
        assert!(choice.is_smallest);
        assert_eq!(choice.scopes, (0..20).step_by(2).collect());
        // Of more, a choice has no scope too many.
        let choice = choose(circle(22));
        assert!(!choice.is_smallest);
        let is_enough = |set: &BTreeSet<u32>| circle(22).iter().all(|alternatives| is_met(alternatives, set));
        assert!(is_enough(&choice.scopes));
        for scope in &choice.scopes {
            assert!(!is_enough(&(&choice.scopes - &BTreeSet::from([*scope]))), "{scope}");
        }
        // Groups that share no scope are searched one by one.
        let firsts = (0..60).step_by(2);
        let choice = choose(firsts.clone().zip((1..60).step_by(2)).map(|(one, other)| vec![vec![one], vec![other]]));
        assert!(choice.is_smallest);
        assert_eq!(choice.scopes, firsts.collect());
    }

    #[test]
    fn a_search_passes_no_more_sets_than_there_is_room_for() {
        let mut room = 5;
        assert!(smallest(&circle(20), 20, &mut room).is_none());
        let mut room = MOST_SETS;
        assert_eq!(smallest(&circle(20), 20, &mut room).map(|scopes| scopes.len()), Some(10));
        assert!(room > 0);
    }
}
