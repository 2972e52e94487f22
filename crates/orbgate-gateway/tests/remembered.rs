//! What a gateway accepted stays accepted: over restarts, changes of settings, and files that are half written.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, chown, symlink};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::time::Instant;

use crate::support::wire::{ask, request};
use crate::support::{Gateway, Issuer, Running, folder, free_port, run};

/// A policy in which `read:orbs` permits these routes.
fn policy(routes: &str) -> String {
    format!(
        "orbgate: 1\napis:\n  a:\n    base_path: /api/v1/external\n    scopes:\n      \
         read:orbs: {{ permits: reads, orbs: false, routes: [{routes}] }}\n"
    )
}

/// A gateway whose policy is followed, and what is asked of it.
struct Bench {
    gateway: Gateway,
    issuer: Issuer,
    location: String,
    more: &'static str,
}

impl Bench {
    fn start(name: &str, more: &'static str) -> Self {
        let (issuer, folder) = (Issuer::start(), folder(name));
        fs::create_dir(folder.join("state")).unwrap();
        fs::write(folder.join("policy.yaml"), policy("GET /orbs, GET /files")).unwrap();
        let location = format!("127.0.0.1:{}", free_port());
        let gateway = Gateway::start(folder, &issuer, &config("policy.yaml", &location, more));
        Self { gateway, issuer, location, more }
    }

    /// Ends it as a crash does, and starts it again.
    fn restart(&mut self) {
        self.gateway.running.child.kill().unwrap();
        self.gateway.running.child.wait().unwrap();
        let config = config("policy.yaml", &self.location, self.more);
        self.gateway = Gateway::start(self.gateway.folder.clone(), &self.issuer, &config);
    }

    fn write(&self, file: &str, text: &str) {
        fs::write(self.gateway.folder.join(file), text).unwrap();
    }

    fn told(&mut self, words: &str, times: usize) {
        self.gateway.running.until(words, |running| running.said().matches(words).count() >= times);
    }

    fn loads(&self, result: &str) -> u64 {
        let words = ["orbgate_gateway_loads_total", result];
        self.gateway.counted(&words)
    }

    /// Whether a token that may read orbs reaches this path.
    fn allows(&self, path: &str) -> bool {
        let target = format!("/api/v1/external{path}");
        let bearer = self.issuer.bearer();
        let question = [("Authorization", bearer.as_str()), ("X-Original-Method", "GET"), ("X-Original-URI", &target)];
        ask(&self.location, &request(b"GET", b"/", &question)).status == 200
    }
}

fn config(policy: &str, location: &str, more: &str) -> String {
    format!(
        "policy: {policy}\n{more}listeners:\n  - {{ mode: nginx, listen: {location}, trusted_proxies: [127.0.0.1] }}\n"
    )
}

const REFUSED: &str = "policy refused, the active one stays";

#[test]
fn a_wider_policy_that_was_refused_stays_refused_over_a_restart_and_a_change_of_settings() {
    let mut bench = Bench::start("wider", "refuse_wider: true\nstate: state\n");
    let wider = policy("GET /orbs, GET /files, GET /account");
    bench.write("policy.yaml", &wider);
    bench.told(REFUSED, 1);
    assert!(bench.allows("/orbs") && !bench.allows("/account"));
    bench.restart();
    bench.told(REFUSED, 1);
    assert!(bench.allows("/orbs") && !bench.allows("/account"));

    // A setting of the policy changes: its file.
    bench.write("other.yaml", &wider);
    let other = config("other.yaml", &bench.location, bench.more);
    bench.gateway.rewrite(&other);
    bench.gateway.running.signal("HUP");
    bench.told(REFUSED, 2);
    assert!(bench.allows("/orbs") && !bench.allows("/account"));

    // A version that isn't wider takes effect, and is what the next one is compared with.
    let narrower = policy("GET /orbs");
    bench.write("other.yaml", &narrower);
    bench.gateway.running.until("the narrower one is kept", |_| {
        fs::read_to_string(Path::new(&bench.gateway.folder).join("state/policy.yaml"))
            .is_ok_and(|text| text == narrower)
    });
    bench.write("policy.yaml", &policy("GET /orbs, GET /files"));
    bench.restart();
    bench.told(REFUSED, 1);
    assert!(bench.allows("/orbs") && !bench.allows("/files"));

    // An operator who wants it takes the setting away.
    let allowed = config("policy.yaml", &bench.location, "state: state\n");
    bench.gateway.rewrite(&allowed);
    bench.gateway.running.signal("HUP");
    bench.told("configuration loaded", 1);
    assert!(bench.allows("/files"));
}

#[test]
fn a_setting_that_needs_no_token_is_compared_as_a_policy_is() {
    const LESS: &str = "refuse_wider: true\nstate: state\npublic: [GET /healthz]\n";
    const MORE: &str = "refuse_wider: true\nstate: state\npublic: [GET /healthz, GET /docs]\n";
    let mut bench = Bench::start("public", LESS);
    let passes = |bench: &Bench, target: &str| {
        let question = [("X-Original-Method", "GET"), ("X-Original-URI", target)];
        ask(&bench.location, &request(b"GET", b"/", &question)).status == 200
    };
    assert!(passes(&bench, "/healthz") && !passes(&bench, "/docs"));
    assert!(bench.allows("/orbs") && !passes(&bench, "/api/v1/external/orbs"));
    let more = |bench: &Bench, more: &str| config("policy.yaml", &bench.location, more);
    let passing = "refuse_wider: true\nstate: state\npublic: []\ncors_preflight: pass\n";
    for (at, (text, setting)) in
        [(MORE, "`public: GET /docs`"), (passing, "`cors_preflight: pass`")].into_iter().enumerate()
    {
        bench.gateway.rewrite(&more(&bench, text));
        bench.gateway.running.signal("HUP");
        bench.told("configuration refused", at + 1);
        assert!(bench.gateway.running.said().contains(setting), "{setting}");
        assert!(passes(&bench, "/healthz") && !passes(&bench, "/docs"));
    }

    // A crash doesn't change that.
    bench.gateway.running.child.kill().unwrap();
    bench.gateway.running.child.wait().unwrap();
    bench.gateway.rewrite(&more(&bench, MORE));
    let (code, _, stderr) = run(&bench.gateway.folder, None, &["--config", "gateway.yaml"]);
    assert!(code != Some(0) && stderr.contains("`public: GET /docs`"), "{stderr}");

    // An operator who wants it takes the setting away, and a policy that overlaps is refused.
    bench.more = "state: state\npublic: [GET /healthz, GET /docs]\n";
    bench.restart();
    assert!(passes(&bench, "/docs"));
    let overlapping =
        "orbgate: 1\napis: { a: { base_path: '', scopes: { read:orbs: { orbs: false, routes: ['GET /{any}'] } } } }\n";
    bench.write("policy.yaml", overlapping);
    bench.told(REFUSED, 1);
    let log = bench.gateway.running.said();
    assert!(log.contains("public route `/docs`: the policy's `/{any}`"), "{log}");
    assert!(bench.allows("/orbs") && passes(&bench, "/docs"));
}

#[test]
fn without_a_state_it_is_said_that_nothing_was_compared() {
    let mut bench = Bench::start("stateless", "refuse_wider: true\n");
    bench.told("the first policy is compared with no other", 1);
    let bench = Bench::start("state", "state: state\n");
    assert!(!bench.gateway.running.said().contains("compared"));
}

#[test]
fn a_state_that_cannot_be_written_starts_nothing() {
    let (issuer, folder) = (Issuer::start(), folder("unwritten"));
    // Where the list of public routes is written before it is renamed.
    fs::create_dir_all(folder.join("state/public.new")).unwrap();
    fs::write(folder.join("tokens.yaml"), issuer.tokens_yaml()).unwrap();
    fs::write(folder.join("policy.yaml"), policy("GET /orbs")).unwrap();
    let location = format!("127.0.0.1:{}", free_port());
    let text = config("policy.yaml", &location, "state: state\n");
    let file = folder.join("gateway.yaml");
    let text = format!("orbgate_gateway: 1\ntokens: tokens.yaml\n{text}");
    fs::write(&file, text).unwrap();
    // Ended if it serves.
    let mut limited = std::process::Command::new("timeout");
    let limited = limited.args(["20", env!("CARGO_BIN_EXE_orbgate-gateway"), "--config"]);
    let output = limited.arg(&file).output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    assert!(stderr.contains("`state`, "), "{stderr}");
}

/// What `DynamicUser=` and `StateDirectory=orbgate` of the unit make: an unprivileged user, whose only folder is reached by a link, and a
/// configuration that it can't write. Only root can become that user; otherwise the rest is tried.
#[test]
fn the_state_is_kept_where_the_unit_puts_it() {
    const NOBODY: u32 = 65_534;
    let (issuer, folder) = (Issuer::start(), folder("unit"));
    let (private, link) = (folder.join("private/orbgate"), folder.join("orbgate"));
    fs::create_dir_all(&private).unwrap();
    let is_root = chown(&private, Some(NOBODY), Some(NOBODY)).is_ok();
    symlink("private/orbgate", &link).unwrap();
    let location = format!("127.0.0.1:{}", free_port());
    let state = format!("refuse_wider: true\nstate: {}\n", link.display());
    let text = config("policy.yaml", &location, &state);
    fs::write(folder.join("gateway.yaml"), format!("orbgate_gateway: 1\ntokens: tokens.yaml\n{text}")).unwrap();
    fs::write(folder.join("tokens.yaml"), issuer.tokens_yaml()).unwrap();
    let narrow = policy("GET /orbs");
    fs::write(folder.join("policy.yaml"), &narrow).unwrap();
    // Where the unprivileged user finds it.
    let program = folder.join("orbgate-gateway");
    fs::copy(env!("CARGO_BIN_EXE_orbgate-gateway"), &program).unwrap();
    let start = || {
        let mut command = std::process::Command::new(&program);
        command.arg("--config").arg(folder.join("gateway.yaml"));
        command.env("STATE_DIRECTORY", &link);
        if is_root {
            command.uid(NOBODY).gid(NOBODY);
        }
        Running::start(&mut command)
    };
    let answers = |path: &str| {
        let target = format!("/api/v1/external{path}");
        let bearer = issuer.bearer();
        let question = [("Authorization", bearer.as_str()), ("X-Original-Method", "GET"), ("X-Original-URI", &target)];
        std::net::TcpStream::connect(&location).is_ok()
            && ask(&location, &request(b"GET", b"/", &question)).status == 200
    };
    let mut running = start();
    running.until("it answers", |_| answers("/orbs"));
    let kept = private.join("policy.yaml");
    assert_eq!(fs::read_to_string(&kept).unwrap(), narrow);
    if is_root {
        assert_eq!(fs::metadata(&kept).unwrap().uid(), NOBODY);
    }
    // A new start has another process, and the same folder.
    running.child.kill().unwrap();
    running.child.wait().unwrap();
    fs::write(folder.join("policy.yaml"), policy("GET /orbs, GET /files")).unwrap();
    let mut running = start();
    running.until("it compares", |running| running.said().contains(REFUSED));
    running.until("it answers again", |_| answers("/orbs"));
    assert!(!answers("/files"));
}

#[test]
fn a_half_written_file_of_issuers_or_configuration_does_not_take_effect() {
    let mut bench = Bench::start("half", "");
    let seal = |text: &str| orbgate_yaml::seal(text);
    let tokens = bench.issuer.tokens_yaml();
    let (head, _) = tokens.split_once("remember_signatures").unwrap();
    let config = fs::read_to_string(bench.gateway.folder.join("gateway.yaml")).unwrap();

    // Without a mark of its end, a version must rest, even for an operator who tells to read.
    bench.write("tokens.yaml", head);
    let begun = Instant::now();
    bench.gateway.running.signal("HUP");
    bench.write("tokens.yaml", &format!("{tokens}# whole\n"));
    bench.told("configuration loaded", 1);
    assert!(begun.elapsed().as_millis() >= 1_000);
    assert_eq!(bench.loads("loaded"), 1);

    // With a seal it takes effect at once, unless the machine stands still.
    let is_at_once = (2..12).any(|time| {
        bench.write("tokens.yaml", &seal(&format!("{tokens}# {time}\n")));
        bench.write("gateway.yaml", &seal(&config));
        let begun = Instant::now();
        bench.gateway.running.signal("HUP");
        bench.told("configuration loaded", time);
        begun.elapsed().as_millis() < 1_000
    });
    assert!(is_at_once);

    // Then what has none is refused, however long it rests: the same text, half of it, and a mixture.
    let unsealed = "it does not end in a line `... # sha256:…`";
    let mixture = seal(&tokens).replace("signatures: 100", "signatures: 999");
    let table = [
        ("tokens.yaml", &*tokens, unsealed),
        ("tokens.yaml", head, unsealed),
        ("tokens.yaml", &*mixture, "the seal does not match"),
        ("gateway.yaml", &*config, unsealed),
    ];
    for (at, (file, text, why)) in table.into_iter().enumerate() {
        let right = fs::read_to_string(bench.gateway.folder.join(file)).unwrap();
        bench.write(file, text);
        bench.gateway.running.signal("HUP");
        bench.told("configuration refused", at + 1);
        assert!(bench.gateway.running.said().contains(why), "{why}");
        assert!(bench.allows("/orbs"));
        bench.write(file, &right);
    }
}

#[test]
fn an_issuer_that_is_taken_out_counts_no_more_at_once_though_another_gives_no_keys() {
    let mut bench = Bench::start("taken-out", "");
    assert!(bench.allows("/orbs"));
    let silent = Issuer::start();
    silent.stall(true);
    bench.write("tokens.yaml", &orbgate_yaml::seal(&silent.tokens_yaml()));
    let begun = Instant::now();
    bench.gateway.running.signal("HUP");
    bench.told("configuration loaded", 1);
    assert!(!bench.allows("/orbs"));
    assert!(begun.elapsed().as_secs() < 4, "{:?}", begun.elapsed());
    silent.stall(false);
}

#[test]
fn a_seal_that_is_required_is_required_of_all_three_files() {
    let mut bench = Bench::start("required", "");
    bench.gateway.running.child.kill().unwrap();
    let folder = bench.gateway.folder.clone();
    let read = |file: &str| fs::read_to_string(folder.join(file)).unwrap();
    let texts = ["gateway.yaml", "tokens.yaml", "policy.yaml"].map(|file| {
        let text = match file {
            "gateway.yaml" => read(file).replace("listeners:", "require_seal: true\nlisteners:"),
            _ => read(file),
        };
        (file, text)
    });
    for (file, text) in &texts {
        fs::write(folder.join(file), orbgate_yaml::seal(text)).unwrap();
    }
    let check = || run(&folder, None, &["--check", "--config", "gateway.yaml"]).2;
    assert_eq!(check(), "");
    for (file, text) in &texts {
        fs::write(folder.join(file), text).unwrap();
        let stderr = check();
        assert!(stderr.contains(file) && stderr.contains("# sha256:"), "{stderr}");
        fs::write(folder.join(file), orbgate_yaml::seal(text)).unwrap();
    }
}
