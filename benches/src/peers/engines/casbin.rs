//! casbin: the route given, or the path matched rule by rule.

use std::hint::black_box;

use casbin::rhai::Dynamic;
use casbin::{CoreApi, DefaultModel, Enforcer, MemoryAdapter, MgmtApi};

use crate::contest::{Answer, Contestant, pass};
use crate::stream::{Ask, Stream};
use crate::table::Table;

/// casbin, the RBAC model of its documentation (tokens are users, scopes are roles) with the cheap comparisons
/// first; model and policy loaded once, arguments converted beforehand, the synchronous `enforce` timed.
/// [`Object::Path`] matches templates with `keyMatch2`, its matcher for REST.
pub(super) struct Casbin {
    table: &'static Table,
    object: Object,
    runtime: tokio::runtime::Runtime,
    enforcer: Enforcer,
    requests: Vec<Vec<Dynamic>>,
}

/// What the object of a request is.
#[derive(Clone, Copy)]
pub(super) enum Object {
    Route,
    Path,
}

impl Casbin {
    pub(super) fn new(table: &'static Table, object: Object) -> Self {
        let fits = match object {
            Object::Path => "keyMatch2(r.obj, p.obj)",
            Object::Route => "r.obj == p.obj",
        };
        let model = format!(
            "[request_definition]\nr = sub, obj, act\n[policy_definition]\np = sub, obj, act\n\
             [role_definition]\ng = _, _\n[policy_effect]\ne = some(where (p.eft == allow))\n\
             [matchers]\nm = r.act == p.act && {fits} && g(r.sub, p.sub)\n"
        );
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        let enforcer = runtime.block_on(async {
            let model = DefaultModel::from_str(&model).await.expect("a valid model");
            let mut enforcer = Enforcer::new(model, MemoryAdapter::default()).await.expect("an enforcer");
            let rules = table.rows.iter().map(|row| {
                let named = match object {
                    Object::Path => keys(&table.templates[row.template_id]),
                    Object::Route => row.name.to_owned(),
                };
                vec![table.scopes[row.scope].to_owned(), named, table.methods[row.method].to_owned()]
            });
            enforcer.add_policies(rules.collect()).await.expect("valid rules");
            enforcer
        });
        Self { table, object, runtime, enforcer, requests: Vec::new() }
    }

    #[inline(always)]
    fn allows(&self, ask: &Ask) -> bool {
        self.enforcer.enforce(self.requests[ask.id as usize].clone()).expect("a verdict")
    }
}

/// A template with its parameters as `keyMatch2` writes them: `/voxies/:p1/run`.
fn keys(template: &str) -> String {
    let template = if template.is_empty() { "/" } else { template };
    template.replace('{', ":").replace('}', "")
}

impl Contestant for Casbin {
    fn name(&self) -> String {
        match self.object {
            Object::Path => "casbin-paths",
            Object::Route => "casbin-routed",
        }
        .to_owned()
    }

    fn prepare(&mut self, stream: &Stream) {
        let table = self.table;
        let tokens = stream.tokens.iter().enumerate();
        let links = tokens.flat_map(|(id, token)| {
            let scopes = token.ids.iter().map(|scope| table.scopes[*scope]);
            scopes.map(move |scope| vec![format!("token-{id}"), scope.to_owned()])
        });
        let links: Vec<Vec<String>> = links.collect();
        self.runtime.block_on(async {
            let old = self.enforcer.get_grouping_policy();
            if !old.is_empty() {
                self.enforcer.remove_grouping_policies(old).await.expect("known links");
            }
            self.enforcer.add_grouping_policies(links).await.expect("valid links");
        });
        let requests = stream.asks.iter().zip(&stream.facts).map(|(ask, (token, route))| {
            let object = match self.object {
                Object::Path => ask.target,
                Object::Route => route.map_or("none", |route| self.table.rows[route].name),
            };
            let words = [format!("token-{token}"), object.to_owned(), ask.method.to_owned()];
            words.map(Dynamic::from).to_vec()
        });
        self.requests = requests.collect();
    }

    fn answer(&self, ask: &Ask) -> Answer {
        Answer::Allowed(self.allows(ask))
    }

    fn pass(&self, asks: &[Ask]) -> usize {
        pass(asks, |ask| black_box(self.allows(ask)))
    }
}
