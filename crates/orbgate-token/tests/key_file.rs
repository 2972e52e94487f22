//! Keys in a file: read when the program reads secrets, never fetched, and without an end.

use core::time::Duration;
use std::io;

use orbgate_testing::expected::Expected;
use orbgate_testing::signer::{ISSUER, Signer, claims, header, issuer, now, with};
use orbgate_token::{FetchSettings, Judged, KeyCache, Now, SecretSource, TokenError, Verifier};
use serde_json::{Value, json};

const PATH: &str = "/etc/orbgate/jwks.json";

fn at(seconds: u64) -> Now {
    Now { time: now(), monotonic: Duration::from_secs(seconds) }
}

fn jwks(keys: &[Value]) -> Vec<u8> {
    json!({ "keys": keys }).to_string().into_bytes()
}

fn verifier(keys: &[Value]) -> Verifier {
    let verifier = Verifier::new([issuer().jwks_file(PATH)]).unwrap();
    assert_eq!(verifier.secrets().collect::<Vec<_>>(), [&SecretSource::Keys(PATH.to_owned())]);
    verifier.with_secrets(|_| Ok(jwks(keys))).unwrap()
}

/// The verdict at once, with nothing fetched.
fn verdict(cache: &KeyCache, token: &str, seconds: u64) -> Option<TokenError> {
    let judged = cache.judge(token, &mut cache.ask(at(seconds).monotonic), at(seconds));
    assert_eq!(cache.next_fetch(at(seconds).monotonic), None);
    match judged {
        Judged::Verdict(verdict) => verdict.err(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn keys_of_a_file_never_expire_and_nothing_is_fetched() {
    let (signer, next) = (Signer::p256(), Signer::p256());
    let cache = KeyCache::new(verifier(&[signer.jwk("key-1")]), FetchSettings::default()).unwrap();
    assert_eq!(cache.warm(at(0).monotonic), []);
    let right = signer.token(&header(), &claims());
    let unknown = next.token(&with(header(), "kid", "key-2"), &claims());
    for seconds in [0, 600, 4_200, 100_000_000] {
        assert_eq!(verdict(&cache, &right, seconds), None);
        assert_eq!(verdict(&cache, &unknown, seconds), Some(TokenError::KeyUnknown));
        assert_eq!(verdict(&cache, &next.token(&header(), &claims()), seconds), Some(TokenError::Signature));
    }
    let [status] = &cache.status()[..] else { panic!("one issuer") };
    assert_eq!((status.keys, status.fetched, status.failure.clone()), (1, None, None));
    // Forgetting it would leave the issuer without keys.
    assert_eq!(cache.forget(ISSUER), None);
    assert_eq!(verdict(&cache, &right, 1), None);
    // A later version counts from when it is read, and a bad one changes nothing.
    let both = [signer.jwk("key-1"), next.jwk("key-2")];
    cache.read_secrets(|_| Ok(jwks(&both))).unwrap();
    assert_eq!(verdict(&cache, &unknown, 2), None);
    assert!(cache.read_secrets(|_| Err(io::Error::other("gone"))).is_err());
    assert!(cache.read_secrets(|_| Ok(jwks(&[]))).is_err());
    assert_eq!(verdict(&cache, &unknown, 3), None);
    cache.revoke(ISSUER, "key-2");
    cache.read_secrets(|_| Ok(jwks(&both))).unwrap();
    assert_eq!(verdict(&cache, &unknown, 4), Some(TokenError::KeyRevoked));
    // The next configuration has the keys that were read for it.
    let later = KeyCache::new(verifier(&[next.jwk("key-2")]), FetchSettings::default()).unwrap().taking_over(&cache);
    assert_eq!(verdict(&later, &right, 5), Some(TokenError::KeyUnknown));
}

#[test]
fn a_file_that_cannot_be_used_is_an_error() {
    let signer = Signer::p256();
    let own = signer.jwk("key-1");
    let mut expected = Expected::default();
    let error = |read: &dyn Fn() -> io::Result<Vec<u8>>| {
        let verifier = Verifier::new([issuer().jwks_file(PATH)]).unwrap();
        verifier.with_secrets(|_| read()).unwrap_err().to_string()
    };
    expected.add("a file that is missing", [error(&|| Err(io::Error::from(io::ErrorKind::NotFound)))]);
    expected.add("an empty file", [error(&|| Ok(Vec::new()))]);
    expected.add("a page", [error(&|| Ok(b"<html>".to_vec()))]);
    expected.add("no usable key", [error(&|| Ok(jwks(&[with(own.clone(), "use", "enc")])))]);
    expected.add("a private key", [error(&|| Ok(jwks(&[own.clone(), with(own.clone(), "d", "AAAA")])))]);
    let secret = json!({"kty": "oct", "k": "c2VjcmV0LXNlY3JldC1zZWNyZXQtc2VjcmV0"});
    expected.add("a secret", [error(&|| Ok(jwks(&[secret.clone(), own.clone()])))]);
    let unread = Verifier::new([issuer().jwks_file(PATH)]).unwrap();
    expected.add("not read", [KeyCache::new(unread, FetchSettings::default()).unwrap_err().to_string()]);
    let yaml = |more: &str| {
        let yaml = format!(
            "orbgate_token: 1\nissuers:\n  - issuer: http://keycloak.ns.svc\n    audience: b\n    kind: user\n{more}"
        );
        Verifier::from_yaml(&yaml).map_or_else(|error| error.in_file("t"), |_| "nothing is wrong".to_owned())
    };
    for more in [
        "    jwks_file: /etc/jwks.json\n",
        "    jwks_file: jwks.json\n",
        "    jwks_file: /etc/jwks.json\n    jwks_uri: https://id.example.com/keys\n",
        "    jwks_file: /etc/jwks.json\n    opaque: { endpoint: https://id.example.com/i, client_id: c, client_secret_env: S }\n",
    ] {
        expected.add(more, yaml(more).lines().map(str::to_owned).collect::<Vec<_>>());
    }
    expected.keep(env!("CARGO_MANIFEST_DIR"), "keys: a file");
}

/// As Kubernetes mounts a file: a link to a link, which is replaced as a whole.
#[cfg(all(unix, not(miri)))]
#[test]
fn symbolic_links_are_followed() {
    let (old, new) = (Signer::p256(), Signer::p256());
    let folder = std::env::temp_dir().join(format!("orbgate-jwks-{}", std::process::id()));
    for (name, signer) in [("v1", &old), ("v2", &new)] {
        std::fs::create_dir_all(folder.join(name)).unwrap();
        std::fs::write(folder.join(name).join("jwks.json"), jwks(&[signer.jwk("key-1")])).unwrap();
    }
    let link = |to: &str| {
        std::os::unix::fs::symlink(to, folder.join("next")).unwrap();
        std::fs::rename(folder.join("next"), folder.join("data")).unwrap();
    };
    link("v1");
    std::os::unix::fs::symlink("data/jwks.json", folder.join("jwks.json")).unwrap();
    let path = folder.join("jwks.json");
    let verifier = Verifier::new([issuer().jwks_file(path.to_str().unwrap())]).unwrap();
    let verifier = verifier.with_secrets(SecretSource::read).unwrap();
    let cache = KeyCache::new(verifier, FetchSettings::default()).unwrap();
    let (first, second) = (old.token(&header(), &claims()), new.token(&header(), &claims()));
    assert_eq!((verdict(&cache, &first, 0), verdict(&cache, &second, 0)), (None, Some(TokenError::Signature)));
    link("v2");
    cache.read_secrets(SecretSource::read).unwrap();
    assert_eq!((verdict(&cache, &first, 1), verdict(&cache, &second, 1)), (Some(TokenError::Signature), None));
    std::fs::remove_dir_all(folder).unwrap();
}
