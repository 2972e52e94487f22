//! Whatever the text: no panic, an answer, and no policy that a second reader understands differently.

use orbgate::policy::Policy;
use proptest::prelude::*;

use crate::support::valid;

const POLICIES: [&str; 3] = ["amounts", "inference", "text-in-every-style"];

/// Snippets that mean something in YAML or in a policy.
const SNIPPETS: [&str; 46] = [
    "\n", "\r", "\r\n", "\t", " ", "  ", "- ", "? ", ": ", ":", ",", "[", "]", "{", "}", "#", " #", "&a ", "*a",
    "!!str ", "!", "|", ">", "|-\n", "'", "\"", "%", "@", "`", "<<: ", "---\n", "...\n", "~", "null", "true", "NO",
    "0o10", "1_0", "\\", "\u{feff}", "\u{85}", "\u{2028}", "\u{202e}", "\0", "é", "orbs",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_gets_an_answer(text in any::<String>()) {
        answered(&text);
    }

    #[test]
    fn any_snippets_get_an_answer(snippets in prop::collection::vec(prop::sample::select(&SNIPPETS[..]), 0..60)) {
        answered(&snippets.concat());
    }

    #[test]
    fn a_policy_with_random_edits_gets_an_answer(
        policy in 0_usize..POLICIES.len(),
        edits in prop::collection::vec((any::<prop::sample::Index>(), 0_usize..4, prop::sample::select(&SNIPPETS[..])), 1..5),
    ) {
        let mut letters: Vec<String> = valid::policy(POLICIES[policy]).chars().map(String::from).collect();
        for (location, removed, piece) in edits {
            let at = location.index(letters.len());
            let end = letters.len().min(at.saturating_add(removed));
            letters.splice(at..end, [piece.to_owned()]);
        }
        answered(&letters.concat());
    }

    #[test]
    fn quoted_text_is_kept_as_it_is(name in "[^\\p{C}\\p{Default_Ignorable_Code_Point}\u{2028}\u{2029}\u{2800}]{1,40}") {
        let quoted = name.replace('\'', "''");
        let policy = Policy::from_yaml(&format!("orbgate: 1\nname: '{quoted}'\napis: {{}}\n"));
        // Spaces at a line's end may be folded, but there is only one line.
        let policy = policy.unwrap();
        prop_assert_eq!(policy.name(), Some(name.as_str()));
    }

    /// A plain word is taken only where an untyped reader takes it for the same text.
    #[test]
    fn a_plain_word_is_text_for_every_reader(word in "[-+.~=<0-9a-fA-FxXoOyYnNtTlLsSuUrRiI_:]{1,8}") {
        if let Ok(policy) = Policy::from_yaml(&format!("orbgate: 1\nname: {word}\napis: {{}}\n")) {
            prop_assert_eq!(policy.name(), Some(word.as_str()));
            // As a value: `---` alone would begin a document.
            let untyped: serde_yaml::Value = serde_yaml::from_str(&format!("name: {word}")).unwrap();
            prop_assert_eq!(untyped["name"].as_str(), Some(word.as_str()));
        }
    }
}

/// The policy, or errors in the order of the file; the same twice.
fn answered(text: &str) {
    match (Policy::from_yaml(text), Policy::from_yaml(text)) {
        (Ok(policy), Ok(again)) => {
            assert_eq!(policy.digest(), again.digest());
            // With the mark, `serde_yaml` takes one document for two.
            let unmarked = text.strip_prefix('\u{feff}').unwrap_or(text);
            let untyped: serde_yaml::Value = serde_yaml::from_str(unmarked).unwrap();
            assert_eq!(untyped["orbgate"], serde_yaml::Value::from(1));
        }
        (Err(error), Err(again)) => {
            assert_eq!(error, again);
            assert!(!error.diagnostics().is_empty());
            assert!(error.diagnostics().is_sorted_by_key(|diagnostic| diagnostic.location));
            assert!(
                error
                    .diagnostics()
                    .iter()
                    .all(|diagnostic| diagnostic.location.line >= 1 && diagnostic.location.column >= 1)
            );
        }
        (first, second) => assert_eq!(first.is_ok(), second.is_ok()),
    }
}
