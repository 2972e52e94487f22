//! Lists the routes, scopes and apis of an engine.

use core::fmt;

use crate::tables::list::index;
use crate::tables::route_id::RouteId;
use crate::tables::terms::{Location, Orbs, OrganisationRule};
use crate::tables::{
    ClosedRow, NO_SCOPE, ORBS_UNKNOWN, ORBS_UNSTATED, RouteRow, ScopeInApiRow, ScopeRow, Tables, scope_in, slice,
};

/// Implements `Debug` with the answers of these methods, because the tables are too long to print.
macro_rules! debug {
    ($($name:ident { $($method:ident)* })*) => {$(
        impl core::fmt::Debug for $name<'_> {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.debug_struct(stringify!($name))$(.field(stringify!($method), &self.$method()))*.finish()
            }
        }
    )*};
}
pub(crate) use debug;

debug! {
    Route { as_str requirement orbs }
    Closed { template }
    Scope { name api orbs }
    ScopeInApi { scope api }
}

/// A route of an engine: a method and a path template. One scope owns it. Nearly always, that is the one that it needs;
/// [`Route::requirement`] has the alternatives.
#[derive(Clone, Copy)]
pub struct Route<'e> {
    tables: &'e Tables,
    id: u32,
    row: &'e RouteRow,
}

impl<'e> Route<'e> {
    pub(crate) const fn new(tables: &'e Tables, id: u32, row: &'e RouteRow) -> Self {
        Self { tables, id, row }
    }

    /// The route with this id, if it exists.
    pub(crate) fn at(tables: &'e Tables, id: u32) -> Option<Self> {
        let row = tables.routes.get(index(id))?;
        Some(Self { tables, id, row })
    }

    /// Its position in [`Engine::routes`](crate::Engine::routes), from 0. Use it as an index into an array with one
    /// entry per route, such as counters.
    #[must_use]
    pub const fn index(&self) -> u32 {
        self.id
    }

    /// The route's id for [`Engine::decide_route`](crate::Engine::decide_route). It also identifies the policy, and you
    /// can keep it after the engine is gone.
    #[must_use]
    pub const fn id(&self) -> RouteId {
        RouteId::new(self.tables.policy_id(), self.id)
    }

    /// `METHOD /full/template`, for example `POST /api/v1/external/voxies/{voxieId}/run`.
    #[must_use]
    pub fn as_str(&self) -> &'e str {
        self.tables.text.get(self.row.text)
    }

    /// The method.
    #[must_use]
    pub fn method(&self) -> &'e str {
        self.tables.method(self.row)
    }

    /// The path template, including the api's base path.
    #[must_use]
    pub fn template(&self) -> &'e str {
        self.tables.text.get(self.row.template)
    }

    /// The scope that owns the route: the one that it needs (specification §5.3), unless its
    /// [requirement](Route::requirement) says otherwise.
    #[must_use]
    pub const fn scope(&self) -> Scope<'e> {
        Scope::new(self.tables, scope_in(self.row.needed))
    }

    /// What the route needs: its alternatives, of which a token must have one whole.
    #[must_use]
    pub fn requirement(&self) -> Requirement<'e> {
        let tables = self.tables;
        let scopes = match tables.requirement(&self.row.terms) {
            [] => self.scope().apis().next().map_or(&[][..], |in_api| core::slice::from_ref(&in_api.row.scope)),
            scopes => scopes,
        };
        Requirement { tables, scopes }
    }

    /// The api that the route belongs to.
    #[must_use]
    pub fn api(&self) -> &'e str {
        api_name(self.tables, self.row.api)
    }

    /// The orbs that a call consumes: the route's own, or else its scope's.
    #[must_use]
    pub fn orbs(&self) -> Orbs {
        // The route or its scope states them. If neither did, the amount would be unknown.
        orbs(self.row.terms.orbs).unwrap_or(Orbs::Unstated)
    }

    /// The route's location in the policy file.
    #[must_use]
    pub const fn location(&self) -> Location {
        self.row.location
    }

    /// The methods that the route's template declares, including its own, in alphabetical order.
    /// Use them for the `Allow` header of a 405 (RFC 9110 §10.2.1).
    pub fn methods(&self) -> impl Iterator<Item = &'e str> + use<'e> {
        let tables = self.tables;
        let rows = slice(&tables.routes, self.row.siblings).iter();
        rows.map(|row| tables.method(row))
    }
}

impl PartialEq for Route<'_> {
    /// Equal if method, template, requirement, scope and api are equal.
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str() && self.requirement() == other.requirement() && self.api() == other.api()
    }
}

impl Eq for Route<'_> {}

/// What a route needs: alternatives, each a set of scopes. A token needs all scopes of one.
#[derive(Clone, Copy)]
pub struct Requirement<'e> {
    tables: &'e Tables,
    /// The alternatives, with [`NO_SCOPE`] between two.
    scopes: &'e [u16],
}

impl<'e> Requirement<'e> {
    /// Whether it is one scope, as for nearly every route.
    #[must_use]
    pub const fn is_one_scope(&self) -> bool {
        self.scopes.len() == 1
    }

    /// The alternatives: the owner's first, the rest in the order of their bytes. At most 128, with 256 names together.
    pub fn alternatives(&self) -> impl Iterator<Item = Alternative<'e>> + Clone + use<'e> {
        let tables = self.tables;
        let alternatives = self.scopes.split(|scope| *scope == NO_SCOPE);
        alternatives.map(move |scopes| Alternative { tables, scopes: scopes.iter() })
    }

    /// The owner's alternative: the scope that owns the route and what the route needs in addition.
    pub fn of_owner(&self) -> Alternative<'e> {
        let owners = self.scopes.split(|scope| *scope == NO_SCOPE).next();
        Alternative { tables: self.tables, scopes: owners.unwrap_or_default().iter() }
    }
}

impl<'e> PartialEq for Requirement<'e> {
    /// Equal if the same scopes are enough, and the same scope owns the route.
    fn eq(&self, other: &Self) -> bool {
        let names = |scopes: Alternative<'e>| scopes.map(|scope| scope.name());
        let mut pairs = self.alternatives().zip(other.alternatives());
        self.scopes.len() == other.scopes.len() && pairs.all(|(own, other)| names(own).eq(names(other)))
    }
}

impl Eq for Requirement<'_> {}

impl fmt::Debug for Requirement<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.alternatives()).finish()
    }
}

/// The scopes of an alternative: in the owner's, the owner first; the rest in the order of their bytes.
#[derive(Clone)]
pub struct Alternative<'e> {
    tables: &'e Tables,
    scopes: core::slice::Iter<'e, u16>,
}

impl<'e> Iterator for Alternative<'e> {
    type Item = Scope<'e>;

    fn next(&mut self) -> Option<Scope<'e>> {
        Some(Scope::new(self.tables, *self.scopes.next()?))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.scopes.size_hint()
    }
}

impl ExactSizeIterator for Alternative<'_> {}

impl fmt::Display for Alternative<'_> {
    /// The names, separated by one space, as in a token.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let separators = core::iter::once("").chain(core::iter::repeat(" "));
        let mut names = separators.zip(self.clone());
        names.try_for_each(|(separator, scope)| write!(f, "{separator}{}", scope.name()))
    }
}

impl fmt::Debug for Alternative<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.to_string(), f)
    }
}

/// A closed template: a path template that declares no method, so each call of it is denied with
/// `method_not_declared`.
#[derive(Clone, Copy)]
pub struct Closed<'e> {
    tables: &'e Tables,
    row: &'e ClosedRow,
}

impl<'e> Closed<'e> {
    /// The closed template with this id.
    pub(crate) fn at(tables: &'e Tables, id: u32) -> Option<Self> {
        Some(Self { tables, row: tables.closed(id)? })
    }

    /// The path template, including the api's base path.
    #[must_use]
    pub fn template(&self) -> &'e str {
        self.tables.text.get(self.row.template)
    }

    /// The api that the template belongs to.
    #[must_use]
    pub fn api(&self) -> &'e str {
        api_name(self.tables, self.row.api)
    }

    /// The template's location in the policy file.
    #[must_use]
    pub const fn location(&self) -> Location {
        self.row.location
    }
}

impl PartialEq for Closed<'_> {
    /// Equal if template and api are equal.
    fn eq(&self, other: &Self) -> bool {
        (self.template(), self.api()) == (other.template(), other.api())
    }
}

impl Eq for Closed<'_> {}

/// A scope of an engine (RFC 6749 §3.3).
#[derive(Clone, Copy)]
pub struct Scope<'e> {
    pub(crate) tables: &'e Tables,
    id: u16,
}

impl<'e> Scope<'e> {
    pub(crate) const fn new(tables: &'e Tables, id: u16) -> Self {
        Self { tables, id }
    }

    /// The scope with this id, unless the id means "no scope".
    pub(crate) fn at(tables: &'e Tables, id: u16) -> Option<Self> {
        (id != NO_SCOPE).then_some(Self::new(tables, id))
    }

    /// INVARIANT: a scope is made from its own engine's tables, so its row exists.
    pub(crate) fn row(&self) -> Option<&'e ScopeRow> {
        let row = self.tables.scopes.get(usize::from(self.id));
        debug_assert!(row.is_some(), "a scope of another table");
        row
    }

    /// Its position among all scopes sorted by name, from 0. Use it as an index into an array with
    /// one entry per scope.
    #[must_use]
    pub const fn index(&self) -> u16 {
        self.id
    }

    /// The scope's name.
    #[must_use]
    pub fn name(&self) -> &'e str {
        self.row().map_or("", |row| self.tables.text.get(row.terms.scope))
    }

    /// The api that the scope belongs to. If several apis have the scope, the first by name; [`Scope::apis`]
    /// returns all of them.
    #[must_use]
    pub fn api(&self) -> &'e str {
        let first = self.apis().next();
        debug_assert!(first.is_some(), "a scope of no api");
        first.map_or("", |first| first.api())
    }

    /// The scope in each of its apis, sorted by the apis' names. For example, two versions of an api can share a
    /// scope. Its settings are equal in all of them.
    pub fn apis(&self) -> impl Iterator<Item = ScopeInApi<'e>> + use<'e> {
        let tables = self.tables;
        let rows = self.row().map(|row| slice(&tables.scopes_in_apis, row.apis));
        let rows = rows.into_iter().flatten();
        rows.map(|row| ScopeInApi::new(tables, row))
    }

    /// The permitted action, if the policy states one (specification §4.2).
    #[must_use]
    pub fn permits(&self) -> Option<&'e str> {
        Some(self.tables.text.get(self.row()?.permits?))
    }

    /// The orbs of a [call by scope](crate::Engine::decide_scope): the scope's own, which are the default of its routes.
    /// `None` if they are unknown, because the policy states none, or states `false` although a route is paid.
    #[must_use]
    pub fn orbs(&self) -> Option<Orbs> {
        orbs(self.row()?.terms.orbs)
    }

    /// What an organisation's token gets, if the scope applies only to a user's token.
    #[must_use]
    pub fn organisation(&self) -> Option<OrganisationRule> {
        self.row()?.terms.organisation
    }

    /// The routes that the scope owns, sorted by the names of its apis and, within each api, in the order of
    /// the policy file.
    pub fn routes(&self) -> impl Iterator<Item = Route<'e>> + use<'e> {
        self.apis().flat_map(|in_api| in_api.routes())
    }

    /// The location of the scope's first occurrence in the policy file.
    #[must_use]
    pub fn location(&self) -> Location {
        let locations = self.apis().map(|in_api| in_api.location());
        locations.min().unwrap_or_default()
    }
}

impl PartialEq for Scope<'_> {
    /// Equal if the names and the apis are equal.
    fn eq(&self, other: &Self) -> bool {
        let apis = |scope: &Self| scope.apis().map(|in_api| in_api.api());
        self.name() == other.name() && apis(self).eq(apis(other))
    }
}

impl Eq for Scope<'_> {}

/// A scope in one of its apis.
#[derive(Clone, Copy)]
pub struct ScopeInApi<'e> {
    tables: &'e Tables,
    row: &'e ScopeInApiRow,
}

impl<'e> ScopeInApi<'e> {
    pub(crate) const fn new(tables: &'e Tables, row: &'e ScopeInApiRow) -> Self {
        Self { tables, row }
    }

    /// The scope.
    #[must_use]
    pub const fn scope(&self) -> Scope<'e> {
        Scope::new(self.tables, self.row.scope)
    }

    /// The api.
    #[must_use]
    pub fn api(&self) -> &'e str {
        api_name(self.tables, self.row.api)
    }

    /// The api's routes that the scope owns, in the order of the policy file.
    pub fn routes(&self) -> impl Iterator<Item = Route<'e>> + use<'e> {
        let tables = self.tables;
        let ids = slice(&tables.scope_routes, self.row.routes).iter();
        ids.filter_map(|id| Route::at(tables, *id))
    }

    /// The location of the scope's name in this api in the policy file.
    #[must_use]
    pub const fn location(&self) -> Location {
        self.row.location
    }
}

/// INVARIANT: an api's id belongs to its own engine's tables, so the row exists.
fn api_name(tables: &Tables, id: u32) -> &str {
    let api = tables.apis.get(index(id));
    debug_assert!(api.is_some(), "an api of another table");
    api.map_or("", |api| tables.text.get(api.name))
}

/// Decodes an orb column.
fn orbs(column: i64) -> Option<Orbs> {
    match column {
        ORBS_UNKNOWN => None,
        ORBS_UNSTATED => Some(Orbs::Unstated),
        0 => Some(Orbs::Free),
        amount => Some(u64::try_from(amount).map_or(Orbs::Unstated, Orbs::Amount)),
    }
}
