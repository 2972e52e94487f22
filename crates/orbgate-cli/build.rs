//! Puts the explorer's page into the command, where `ORBGATE_EXPLORER` names one.
#![allow(clippy::disallowed_macros, clippy::disallowed_methods, reason = "so a build script is asked and answers")]

fn main() {
    println!("cargo::rerun-if-env-changed=ORBGATE_EXPLORER");
    println!("cargo::rustc-check-cfg=cfg(orbgate_explorer)");
    if std::env::var_os("ORBGATE_EXPLORER").is_some_and(|page| !page.is_empty()) {
        println!("cargo::rustc-cfg=orbgate_explorer");
    }
}
