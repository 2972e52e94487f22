//! The page about issuers: each configuration is read, and each token is what the page says.

use orbgate_testing::signer::{NOW, Signer, at, key_set};
use orbgate_token::{Keys, TokenError, VerifiedToken, Verifier};
use serde_json::Value;

const PAGE: &str = include_str!("../../../docs/issuers.md");

/// The blocks of a section: what follows the three marks, and the text.
fn blocks(section: &str) -> Vec<(&str, &str)> {
    let parts = section.split("\n```").skip(1).step_by(2);
    parts.map(|block| block.split_once('\n').unwrap()).collect()
}

#[test]
fn every_token_on_the_page_is_what_the_page_says() {
    let signer = Signer::rsa();
    let (mut configurations, mut tokens, mut answers) = (0, 0, 0);
    for section in PAGE.split("\n## ").skip(1) {
        let (name, _) = section.split_once('\n').unwrap();
        let mut verifier = None;
        for (about, text) in blocks(section) {
            if about == "yaml" {
                let read = Verifier::from_yaml(text);
                verifier = Some(read.unwrap_or_else(|error| panic!("{name}: {error}")));
                configurations += 1;
            }
            let Some(expected) = about.strip_prefix("json ") else {
                continue;
            };
            let verifier = verifier.as_ref().expect(name);
            if let Some(expected) = expected.strip_prefix("answer ") {
                let verified = verifier.verify_introspected("opaque", text, at(NOW));
                let explained = verifier.explain_introspected("opaque", text, at(NOW));
                assert_eq!(shown(&verified), expected, "{name}: {text}");
                // Or else each call that consumes orbs would be a 401.
                let has_account = verified.as_ref().map_or(true, |verified| verified.account().is_some());
                assert!(has_account && explained.no_account.is_none(), "{name}: {explained:?}");
                assert_eq!(explained.refused, verified.err(), "{name}");
                answers += 1;
                continue;
            }
            let sample: Value = serde_json::from_str(text).unwrap();
            let token = signer.token(&sample["header"], &sample["claims"]);
            let mut keys = Keys::new();
            for issuer in verifier.issuers() {
                keys = keys.with(issuer, key_set(&[signer.jwk("key-1")]));
            }
            let verified = verifier.verify(&token, &keys, at(NOW));
            let explained = verifier.explain(&token, Some(&keys), at(NOW));
            assert_eq!(shown(&verified), expected, "{name}: {sample}");
            assert_eq!(explained.refused, verified.as_ref().err().copied(), "{name}");
            assert_eq!(explained.hint.is_some(), verified.is_err(), "{name}");
            let has_account = verified.as_ref().map_or(true, |verified| verified.account().is_some());
            assert!(has_account && explained.no_account.is_none(), "{name}: {explained:?}");
            // What a token is for and from is all that makes it ours.
            for claim in ["iss", "exp"] {
                let mut claims = sample["claims"].clone();
                claims.as_object_mut().unwrap().remove(claim);
                let token = signer.token(&sample["header"], &claims);
                verifier.verify(token, &keys, at(NOW)).unwrap_err();
            }
            tokens += 1;
        }
    }
    assert_eq!((configurations, tokens, answers), (7, 13, 2));
}

/// As the page has it.
fn shown(verified: &Result<VerifiedToken, TokenError>) -> String {
    let shown = match verified {
        Ok(verified) => format!("{} {}", verified.kind().as_str(), verified.scopes()),
        Err(error) => format!("refused {}", error.as_str()),
    };
    shown.trim_end().to_owned()
}

/// The configuration of a section and its first token, with changes that the section's notes describe.
fn noted(section: &str, changes: &[(&str, &str)], claims: &[(&str, Value)]) -> String {
    let marked = format!("\n## {section}\n");
    let (_, rest) = PAGE.split_once(&marked).unwrap();
    let blocks = blocks(rest.split("\n## ").next().unwrap());
    let of = |start: &str| blocks.iter().find(|(about, _)| about.starts_with(start)).unwrap().1;
    let yaml = changes.iter().fold(of("yaml").to_owned(), |yaml, (from, to)| {
        assert!(yaml.contains(from), "{section}: {from}");
        yaml.replace(from, to)
    });
    let verifier = Verifier::from_yaml(&yaml).unwrap();
    let sample: Value = serde_json::from_str(of("json user")).unwrap();
    let mut token = sample["claims"].clone();
    for (name, value) in claims {
        match value.is_null() {
            true => token.as_object_mut().unwrap().remove(*name),
            false => token.as_object_mut().unwrap().insert((*name).to_owned(), value.clone()),
        };
    }
    let signer = Signer::rsa();
    let mut keys = Keys::new();
    for issuer in verifier.issuers() {
        keys = keys.with(issuer, key_set(&[signer.jwk("key-1")]));
    }
    let token = signer.token(&sample["header"], &token);
    shown(&verifier.verify(token, &keys, at(NOW)))
}

#[test]
fn what_the_notes_describe_works() {
    let list = |scopes: &[&str]| Value::from(scopes.to_vec());
    let version_1 = [
        ("https://login.microsoftonline.com/{tenant}/v2.0", "https://sts.windows.net/{tenant}/"),
        ("00001111-aaaa-2222-bbbb-3333cccc4444", "api://00001111-aaaa-2222-bbbb-3333cccc4444"),
        ("client_claim: azp", "client_claim: appid"),
    ];
    let issuer = "https://sts.windows.net/66666666-7777-8888-9999-000000000000/";
    let claims = [
        ("iss", issuer.into()),
        ("aud", "api://00001111-aaaa-2222-bbbb-3333cccc4444".into()),
        ("appid", "11112222-bbbb-3333-cccc-4444dddd5555".into()),
        ("azp", Value::Null),
        ("ver", "1.0".into()),
    ];
    let entra = "Microsoft Entra ID";
    assert_eq!(noted(entra, &version_1, &claims), "user read.orbs");
    assert_eq!(noted(entra, &[], &claims), "refused issuer");
    let application = [("scp", Value::Null), ("roles", list(&["read.orbs", "write.voxies"])), ("idtyp", "app".into())];
    let both = "organisation read.orbs write.voxies";
    assert_eq!(noted(entra, &[], &application), both);
    // Without the optional claim, and for an API that only users call.
    assert_eq!(noted(entra, &[], &application[..2]), "unknown");
    let only_users = [("    organisation_scopes: { claim: roles, format: array }\n", "")];
    assert_eq!(noted(entra, &only_users, &application), "organisation");
    let permissions =
        [("    client_claim: azp\n", "    client_claim: azp\n    scopes: { claim: permissions, format: array }\n")];
    let granted = [("permissions", list(&["read:orbs", "write:voxies"]))];
    let expected = "user read:orbs write:voxies";
    assert_eq!(noted("Auth0", &permissions, &granted), expected);
    assert_eq!(noted("Auth0", &[], &granted), "user openid read:orbs");
}
