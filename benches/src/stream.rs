//! Streams of requests: at least 16,384 each, all different, in an order that no branch predictor learns.

use std::collections::HashSet;

use orbgate::ScopeSet;

use crate::support::{Numbers, uuid};
use crate::table::Table;

/// A request as every contestant gets it, one cache line, with the right answer.
pub struct Ask {
    pub target: &'static str,
    pub method: &'static str,
    /// The token's scopes as text.
    pub scopes: &'static str,
    /// The same, interned by orbgate.
    pub set: &'static ScopeSet,
    /// The method's number: an HTTP library parses it before any router sees it.
    pub method_id: u8,
    pub expected: Expected,
    /// Its place in the stream.
    pub id: u32,
}

/// The requests, and what policy engines are prepared with.
pub struct Stream {
    pub asks: Vec<Ask>,
    pub tokens: Vec<TokenText>,
    /// The token of each request, and its route, where it has one.
    pub facts: Vec<(usize, Option<usize>)>,
}

/// The right answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expected {
    Allow,
    ScopeMissing,
    NoRoute,
    MethodNotDeclared,
    Malformed,
}

/// What a stream consists of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mix {
    /// Declared routes; parameters are numbers, slugs, UUIDs and names; every scope is held. A path without a parameter
    /// is one request, so nearly all have some.
    Hits,
    /// Declared routes; every parameter is a UUID.
    Uuids,
    /// Unknown paths.
    Misses,
    /// Paths that break a rule for targets, of many kinds.
    Malformed,
    /// Parameters that equal words of the table.
    Words,
    /// Parameters of 60 to 250 bytes.
    Long,
    /// Hits with a query of this many bytes, its `?` included.
    Query(usize),
    /// Hits of which a literal has one letter of the other case.
    Case,
    /// 85 % hits, 5 % hits without the scope, 5 % misses, 5 % malformed.
    Mixed,
}

/// Which routes and tokens a stream draws from.
#[derive(Clone, Copy)]
pub struct Plan {
    pub name: &'static str,
    pub kind: Mix,
    /// How many scopes a token has, at least and at most.
    pub scopes: (usize, usize),
    /// Draws from this many routes, spread over the table; from all where `None`.
    pub routes: Option<usize>,
    /// The same requests over and over, this many; all are different where `None`.
    pub repeated: Option<usize>,
}

const FEW: (usize, usize) = (1, 3);
const MANY: (usize, usize) = (20, 40);

/// Every stream of a table.
pub fn plans(table: &str) -> Vec<Plan> {
    let plan = |name, kind, scopes| Plan { name, kind, scopes, routes: None, repeated: None };
    let hits = plan("hits", Mix::Hits, FEW);
    match table.trim_end_matches("-slash") {
        "external" | "github" => vec![
            hits,
            plan("hits-many-scopes", Mix::Hits, MANY),
            plan("uuids", Mix::Uuids, FEW),
            plan("misses", Mix::Misses, FEW),
            plan("malformed", Mix::Malformed, FEW),
            plan("words", Mix::Words, FEW),
            plan("long", Mix::Long, FEW),
            plan("mixed", Mix::Mixed, FEW),
            Plan { name: "hits-hot", repeated: Some(64), ..hits },
        ],
        "100000" => vec![hits, Plan { name: "hits-1000-of-them", routes: Some(1_000), ..hits }],
        _ => vec![hits],
    }
}

/// More streams of a table, which only orbgate answers: routers are given paths without queries, and take the case of letters as it
/// is.
pub fn own_plans() -> Vec<Plan> {
    let plan = |name, kind| Plan { name, kind, scopes: FEW, routes: None, repeated: None };
    vec![
        plan("query-4", Mix::Query(4)),
        plan("query-20", Mix::Query(20)),
        plan("query-1000", Mix::Query(1_000)),
        plan("case", Mix::Case),
    ]
}

/// Makes the requests of a plan, each with another target or method than all before it. A table in which nearly every
/// request has been drawn (10 routes without a parameter are 10 requests) begins again.
pub fn stream(table: &Table, plan: Plan, count: usize) -> Stream {
    let mut maker = Maker::new(table, plan);
    let mut drafts: Vec<Draft> = Vec::with_capacity(count);
    let mut drawn = HashSet::new();
    let mut in_vain = 0;
    let different = plan.repeated.unwrap_or(count).min(count);
    while drafts.len() < different {
        let Some(draft) = maker.draft() else {
            continue;
        };
        if drawn.insert((draft.method, draft.target.clone())) {
            in_vain = 0;
            drafts.push(draft);
            continue;
        }
        in_vain += 1;
        if in_vain == 1_000 {
            drawn.clear();
        }
    }
    // One text, so that requests are in memory in the order of the stream: a server has just read them.
    let text = drafts.iter().map(|draft| draft.target.as_str()).collect::<String>();
    let mut rest: &'static str = text.leak();
    let mut asks = Vec::with_capacity(count);
    for (id, draft) in (0..).zip(&drafts) {
        let (target, after) = rest.split_at(draft.target.len());
        rest = after;
        let token = &maker.tokens.all[draft.token];
        let (method, method_id) = match draft.method {
            Some(id) => (table.methods[id], id),
            None => ("get", 0),
        };
        asks.push(Ask {
            target,
            method,
            scopes: token.text,
            set: token.set,
            method_id: u8::try_from(method_id).expect("few methods"),
            expected: draft.expected,
            id,
        });
    }
    let facts = drafts.iter().map(|draft| (draft.token, draft.route));
    let mut facts: Vec<_> = facts.collect();
    for id in different..count {
        asks.push(Ask { id: u32::try_from(id).expect("few requests"), ..asks[id - different] });
        facts.push(facts[id - different]);
    }
    Stream { asks, facts, tokens: maker.tokens.all }
}

struct Draft {
    target: String,
    /// `None` is a malformed one.
    method: Option<usize>,
    token: usize,
    route: Option<usize>,
    expected: Expected,
}

struct Maker<'t> {
    table: &'t Table,
    plan: Plan,
    numbers: Numbers,
    /// Those of queries, so that their paths are the same as without.
    query: Numbers,
    routes: Vec<usize>,
    words: Vec<&'t str>,
    tokens: Tokens,
}

impl<'t> Maker<'t> {
    fn new(table: &'t Table, plan: Plan) -> Self {
        let mut numbers = Numbers::new(7);
        let mut routes: Vec<usize> = (0..table.rows.len()).collect();
        if let Some(some) = plan.routes {
            for place in 0..some {
                let other = place + numbers.below(routes.len() - place);
                routes.swap(place, other);
            }
            routes.truncate(some);
        }
        if matches!(plan.kind, Mix::Words | Mix::Long) {
            routes.retain(|route| table.rows[*route].template.contains('{'));
        }
        let tokens = Tokens::new(table, plan.scopes, &mut numbers);
        Self { table, plan, numbers, query: Numbers::new(11), routes, words: table.literals(), tokens }
    }

    /// A request, or none where what came out is not of the wanted kind.
    fn draft(&mut self) -> Option<Draft> {
        let kind = match self.plan.kind {
            Mix::Mixed => match self.numbers.below(20) {
                0 => Mix::Misses,
                1 => Mix::Malformed,
                _ => Mix::Hits,
            },
            kind => kind,
        };
        let lacks_scope = self.plan.kind == Mix::Mixed && kind == Mix::Hits && self.numbers.below(18) == 0;
        let route = self.routes[self.numbers.below(self.routes.len())];
        let row = &self.table.rows[route];
        let mut target = self.fill(row.template, kind);
        let mut method = Some(row.method);
        match kind {
            Mix::Misses => self.lose(&mut target),
            Mix::Malformed => self.spoil(&mut target, &mut method),
            Mix::Case => self.change_case(row.template, &mut target)?,
            _ => {}
        }
        let token = match lacks_scope {
            true => self.tokens.without(row.scope, &mut self.numbers),
            false => self.tokens.with(row.scope, &mut self.numbers),
        };
        let template = self.table.template_of(&target).filter(|_| kind != Mix::Malformed);
        if kind == Mix::Misses && template.is_some() {
            return None;
        }
        let route = template.and_then(|template| self.table.declared(template, row.method));
        let expected = match (template, route) {
            _ if kind == Mix::Malformed => Expected::Malformed,
            // The route's own template is more specific than any that still fits.
            (Some(_), _) if kind == Mix::Case => Expected::Malformed,
            (None, _) => Expected::NoRoute,
            (_, None) => Expected::MethodNotDeclared,
            (_, Some(route)) if self.tokens.all[token].has(self.table.rows[route].scope) => Expected::Allow,
            _ => Expected::ScopeMissing,
        };
        if matches!(kind, Mix::Hits | Mix::Uuids | Mix::Query(_)) {
            let right = if lacks_scope { Expected::ScopeMissing } else { Expected::Allow };
            assert_eq!(expected, right, "{target}");
        }
        if self.table.engine.trailing_slash() && kind != Mix::Malformed && target != "/" {
            target.push('/');
        }
        if let Mix::Query(length) = kind {
            target.push_str(&self.query(length));
        }
        Some(Draft { target, method, token, route, expected })
    }

    fn fill(&mut self, template: &str, kind: Mix) -> String {
        let mut target = String::new();
        for segment in template.split('/').skip(1) {
            target.push('/');
            match (segment.starts_with('{'), kind) {
                (false, _) => target.push_str(segment),
                (true, Mix::Words) if self.numbers.below(4) != 0 => {
                    target.push_str(self.words[self.numbers.below(self.words.len())]);
                }
                (true, Mix::Long) => {
                    let length = 60 + self.numbers.below(190);
                    (0..length).for_each(|_| target.push(char::from(b'a' + self.numbers.below(26) as u8)));
                }
                (true, Mix::Uuids) => target.push_str(&uuid(self.numbers.step())),
                (true, _) => target.push_str(&value(&mut self.numbers)),
            }
        }
        target
    }

    /// A query of this many bytes, as lists have it.
    fn query(&mut self, length: usize) -> String {
        let page = 1 + self.query.below(9);
        let mut query = format!("?page={page}&per_page=100");
        if length < query.len() {
            query = format!("?p={page}");
        }
        while query.len() < length {
            query.push_str(&format!("&filter={:x}%20and+x", self.query.step()));
        }
        query.truncate(length);
        query
    }

    /// Changes the case of a letter of a literal; nothing if there is none.
    fn change_case(&mut self, template: &str, target: &mut String) -> Option<()> {
        let segments = template.split('/').zip(target.split('/')).skip(1);
        let mut start = 0;
        let mut places = Vec::new();
        for (own, segment) in segments {
            start += 1;
            if !own.starts_with('{') {
                let letters = segment.bytes().enumerate();
                let letters = letters.filter(|(_, byte)| byte.is_ascii_alphabetic());
                places.extend(letters.map(|(at, _)| start + at));
            }
            start += segment.len();
        }
        if places.is_empty() {
            return None;
        }
        let place = places[self.numbers.below(places.len())];
        let other = char::from(target.as_bytes()[place] ^ 0x20);
        target.replace_range(place..=place, &other.to_string());
        Some(())
    }

    /// Makes a path that no route has.
    fn lose(&mut self, target: &mut String) {
        const ELSEWHERE: [&str; 6] = ["/favicon.ico", "/robots.txt", "/wp-login.php", "/.env", "/api/v2/", "/metrics"];
        match self.numbers.below(5) {
            0 => {
                if !target.ends_with('/') {
                    target.push('/');
                }
                target.push_str(&value(&mut self.numbers));
            }
            1 => target.push_str(if target == "/" { "unknown" } else { "/unknown" }),
            2 => target.push('x'),
            3 => {
                let end = target.rfind('/').unwrap_or(0);
                target.truncate(end.max(1));
            }
            _ => {
                let place = ELSEWHERE[self.numbers.below(ELSEWHERE.len())];
                *target = format!("{place}{}", value(&mut self.numbers));
            }
        }
        if target.ends_with('/') {
            target.push_str("nothing");
        }
    }

    /// Breaks a rule for targets or methods.
    fn spoil(&mut self, target: &mut String, method: &mut Option<usize>) {
        const BAD: [&str; 17] = [
            "//x",
            "/",
            "/.",
            "/../x",
            "/%2e%2e/x",
            "/a%2fb",
            "/%zz",
            "/%41",
            "/a\\b",
            "/a b",
            "/a;v=1",
            "/caf\u{e9}",
            "/a#b",
            "/a\u{7}",
            "/%00",
            "/%c3%28",
            "/a\"b",
        ];
        match self.numbers.below(20) {
            0 => *method = None,
            1 => {
                target.remove(0);
            }
            2 => {
                // In the middle, so that the reader has come some way.
                let slashes: Vec<_> = target.match_indices('/').map(|(at, _)| at).collect();
                target.insert(slashes[self.numbers.below(slashes.len())], '/');
            }
            _ => target.push_str(BAD[self.numbers.below(BAD.len())]),
        }
        // `GET /` plus a slash is `//`, still malformed; `/` plus `/.` is `//.`.
    }
}

/// What clients put into parameters: numbers, slugs, UUIDs, names.
fn value(numbers: &mut Numbers) -> String {
    const NAMES: [&str; 8] = ["maria", "octocat", "jun-ho", "anna.b", "oluwaseun", "max", "zoe_k", "hello-world"];
    let number = numbers.step();
    match numbers.below(5) {
        0 => format!("{}", number >> 44),
        1 => uuid(number),
        2 => format!("item-{}", number >> 50),
        3 => format!("{}{}", NAMES[numbers.below(NAMES.len())], number >> 54),
        _ => format!("{:x}", number >> 8),
    }
}

/// Tokens, at least 512 of them, some for each scope: fewer tokens than requests, as sessions have it.
struct Tokens {
    all: Vec<TokenText>,
    each: usize,
}

/// A token's scopes.
pub struct TokenText {
    pub text: &'static str,
    set: &'static ScopeSet,
    /// Those that the table has.
    pub ids: Vec<usize>,
}

impl TokenText {
    fn has(&self, scope: usize) -> bool {
        self.ids.contains(&scope)
    }
}

impl Tokens {
    fn new(table: &Table, (least, most): (usize, usize), numbers: &mut Numbers) -> Self {
        let each = 512usize.div_ceil(table.scopes.len());
        let mut all = Vec::new();
        for scope in 0..table.scopes.len() {
            for _ in 0..each {
                let wanted = least + numbers.below(most - least + 1);
                let mut ids = vec![scope];
                // Never all of them: some request must be without its scope.
                while ids.len() < wanted.min(table.scopes.len() - 1) {
                    let other = numbers.below(table.scopes.len());
                    if !ids.contains(&other) {
                        ids.push(other);
                    }
                }
                let mut names: Vec<_> = ids.iter().map(|id| table.scopes[*id].to_owned()).collect();
                // A small table leaves room for other services' scopes.
                (names.len()..wanted).for_each(|n| names.push(format!("read:service-{n}")));
                for place in (1..names.len()).rev() {
                    names.swap(place, numbers.below(place + 1));
                }
                let text: &'static str = names.join(" ").leak();
                let set = Box::leak(Box::new(table.engine.scopes(text)));
                all.push(TokenText { text, set, ids });
            }
        }
        Self { all, each }
    }

    /// A token that has the scope.
    fn with(&self, scope: usize, numbers: &mut Numbers) -> usize {
        scope * self.each + numbers.below(self.each)
    }

    /// A token that lacks it.
    fn without(&self, scope: usize, numbers: &mut Numbers) -> usize {
        loop {
            let token = numbers.below(self.all.len());
            if !self.all[token].has(scope) {
                return token;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_requests_are_alike() {
        for name in ["external", "github", "1000"] {
            let table = Table::named(name);
            for plan in plans(name).into_iter().chain(own_plans()) {
                let stream = stream(&table, plan, 16_384);
                let different: HashSet<_> = stream.asks.iter().map(|ask| (ask.method, ask.target)).collect();
                let wanted = plan.repeated.unwrap_or(16_384);
                assert_eq!(different.len(), wanted, "{name}/{}", plan.name);
            }
        }
        let ten = stream(&Table::named("10"), plans("10")[0], 100);
        assert_eq!(ten.asks.len(), 100);
    }
}
