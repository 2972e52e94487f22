//! The table of docs/issuers.md: the longest token that real servers take with their defaults.

use std::fs;
use std::net::TcpStream;
use std::path::Path;
use std::process::Command;

use super::program::{installed, package};
use crate::support::wire::{ask, request};
use crate::support::{Running, folder, free_port};

/// Tomcat as Debian packages it.
const TOMCAT: &str = "/usr/share/tomcat10";

/// The command of a server at this port that answers 200 or 204; `None` if it is missing.
fn server(name: &str, home: &Path, port: u16) -> Option<Command> {
    let write = |file: &str, text: &str| fs::write(home.join(file), text.replace("PORT", &port.to_string())).unwrap();
    let mut command = match name {
        "nginx" => {
            write(
                "nginx.conf",
                "pid pid;\nerror_log stderr;\nevents {}\nhttp {\n  access_log off;\n  client_body_temp_path a;\n  proxy_temp_path b;\n  \
                 fastcgi_temp_path c;\n  uwsgi_temp_path d;\n  scgi_temp_path e;\n  server { listen 127.0.0.1:PORT; location / { return 204; } }\n}\n",
            );
            let mut nginx = Command::new(installed("nginx")?);
            nginx.args(["-p", ".", "-c", "nginx.conf", "-g", "daemon off;"]);
            nginx
        }
        "HAProxy" => {
            write(
                "haproxy.cfg",
                "defaults\n  mode http\n  timeout client 5s\n  timeout server 5s\n  timeout connect 5s\nfrontend f\n  bind 127.0.0.1:PORT\n  \
                 http-request return status 200\n",
            );
            let mut haproxy = Command::new(installed("haproxy")?);
            haproxy.args(["-f", "haproxy.cfg"]);
            haproxy
        }
        "Node.js" => {
            let mut node = Command::new(installed("node")?);
            node.args([
                "-e",
                &format!("require('http').createServer((_, to) => to.end()).listen({port}, '127.0.0.1')"),
            ]);
            node
        }
        "gunicorn" => {
            write("app.py", "def app(_, start):\n    start('200 OK', [('Content-Length', '0')])\n    return []\n");
            let packages = package("").unwrap();
            let mut gunicorn = Command::new("python3");
            gunicorn
                .args(["-m", "gunicorn", "--bind", &format!("127.0.0.1:{port}"), "app:app"])
                .env("PYTHONPATH", packages);
            gunicorn
        }
        "Tomcat" => {
            let java = installed("java")?;
            fs::create_dir_all(home.join("webapps/ROOT")).unwrap();
            fs::create_dir_all(home.join("conf")).unwrap();
            write("webapps/ROOT/index.html", "here");
            fs::copy("/etc/tomcat10/web.xml", home.join("conf/web.xml")).unwrap();
            write(
                "conf/server.xml",
                "<Server port='-1'><Service name='a'><Connector port='PORT' address='127.0.0.1'/><Engine name='a' defaultHost='a'>\
                 <Host name='a' appBase='webapps'/></Engine></Service></Server>",
            );
            let mut tomcat = Command::new(java);
            let jars = format!("{TOMCAT}/bin/bootstrap.jar:{TOMCAT}/bin/tomcat-juli.jar");
            tomcat.args(["-cp", &jars, &format!("-Dcatalina.home={TOMCAT}"), "-Dcatalina.base=."]);
            tomcat.args(["org.apache.catalina.startup.Bootstrap", "start"]);
            tomcat
        }
        other => panic!("{other} isn't started here"),
    };
    command.current_dir(home);
    Some(command)
}

#[test]
#[ignore = "starts servers: cargo xtask test gateway"]
fn servers_take_tokens_as_long_as_the_page_says() {
    let page = include_str!("../../../../docs/issuers.md");
    let (_, table) = page.split_once("| server | longest token |").unwrap();
    let rows = table.lines().skip(2).take_while(|line| line.starts_with('|'));
    let mut count = 0;
    for row in rows {
        let cells: Vec<_> = row.trim_matches('|').split('|').map(str::trim).collect();
        let [name, longest, _, status] = cells[..] else { panic!("{row}") };
        let (longest, status): (usize, u16) = (longest.replace(',', "").parse().unwrap(), status.parse().unwrap());
        let (home, port) = (folder(&format!("servers-{}", free_port())), free_port());
        let Some(mut command) = server(name, &home, port) else {
            continue;
        };
        let mut running = Running::start(&mut command);
        let address = format!("127.0.0.1:{port}");
        running.until("the server listens", |_| TcpStream::connect(&address).is_ok());
        let status_of = |length: usize| {
            let bearer = format!("Bearer {}", "a".repeat(length));
            ask(&address, &request(b"GET", b"/", &[("Authorization", bearer.as_str())])).status
        };
        running.until("the server serves", |_| matches!(status_of(1), 200 | 204));
        assert!(matches!(status_of(longest), 200 | 204), "{name} refuses a token of {longest} bytes");
        assert_eq!(status_of(longest + 200), status, "{name}, a token of {} bytes", longest + 200);
        count += 1;
    }
    assert!(count >= 2, "only {count} servers");
}
