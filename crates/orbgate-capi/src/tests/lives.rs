//! Ownership and lifetimes of engines, sets, handles and errors, and the panic boundary.

use core::ptr::{null, null_mut};
use std::path::Path;
use std::thread;

use super::{INVALID, OK, SHOP, compiled, external, said, set, sized, text, token, told};
use crate::decide::orbgate_engine_decide;
use crate::decision::OrbgateDecision;
use crate::engine::{
    OrbgateEngine, OrbgateEngineInfo, orbgate_engine_free, orbgate_engine_from_file, orbgate_engine_from_yaml,
    orbgate_engine_info, orbgate_engine_retain,
};
use crate::error::{
    OrbgateDiagnostic, OrbgateErrorInfo, orbgate_error_diagnostic, orbgate_error_free, orbgate_error_info,
};
use crate::handle::{
    OrbgateHandle, orbgate_handle_decide, orbgate_handle_free, orbgate_handle_load, orbgate_handle_new,
    orbgate_handle_retain, orbgate_handle_store,
};
use crate::listing::{OrbgateRoute, OrbgateScope, orbgate_engine_route, orbgate_engine_scope};
use crate::scope_set::{orbgate_scope_set_free, orbgate_scope_set_from_list, orbgate_scope_set_retain};
use crate::status::OrbgateStatus;
use crate::text::OrbgateStr;

/// The properties of an engine.
fn info(engine: *const OrbgateEngine) -> OrbgateEngineInfo {
    let mut info: OrbgateEngineInfo = sized();
    assert_eq!(unsafe { orbgate_engine_info(engine, &mut info) }, OK);
    info
}

#[test]
fn an_engine_lives_as_long_as_it_has_an_owner() {
    let engine = compiled(SHOP);
    unsafe {
        let second = orbgate_engine_retain(engine);
        assert_eq!(second, engine);
        orbgate_engine_free(engine);
        assert_eq!(said(info(second).name), "shop");
        orbgate_engine_free(second);
        assert!(orbgate_engine_retain(null()).is_null());
        orbgate_engine_free(null_mut());
    }
}

#[test]
fn routes_and_scopes_are_listed() {
    let engine = compiled(SHOP);
    let core = orbgate::Engine::new(&orbgate::Policy::from_yaml(SHOP).unwrap());
    let mut route: OrbgateRoute = sized();
    let mut scope: OrbgateScope = sized();
    let info = info(engine);
    assert_eq!((info.route_count, info.scope_count), (4, 3));
    assert_eq!(said(info.digest), core.digest().to_string());
    for (number, expected) in (1..).zip(core.routes()) {
        assert_eq!(unsafe { orbgate_engine_route(engine, number, &mut route) }, OK);
        assert_eq!((route.number, route.id.read()), (number, expected.id()));
        let texts = [route.text, route.method, route.path_template, route.scope, route.api].map(said);
        let (own, scope) = (expected.as_str(), expected.scope());
        assert_eq!(texts, [own, expected.method(), expected.template(), scope.name(), "shop"]);
        let amount = if own == "PUT /v1/orders" { (7, 5) } else { (route.charge, 0) };
        assert_eq!((route.charge, route.amount), amount);
        assert_eq!(said(route.methods), expected.methods().collect::<Vec<_>>().join(", "));
    }
    let listed: Vec<_> = (1..=3)
        .map(|number| {
            assert_eq!(unsafe { orbgate_engine_scope(engine, number, &mut scope) }, OK);
            (said(scope.name), said(scope.permits), scope.charge)
        })
        .collect();
    let expected = [("read:later", "-", 0), ("read:orders", "reads", 5), ("write:orders", "-", 3)];
    assert_eq!(listed, expected.map(|(name, permits, charge)| (name.into(), permits.into(), charge)));
    for number in [0, 5, u32::MAX] {
        let status = unsafe { orbgate_engine_route(engine, number, &mut route) };
        assert_eq!(status, OrbgateStatus::NotFound);
        let status = unsafe { orbgate_engine_scope(engine, number, &mut scope) };
        assert_eq!(status, OrbgateStatus::NotFound);
    }
    unsafe { orbgate_engine_free(engine) };
}

#[test]
fn every_diagnostic_of_a_policy_is_told() {
    let (mut engine, mut error) = (null_mut::<OrbgateEngine>(), null_mut());
    let yaml = "orbgate: 1\ncolour: red\napis:\n  a: 1\n";
    let (data, len) = text(yaml);
    let expected = orbgate::Policy::from_yaml(yaml).unwrap_err();
    unsafe {
        let status = orbgate_engine_from_yaml(data, len, &mut engine, &mut error);
        assert_eq!(status, OrbgateStatus::InvalidPolicy);
        assert!(engine.is_null());
        let mut info: OrbgateErrorInfo = sized();
        assert_eq!(orbgate_error_info(error, &mut info), OK);
        assert_eq!((info.code, info.diagnostic_count), (2, expected.diagnostics().len()));
        assert_eq!(said(info.message), expected.to_string());
        assert_eq!(said(info.path), "-");
        assert_eq!((info.line, info.column), (2, 1));
        let mut diagnostic: OrbgateDiagnostic = sized();
        for (index, expected) in expected.diagnostics().iter().enumerate() {
            assert_eq!(orbgate_error_diagnostic(error, index, &mut diagnostic), OK);
            let location = (expected.location.line, expected.location.column);
            assert_eq!((diagnostic.line, diagnostic.column), location);
            assert_eq!(said(diagnostic.message), expected.message);
        }
        let behind = orbgate_error_diagnostic(error, info.diagnostic_count, &mut diagnostic);
        assert_eq!(behind, OrbgateStatus::NotFound);
        orbgate_error_free(error);
        orbgate_error_free(null_mut());
        // A caller that doesn't want the error can pass null.
        let status = orbgate_engine_from_yaml(data, len, &mut engine, null_mut());
        assert_eq!(status, OrbgateStatus::InvalidPolicy);
    }
}

#[test]
fn a_file_that_is_not_there_is_an_io_error() {
    let (mut engine, mut error) = (null_mut::<OrbgateEngine>(), null_mut());
    let (data, len) = text("no/such/policy.yaml");
    unsafe {
        let status = orbgate_engine_from_file(data, len, &mut engine, &mut error);
        assert_eq!(status, OrbgateStatus::Io);
        let mut info: OrbgateErrorInfo = sized();
        assert_eq!(orbgate_error_info(error, &mut info), OK);
        let message = said(info.message);
        let cause = std::fs::File::open("no/such/policy.yaml").unwrap_err();
        let is_named = message.contains("`no/such/policy.yaml`");
        assert!(is_named && message.ends_with(&cause.to_string()), "{message}");
        assert_eq!((said(info.path).as_str(), info.diagnostic_count), ("no/such/policy.yaml", 0));
        orbgate_error_free(error);
    }
}

/// Reading a pipe could block, and a device might have no end.
#[cfg(unix)]
#[test]
#[cfg_attr(miri, ignore = "the interpreter starts no programs")]
fn only_a_regular_file_is_opened() {
    let directory = std::env::temp_dir();
    let pipe = directory.join(format!("orbgate-{}.pipe", std::process::id()));
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.unwrap().success());
    let mut expected = super::expected::Expected::default();
    let device = Path::new("/dev/zero").to_owned();
    for (name, path) in [("PIPE", &pipe), ("FOLDER", &directory), ("DEVICE", &device)] {
        let (mut engine, mut error) = (null_mut::<OrbgateEngine>(), null_mut());
        let (data, len) = text(path.to_str().unwrap());
        unsafe {
            let status = orbgate_engine_from_file(data, len, &mut engine, &mut error);
            assert_eq!(status, OrbgateStatus::Io, "{}", path.display());
            assert_eq!(engine, null_mut());
            expected.add(name, [told(error).1.replace(&path.display().to_string(), name)]);
        }
    }
    std::fs::remove_file(pipe).unwrap();
    expected.keep(env!("CARGO_MANIFEST_DIR"), "no regular file");
}

#[test]
#[cfg_attr(miri, ignore = "a whole policy takes the interpreter minutes")]
fn a_policy_file_is_read() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../policy/external.yaml");
    let (mut engine, mut error) = (null_mut::<OrbgateEngine>(), null_mut());
    let (data, len) = text(path);
    unsafe {
        assert_eq!(orbgate_engine_from_file(data, len, &mut engine, &mut error), OK);
        assert_eq!(said(info(engine).digest), orbgate::Engine::external().digest().to_string());
        orbgate_engine_free(engine);
    }
}

#[test]
fn an_engine_knows_whether_its_text_had_an_end() {
    let marked = |engine: *mut OrbgateEngine| {
        let marked = info(engine).has_end_marker;
        unsafe { orbgate_engine_free(engine) }
        marked
    };
    assert_eq!(marked(compiled(SHOP)), 0);
    assert_eq!(marked(compiled(&format!("{SHOP}...\n"))), 1);
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../policy/external.yaml");
    let external_file = std::fs::read(file).unwrap();
    let policy = orbgate::Policy::from_bytes(&external_file).unwrap();
    assert_eq!(marked(external()), u8::from(policy.has_end_marker()));
}

#[test]
fn an_engine_knows_whether_its_text_was_sealed() {
    let sealed = |engine: *mut OrbgateEngine| {
        let sealed = info(engine).is_sealed;
        unsafe { orbgate_engine_free(engine) }
        sealed
    };
    assert_eq!(sealed(compiled(&format!("{SHOP}...\n"))), 0);
    assert_eq!(sealed(compiled(SEALED)), 1);
    assert_eq!(sealed(external()), 1);
    let mut engine = null_mut();
    let wrong = SEALED.replace("{}", "{ }");
    let status = unsafe { orbgate_engine_from_yaml(wrong.as_ptr().cast(), wrong.len(), &mut engine, null_mut()) };
    assert_eq!(status, OrbgateStatus::InvalidPolicy);
}

const SEALED: &str = "orbgate: 1\napis: {}\n\
    ... # sha256:9facceac08d54123a18ae92e2bc610054259f44d046a648b0a6bb326c602f274\n";

#[test]
fn a_scope_set_lives_on_without_its_engine() {
    let engine = compiled(SHOP);
    let first = set(engine, "read:orders");
    unsafe {
        orbgate_engine_free(engine);
        let second = orbgate_scope_set_retain(first);
        orbgate_scope_set_free(first);
        orbgate_scope_set_free(second);
        orbgate_scope_set_free(null_mut());
        assert!(orbgate_scope_set_retain(null()).is_null());
    }
}

#[test]
fn a_list_of_scopes_is_taken_as_it_stands() {
    let engine = compiled(SHOP);
    for (list, held) in [(["read:orders", "x"], 1), (["read:orders x", "x"], 0)] {
        let texts = list.map(OrbgateStr::new);
        let mut made = null_mut();
        let mut decision = OrbgateDecision::default();
        let ((m, ml), (t, tl)) = (text("GET"), text("/v1/orders"));
        unsafe {
            assert_eq!(orbgate_scope_set_from_list(engine, texts.as_ptr(), 2, &mut made), OK);
            let mut by_set = token(1, b"");
            by_set.scope_set = made;
            let status = orbgate_engine_decide(engine, m, ml, t, tl, &by_set, 0, &mut decision);
            assert_eq!((status, decision.effect), (OK, 1 + held));
            orbgate_scope_set_free(made);
        }
    }
    unsafe { orbgate_engine_free(engine) };
}

#[test]
fn a_handle_holds_the_engine_that_was_stored_last() {
    let (first, second) = (external(), compiled(SHOP));
    let mut handle: *mut OrbgateHandle = null_mut();
    let holds = |handle, engine: *mut _| unsafe {
        let mut held = null_mut();
        assert_eq!(orbgate_handle_load(handle, &mut held), OK);
        orbgate_engine_free(held);
        held == engine
    };
    unsafe {
        assert_eq!(orbgate_handle_new(first, &mut handle), OK);
        assert!(holds(handle, first));
        for engine in [second, second, first] {
            assert_eq!(orbgate_handle_store(handle, engine), OK);
            assert!(holds(handle, engine));
        }
        orbgate_handle_free(handle);
        orbgate_engine_free(first);
        orbgate_engine_free(second);
    }
}

#[test]
fn every_decision_of_a_handle_is_one_engines() {
    let swaps = if cfg!(miri) { 5 } else { 2_000 };
    let (first, second) = (external(), compiled(SHOP));
    let mut handle: *mut OrbgateHandle = null_mut();
    assert_eq!(unsafe { orbgate_handle_new(first, &mut handle) }, OK);
    let address = handle as usize;
    let policies = [first, second].map(|engine| {
        let ((m, ml), (t, tl)) = (text("GET"), text("/v1/orders"));
        let mut decision = OrbgateDecision::default();
        let given = token(1, b"read:orders");
        let status = unsafe { orbgate_engine_decide(engine, m, ml, t, tl, &given, 0, &mut decision) };
        assert_eq!(status, OK);
        decision
    });
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(move || {
                let handle = unsafe { orbgate_handle_retain(address as *const OrbgateHandle) };
                let ((m, ml), (t, tl)) = (text("GET"), text("/v1/orders"));
                let given = token(1, b"read:orders");
                for _ in 0..swaps {
                    let mut decision = OrbgateDecision::default();
                    let status = unsafe { orbgate_handle_decide(handle, m, ml, t, tl, &given, 0, &mut decision) };
                    assert!(status == OK && policies.contains(&decision), "{decision:?}");
                    let mut engine = null_mut();
                    assert_eq!(unsafe { orbgate_handle_load(handle, &mut engine) }, OK);
                    unsafe { orbgate_engine_free(engine) };
                }
                unsafe { orbgate_handle_free(handle) };
            });
        }
        for swap in 0..swaps {
            // Only the handle owns the compiled engine, so it is freed while readers use it.
            let engine = if swap % 2 == 0 { compiled(SHOP) } else { external() };
            assert_eq!(unsafe { orbgate_handle_store(handle, engine) }, OK);
            unsafe { orbgate_engine_free(engine) };
        }
    });
    unsafe {
        assert!(orbgate_handle_retain(null()).is_null());
        orbgate_handle_free(null_mut());
        orbgate_handle_free(handle);
        orbgate_engine_free(first);
        orbgate_engine_free(second);
    }
}

/// The application's hook receives each panic, from any thread, and stays installed.
#[test]
fn the_panic_hook_is_the_applications() {
    use crate::status::guard;
    use core::sync::atomic::{AtomicUsize, Ordering};
    static SEEN: AtomicUsize = AtomicUsize::new(0);
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        match panic.payload().downcast_ref::<&str>().copied() {
            Some("counted") => SEEN.fetch_add(1, Ordering::Relaxed),
            _ => {
                before(panic);
                0
            }
        };
    }));
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for _ in 0..10 {
                    assert_eq!(guard(|| panic!("counted")), OrbgateStatus::Panic);
                    assert_eq!(guard(|| Ok(())), OK);
                }
            });
        }
    });
    assert_eq!(SEEN.load(Ordering::Relaxed), 80);
}

#[test]
fn a_panic_is_a_status_and_nothing_is_poisoned() {
    use crate::status::guard;
    assert_eq!(guard(|| panic!("caught")), OrbgateStatus::Panic);
    assert_eq!(guard(|| Err(INVALID)), INVALID);
    assert_eq!(guard(|| Ok(())), OK);
    let packed = crate::packed::packed(|| panic!("caught"));
    assert_eq!((packed & 3, packed >> 48), (0, 5));
}

#[test]
#[cfg_attr(miri, ignore = "the payload is forgotten on purpose, and that is a leak")]
fn a_payload_that_panics_again_is_forgotten() {
    use crate::status::guard;
    /// A payload that panics again when it is dropped.
    struct Twice;
    impl Drop for Twice {
        fn drop(&mut self) {
            panic!("caught, too");
        }
    }
    assert_eq!(guard(|| std::panic::panic_any(Twice)), OrbgateStatus::Panic);
}
