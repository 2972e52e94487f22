//! Tokens of a real OpenID provider, npm's `oidc-provider`.

use std::fs;

use anyhow::Result;
use serde_json::json;

use crate::exchange::expected::Sent;
use crate::exchange::program::Gated;
use crate::exchange::suite::Suite;
use crate::exchange::world::policy;
use crate::provider::Provider;

const CALL: (&[u8], &[u8]) = (b"POST", b"/api/v1/external/voxies");

pub(crate) fn run(suite: &Suite, home: &str) -> Result<()> {
    let Some(mut provider) = Provider::start(home) else {
        return Ok(());
    };
    let tests = |kind: &str| json!([{"claim": "token_kind", "equals": kind}]);
    let issuer = json!({
        "issuer": provider.issuer, "audience": provider.audience, "algorithms": ["RS256", "ES256"],
        "kind": {"user": tests("user"), "organisation": tests("organisation")},
    });
    let tokens = suite.world.file("provider.yaml");
    fs::write(&tokens, json!({"orbgate_token": 1, "issuers": [issuer]}).to_string())?;
    let running = suite.program.start(&policy("external"), &tokens, Gated::Yes)?;
    let open = suite.opened(running, &policy("external"))?;
    let all = "write:voxies read:orbs";
    provider.declare(all);
    for algorithm in ["ES256", "RS256"] {
        let table = [
            ("user", provider.user(all), Some(all)),
            ("user", provider.user("read:orbs"), Some("read:orbs")),
            ("organisation", provider.organisation(all), Some(all)),
            ("user", provider.id_token(), None),
        ];
        for (kind, bearer, scopes) in table {
            let location = format!("a provider's token: {kind}, {scopes:?}, before {algorithm}");
            let sent = Sent::new(location, CALL, Some(&bearer), scopes.map(|scopes| (kind, scopes)));
            open.exchange(&sent, &open.expects(&sent));
        }
        provider.rotate(algorithm);
    }
    open.close("provider")?;
    Ok(())
}
