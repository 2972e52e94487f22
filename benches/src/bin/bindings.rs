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
//! `batch NS`. Then it asks the questions of the folder, compares each answer, and prints `explain NS` and `reach NS`
//! for its typed call, and `explain-json NS` and `reach-json NS` for the call that takes and returns JSON.

use std::collections::HashMap;
use std::hint::black_box;
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;
use std::{fs, io};

use orbgate::{Engine, Policy, Request, ScopeSet, Token};
use orbgate_analysis::ask;
use orbgate_bench::questions::{Asked, asked};
use orbgate_bench::stream;
use orbgate_bench::table::Table;

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
    for Asked {
        question,
        arguments,
    } in asked(&table)
    {
        let answer = ask(table.engine, question, &arguments).map_err(io::Error::other)?;
        fs::write(folder.join(format!("{question}.answer.json")), answer)?;
        fs::write(folder.join(format!("{question}.json")), arguments)?;
    }
    Ok(())
}

fn answer_questions(folder: &Path) -> io::Result<()> {
    let policy = fs::read_to_string(folder.join("policy.yaml"))?;
    let engine = Engine::new(&Policy::from_yaml(&policy).map_err(io::Error::other)?);
    for question in ["explain", "reach"] {
        let arguments = fs::read_to_string(folder.join(format!("{question}.json")))?;
        let expected = fs::read_to_string(folder.join(format!("{question}.answer.json")))?;
        let mut best = f64::INFINITY;
        for _ in 0..ASKED {
            let start = Instant::now();
            let answer = ask(&engine, question, black_box(&arguments));
            let is_right = answer.is_ok_and(|answer| answer == expected);
            best = best.min(start.elapsed().as_nanos() as f64);
            if !is_right {
                return Err(io::Error::other(format!("{question}: another answer")));
            }
        }
        // The Rust interface for all languages is JSON.
        println!("{question} {best:.0}\n{question}-json {best:.0}");
    }
    Ok(())
}

fn answer(file: &str) -> io::Result<()> {
    let text: &'static str = fs::read_to_string(file)?.leak();
    let engine = Engine::external();
    let mut sets: HashMap<&str, &'static ScopeSet> = HashMap::new();
    let mut requests = Vec::new();
    for line in text.lines() {
        let mut cells = line.split('\t');
        let mut cell = || {
            cells
                .next()
                .ok_or(io::Error::other("a line of three cells"))
        };
        let (method, target, scopes) = (cell()?, cell()?, cell()?);
        let set = sets
            .entry(scopes)
            .or_insert_with(|| Box::leak(Box::new(engine.scopes(scopes))));
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
        let allowed = requests
            .iter()
            .filter(|request| engine.decide(black_box(request)).is_allow())
            .count();
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
