//! Finds templates that match the same path. Every search for overlaps uses this module.
//!
//! Two templates of one length match some common path if they agree at each position that is literal in both. So the
//! templates of two tuples (sets of literal positions) are joined by their literals at the positions that both tuples
//! contain. There are at most 63 tuples for each length, so the groups are found in time linear in the number of
//! templates, however many pairs they contain.

use core::ops::ControlFlow;
use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};

/// A template as its segments: literals, and `None` for a parameter, whose name doesn't matter.
pub(crate) type Shape<'t> = [Option<&'t str>];

/// Visits, in groups, the templates of a policy that match a common path. Each template of the first list, which is the
/// more specific one, has a path in common with each of the second. Templates are identified by their positions in
/// `shapes`, and each pair of different shapes is in exactly one group.
pub(crate) fn meetings<'t, S: AsRef<Shape<'t>>>(
    shapes: &[S],
    mut visit: impl FnMut(&[usize], &[usize]) -> ControlFlow<()>,
) -> ControlFlow<()> {
    let mut numbers = Numbers::default();
    let tuples = by_tuple(shapes, &mut numbers, Case::Kept);
    for (general, rows) in &tuples {
        // A later tuple is literal at the first position where they differ.
        let specific = tuples.range((general.0, general.1.saturating_add(1))..);
        let same_length = specific.take_while(|(tuple, _)| tuple.0 == general.0);
        for (tuple, others) in same_length {
            join(others, rows, tuple.1 & general.1, &mut visit)?;
        }
    }
    ControlFlow::Continue(())
}

/// The same for the templates of two policies: the first list contains positions in `one`, the second in `two`.
/// Literals that differ only in case count as equal, because a path that matches one of them is rejected by the other.
pub(crate) fn meetings_of_two<'t, S: AsRef<Shape<'t>>, T: AsRef<Shape<'t>>>(
    one: &[S],
    two: &[T],
    mut visit: impl FnMut(&[usize], &[usize]) -> ControlFlow<()>,
) -> ControlFlow<()> {
    let mut numbers = Numbers::default();
    let one = by_tuple(one, &mut numbers, Case::Ignored);
    let two = by_tuple(two, &mut numbers, Case::Ignored);
    for (tuple, rows) in &one {
        for (other, others) in two.range((tuple.0, 0)..=(tuple.0, u64::MAX)) {
            join(rows, others, tuple.1 & other.1, &mut visit)?;
        }
    }
    ControlFlow::Continue(())
}

/// A template's position in its list, and its segments: the number of a literal, or 0 for a parameter.
struct Row {
    at: usize,
    segments: Vec<u32>,
}

/// The templates by number of segments and tuple, in which the first position has the highest bit.
type Tuples = BTreeMap<(usize, u64), Vec<Row>>;

#[derive(Clone, Copy)]
enum Case {
    Kept,
    Ignored,
}

type Numbers<'t> = HashMap<Cow<'t, str>, u32>;

fn by_tuple<'t, S: AsRef<Shape<'t>>>(shapes: &[S], numbers: &mut Numbers<'t>, case: Case) -> Tuples {
    let mut number = |literal: &'t str| {
        let literal = match case {
            Case::Ignored if literal.bytes().any(|byte| byte.is_ascii_uppercase()) => {
                Cow::Owned(literal.to_ascii_lowercase())
            }
            _ => Cow::Borrowed(literal),
        };
        let fresh = u32::try_from(numbers.len()).unwrap_or(u32::MAX);
        *numbers.entry(literal).or_insert(fresh.saturating_add(1))
    };
    let mut tuples = Tuples::new();
    for (at, shape) in shapes.iter().enumerate() {
        let shape = shape.as_ref();
        let segments = shape.iter().map(|segment| segment.map_or(0, &mut number));
        let segments: Vec<u32> = segments.collect();
        let bits = segments.iter().map(|number| u64::from(*number != 0));
        let tuple = bits.fold(0, |tuple, bit| tuple << 1 | bit);
        let rows = tuples.entry((segments.len(), tuple)).or_default();
        rows.push(Row { at, segments });
    }
    tuples
}

/// Visits the rows of two tuples that have the same literals at the common positions, in the order of the first tuple.
fn join(
    one: &[Row],
    two: &[Row],
    common: u64,
    visit: &mut impl FnMut(&[usize], &[usize]) -> ControlFlow<()>,
) -> ControlFlow<()> {
    let mut numbers: HashMap<Vec<u32>, usize> = HashMap::new();
    let mut groups: Vec<[Vec<usize>; 2]> = Vec::new();
    for row in one {
        let group = *numbers.entry(row.literals(common)).or_insert(groups.len());
        if group == groups.len() {
            groups.push([Vec::new(), Vec::new()]);
        }
        if let Some([list, _]) = groups.get_mut(group) {
            list.push(row.at);
        }
    }
    for row in two {
        let group = numbers.get(&row.literals(common));
        if let Some([_, list]) = group.and_then(|group| groups.get_mut(*group)) {
            list.push(row.at);
        }
    }
    let met = groups.iter().filter(|[_, list]| !list.is_empty());
    met.into_iter().try_for_each(|[one, two]| visit(one, two))
}

impl Row {
    /// The literals at these positions.
    fn literals(&self, positions: u64) -> Vec<u32> {
        let (mut positions, mut literals) = (positions, Vec::new());
        for number in self.segments.iter().rev() {
            if positions & 1 == 1 {
                literals.push(*number);
            }
            positions >>= 1;
        }
        literals
    }
}
