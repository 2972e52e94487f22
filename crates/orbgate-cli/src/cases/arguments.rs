//! The arguments of `orbgate test`.

use std::path::PathBuf;

use clap::{Args, ValueHint};

#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(crate) struct Arguments {
    /// Test files, `NAME.test.yaml`; `-` is standard input
    #[arg(required = true, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) files: Vec<PathBuf>,

    /// List outcomes that no case covers
    #[arg(long)]
    pub(crate) coverage: bool,

    /// Exit with 1 if cases cover less than N percent of the outcomes
    #[arg(long, value_name = "N", value_parser = percent, allow_hyphen_values = true)]
    pub(crate) threshold: Option<u8>,

    /// Write the coverage as an LCOV tracefile
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) lcov: Option<PathBuf>,

    /// Write the results as JUnit XML
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) junit: Option<PathBuf>,

    /// Print one line of JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// A number with an optional sign.
fn percent(text: &str) -> Result<u8, String> {
    let number = text.strip_suffix('%').unwrap_or(text).trim_end();
    let percent = number.parse().ok().filter(|percent| *percent <= 100);
    percent.ok_or_else(|| "a whole number from 0 to 100, as `90` or `90%`, is wanted".to_owned())
}

const HELP: &str = "\
A test file:
  orbgate_test: 1
  policy: policy.yaml    # in this file's folder; absent, the built-in policy
  cases:
    # REQUEST | TOKEN | EXPECTED | ROUTE, which may be absent
    - GET /v1/items | user read:items | allow free | GET /v1/items
    - POST /v1/items/7 bonus | user write:items | allow 5 bonus
    - GET /v1/items | none | no_token
    - name: readers do not write
      request: POST /v1/items
      token: organisation read:items
      expect: scope_missing
  properties:            # proved for all requests: CLAIM | CALLERS | CALLS
    - never | organisation * | POST /v1/*
    - only | user read:items | GET /v1/items, GET /v1/items/{id}
    - at most 5 orbs | any * | *
    - apart | user * | GET /v1/*, POST /v1/*
With --policy, every file is tested against that one. What is covered is
counted by row of the policy's table, a route or a scope without routes, and
by outcome: each row held, missing, for the other kind of token, with bonus
orbs, and each reason that names no row.

Examples:
  orbgate test policy.test.yaml
  orbgate test *.test.yaml --threshold 100 --junit junit.xml --lcov lcov.info
  orbgate test policy.test.yaml --policy next.yaml

Exit codes:
  0  every case passes, every property holds, and enough is covered
  1  a case fails, a property does not hold, or less than --threshold is covered
  2  could not run: bad usage, a bad or unreadable test file or policy";
