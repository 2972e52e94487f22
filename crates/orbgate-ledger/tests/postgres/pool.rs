//! The store behind pgbouncer, which gives each transaction one of a few connections: nothing may outlive a transaction.

use std::fs;
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::Arc;
use std::thread;

use orbgate_ledger::{Ledger, Postgres, suite};
use orbgate_testing::skipped::missing;

use super::server::Server;
use crate::reference::compared::compare_batches;
use crate::support::{Clocked, TestClock, account, grant, hold_all, orbs};

/// pgbouncer in front of a server. It ends with the value.
struct Pool {
    folder: tempfile::TempDir,
    process: Child,
}

impl Pool {
    fn start(server: &Server) -> Option<Self> {
        if !Path::new("/usr/sbin/pgbouncer").exists() {
            missing("the ledger behind a pool: `pgbouncer` is missing: apt-get install pgbouncer");
            return None;
        }
        let folder = tempfile::Builder::new().prefix("pool").tempdir_in("/tmp").unwrap();
        let (socket, url) = (folder.path().display().to_string(), server.url("dbname=postgres"));
        let host = url.split(' ').find(|part| part.starts_with("host=")).unwrap();
        // Its only socket is in its folder, so that the port is only a part of a name.
        let settings = format!(
            "[databases]\n* = {host} user=orbs\n[pgbouncer]\nlisten_addr =\nlisten_port = 5432\nunix_socket_dir = {socket}\n\
             auth_type = any\npool_mode = transaction\ndefault_pool_size = 2\nmax_client_conn = 100\n"
        );
        fs::write(folder.path().join("pgbouncer.ini"), settings).unwrap();
        server.own_all(folder.path());
        let mut program = server.program("/usr/sbin/pgbouncer", &[&format!("{socket}/pgbouncer.ini")]);
        let process = program.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let mut pool = Self { folder, process };
        let url = pool.url("dbname=postgres");
        while postgres::Client::connect(&url, postgres::NoTls).is_err() {
            assert!(pool.process.try_wait().unwrap().is_none(), "pgbouncer doesn't start");
            thread::sleep(core::time::Duration::from_millis(10));
        }
        Some(pool)
    }

    /// The connection string of the same database through the pool.
    fn url(&self, of: &str) -> String {
        let database = of.split("dbname=").nth(1).unwrap();
        format!("host={} user=orbs dbname={database}", self.folder.path().display())
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[test]
fn a_pool_gives_each_transaction_another_connection() {
    let Some(server) = Server::start() else {
        return;
    };
    let Some(pool) = Pool::start(&server) else {
        return;
    };
    let url = server.new_database();
    let clients = [(); 4].map(|()| Postgres::open(&pool.url(&url)).unwrap());
    clients[0].grant(grant("g", "a", 500)).unwrap();
    let admitted: u64 = thread::scope(|scope| {
        let holds = clients.iter().enumerate();
        let holds = holds.map(|(index, client)| {
            scope.spawn(move || hold_all(|hold| client.hold(hold).unwrap(), &format!("c{index}"), 8, 8))
        });
        let holds: Vec<_> = holds.collect();
        holds.into_iter().map(|holds| holds.join().unwrap()).sum()
    });
    assert_eq!(admitted, 50);
    assert_eq!(clients[3].balance(account("a")).unwrap().held, orbs(500));
    assert_eq!(clients[2].verify().unwrap().found, Vec::<String>::new());
    // Four ledgers with two connections each, in two of the server's.
    let sql = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()";
    let connections = postgres::Client::connect(&url, postgres::NoTls).unwrap().query_one(sql, &[]).unwrap();
    assert!((1..=2).contains(&connections.get::<_, i64>(0)), "{connections:?}");
}

#[test]
fn a_ledger_behind_a_pool_is_equal_to_the_reference() {
    let Some(server) = Server::start() else {
        return;
    };
    let Some(pool) = Pool::start(&server) else {
        return;
    };
    compare_batches(
        2,
        |seed| suite::random(seed, 400),
        40,
        |order| {
            let clock = Arc::new(TestClock::default());
            let url = pool.url(&server.new_database());
            let ledger = Postgres::open_with(&url, Some(order), Some(Arc::clone(&clock) as _)).unwrap();
            Clocked { ledger, clock }
        },
    );
}
