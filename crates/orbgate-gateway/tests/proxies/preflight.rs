//! CORS preflights reach the backend if `cors_preflight` lets them pass: each proxy must pass on the headers that make one.

use super::program::{Program, get};
use super::{Bench, LIES};
use crate::support::wire::{ask, first, request};

const ORBS: &[u8] = b"/api/v1/external/orbs";

const PREFLIGHT: [(&str, &str); 2] = [("Origin", "https://app.example"), ("Access-Control-Request-Method", "GET")];

#[test]
#[ignore = "runs real proxies: cargo xtask test gateway"]
fn a_preflight_passes_every_proxy() {
    for kind in Program::ALL {
        let Some(mut bench) = Bench::start(kind) else {
            continue;
        };
        let asks = |bench: &Bench, method: &[u8], preflight: &[(&str, &str)]| {
            let headers: Vec<_> = preflight.iter().copied().chain(LIES).collect();
            let answer = ask(&bench.proxy.address, &request(method, ORBS, &headers));
            (answer.status, bench.backend.take())
        };
        let (status, reached) = asks(&bench, b"OPTIONS", &PREFLIGHT);
        assert_eq!((status, reached.len()), (401, 0), "{kind:?}");

        bench.restart("external", "cors_preflight: pass\n");
        bench.proxy.wait_for(&bench.gateway, get);
        let (status, reached) = asks(&bench, b"OPTIONS", &PREFLIGHT);
        assert_eq!((status, reached.len()), (200, 1), "{kind:?}");
        let reason = first(&reached[0].headers, "x-orb-reason");
        assert_eq!(reason, "public_route", "{kind:?}");
        for (method, headers) in [(&b"OPTIONS"[..], &PREFLIGHT[..1]), (b"GET", &PREFLIGHT[..])] {
            let (status, reached) = asks(&bench, method, headers);
            assert_eq!((status, reached.len()), (401, 0), "{kind:?}");
        }
    }
}
