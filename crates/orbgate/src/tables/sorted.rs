//! Sorting, with code that a program has once. The standard library's takes 4 kB for each type and comparison, also where a set is collected.

use core::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

/// Sorts as [`slice::sort`] does.
pub fn sort<T: Ord>(list: &mut Vec<T>) {
    sort_by(list, T::cmp);
}

/// Sorts as [`slice::sort_by_key`] does.
pub fn sort_by_key<T, K: Ord>(list: &mut Vec<T>, key: impl Fn(&T) -> K) {
    sort_by(list, |one, other| key(one).cmp(&key(other)));
}

/// Sorts as [`slice::sort_by`] does.
pub fn sort_by<T>(list: &mut Vec<T>, compare: impl Fn(&T, &T) -> Ordering) {
    let order = order(list.len(), &|one, other| match (list.get(one), list.get(other)) {
        (Some(one), Some(other)) => compare(one, other),
        _ => Ordering::Equal,
    });
    let mut unsorted: Vec<_> = core::mem::take(list).into_iter().map(Some).collect();
    list.extend(order.into_iter().filter_map(|at| unsorted.get_mut(at)?.take()));
}

/// The numbers below `len` in the order of what they number.
fn order(len: usize, compare: &dyn Fn(usize, usize) -> Ordering) -> Vec<usize> {
    let mut order: Vec<_> = (0..len).collect();
    order.sort_by(|one, other| compare(*one, *other));
    order
}

/// Collects a set without sorting first.
pub fn set_of<T: Ord>(values: impl IntoIterator<Item = T>) -> BTreeSet<T> {
    let mut set = BTreeSet::new();
    set.extend(values);
    set
}

/// Collects a map without sorting first.
pub fn map_of<K: Ord, V>(entries: impl IntoIterator<Item = (K, V)>) -> BTreeMap<K, V> {
    let mut map = BTreeMap::new();
    map.extend(entries);
    map
}

#[cfg(test)]
mod tests {
    #[test]
    fn equal_values_keep_their_order() {
        let mut list: Vec<_> = (0..200_u32).map(|at| (at * 7 % 5, at)).collect();
        let mut expected = list.clone();
        expected.sort_by_key(|(key, _)| *key);
        super::sort_by_key(&mut list, |(key, _)| *key);
        assert_eq!(list, expected);
        super::sort(&mut list);
        assert!(list.is_sorted());
    }
}
