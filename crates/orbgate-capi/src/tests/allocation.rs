//! Functions that are documented not to allocate don't.

use core::ptr::null_mut;

use allocation_counter::measure;

use super::arrow::{some_columns, table};
use super::{OK, SHOP, compiled, set, sized, text, token};
use crate::arrow::orbgate_engine_decide_arrow;
use crate::batch::{OrbgateBatch, orbgate_engine_decide_batch, orbgate_engine_decide_batch_packed};
use crate::columns::OrbgateColumn;
use crate::decide::*;
use crate::decision::OrbgateDecision;
use crate::engine::{
    OrbgateEngine, OrbgateEngineInfo, orbgate_engine_free, orbgate_engine_info, orbgate_engine_retain,
};
use crate::handle::*;
use crate::listing::*;
use crate::readback::{OrbgateDecisionStrings, orbgate_engine_decision_strings, orbgate_engine_unpack};
use crate::route_id::OrbgateRouteId;
use crate::scope_set::{OrbgateScopeSet, orbgate_scope_set_free, orbgate_scope_set_retain};

/// A policy, a handle on it, and interned scopes.
struct Shop {
    engine: *mut OrbgateEngine,
    handle: *mut OrbgateHandle,
    scopes: *mut OrbgateScopeSet,
}

impl Shop {
    fn new() -> Self {
        let engine = compiled(SHOP);
        let mut handle = null_mut();
        assert_eq!(unsafe { orbgate_handle_new(engine, &mut handle) }, OK);
        Self { engine, handle, scopes: set(engine, "read:orders write:orders") }
    }
}

impl Drop for Shop {
    fn drop(&mut self) {
        unsafe {
            orbgate_scope_set_free(self.scopes);
            orbgate_handle_free(self.handle);
            orbgate_engine_free(self.engine);
        }
    }
}

/// Counts the allocations of a first and a second call, on a thread that hasn't called anything before.
fn count(call: impl Fn(&Shop) + Send + Copy) -> Option<[u64; 2]> {
    let run = move || {
        let shop = Shop::new();
        [(); 2].map(|()| measure(|| call(&shop)).count_total)
    };
    std::thread::scope(|scope| scope.spawn(run).join().ok())
}

fn check(name: &str, call: impl Fn(&Shop) + Send + Copy) {
    assert_eq!(count(call), Some([0, 0]), "{name}");
}

#[test]
fn decisions_allocate_nothing() {
    check("decide, by string and by set", |shop| {
        let ((m, ml), (t, tl)) = (text("PUT"), text("/v1/orders"));
        let mut decision = OrbgateDecision::default();
        let mut one = token(1, b"read:orders write:orders");
        for scopes in [null_mut(), shop.scopes] {
            if !scopes.is_null() {
                (one.scopes_len, one.scope_set) = (0, scopes);
            }
            let status = unsafe { orbgate_engine_decide(shop.engine, m, ml, t, tl, &one, 0, &mut decision) };
            assert_eq!((status, decision.effect, decision.amount), (OK, 2, 5));
        }
        let packed = unsafe {
            let scopes = (core::ptr::null(), 0, shop.scopes);
            orbgate_engine_decide_packed(shop.engine, m, ml, t, tl, 1, scopes.0, scopes.1, scopes.2, 0)
        };
        let status = unsafe { orbgate_engine_unpack(shop.engine, packed, &mut decision) };
        assert_eq!((status, decision.amount), (OK, 5));
        let mut words: OrbgateDecisionStrings = sized();
        let status = unsafe { orbgate_engine_decision_strings(shop.engine, &decision, &mut words) };
        assert_eq!(status, OK);
    });
    check("decide by scope", |shop| {
        let (scope, len) = text("read:later");
        let mut decision = OrbgateDecision::default();
        let one = token(1, b"read:later");
        let status = unsafe { orbgate_engine_decide_scope(shop.engine, scope, len, &one, 0, &mut decision) };
        assert_eq!((status, decision.effect), (OK, 2));
        let packed =
            unsafe { orbgate_engine_decide_scope_packed(shop.engine, scope, len, 1, scope, len, null_mut(), 0) };
        assert_eq!(packed & 3, 2);
    });
    check("find a route and decide by it", |shop| {
        let ((m, ml), (t, tl)) = (text("GET"), text("/v1/orders/{id}"));
        let (mut id, mut decision) = (OrbgateRouteId::default(), OrbgateDecision::default());
        let one = token(1, b"read:orders");
        unsafe {
            assert_eq!(orbgate_engine_find_route(shop.engine, m, ml, t, tl, &mut id), OK);
            let status = orbgate_engine_decide_route(shop.engine, id, &one, 0, &mut decision);
            assert_eq!((status, decision.effect), (OK, 2));
            let (scopes, len) = text("read:orders");
            let (high, low) = (id.high, id.low);
            let packed = orbgate_engine_decide_route_packed(shop.engine, high, low, 1, scopes, len, null_mut(), 0);
            assert_eq!(packed & 3, 2);
        }
    });
}

#[test]
fn a_batch_allocates_nothing() {
    check("decide a batch", |shop| {
        let (data, data_len) = text("GETPOST/v1/orders/v1/orders");
        let column = |offsets: &[u32; 3]| OrbgateColumn { data, data_len, offsets: offsets.as_ptr() };
        let (methods, targets) = ([0, 3, 7], [7, 17, 27]);
        let mut batch: OrbgateBatch = sized();
        (batch.len, batch.method, batch.target) = (2, column(&methods), column(&targets));
        let (kinds, sets) = ([1_u8, 1], [shop.scopes.cast_const(); 2]);
        (batch.kinds, batch.scope_sets) = (kinds.as_ptr(), sets.as_ptr());
        let mut decisions = [OrbgateDecision::default(); 2];
        let mut packed = [0; 2];
        unsafe {
            let status = orbgate_engine_decide_batch(shop.engine, &batch, decisions.as_mut_ptr(), 2);
            assert_eq!((status, decisions.map(|one| one.effect)), (OK, [2, 2]));
            let status = orbgate_engine_decide_batch_packed(shop.engine, &batch, packed.as_mut_ptr(), 2);
            assert_eq!((status, packed.map(|one| one & 3)), (OK, [2, 2]));
        }
    });
}

#[test]
fn a_batch_with_tokens_of_text_allocates_nothing() {
    check("decide a batch, one token and one for each row", |shop| {
        let (data, data_len) = text("GETGET/v1/orders/v1/orders/7read:orders x");
        let column = |offsets: &[u32; 3]| OrbgateColumn { data, data_len, offsets: offsets.as_ptr() };
        let (methods, targets, scopes) = ([0, 3, 6], [6, 16, 28], [28, 39, 41]);
        let mut batch: OrbgateBatch = sized();
        (batch.len, batch.method, batch.target) = (2, column(&methods), column(&targets));
        let one = token(1, b"read:orders");
        let mut decisions = [OrbgateDecision::default(); 2];
        let mut decide = |batch: &OrbgateBatch, effects| {
            let out = decisions.as_mut_ptr();
            let status = unsafe { orbgate_engine_decide_batch(shop.engine, batch, out, 2) };
            assert_eq!((status, decisions.map(|one| one.effect)), (OK, effects));
        };
        batch.token = &raw const one;
        decide(&batch, [2, 2]);
        batch.token = core::ptr::null();
        (batch.kinds, batch.scopes) = ([1_u8, 1].as_ptr(), column(&scopes));
        decide(&batch, [2, 1]);
    });
}

#[test]
fn a_table_allocates_nothing() {
    let columns = some_columns();
    let table = table(&columns, 0, &[true; 5]);
    let (array, schema) = ((&raw const table.array).expose_provenance(), (&raw const table.schema).expose_provenance());
    check("decide a table", move |shop| {
        let one = token(1, b"read:orders");
        let mut decisions = [OrbgateDecision::default(); 5];
        let status = unsafe {
            let (array, schema) =
                (core::ptr::with_exposed_provenance(array), core::ptr::with_exposed_provenance(schema));
            let out = decisions.as_mut_ptr();
            orbgate_engine_decide_arrow(shop.engine, array, schema, &one, 0, out, 5)
        };
        assert_eq!((status, decisions.map(|one| one.effect)), (OK, [1, 1, 0, 1, 1]));
    });
}

#[test]
fn a_handle_allocates_once_a_thread() {
    let counted = count(|shop| {
        let ((m, ml), (t, tl)) = (text("GET"), text("/v1/orders"));
        let mut decision = OrbgateDecision::default();
        let one = token(1, b"read:orders");
        let status = unsafe { orbgate_handle_decide(shop.handle, m, ml, t, tl, &one, 0, &mut decision) };
        assert_eq!((status, decision.effect), (OK, 2));
    });
    assert!(matches!(counted, Some([0..=1, 0])), "decide: {counted:?}");
    let counted = count(|shop| {
        let mut engine = null_mut();
        unsafe {
            assert_eq!(orbgate_handle_load(shop.handle, &mut engine), OK);
            assert_eq!(orbgate_handle_store(shop.handle, engine), OK);
            orbgate_engine_free(engine);
            orbgate_handle_free(orbgate_handle_retain(shop.handle));
        }
    });
    assert!(matches!(counted, Some([0..=1, 0])), "load and store: {counted:?}");
}

#[test]
fn looking_up_allocates_nothing() {
    check("owners and strings", |shop| unsafe {
        orbgate_engine_free(orbgate_engine_retain(shop.engine));
        orbgate_scope_set_free(orbgate_scope_set_retain(shop.scopes));
    });
    check("routes and scopes", |shop| unsafe {
        let (mut info, mut route, mut scope) =
            (sized::<OrbgateEngineInfo>(), sized::<OrbgateRoute>(), sized::<OrbgateScope>());
        assert_eq!(orbgate_engine_info(shop.engine, &mut info), OK);
        for number in 1..=info.route_count {
            assert_eq!(orbgate_engine_route(shop.engine, number, &mut route), OK);
        }
        for number in 1..=info.scope_count {
            assert_eq!(orbgate_engine_scope(shop.engine, number, &mut scope), OK);
        }
    });
}
