//! YAML's end marker `...`: a policy that is cut short lacks it.

use std::fs;
use std::path::Path;

use crate::support::expected::Expected;
use orbgate::Policy;

const POLICY: &str = "\
orbgate: 1
apis:
  external:
    base_path: ''
    scopes:
      read:users: { orbs: false, routes: ['GET /users/{id}'] }
      admin:users:
        orbs: 500 # the longer, the more dangerous to cut
        permits: does ...
        routes:
          - GET /users/admin
          - DELETE /users/{id}
";

fn has_end_marker(text: &str) -> bool {
    Policy::from_yaml(text).unwrap().has_end_marker()
}

#[test]
fn the_marker_is_seen_and_changes_nothing() {
    let unmarked = Policy::from_yaml(POLICY).unwrap();
    assert!(!unmarked.has_end_marker());
    for end in ["...", "...\n", "...\r\n", "... # the end\n", "...\t\n", "...\n\n# the end\n  # of it\n"] {
        let marked = Policy::from_yaml(&format!("{POLICY}{end}")).unwrap();
        assert!(marked.has_end_marker(), "{end:?}");
        assert_eq!(marked.digest(), unmarked.digest(), "{end:?}");
    }
    let windows = POLICY.replace('\n', "\r\n");
    assert!(!has_end_marker(&windows));
    assert!(has_end_marker(&format!("{windows}...\r\n")));
    for comment in ["# ...\n", " # ...", "#...\n"] {
        assert!(!has_end_marker(&format!("{POLICY}{comment}")), "{comment}");
    }
}

#[test]
fn a_policy_that_is_cut_short_lacks_the_marker() {
    let marked = format!("{POLICY}...\n");
    let mut valid = 0;
    for end in 0..POLICY.len() + 3 {
        if let Ok(policy) = Policy::from_yaml(&marked[..end]) {
            valid += 1;
            assert!(!policy.has_end_marker(), "{}", &marked[..end]);
        }
    }
    assert!(valid > 20, "only {valid} starts of the policy are policies");
}

/// As `rsync --inplace` and `dd conv=notrunc` write: the new bytes over the old ones, which stay until then.
#[test]
fn a_mixture_of_two_sealed_versions_is_no_policy() {
    let next = POLICY.replace("orbs: 500", "orbs: 600").replace("DELETE", "CREATE");
    let [old, new] = [POLICY, &next].map(orbgate_yaml::seal);
    assert_eq!(old.len(), new.len());
    let mut mixtures = 0;
    for at in 0..=new.len() {
        let mixture = format!("{}{}", &new[..at], &old[at..]);
        if mixture != old && mixture != new {
            let error = Policy::from_yaml(&mixture).unwrap_err().to_string();
            assert!(error.contains(" seal"), "{error}\n{mixture}");
            mixtures += 1;
        }
    }
    assert!(mixtures > 100, "{mixtures} mixtures");
}

#[test]
fn a_seal_is_seen_and_changes_nothing_else() {
    let sealed = Policy::from_yaml(&orbgate_yaml::seal(POLICY)).unwrap();
    let bare = Policy::from_yaml(POLICY).unwrap();
    assert!(sealed.is_sealed() && sealed.has_end_marker() && !bare.is_sealed());
    assert_eq!(sealed.digest(), bare.digest());
    // With every other error, at its location.
    let wrong = orbgate_yaml::seal(POLICY).replace("does ...", "does NOTHING").replace("name", "x");
    let broken = wrong.replace("apis:", "apies:");
    let diagnostics = Policy::from_yaml(&broken).unwrap_err().to_string();
    assert!(diagnostics.lines().count() > 1, "{diagnostics}");
    let last = diagnostics.lines().last().unwrap();
    assert!(last.starts_with("13:5: ") && last.contains(" seal"), "{diagnostics}");
}

#[test]
fn the_marker_stands_at_the_end_only() {
    let diagnostics = |text: &str| Policy::from_yaml(text).unwrap_err().to_string();
    let mut expected = Expected::default();
    for text in [format!("# c\n...\n{POLICY}"), format!("...\n{POLICY}...\n"), format!("{POLICY}...\nname: x\n")] {
        expected.add(&text, [diagnostics(&text)]);
    }
    expected.keep(env!("CARGO_MANIFEST_DIR"), "end markers");
}

#[test]
fn the_policies_of_the_project_end_in_the_marker() {
    let policies = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../policy");
    let mut files = vec![policies.join("external.yaml")];
    let cases = fs::read_dir(policies.join("cases/policies")).unwrap();
    files.extend(cases.map(|entry| entry.unwrap().path()));
    assert!(files.len() > 10);
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        assert!(has_end_marker(&text), "{}", file.display());
    }
}
