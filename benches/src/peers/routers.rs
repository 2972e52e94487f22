//! The routers: routing only. They also return the values of parameters, which orbgate does not.
//!
//! Two ways of setting one up. `paths`: one router of all path templates, the method not looked at (less
//! than a decision). `methods`: one router for each method, picked by a number that an HTTP library has
//! anyway, so that picking costs an index. The goals compare with the faster of the two.

use std::hint::black_box;

use crate::contest::{Add, Answer, Contestant, pass};
use crate::stream::Ask;
use crate::table::Table;

pub(super) fn add(table: &'static Table, add: &mut Add<'_>) {
    add("matchit-paths", &|| Box::new(Paths::<Matchit>::new(table)));
    add("matchit-methods", &|| Box::new(Methods::<Matchit>::new(table)));
    add("wayfind-paths", &|| Box::new(Paths::<Wayfind>::new(table)));
    add("wayfind-methods", &|| Box::new(Methods::<Wayfind>::new(table)));
    add("path-tree-paths", &|| Box::new(Paths::<PathTree>::new(table)));
    add("path-tree-methods", &|| Box::new(Methods::<PathTree>::new(table)));
    add("by-hand", &|| Box::new(ByHand::new(table)));
    // Its search is linear: 100,000 regular expressions take gigabytes.
    if table.rows.len() < 10_000 {
        add("actix-router-methods", &|| Box::new(Methods::<Actix>::new(table)));
    }
}

/// A router of templates to numbers.
trait Router: Sync + Send + 'static {
    const NAME: &'static str;

    fn new(templates: &[(&str, usize)]) -> Self;

    fn find(&self, path: &str) -> Option<usize>;
}

struct Paths<R>(R);

impl<R: Router> Paths<R> {
    fn new(table: &Table) -> Self {
        Self(R::new(
            &table.templates.iter().enumerate().map(|(id, template)| (template.as_str(), id)).collect::<Vec<_>>(),
        ))
    }
}

impl<R: Router> Contestant for Paths<R> {
    fn name(&self) -> String {
        format!("{}-paths", R::NAME)
    }

    fn answer(&self, ask: &Ask) -> Answer {
        Answer::Template(self.0.find(ask.target))
    }

    fn pass(&self, asks: &[Ask]) -> usize {
        pass(asks, |ask| black_box(self.0.find(ask.target)).is_some())
    }
}

struct Methods<R>(Vec<R>);

impl<R: Router> Methods<R> {
    fn new(table: &Table) -> Self {
        let of = |method| {
            let rows = table.rows.iter().enumerate().filter(move |(_, row)| row.method == method);
            R::new(&rows.map(|(id, row)| (table.templates[row.template_id].as_str(), id)).collect::<Vec<_>>())
        };
        Self((0..table.methods.len()).map(of).collect())
    }

    #[inline(always)]
    fn find(&self, ask: &Ask) -> Option<usize> {
        self.0[usize::from(ask.method_id)].find(ask.target)
    }
}

impl<R: Router> Contestant for Methods<R> {
    fn name(&self) -> String {
        format!("{}-methods", R::NAME)
    }

    fn answer(&self, ask: &Ask) -> Answer {
        Answer::Route(self.find(ask))
    }

    fn pass(&self, asks: &[Ask]) -> usize {
        pass(asks, |ask| black_box(self.find(ask)).is_some())
    }
}

struct Matchit(matchit::Router<usize>);

impl Router for Matchit {
    const NAME: &'static str = "matchit";

    fn new(templates: &[(&str, usize)]) -> Self {
        let mut router = matchit::Router::new();
        for (template, id) in templates {
            router.insert(*template, *id).expect("a template");
        }
        Self(router)
    }

    #[inline(always)]
    fn find(&self, path: &str) -> Option<usize> {
        self.0.at(path).ok().map(|matched| *matched.value)
    }
}

struct Wayfind(wayfind::Router<usize>);

impl Router for Wayfind {
    const NAME: &'static str = "wayfind";

    fn new(templates: &[(&str, usize)]) -> Self {
        let mut builder = wayfind::RouterBuilder::new();
        for (template, id) in templates {
            let template = template.replace('{', "<").replace('}', ">");
            builder.insert(&template, *id).expect("a template");
        }
        Self(builder.build())
    }

    #[inline(always)]
    fn find(&self, path: &str) -> Option<usize> {
        self.0.search(path).map(|matched| *matched.data())
    }
}

struct PathTree(path_tree::PathTree<usize>);

impl Router for PathTree {
    const NAME: &'static str = "path-tree";

    fn new(templates: &[(&str, usize)]) -> Self {
        let mut router = path_tree::PathTree::new();
        for (template, id) in templates {
            let _ = router.insert(&template.replace('{', ":").replace('}', ""), *id);
        }
        Self(router)
    }

    #[inline(always)]
    fn find(&self, path: &str) -> Option<usize> {
        self.0.find(path).map(|(id, _)| *id)
    }
}

/// Takes the first template that fits, so the literal ones come first, as its users order them.
struct Actix(actix_router::Router<usize>);

impl Router for Actix {
    const NAME: &'static str = "actix-router";

    fn new(templates: &[(&str, usize)]) -> Self {
        let mut templates = templates.to_vec();
        // `{` is greater than every letter.
        templates.sort();
        let mut router = actix_router::Router::build();
        for (template, id) in templates {
            router.path(template, id);
        }
        Self(router.finish())
    }

    #[inline(always)]
    fn find(&self, path: &str) -> Option<usize> {
        let mut path = actix_router::Path::new(path);
        self.0.recognize(&mut path).map(|(id, _)| *id)
    }
}

/// What a user writes today: matchit, and a search for the route's scope in the token's text.
struct ByHand(Vec<matchit::Router<Needed>>);

/// What a user keeps with a route.
struct Needed {
    scope: &'static str,
    consumes: bool,
}

/// What an application does at its start: makes the routers, and notes the scope of each route.
#[cfg(feature = "engines")]
pub(crate) fn load(table: &Table) {
    black_box(ByHand::new(table));
}

impl ByHand {
    fn new(table: &Table) -> Self {
        let mut routers: Vec<_> = table.methods.iter().map(|_| matchit::Router::new()).collect();
        for row in &table.rows {
            let scope = table.scopes[row.scope];
            let needed = Needed { scope, consumes: !scope.starts_with("read:") };
            routers[row.method].insert(table.templates[row.template_id].as_str(), needed).expect("a template");
        }
        Self(routers)
    }

    #[inline(always)]
    fn allows(&self, ask: &Ask) -> bool {
        let Ok(matched) = self.0[usize::from(ask.method_id)].at(ask.target) else {
            return false;
        };
        let needed = matched.value;
        black_box(needed.consumes);
        ask.scopes.split(' ').any(|scope| scope == needed.scope)
    }
}

impl Contestant for ByHand {
    fn name(&self) -> String {
        "by-hand".to_owned()
    }

    fn answer(&self, ask: &Ask) -> Answer {
        Answer::Allowed(self.allows(ask))
    }

    fn pass(&self, asks: &[Ask]) -> usize {
        pass(asks, |ask| black_box(self.allows(ask)))
    }
}
