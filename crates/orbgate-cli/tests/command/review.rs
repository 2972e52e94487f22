//! `orbgate review`: one page, and how it ends; and the steps of the GitHub Action over a real history.

use crate::{BAD, SHOP, file, orbgate, orbgate_reading};

/// Wider, costlier, with an overlap that lint finds, and a case that fails.
fn next() -> String {
    SHOP.replace("orbs: 3", "orbs: 4").replace("GET /items/{id}", "GET /items/{id}\n          - DELETE /items/{id}")
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
    let review = |more: &[&str]| orbgate(&[&["review", &old, &new, "--tests", &cases], more].concat());
    let page = review(&["--markdown"]);
    assert_eq!((page.code, &*page.err), (1, ""));
    for part in [
        "### Policy: wider\n",
        "| **wider** | `DELETE /v1/items/1` |",
        "### Costs\n\n| Call | Orbs before | Orbs after | |\n",
        "| `POST /v1/items/order` | 3 | 4 | costlier |\n",
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
    for part in ["wider: 1 wider, 2 costlier", "warning[overlap]", "FAIL ", "covered: "] {
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
    let wide = file("review-wide.yaml", policy.replace("[GET /a]", "[GET /a, PUT /a]"));
    let ran = orbgate(&["review", &old, &old, "--markdown"]);
    assert_eq!(ran.code, 0, "{}", ran.out);
    assert_eq!(orbgate(&["review", &old, &wide]).code, 1);
    assert_eq!(orbgate(&["review", &old, &wide, "--allow-wider"]).code, 0);
    let piped = orbgate_reading(&["review", "-", &old], policy.as_bytes());
    assert_eq!(piped.code, 0, "{}", piped.err);
}

#[test]
fn a_policy_with_diagnostics_is_a_finding_on_either_side() {
    let old = file("review-valid.yaml", SHOP);
    let bad = file("review-bad.yaml", BAD);
    let page = orbgate(&["review", &old, &bad, "--markdown"]);
    assert_eq!(page.code, 1);
    assert!(page.out.starts_with("### Policy: invalid\n\n- line 7: "), "{}", page.out);
    // Who mends it gets a page; that nothing was compared is let pass as what is wider is.
    let page = orbgate(&["review", &bad, &old, "--markdown"]);
    assert_eq!((page.code, &*page.err), (1, ""));
    for part in ["### Policy: not compared\n", "\n- line 7: ", "### Lint\n"] {
        assert!(page.out.contains(part), "{part}\n{}", page.out);
    }
    let json = orbgate(&["review", &bad, &old, "--json"]).out;
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!((json["diff"].is_null(), json["old_diagnostics"].as_array().unwrap().len()), (true, 2));
    let quiet = file("review-mended.yaml", QUIET);
    assert_eq!(orbgate(&["review", &bad, &quiet]).code, 1);
    assert_eq!(orbgate(&["review", &bad, &quiet, "--allow-wider"]).code, 0);
}

/// Neither lint nor a comparison with itself has anything to say.
const QUIET: &str =
    "orbgate: 1\napis: { a: { base_path: '', scopes: { s: { orbs: 5, routes: [POST /a, PUT /a] } } } }\n";

#[test]
fn what_fails_can_be_said() {
    let old = file("review-kinds.yaml", QUIET);
    let changed = [
        ("wider", QUIET.replace("PUT /a]", "PUT /a, GET /b]")),
        ("narrower", QUIET.replace(", PUT /a]", "]")),
        ("removed", QUIET.replace(", PUT /a]", "]")),
        ("cheaper", QUIET.replace("orbs: 5", "orbs: 4")),
        ("costlier", QUIET.replace("orbs: 5", "orbs: 5000")),
        ("other-cost", QUIET.replace("orbs: 5", "orbs: true")),
    ];
    for (kind, new) in &changed {
        let new = file(&format!("review-{kind}.yaml"), new);
        for command in ["review", "diff"] {
            let ran = |more: &[&str]| orbgate(&[&[command, &old, &new], more].concat()).code;
            let fails = ["wider", "cheaper", "other-cost"].contains(kind);
            assert_eq!(ran(&[]), i32::from(fails), "{command} {kind}");
            assert_eq!(ran(&["--allow-wider"]), 0, "{command} {kind}");
            assert_eq!(ran(&["--fail-on", kind]), 1, "{command} {kind}");
            assert_eq!(ran(&["--fail-on", "wider,narrower,removed,cheaper,costlier,other-cost"]), 1);
            let others: Vec<_> = changed.iter().map(|(kind, _)| *kind).collect();
            let same = ["narrower", "removed"];
            let others =
                others.into_iter().filter(|other| other != kind && !(same.contains(other) && same.contains(kind)));
            let others = others.collect::<Vec<_>>().join(",");
            assert_eq!(ran(&["--fail-on", &others]), 0, "{command} {kind}: {others}");
            assert_eq!(ran(&["--fail-on", kind, "--allow-wider"]), 2);
            assert_eq!(ran(&["--fail-on", "all"]), 2);
        }
    }
}

#[test]
fn only_what_lint_finds_anew_may_fail_and_what_is_newly_suppressed_is_shown() {
    let overlap = "'GET /{id}']";
    let policy = |routes: &str, comment: &str| {
        format!(
            "orbgate: 1\n# A policy.\napis:\n  a:\n    base_path: ''\n    scopes:\n      s: {{ orbs: 5, routes: [GET /a, {overlap} }}\n      t: {{ orbs: false, routes: [{routes}] }} {comment}\n"
        )
    };
    let none = policy("PUT /a", "").replace(", 'GET /{id}']", "]");
    let [one, two] = ["PUT /a, GET /b", "PUT /a, GET /b, GET /c"].map(|routes| policy(routes, ""));
    let one_lower = one.replace("# A policy.\n", "# A\n# policy.\n");
    let quiet = policy("PUT /a, GET /b", "# orbgate-lint: allow overlap: we know");
    let [none, one, one_lower, two, quiet] =
        [("none", none), ("one", one), ("lower", one_lower), ("two", two), ("quiet", quiet)]
            .map(|(name, text)| file(&format!("review-baseline-{name}.yaml"), text));
    let review = |old: &str, new: &str, more: &[&str]| {
        orbgate(&[&["review", old, new, "--markdown", "--allow-wider"], more].concat())
    };
    assert_eq!(review(&one, &one_lower, &[]).code, 1);
    assert_eq!(review(&one, &one_lower, &["--only-new"]).code, 0);
    assert_eq!(review(&one, &two, &["--only-new"]).code, 1);
    assert_eq!(review(&none, &one, &["--only-new"]).code, 1);
    assert_eq!(review(&none, &one, &["--level", "overlap=note"]).code, 0);

    let page = review(&one, &quiet, &[]);
    assert_eq!(page.code, 0, "{}", page.out);
    for part in ["### Newly suppressed\n\n- `overlap`, line 8: ", ", because `we know`\n"] {
        assert!(page.out.contains(part), "{part}\n{}", page.out);
    }
    let text = orbgate(&["review", &one, &quiet]).out;
    assert!(text.contains("newly suppressed: overlap, line 8: "), "{text}");
    assert!(!review(&quiet, &quiet, &[]).out.contains("Newly suppressed"));
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
        format!("    s{number}x: {{ orbs: true, routes: ['GET /a{number}/{long}', 'GET /{{id}}/b{number}'] }}\n")
    };
    let policy = |scopes: usize| {
        let scopes: String = (0..scopes).map(scope).collect();
        format!("orbgate: 1\napis:\n  a:\n   base_path: ''\n   scopes:\n{scopes}")
    };
    let cases = (0..500).map(|_| "  - GET /a1/b1 | none | allow\n").collect::<String>();
    let cases = file("review-many.test.yaml", format!("orbgate_test: 1\ncases:\n{cases}"));
    let (old, new) = (file("review-1.yaml", policy(1)), file("review-300.yaml", policy(300)));
    let page = orbgate(&["review", &old, &new, "--markdown", "--tests", &cases]);
    assert_eq!(page.code, 1, "{}", page.err);
    assert!(page.out.len() <= 60_000, "{}", page.out.len());
    assert_eq!(page.out.matches(" more: `orbgate ").count(), 3, "{}", page.out);
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
            Self::in_folder("review history")
        }

        fn in_folder(name: &str) -> Self {
            let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
            let _ = fs::remove_dir_all(&folder);
            fs::create_dir_all(folder.join("in here")).unwrap();
            let repository = Self(folder);
            repository.git(&["init", "--quiet"]);
            repository.commit("README", "nothing yet");
            repository
        }

        fn git(&self, arguments: &[&str]) -> String {
            let mut git = Command::new("git");
            git.args(["-c", "user.name=a", "-c", "user.email=a@b.example", "-c", "commit.gpgsign=false"]);
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
            let script = of_the_repository("action/review.sh").unwrap().canonicalize().unwrap();
            let [summary, outputs] = ["summary", "outputs"].map(|name| self.0.join(".git").join(name));
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
            let [summary, outputs] = [summary, outputs].map(|file| fs::read_to_string(file).unwrap());
            let err = String::from_utf8(output.stderr).unwrap();
            (output.status.code().unwrap(), summary, outputs, err)
        }
    }

    const POLICY: &str = "in here/a policy.yaml";

    #[test]
    fn a_file_that_is_moved_mended_deleted_or_a_link() {
        if of_the_repository("action/review.sh").is_none() {
            return;
        }
        let repository = Repository::in_folder("review moves");
        let quiet = SHOP.replace("POST /items/order", "POST /order");
        let before = repository.commit("old.yaml", &quiet);

        fs::rename(repository.0.join("old.yaml"), repository.0.join(POLICY)).unwrap();
        repository.commit(POLICY, &quiet.replace("orbs: 3", "orbs: 4"));
        let (code, page, _, err) = repository.review(&before, &[]);
        assert!(page.starts_with("### Policy: equivalent\n"), "{page}{err}");
        assert!(page.contains("| 3 | 4 | costlier |"), "{page}");
        assert_eq!(code, 0, "{page}");
        let (code, _, _, _) = repository.review(&before, &[("FAIL_ON", "wider,costlier")]);
        assert_eq!(code, 1);

        let broken = repository.commit(POLICY, BAD);
        let mended = repository.commit(POLICY, &quiet);
        let (code, page, _, err) = repository.review(&broken, &[]);
        assert_eq!((code, &*err), (1, ""), "{page}");
        assert!(page.starts_with("### Policy: not compared\n"), "{page}");
        let (code, _, _, _) = repository.review(&broken, &[("ALLOW_WIDER", "true")]);
        assert_eq!(code, 0);

        repository.git(&["rm", "--quiet", POLICY]);
        let (code, page, outputs, err) = repository.review(&mended, &[]);
        assert_eq!((code, &*err), (1, ""), "{page}");
        assert!(page.starts_with("**The policy is deleted.**\n\n### Policy: narrower\n"), "{page}");
        assert!(!outputs.contains("sarif="), "{outputs}");

        let secret = repository.0.join(".git/secret");
        fs::write(&secret, "machine a login b password c").unwrap();
        fs::create_dir_all(repository.0.join("in here")).unwrap();
        std::os::unix::fs::symlink(&secret, repository.0.join(POLICY)).unwrap();
        let links = ("in here/link", "in here/link/a policy.yaml");
        std::os::unix::fs::symlink(".", repository.0.join(links.0)).unwrap();
        for variable in [("POLICY", POLICY), ("POLICY", links.1), ("TESTS", POLICY)] {
            let own = ("POLICY", "README");
            let (code, page, _, err) = repository.review(&mended, &[own, variable]);
            assert_eq!((code, &*page), (2, ""));
            assert!(err.contains("symbolic link"), "{err}");
            assert!(!err.contains("machine"), "{err}");
        }
    }

    /// By hand, the page goes to standard output, which may be a file that has something already, and no folder stays.
    #[test]
    fn by_hand_the_page_goes_to_standard_output() {
        let Some(script) = of_the_repository("action/review.sh") else {
            return;
        };
        let repository = Repository::in_folder("review by hand");
        let before = repository.commit(POLICY, SHOP);
        let run = "echo first; \"$SCRIPT\" || code=$?; echo \"last $code\"";
        let (page, temporary) = (repository.0.join("page"), repository.0.join("temporary"));
        fs::create_dir(&temporary).unwrap();
        let ran = Command::new("bash")
            .args(["-c", run])
            .current_dir(&repository.0)
            .env("SCRIPT", script.canonicalize().unwrap())
            .env("ORBGATE", env!("CARGO_BIN_EXE_orbgate"))
            .env("POLICY", POLICY)
            .env("BASE", before)
            .env("TMPDIR", &temporary)
            .envs([("LEVELS", ""), ("TESTS", "")])
            .env_remove("RUNNER_TEMP")
            .env_remove("GITHUB_STEP_SUMMARY")
            .env_remove("GITHUB_OUTPUT")
            .stdout(fs::File::create(&page).unwrap())
            .status();
        assert!(ran.unwrap().success());
        let page = fs::read_to_string(page).unwrap();
        assert!(page.starts_with("first\n### Policy: equivalent\n"), "{page}");
        assert!(page.ends_with("\n**fails: 2 lint findings**\nlast 1\n"), "{page}");
        assert_eq!(fs::read_dir(temporary).unwrap().count(), 0);
    }

    #[test]
    fn a_diff_or_review_may_be_against_a_commit() {
        let repository = Repository::in_folder("diff against");
        repository.commit(POLICY, SHOP);
        fs::write(repository.0.join(POLICY), SHOP.replace("orbs: 3", "orbs: 4")).unwrap();
        let run = |name: &str, arguments: &[&str]| {
            let mut command = crate::command(&[&[name, POLICY], arguments].concat());
            command.current_dir(&repository.0);
            crate::finish(command, b"")
        };
        let diff = |arguments: &[&str]| run("diff", arguments);
        let ran = run("review", &["--against", "HEAD", "--fail-on", "costlier"]);
        assert_eq!(ran.code, 1, "{}", ran.err);
        assert!(ran.out.contains("(HEAD:in here/a policy.yaml:"), "{}", ran.out);
        assert!(ran.out.ends_with("\nfails: 2 costlier, 2 lint findings\n"), "{}", ran.out);
        let ran = diff(&["--against", "HEAD"]);
        assert_eq!(ran.code, 0, "{}", ran.err);
        assert!(ran.out.contains("(HEAD:in here/a policy.yaml:"), "{}", ran.out);
        assert_eq!(diff(&["--against", "HEAD", "--fail-on", "costlier"]).code, 1);
        for (arguments, expected) in [
            (&["--against", "nowhere"][..], "git has no `in here/a policy.yaml` in `nowhere`: "),
            (&["--against=--help"], "`--help`"),
            (&["--against", "HEAD~1"], "git has no "),
            (&["--against", "HEAD", POLICY], "cannot be used "),
            (&[], "required arguments "),
        ] {
            for name in ["diff", "review"] {
                let ran = run(name, arguments);
                assert_eq!((ran.code, &*ran.out), (2, ""), "{name} {arguments:?}");
                assert!(ran.err.contains(expected), "{name} {arguments:?}: {}", ran.err);
            }
        }
    }

    /// A hook of `.pre-commit-hooks.yaml`, by what follows `orbgate-` in its id. The package's archive has none.
    fn hook(id: &str) -> Option<String> {
        let hooks = fs::read_to_string(of_the_repository(".pre-commit-hooks.yaml")?).unwrap();
        let (_, hook) = hooks.split_once(&format!("- id: orbgate-{id}\n")).unwrap();
        Some(hook.split("\n- id: ").next().unwrap().to_owned())
    }

    fn value<'hook>(hook: &'hook str, key: &str) -> &'hook str {
        let prefix = format!("  {key}: ");
        let value = hook.lines().find_map(|line| line.strip_prefix(&*prefix));
        value.unwrap()
    }

    #[test]
    fn a_folder_as_files_selects_policies_and_no_tests() {
        for id in ["check", "lint", "fmt"] {
            let Some(hook) = hook(id) else {
                return;
            };
            assert_eq!(value(&hook, "exclude"), r"^\.github/|\.test\.ya?ml$", "{id}");
            assert_eq!(value(&hook, "types"), "[yaml]", "{id}");
        }
    }

    impl Repository {
        /// Runs a hook's entry as pre-commit does: the file names are its last arguments.
        fn run_hook(&self, hook: &str, files: &[&str]) -> crate::Ran {
            let words = shlex::split(value(hook, "entry")).unwrap();
            let folder = PathBuf::from(env!("CARGO_BIN_EXE_orbgate"));
            let path = std::env::var("PATH").unwrap();
            let path = format!("{}:{path}", folder.parent().unwrap().display());
            let mut entry = Command::new(&words[0]);
            entry
                .args(&words[1..])
                .args(files)
                .current_dir(&self.0)
                .env("PATH", path)
                .stdout(std::process::Stdio::piped())
                .stderr(std::process::Stdio::piped());
            crate::finish(entry, b"")
        }
    }

    #[test]
    fn the_hook_for_tests_runs_if_only_the_policy_changes() {
        let Some(hook) = hook("test") else {
            return;
        };
        assert_eq!(value(&hook, "files"), r"((^|[/.])policy|\.test)\.ya?ml$");
        assert_eq!(value(&hook, "pass_filenames"), "false");
        let repository = Repository::in_folder("review hook");
        repository.commit("policy.yaml", SHOP);
        let run = || repository.run_hook(&hook, &[]).code == 0;
        assert!(run(), "without a test file there is nothing to test");
        // Other programs have test files of this name.
        for (name, text) in [
            ("prometheus.test.yaml", "rule_files: [alerts.yaml]\ntests: []\n"),
            ("b.test.yml", "# orbgate_test: 1\na: b\n"),
        ] {
            repository.commit(name, text);
            assert!(run(), "{name}");
        }
        repository.commit(
            "in here/a.test.yaml",
            "orbgate_test: 1\npolicy: ../policy.yaml\ncases: [GET /v1/items | user read:items | allow]\n",
        );
        assert!(run());
        fs::write(repository.0.join("policy.yaml"), SHOP.replace("GET /items\n", "PUT /items\n")).unwrap();
        assert!(!run());
        fs::remove_file(repository.0.join("in here/a.test.yaml")).unwrap();
        assert!(run());
        for text in ["  \"orbgate_test\" : 1\n", "{ orbgate_test: 2 }\n", "\u{feff}orbgate_test: 1\n"] {
            repository.commit("c.test.yml", text);
            assert!(!run(), "{text}");
        }
    }

    /// A contributor names the files of a pull request, so a hook must never read a name as an option.
    #[test]
    fn a_file_that_is_named_like_an_option_is_a_file_to_every_hook() {
        let repository = Repository::in_folder("review options");
        // If `--policy=x.policy.yaml` is read as an option, this is the policy.
        repository.commit("x.policy.yaml", SHOP);
        fs::write(repository.0.join(".git/info/exclude"), "x.test.yaml").unwrap();
        fs::write(repository.0.join("x.test.yaml"), SHOP).unwrap();
        for named in ["--policy=x", "--help", "-V", "--level=overlap=off"] {
            let (policy, test) = (format!("{named}.policy.yaml"), format!("{named}.test.yaml"));
            repository.commit(&policy, BAD);
            repository.commit(
                &test,
                "orbgate_test: 1\npolicy: x.policy.yaml\ncases: [GET /v1/items | user read:items | deny]\n",
            );
            for (id, code, expected) in [
                ("check", 1, format!("{policy}:7:")),
                ("lint", 1, format!("{policy}:7:")),
                ("fmt", 2, format!("{policy}:7:")),
                ("test", 123, format!("{test}:3:")),
            ] {
                let Some(hook) = hook(id) else {
                    return;
                };
                let files: &[&str] = if id == "test" { &[] } else { &[&policy] };
                let ran = repository.run_hook(&hook, files);
                assert_eq!(ran.code, code, "{id} {named}: {ran:?}");
                let output = ran.out + &ran.err;
                assert!(output.contains(&expected), "{id} {named}: {output}");
            }
            repository.git(&["rm", "--quiet", "--force", "--", &policy, &test]);
        }
    }

    /// Programs of the pull request must not run in the job that installs Orbgate, and a fork's token cannot comment.
    #[test]
    fn the_workflows_of_the_guide_run_nothing_of_the_pull_request() {
        let Some(guide) = of_the_repository("docs/review.md") else {
            return;
        };
        let guide = fs::read_to_string(guide).unwrap();
        let workflows = guide.split("```yaml\nname: ").skip(1);
        let [review, comment]: [&str; 2] =
            workflows.map(|rest| rest.split("```").next().unwrap()).collect::<Vec<_>>().try_into().unwrap();
        let location = |text: &str| review.find(text).expect(text);
        assert!(location("run: cargo install ") < location("uses: actions/checkout@"));
        assert_eq!(review.matches("cargo ").count(), 1);
        assert!(review.contains("\n  pull_request:\n") && !review.contains("pull-requests: write"));
        assert!(comment.contains("\n  workflow_run:\n") && comment.contains("pull-requests: write"));
        assert!(!comment.contains("actions/checkout"));
        for workflow in [review, comment] {
            for line in workflow.lines() {
                if let Some((_, action)) = line.split_once("uses: ") {
                    let (_, version) = action.split_once('@').unwrap();
                    let (commit, version) = version.split_once(" # v").expect(line);
                    assert!(version.contains('.'), "{line}");
                    let is_hash = commit.len() == 40 && commit.bytes().all(|byte| byte.is_ascii_hexdigit());
                    assert!(is_hash || commit == "COMMIT", "{line}");
                }
            }
            // Names that a contributor chooses reach a script by variables only.
            for (_, script) in workflow.match_indices("run: ").map(|(at, _)| workflow.split_at(at)) {
                let script = script.split("\n        env:").next().unwrap();
                let script = script.split("\n        working-directory:").next().unwrap();
                assert!(!script.contains("${{"), "{script}");
            }
        }
    }

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
            let file = outputs.lines().find_map(|line| line.strip_prefix(name)).unwrap();
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
            ("", "no commit"),
            ("0000000000000000000000000000000000000000", "no commit"),
            ("nowhere", "`fetch-depth: 0`"),
            ("--help", "`fetch-depth: 0`"),
            ("$(touch x)", "`fetch-depth: 0`"),
        ] {
            let (code, page, _, err) = repository.review(base, &[]);
            assert_eq!((code, &*page), (2, ""), "{base}");
            assert!(err.contains(expected), "{base}: {err}");
        }
        let (code, _, _, err) = repository.review("HEAD", &[("POLICY", "nowhere.yaml")]);
        assert_eq!(code, 2);
        assert!(err.contains("`nowhere.yaml`"), "{err}");
        let (code, _, _, err) = repository.review("HEAD", &[("TESTS", "nowhere.test.yaml")]);
        assert_eq!(code, 2, "{err}");
    }
}
