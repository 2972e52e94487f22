//! The distinct decisions of many rows, and the columns that represent them.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::types::{ArrowDictionaryKeyType, Int8Type, Int16Type, Int32Type, Int64Type};
use arrow_array::{
    ArrayRef, ArrowPrimitiveType, BooleanArray, DictionaryArray, PrimitiveArray, RecordBatch, StringArray,
};
use arrow_buffer::{BooleanBuffer, NullBuffer};
use arrow_data::ArrayData;
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use orbgate::{Decision, Detail, Effect, Engine, Reason, Requirement};

use crate::column::{index, numbers};

/// A row of the result: the position of its decision among the distinct ones.
pub(crate) type OutcomeId = u32;

/// The contents of a row. Numbers are positions in the columns' dictionaries.
#[derive(Clone, Copy, Debug)]
struct Outcome {
    allow: bool,
    status: Option<i16>,
    reason: i8,
    detail: Option<i8>,
    api: Option<i32>,
    route: Option<i32>,
    scope: Option<i32>,
    consumes: Option<bool>,
    amount: Option<i64>,
    bonus_allowed: Option<bool>,
    about: Option<i32>,
    needs: Option<i32>,
}

/// The distinct decisions of a table so far. There are few, even if the table has many rows.
#[derive(Debug)]
pub(crate) struct Outcomes<'e> {
    engine: &'e Engine,
    /// The position of each key's decision, by [`key`]; [`UNSEEN`] if there isn't one yet.
    positions: Vec<OutcomeId>,
    seen: Vec<Outcome>,
    dictionaries: &'e Dictionaries,
}

/// The dictionaries of a policy's columns, and their schema.
#[derive(Debug)]
pub(crate) struct Dictionaries {
    pub(crate) schema: SchemaRef,
    effects: ArrayRef,
    reasons: ArrayRef,
    details: ArrayRef,
    apis: Names,
    routes: Names,
    scopes: Names,
    /// The alternatives of routes that need more or other than one scope, as JSON.
    needs: Names,
    /// The digest, repeated for the maximum number of rows in a batch.
    policy: ArrayRef,
}

/// Distinct names with the position of each.
#[derive(Debug)]
struct Names {
    positions: HashMap<Box<str>, i32>,
    names: ArrayRef,
}

/// The number of rows whose columns are built together.
pub(crate) const ROWS_AT_ONCE: usize = 1 << 16;

const UNSEEN: OutcomeId = OutcomeId::MAX;

/// The number of keys per route: a reason, with or without bonus orbs.
const KEYS: usize = Reason::ALL.len().saturating_mul(2);

impl<'e> Outcomes<'e> {
    pub(crate) fn new(engine: &'e Engine, dictionaries: &'e Dictionaries) -> Self {
        let routes = engine.routes().len().saturating_add(engine.closed().count()).saturating_add(1);
        let keys = routes.saturating_mul(KEYS).saturating_add(Detail::ALL.len());
        Self { engine, positions: vec![UNSEEN; keys], seen: Vec::new(), dictionaries }
    }

    pub(crate) const fn engine(&self) -> &'e Engine {
        self.engine
    }

    /// The position of a decision.
    #[inline]
    pub(crate) fn id(&mut self, decision: &Decision<'_>) -> OutcomeId {
        let key = key(decision);
        match self.positions.get(key) {
            Some(position) if *position != UNSEEN => *position,
            _ => self.insert(key, decision),
        }
    }

    #[cold]
    fn insert(&mut self, key: usize, decision: &Decision<'_>) -> OutcomeId {
        let position = OutcomeId::try_from(self.seen.len()).unwrap_or(UNSEEN);
        self.seen.push(self.dictionaries.outcome(decision));
        if let Some(slot) = self.positions.get_mut(key) {
            *slot = position;
        }
        position
    }

    /// The columns of some rows.
    pub(crate) fn columns(&self, rows: &[OutcomeId]) -> Result<RecordBatch, ArrowError> {
        let Dictionaries { schema, effects, reasons, details, apis, routes, scopes, needs, policy } = self.dictionaries;
        let mut columns = Columns { rows, seen: &self.seen, patterns: Vec::new() };
        let columns: Vec<ArrayRef> = vec![
            columns.coded::<Int8Type>(|one| Some(i8::from(one.allow)), effects)?,
            Arc::new(columns.numbers::<Int16Type>(|one| one.status)),
            columns.coded::<Int8Type>(|one| Some(one.reason), reasons)?,
            columns.coded::<Int8Type>(|one| one.detail, details)?,
            columns.coded::<Int32Type>(|one| one.api, &apis.names)?,
            columns.coded::<Int32Type>(|one| one.route, &routes.names)?,
            columns.coded::<Int32Type>(|one| one.scope, &scopes.names)?,
            Arc::new(columns.flags(|one| one.consumes)),
            Arc::new(columns.numbers::<Int64Type>(|one| one.amount)),
            Arc::new(columns.flags(|one| one.bonus_allowed)),
            policy.slice(0, rows.len()),
            columns.coded::<Int32Type>(|one| one.about, &routes.names)?,
            columns.coded::<Int32Type>(|one| one.needs, &needs.names)?,
        ];
        RecordBatch::try_new(Arc::clone(schema), columns)
    }
}

/// Columns being built for some rows.
struct Columns<'a> {
    rows: &'a [OutcomeId],
    seen: &'a [Outcome],
    /// The decisions that have a value, and therefore the rows that do. Several columns share
    /// these.
    patterns: Vec<(Vec<bool>, NullBuffer)>,
}

impl Columns<'_> {
    /// A column of numbers.
    fn numbers<N: ArrowPrimitiveType>(&mut self, of: impl Fn(&Outcome) -> Option<N::Native>) -> PrimitiveArray<N> {
        let numbers: Vec<_> = self.seen.iter().map(of).collect();
        let nulls = self.nulls(&numbers);
        let numbers: Vec<_> = numbers.into_iter().map(Option::unwrap_or_default).collect();
        let values: Vec<_> = self.rows.iter().map(|row| value(&numbers, *row)).collect();
        PrimitiveArray::new(values.into(), nulls)
    }

    /// A column of strings from a dictionary.
    fn coded<K: ArrowDictionaryKeyType>(
        &mut self,
        of: impl Fn(&Outcome) -> Option<K::Native>,
        names: &ArrayRef,
    ) -> Result<ArrayRef, ArrowError> {
        let column = DictionaryArray::<K>::try_new(self.numbers(of), Arc::clone(names))?;
        Ok(Arc::new(column))
    }

    /// A column of flags.
    fn flags(&mut self, of: impl Fn(&Outcome) -> Option<bool>) -> BooleanArray {
        let flags: Vec<_> = self.seen.iter().map(of).collect();
        let nulls = self.nulls(&flags);
        let flags: Vec<_> = flags.into_iter().map(Option::unwrap_or_default).collect();
        BooleanArray::new(self.bits(&flags), nulls)
    }

    /// The rows that have a value; `None` if all have one.
    fn nulls<T>(&mut self, values: &[Option<T>]) -> Option<NullBuffer> {
        let there: Vec<_> = values.iter().map(Option::is_some).collect();
        if there.iter().all(|there| *there) {
            return None;
        }
        let known = self.patterns.iter().find(|(pattern, _)| *pattern == there);
        if let Some((_, nulls)) = known {
            return Some(nulls.clone());
        }
        let nulls = NullBuffer::new(self.bits(&there));
        self.patterns.push((there, nulls.clone()));
        Some(nulls)
    }

    /// A bit for each row.
    fn bits(&self, flags: &[bool]) -> BooleanBuffer {
        let bit = |at: usize| self.rows.get(at).is_some_and(|row| value(flags, *row));
        BooleanBuffer::collect_bool(self.rows.len(), bit)
    }
}

/// The value for a decision.
#[inline(always)]
fn value<T: Copy + Default>(values: &[T], decision: OutcomeId) -> T {
    values.get(index(decision)).copied().unwrap_or_default()
}

/// The key of a decision: each key has exactly one decision.
#[expect(clippy::as_conversions, reason = "the numbers of reasons and details are frozen")]
#[inline]
fn key(decision: &Decision<'_>) -> usize {
    if let Some(detail) = decision.detail() {
        return usize::from(detail as u8);
    }
    let route = decision.row().or_else(|| decision.about().map(|route| route.index()));
    let bonus = decision.charge().is_some_and(|charge| charge.bonus_allowed);
    let route = route.map_or(0, |route| index(route).saturating_add(1));
    let reason = usize::from(decision.reason() as u8).saturating_sub(1);
    let answer = reason.saturating_mul(2).saturating_add(usize::from(bonus));
    let key = route.saturating_mul(KEYS).saturating_add(answer);
    key.saturating_add(Detail::ALL.len())
}

impl Dictionaries {
    pub(crate) fn new(engine: &Engine) -> Self {
        let routes = || engine.routes();
        let closed = || engine.closed();
        let templates = routes().map(|route| route.template()).chain(closed().map(|closed| closed.template()));
        Self {
            schema: schema(),
            effects: texts(Effect::ALL.map(Effect::as_str)),
            reasons: texts(Reason::ALL.map(Reason::as_str)),
            details: texts(Detail::ALL.map(Detail::as_str)),
            apis: Names::new(routes().map(|route| route.api()).chain(closed().map(|closed| closed.api()))),
            routes: Names::new(routes().map(|route| route.as_str()).chain(templates)),
            scopes: Names::new(routes().map(|route| route.scope().name())),
            needs: Names::new(
                routes().map(|route| route.requirement()).filter(|needs| !needs.is_one_scope()).map(json),
            ),
            policy: digests(engine),
        }
    }

    fn outcome(&self, decision: &Decision<'_>) -> Outcome {
        let charge = decision.charge();
        let amount = charge.and_then(|charge| charge.amount);
        Outcome {
            allow: decision.is_allow(),
            status: decision.status().and_then(|status| i16::try_from(status).ok()),
            reason: index_of(&Reason::ALL, &decision.reason()).unwrap_or_default(),
            detail: decision.detail().and_then(|detail| index_of(&Detail::ALL, &detail)),
            api: decision.api().and_then(|name| self.apis.code(name)),
            route: decision.route_name().and_then(|name| self.routes.code(name)),
            scope: decision.scope().and_then(|scope| self.scopes.code(scope.name())),
            consumes: charge.map(|charge| charge.consumes),
            amount: amount.and_then(|amount| i64::try_from(amount).ok()),
            bonus_allowed: charge.map(|charge| charge.bonus_allowed),
            about: decision.about().and_then(|route| self.routes.code(route.as_str())),
            needs: decision.requirement().and_then(|needs| self.needs.code(&json(needs))),
        }
    }
}

/// The columns of a result, the same for every policy.
pub(crate) fn schema() -> SchemaRef {
    let coded = |key: DataType| DataType::Dictionary(Box::new(key), Box::new(DataType::Utf8));
    let always = |name, kind| Field::new(name, kind, false);
    let maybe = |name, kind| Field::new(name, kind, true);
    Arc::new(Schema::new(vec![
        always("decision", coded(DataType::Int8)),
        maybe("status", DataType::Int16),
        always("reason", coded(DataType::Int8)),
        maybe("detail", coded(DataType::Int8)),
        maybe("api", coded(DataType::Int32)),
        maybe("route", coded(DataType::Int32)),
        maybe("scope", coded(DataType::Int32)),
        maybe("consumes", DataType::Boolean),
        maybe("amount", DataType::Int64),
        maybe("bonus_allowed", DataType::Boolean),
        always("policy", coded(DataType::Int8)),
        maybe("about", coded(DataType::Int32)),
        maybe("needs", coded(DataType::Int32)),
    ]))
}

/// A column of a result, from its data.
pub(crate) fn column(data: &ArrayData) -> Result<ArrayRef, ArrowError> {
    fn of<N: ArrowPrimitiveType>(data: &ArrayData) -> Option<ArrayRef> {
        Some(Arc::new(numbers::<N>(data)?))
    }
    fn coded<K: ArrowDictionaryKeyType>(data: &ArrayData) -> Option<ArrayRef> {
        let names = data.child_data().first()?;
        let names = (*names.data_type() == DataType::Utf8).then(|| names.clone())?;
        let names = Arc::new(StringArray::from(names));
        let column = DictionaryArray::<K>::try_new(numbers(data)?, names);
        Some(Arc::new(column.ok()?))
    }
    fn flags(data: &ArrayData) -> ArrayRef {
        Arc::new(BooleanArray::from(data.clone()))
    }
    let array = match data.data_type() {
        DataType::Boolean => Some(flags(data)),
        DataType::Int16 => of::<Int16Type>(data),
        DataType::Int64 => of::<Int64Type>(data),
        DataType::Dictionary(key, _) if **key == DataType::Int8 => coded::<Int8Type>(data),
        DataType::Dictionary(key, _) if **key == DataType::Int32 => coded::<Int32Type>(data),
        _ => None,
    };
    let array = array.ok_or_else(|| format!("no answer has a column of {}", data.data_type()));
    array.map_err(ArrowError::InvalidArgumentError)
}

impl Names {
    fn new<T: AsRef<str>>(names: impl Iterator<Item = T>) -> Self {
        let mut positions = HashMap::new();
        let mut different = Vec::new();
        for name in names {
            let next = i32::try_from(different.len()).unwrap_or(i32::MAX);
            positions.entry(name.as_ref().into()).or_insert_with(|| {
                different.push(name);
                next
            });
        }
        Self { positions, names: texts(different) }
    }

    fn code(&self, name: &str) -> Option<i32> {
        self.positions.get(name).copied()
    }
}

/// Alternatives as in a decision's JSON.
fn json(needs: Requirement<'_>) -> String {
    serde_json::to_string(&needs).unwrap_or_default()
}

fn texts<T: AsRef<str>>(texts: impl IntoIterator<Item = T>) -> ArrayRef {
    Arc::new(StringArray::from_iter_values(texts))
}

fn digests(engine: &Engine) -> ArrayRef {
    let keys = PrimitiveArray::<Int8Type>::from(vec![0; ROWS_AT_ONCE]);
    let digest = StringArray::from_iter_values([engine.digest().to_string()]);
    Arc::new(DictionaryArray::new(keys, Arc::new(digest)))
}

fn index_of<T: PartialEq>(all: &[T], one: &T) -> Option<i8> {
    i8::try_from(all.iter().position(|other| other == one)?).ok()
}
