//! A PostgreSQL server of a test's own: in a temporary folder, on a Unix socket.

use core::sync::atomic::{AtomicU64, Ordering};
use core::time::Duration;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;

use orbgate_testing::skipped::missing;
use postgres::{Client, NoTls};

/// The server. It ends with the value.
#[derive(Debug)]
pub(crate) struct Server {
    home: tempfile::TempDir,
    programs: PathBuf,
    process: Option<Child>,
    databases: AtomicU64,
}

impl Server {
    /// Starts a server; none if PostgreSQL isn't installed, which is a failure in CI.
    pub(crate) fn start() -> Option<Self> {
        let Some(programs) = programs() else {
            missing("the ledger in PostgreSQL: `initdb` is missing: apt-get install postgresql");
            return None;
        };
        // Its socket must have a short path.
        let home = tempfile::Builder::new().prefix("orbs").tempdir_in("/tmp").unwrap();
        fs::set_permissions(home.path(), fs::Permissions::from_mode(0o777)).unwrap();
        let (process, databases) = (None, AtomicU64::new(0));
        let mut server = Self { home, programs, process, databases };
        let data = server.data().display().to_string();
        server.run_program(
            "initdb",
            &["-D", &data, "-U", "orbs", "-A", "trust", "-E", "UTF8", "--no-sync", "--locale=C.UTF-8"],
        );
        // Processes are killed, and not the machine: what was written stays without being synced.
        let settings = "fsync = off\nlisten_addresses = ''\nport = 5432\nmax_connections = 60\nautovacuum = off\nshared_buffers = 32MB\n\
                        max_wal_senders = 4\nwal_level = replica\nmax_prepared_transactions = 4\nhot_standby = on\n";
        let file = server.data().join("postgresql.auto.conf");
        fs::write(&file, settings).unwrap();
        own(&file);
        server.start_again();
        Some(server)
    }

    /// From now on, it syncs what it writes, as a real one does.
    #[allow(dead_code, reason = "for the measurement of `orbgate-tower`")]
    pub(crate) fn sync(&self) {
        let mut client = self.client("postgres");
        client.batch_execute("ALTER SYSTEM SET fsync = on").unwrap();
        client.batch_execute("SELECT pg_reload_conf()").unwrap();
        while client.query_one("SHOW fsync", &[]).unwrap().get::<_, String>(0) != "on" {
            thread::sleep(Duration::from_millis(10));
        }
    }

    /// Writes a file that only the server can read.
    #[allow(dead_code, reason = "for TLS")]
    pub(crate) fn write(&self, name: &str, text: &str) {
        let file = self.data().join(name);
        fs::write(&file, text).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
        own(&file);
    }

    /// Adds settings, for the next start.
    #[allow(dead_code, reason = "for TLS")]
    pub(crate) fn set(&self, settings: &str) {
        let before = fs::read_to_string(self.data().join("postgresql.auto.conf")).unwrap();
        self.write("postgresql.auto.conf", &(before + settings));
    }

    fn data(&self) -> PathBuf {
        self.home.path().join("data")
    }

    /// The URL of a new, empty database.
    pub(crate) fn new_database(&self) -> String {
        let number = self.databases.fetch_add(1, Ordering::SeqCst);
        self.client("postgres").batch_execute(&format!("CREATE DATABASE d{number}")).unwrap();
        self.url(&format!("dbname=d{number}"))
    }

    /// The URL of the same database in this server.
    pub(crate) fn url(&self, of: &str) -> String {
        let database = of.split("dbname=").nth(1).unwrap();
        format!("host={} user=orbs dbname={database}", self.home.path().display())
    }

    /// The folder of its socket.
    #[allow(dead_code, reason = "for dumps")]
    pub(crate) fn host(&self) -> &str {
        self.home.path().to_str().unwrap()
    }

    fn client(&self, database: &str) -> Client {
        Client::connect(&self.url(&format!("dbname={database}")), NoTls).unwrap()
    }

    /// Creates a folder that the server may write.
    #[allow(dead_code, reason = "for the gateway's tests")]
    pub(crate) fn own_folder(&self, folder: &Path) {
        fs::create_dir(folder).unwrap();
        own(folder);
    }

    pub(crate) fn run(&self, url: &str, sql: &str) {
        let database = url.split("dbname=").nth(1).unwrap();
        Client::connect(url, NoTls).unwrap().batch_execute(&sql.replace("CURRENT_DB", database)).unwrap();
    }

    pub(crate) fn kill(&mut self) {
        let mut process = self.process.take().unwrap();
        let id = process.id();
        let children = fs::read_to_string(format!("/proc/{id}/task/{id}/children")).unwrap_or_default();
        process.kill().unwrap();
        process.wait().unwrap();
        // Its connections have processes of their own, which end soon after it.
        for _ in 0..1000 {
            if !children.split_whitespace().any(|child| Path::new("/proc").join(child).exists()) {
                return;
            }
            thread::sleep(Duration::from_millis(10));
        }
    }

    /// Starts it, and waits until it answers.
    pub(crate) fn start_again(&mut self) {
        let data = self.data().display().to_string();
        let socket = self.home.path().display().to_string();
        for _ in 0..600 {
            let mut process = self.program("postgres", &["-D", &data, "-k", &socket]);
            let mut process = process.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
            for _ in 0..600 {
                if Client::connect(&self.url("dbname=postgres"), NoTls).is_ok() {
                    self.process = Some(process);
                    return;
                }
                // The processes of a killed server need a moment to end.
                if process.try_wait().unwrap().is_some() {
                    break;
                }
                thread::sleep(Duration::from_millis(50));
            }
            thread::sleep(Duration::from_millis(100));
        }
        panic!("the server doesn't start");
    }

    pub(crate) fn standby(&self, name: &str) -> Self {
        let home = tempfile::Builder::new().prefix("orbs").tempdir_in("/tmp").unwrap();
        fs::set_permissions(home.path(), fs::Permissions::from_mode(0o777)).unwrap();
        let (process, databases) = (None, AtomicU64::new(0));
        let mut standby = Self { home, programs: self.programs.clone(), process, databases };
        let data = standby.data().display().to_string();
        let from = format!("host={} user=orbs application_name={name}", self.home.path().display());
        standby.run_program("pg_basebackup", &["-D", &data, "-d", &from, "-R", "--no-sync", "-c", "fast"]);
        standby.start_again();
        standby
    }

    /// From now on, a commit waits for one of the two standbys.
    pub(crate) fn require_standbys(&self) {
        let mut client = self.client("postgres");
        client.execute("ALTER SYSTEM SET synchronous_standby_names = 'ANY 1 (one, two)'", &[]).unwrap();
        client.execute("SELECT pg_reload_conf()", &[]).unwrap();
        for _ in 0..600 {
            let sql = "SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'quorum'";
            if client.query_one(sql, &[]).unwrap().get::<_, i64>(0) == 2 {
                return;
            }
            thread::sleep(Duration::from_millis(50));
        }
        panic!("the standbys don't connect");
    }

    /// How far a standby is, in bytes of the log.
    pub(crate) fn received(&self) -> i64 {
        let sql = "SELECT pg_wal_lsn_diff(pg_last_wal_receive_lsn(), '0/0')::bigint";
        self.client("postgres").query_one(sql, &[]).unwrap().get(0)
    }

    pub(crate) fn promote(&self) {
        let promoted = self.client("postgres").query_one("SELECT pg_promote(true, 60)", &[]).unwrap();
        assert!(promoted.get::<_, bool>(0));
    }

    /// Gives a folder with files to the user that the server's programs run as.
    #[allow(dead_code, reason = "for a pool")]
    pub(crate) fn own_all(&self, folder: &Path) {
        own(folder);
        fs::read_dir(folder).unwrap().for_each(|file| own(&file.unwrap().path()));
    }

    /// A program of the server, or another one by its whole path.
    pub(crate) fn program(&self, name: &str, arguments: &[&str]) -> Command {
        let program = self.programs.join(name).display().to_string();
        // It refuses to run as root. Debian's package has created this user.
        let mut command = match is_root() {
            false => Command::new(program),
            true => {
                let mut command = Command::new("setpriv");
                command.args(["--reuid=postgres", "--regid=postgres", "--clear-groups", "--", &program]);
                command
            }
        };
        command.args(arguments).current_dir(self.home.path()).env("LC_ALL", "C.UTF-8");
        command
    }

    fn run_program(&self, name: &str, arguments: &[&str]) {
        let output = self.program(name, arguments).output().unwrap();
        assert!(output.status.success(), "{output:?}");
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(mut process) = self.process.take() {
            // At once, but with its shared memory removed.
            let _ = Command::new("kill").arg("-QUIT").arg(process.id().to_string()).status();
            let _ = process.wait();
        }
    }
}

/// The folder of the newest version's programs.
fn programs() -> Option<PathBuf> {
    let versions = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().filter_map(Result::ok);
    let programs = versions.map(|version| version.path().join("bin")).filter(|bin| bin.join("initdb").exists());
    let newest = |bin: &PathBuf| bin.parent()?.file_name()?.to_str()?.parse::<u32>().ok();
    programs.max_by_key(newest)
}

fn is_root() -> bool {
    let output = Command::new("id").arg("-u").output().unwrap();
    output.stdout == b"0\n"
}

/// Gives a file to the user of the server.
fn own(file: &Path) {
    if is_root() {
        let status = Command::new("chown").arg("postgres:postgres").arg(file).status().unwrap();
        assert!(status.success());
    }
}
