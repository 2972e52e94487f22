//! `orbgate review`: one page, and how it ends; and the steps of the GitHub Action over a real history.

use crate::{BAD, SHOP, file, orbgate, orbgate_reading};

/// Wider, dearer, with an overlap that lint finds, and a case that fails.
fn next() -> String {
    SHOP.replace("orbs: 3", "orbs: 4").replace(
        "GET /items/{id}",
        "GET /items/{id}\n          - DELETE /items/{id}",
    )
}

const CASES: &str = "\
orbgate_test: 1
cases:
  - GET /v1/items | user read:items | allow free
  - 'DELETE /v1/items/@somebody | user read:items | deny'
";

#[test]
fn one_page_has_it_all() {
    let old = file("review-old.yaml", SHOP);
    let new = file("review-new.yaml", next());
    let cases = file("review.test.yaml", CASES);
    let review =
        |more: &[&str]| orbgate(&[&["review", &old, &new, "--tests", &cases], more].concat());
    let page = review(&["--markdown"]);
    assert_eq!((page.code, &*page.err), (1, ""));
    for part in [
        "### Policy: wider\n",
        "| **wider** | `DELETE /v1/items/1` |",
        "### Costs\n\n| Call | Orbs before | Orbs after | |\n",
        "| `POST /v1/items/order` | 3 | 4 | dearer |\n",
        "### Lint\n\n- ",
        "\n- warning `overlap`, line ",
        "### Tests\n\n1 of 2 cases failed\n",
        ": `DELETE /v1/items/@somebody | user read:items | deny`: `decision: expected deny, found allow`",
        "\ncovered: ",
    ] {
        assert!(page.out.contains(part), "{part}\n{}", page.out);
    }
    let text = review(&[]);
    assert_eq!(text.code, 1);
    for part in [
        "wider: 1 wider, 2 dearer",
        "warning[overlap]",
        "FAIL ",
        "covered: ",
    ] {
        assert!(text.out.contains(part), "{part}\n{}", text.out);
    }
    let json: serde_json::Value = serde_json::from_str(&review(&["--json"]).out).unwrap();
    assert_eq!(json["diff"]["verdict"], "wider");
    assert_eq!(json["tests"][0]["failed"], 1);
    assert!(json["lint"]["findings"].is_array() && json["coverage"].is_array());
}

#[test]
fn nothing_to_complain_about_is_0() {
    let policy = "orbgate: 1\napis: { a: { base_path: '', scopes: { s: { orbs: false, routes: [GET /a] } } } }\n";
    let old = file("review-quiet.yaml", policy);
    let wide = file(
        "review-wide.yaml",
        policy.replace("[GET /a]", "[GET /a, PUT /a]"),
    );
    let ran = orbgate(&["review", &old, &old, "--markdown"]);
    assert_eq!(ran.code, 0, "{}", ran.out);
    assert_eq!(orbgate(&["review", &old, &wide]).code, 1);
    assert_eq!(orbgate(&["review", &old, &wide, "--allow-wider"]).code, 0);
    let piped = orbgate_reading(&["review", "-", &old], policy.as_bytes());
    assert_eq!(piped.code, 0, "{}", piped.err);
}

#[test]
fn a_new_policy_with_faults_is_a_finding_and_an_old_one_is_not() {
    let old = file("review-valid.yaml", SHOP);
    let bad = file("review-bad.yaml", BAD);
    let page = orbgate(&["review", &old, &bad, "--markdown"]);
    assert_eq!(page.code, 1);
    assert!(
        page.out.starts_with("### Policy: invalid\n\n- line 7: "),
        "{}",
        page.out
    );
    let ran = orbgate(&["review", &bad, &old]);
    assert_eq!((ran.code, &*ran.out), (2, ""));
}

/// A file that changes while it is reviewed must not make a page of two policies.
#[test]
fn the_new_policy_is_read_once() {
    let old = file("review-once.yaml", SHOP);
    let cases = file("review-once.test.yaml", CASES);
    let new = file("review-once-new.yaml", next());
    let arguments = ["review", &old, "-", "--markdown", "--tests", &cases];
    let piped = orbgate_reading(&arguments, next().as_bytes());
    let read = orbgate(&["review", &old, &new, "--markdown", "--tests", &cases]);
    assert_eq!((piped.code, &*piped.err), (1, ""));
    assert_eq!(piped.out, read.out);
}

/// However much there is to say, it fits a comment.
#[test]
fn the_page_is_bounded() {
    let scope = |number: usize| {
        let long = "x".repeat(200);
        format!(
            "    s{number}x: {{ orbs: true, routes: ['GET /a{number}/{long}', 'GET /{{id}}/b{number}'] }}\n"
        )
    };
    let policy = |scopes: usize| {
        let scopes: String = (0..scopes).map(scope).collect();
        format!("orbgate: 1\napis:\n  a:\n   base_path: ''\n   scopes:\n{scopes}")
    };
    let cases = (0..500)
        .map(|_| "  - GET /a1/b1 | none | allow\n")
        .collect::<String>();
    let cases = file(
        "review-many.test.yaml",
        format!("orbgate_test: 1\ncases:\n{cases}"),
    );
    let (old, new) = (
        file("review-1.yaml", policy(1)),
        file("review-300.yaml", policy(300)),
    );
    let page = orbgate(&["review", &old, &new, "--markdown", "--tests", &cases]);
    assert_eq!(page.code, 1, "{}", page.err);
    assert!(page.out.len() <= 60_000, "{}", page.out.len());
    assert_eq!(
        page.out.matches(" more: `orbgate ").count(),
        3,
        "{}",
        page.out
    );
}

#[cfg(unix)]
mod action {
    use std::fs;
    use std::path::PathBuf;
    use std::process::Command;

    use crate::{BAD, SHOP, of_the_repository};

    /// A repository of its own, under a name with a space.
    struct Repository(PathBuf);

    impl Repository {
        fn new() -> Self {
            let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("review history");
            let _ = fs::remove_dir_all(&folder);
            fs::create_dir_all(folder.join("in here")).unwrap();
            let repository = Self(folder);
            repository.git(&["init", "--quiet"]);
            repository.commit("README", "nothing yet");
            repository
        }

        fn git(&self, arguments: &[&str]) -> String {
            let mut git = Command::new("git");
            git.args([
                "-c",
                "user.name=a",
                "-c",
                "user.email=a@b.example",
                "-c",
                "commit.gpgsign=false",
            ]);
            let output = git.args(arguments).current_dir(&self.0).output().unwrap();
            assert!(output.status.success(), "{output:?}");
            String::from_utf8(output.stdout).unwrap().trim().to_owned()
        }

        /// Commits a file, and gives the commit's name.
        fn commit(&self, name: &str, content: &str) -> String {
            fs::write(self.0.join(name), content).unwrap();
            self.git(&["add", "."]);
            self.git(&["commit", "--quiet", "-m", name]);
            self.git(&["rev-parse", "HEAD"])
        }

        /// The code, the summary, the outputs, and what is said of errors.
        fn review(&self, base: &str, more: &[(&str, &str)]) -> (i32, String, String, String) {
            let script = of_the_repository("action/review.sh")
                .unwrap()
                .canonicalize()
                .unwrap();
            let [summary, outputs] =
                ["summary", "outputs"].map(|name| self.0.join(".git").join(name));
            for file in [&summary, &outputs] {
                fs::write(file, "").unwrap();
            }
            let mut command = Command::new(script);
            command
                .current_dir(&self.0)
                .env("ORBGATE", env!("CARGO_BIN_EXE_orbgate"))
                .env("POLICY", POLICY)
                .env("BASE", base)
                .env("RUNNER_TEMP", self.0.join(".git"))
                .env("GITHUB_STEP_SUMMARY", &summary)
                .env("GITHUB_OUTPUT", &outputs)
                .envs(more.iter().copied());
            let output = command.output().unwrap();
            let [summary, outputs] =
                [summary, outputs].map(|file| fs::read_to_string(file).unwrap());
            let err = String::from_utf8(output.stderr).unwrap();
            (output.status.code().unwrap(), summary, outputs, err)
        }
    }

    const POLICY: &str = "in here/a policy.yaml";

    #[test]
    fn its_steps_review_a_history() {
        if of_the_repository("action/review.sh").is_none() {
            return;
        }
        let repository = Repository::new();
        let empty = repository.git(&["rev-parse", "HEAD"]);
        let quiet = SHOP.replace("POST /items/order", "POST /order");
        let first = repository.commit(POLICY, &quiet);

        // A new policy: everything that it allows is wider.
        let (code, page, outputs, err) = repository.review(&empty, &[]);
        assert_eq!((code, &*err), (1, ""), "{page}");
        assert!(page.starts_with("### Policy: wider\n"), "{page}");
        for name in ["page=", "sarif="] {
            let file = outputs
                .lines()
                .find_map(|line| line.strip_prefix(name))
                .unwrap();
            assert!(fs::metadata(file).unwrap().len() > 0, "{name}");
        }
        let (code, _, _, _) = repository.review(&empty, &[("ALLOW_WIDER", "true")]);
        assert_eq!(code, 0);

        // Nothing changes, and a branch's name will do.
        repository.git(&["branch", "--force", "kept"]);
        let (code, page, _, _) = repository.review("kept", &[]);
        assert_eq!(code, 0, "{page}");
        assert!(page.starts_with("### Policy: equivalent\n"), "{page}");

        // Narrower, with cases of which one fails.
        let cases = "orbgate_test: 1\ncases: [GET /v1/items | user read:items | allow]\n";
        repository.commit("cases.test.yaml", cases);
        repository.commit(POLICY, &quiet.replace("          - GET /items\n", ""));
        let (code, page, _, _) = repository.review(&first, &[]);
        assert_eq!(code, 0, "{page}");
        assert!(page.starts_with("### Policy: narrower\n"), "{page}");
        let (code, page, _, _) = repository.review(&first, &[("TESTS", "cases.test.yaml")]);
        assert_eq!(code, 1, "{page}");
        assert!(page.contains("1 of 1 case failed"), "{page}");

        // A policy with faults.
        repository.commit(POLICY, BAD);
        let (code, page, outputs, _) = repository.review(&first, &[]);
        assert_eq!(code, 1);
        assert!(page.starts_with("### Policy: invalid\n"), "{page}");
        assert!(outputs.contains("sarif="));
    }

    #[test]
    fn what_cannot_be_reviewed_is_2() {
        if of_the_repository("action/review.sh").is_none() {
            return;
        }
        let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("review nothing");
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(folder.join("in here")).unwrap();
        let repository = Repository(folder);
        repository.git(&["init", "--quiet"]);
        repository.commit(POLICY, SHOP);
        for (base, expected) in [
            ("", "there is no commit to compare with"),
            (
                "0000000000000000000000000000000000000000",
                "there is no commit to compare with",
            ),
            ("nowhere", "check out with `fetch-depth: 0`"),
            ("--help", "check out with `fetch-depth: 0`"),
            ("$(touch x)", "check out with `fetch-depth: 0`"),
        ] {
            let (code, page, _, err) = repository.review(base, &[]);
            assert_eq!((code, &*page), (2, ""), "{base}");
            assert!(err.contains(expected), "{base}: {err}");
        }
        let (code, _, _, err) = repository.review("HEAD", &[("POLICY", "nowhere.yaml")]);
        assert_eq!(code, 2);
        assert!(
            err.contains("there is no policy file `nowhere.yaml`"),
            "{err}"
        );
        let (code, _, _, err) = repository.review("HEAD", &[("TESTS", "nowhere.test.yaml")]);
        assert_eq!(code, 2, "{err}");
    }
}
