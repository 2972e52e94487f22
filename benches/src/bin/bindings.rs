//! The Rust side of `cargo xtask bench --bindings`: the requests that every language answers, and what the Rust
//! call takes for them.
//!
//! ```text
//! bindings write FILE FOLDER    the requests: METHOD TAB TARGET TAB SCOPES, all of them to be allowed; and in the folder
//!                               `policy.yaml` of 1,222 routes, and for `explain` and `reach` their arguments and answers
//! bindings FILE FOLDER          answers them as every language's program does
//! ```
//!
//! A program answers the file's requests with scopes interned once per token, by the one call and by batches of
//! 256, checks every answer, and prints the nanoseconds of each, the best of some rounds: `single NS` and
//! `batch NS`. Then it asks the questions of the folder, checks the answers, and prints `explain NS` and `reach NS`
//! for its typed call, and `explain-json NS` and `reach-json NS` for the call that takes and returns JSON. Rust's typed
//! call reads the same JSON with serde. `explain-own NS` and `reach-own NS` are the calls of Rust programs, without JSON.

use std::collections::HashMap;
use std::hint::black_box;
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;
use std::{fs, io};

use orbgate::{Engine, Grant, Policy, Request, ScopeSet, Token};
use orbgate_analysis::{ask, explain, reach};
use orbgate_bench::questions::typed::{Explanation, Reach};
use orbgate_bench::questions::{Asked, asked};
use orbgate_bench::stream;
use orbgate_bench::table::Table;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// More than a branch predictor learns.
const REQUESTS: usize = 16_384;
const ROUNDS: usize = 25;
/// How often a question is asked.
const ASKED: usize = 200;

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
    let done = match arguments[..] {
        ["write", file, folder] => write(file).and_then(|()| write_questions(Path::new(folder))),
        [file, folder] => answer(file).and_then(|()| answer_questions(Path::new(folder))),
        _ => Err(io::Error::other("usage: bindings [write] FILE FOLDER")),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn write(file: &str) -> io::Result<()> {
    let table: &'static Table = Box::leak(Box::new(Table::named("external")));
    let plans = stream::plans("external");
    let hits = plans.into_iter().find(|plan| plan.name == "hits");
    let stream = stream::stream(table, hits.expect("the table has hits"), REQUESTS);
    let line = |ask: &stream::Ask| format!("{}\t{}\t{}\n", ask.method, ask.target, ask.scopes);
    fs::write(file, stream.asks.iter().map(line).collect::<String>())
}

fn write_questions(folder: &Path) -> io::Result<()> {
    let table = Table::named("github");
    fs::write(folder.join("policy.yaml"), &table.yaml)?;
    for Asked { question, arguments } in asked(&table) {
        let answer = ask(table.engine, question, &arguments).map_err(io::Error::other)?;
        fs::write(folder.join(format!("{question}.answer.json")), answer)?;
        fs::write(folder.join(format!("{question}.json")), arguments)?;
    }
    Ok(())
}

fn answer_questions(folder: &Path) -> io::Result<()> {
    let policy = fs::read_to_string(folder.join("policy.yaml"))?;
    let engine = Engine::new(&Policy::from_yaml(&policy).map_err(io::Error::other)?);
    question::<Explanation>(&engine, folder, "explain")?;
    question::<Reach>(&engine, folder, "reach")?;
    let arguments: serde_json::Value = serde_json::from_str(&fs::read_to_string(folder.join("reach.json"))?)?;
    let scopes = arguments["token"]["scopes"].as_str().unwrap_or_default();
    // What a Rust program calls, which needs no JSON.
    let reached = best(|| reach(&engine, black_box(Token::user(scopes))).collect::<Vec<_>>());
    println!("reach-own {reached:.0}");
    let arguments: serde_json::Value = serde_json::from_str(&fs::read_to_string(folder.join("explain.json"))?)?;
    let request = Request {
        method: b"GET",
        target: arguments["request"]["target"].as_str().unwrap_or_default().as_bytes(),
        token: Some(Token::user(scopes)),
        allow_bonus_orbs_use: false,
    };
    let explained = best(|| explain(&engine, black_box(&request), &Grant::default()));
    println!("explain-own {explained:.0}");
    Ok(())
}

/// Asks as JSON, and with a typed answer that is read from the JSON, as every language has it.
fn question<Answer: DeserializeOwned + Serialize>(engine: &Engine, folder: &Path, question: &str) -> io::Result<()> {
    let arguments = fs::read_to_string(folder.join(format!("{question}.json")))?;
    let expected = fs::read_to_string(folder.join(format!("{question}.answer.json")))?;
    let json = || ask(engine, question, black_box(&arguments)).expect("the arguments are right");
    let typed = || serde_json::from_str::<Answer>(&json()).expect("the answer has this type");
    if json() != expected || serde_json::to_string(&typed())? != expected {
        return Err(io::Error::other(format!("{question}: another answer")));
    }
    println!("{question} {:.0}\n{question}-json {:.0}", best(typed), best(json));
    Ok(())
}

/// The least of many calls, in nanoseconds.
fn best<Answer>(call: impl Fn() -> Answer) -> f64 {
    let taken = |_| {
        let start = Instant::now();
        let answer = call();
        let taken = start.elapsed();
        drop(black_box(answer));
        taken.as_nanos() as f64
    };
    (0..ASKED).map(taken).fold(f64::INFINITY, f64::min)
}

fn answer(file: &str) -> io::Result<()> {
    let text: &'static str = fs::read_to_string(file)?.leak();
    let engine = Engine::external();
    let mut sets: HashMap<&str, &'static ScopeSet> = HashMap::new();
    let mut requests = Vec::new();
    for line in text.lines() {
        let mut cells = line.split('\t');
        let mut cell = || cells.next().ok_or(io::Error::other("a line of three cells"));
        let (method, target, scopes) = (cell()?, cell()?, cell()?);
        let set = sets.entry(scopes).or_insert_with(|| Box::leak(Box::new(engine.scopes(scopes))));
        requests.push(Request {
            method: method.as_bytes(),
            target: target.as_bytes(),
            token: Some(Token::user(*set)),
            allow_bonus_orbs_use: false,
        });
    }
    let mut best = f64::INFINITY;
    for _ in 0..ROUNDS {
        let start = Instant::now();
        let allowed = requests.iter().filter(|request| engine.decide(black_box(request)).is_allow()).count();
        best = best.min(start.elapsed().as_nanos() as f64 / requests.len() as f64);
        if allowed != requests.len() {
            let all = requests.len();
            return Err(io::Error::other(format!("{allowed} of {all} were allowed")));
        }
    }
    // A batch of the Rust interface is a loop.
    println!("single {best:.2}\nbatch {best:.2}");
    Ok(())
}
