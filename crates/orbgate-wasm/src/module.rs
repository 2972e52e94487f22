//! The state behind the exported functions.

use std::collections::BTreeMap;

use orbgate::policy::Diagnostic;
use orbgate::{Detail, Digest, Engine, Location, MissingStep, Policy, PolicyError, Reason};
use orbgate_analysis::{AskError, Code, Coverage, Fix, Form, Suite, Text, ask_in, fixes, lint};
use serde::Serialize;

/// How a call ended, in the numbers of the C ABI. If it isn't `Ok`, the answer is an [`Error`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum Status {
    /// The answer is there.
    Ok = 0,
    /// The input isn't what the call takes, or there is no engine with this number.
    InvalidArgument = 1,
    /// A policy has errors.
    InvalidPolicy = 2,
    /// There is no such question.
    NotFound = 4,
}

impl Status {
    /// Its name, also the C ABI's.
    const fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::InvalidPolicy => "invalid_policy",
            Self::InvalidArgument => "invalid_argument",
            Self::NotFound => "not_found",
        }
    }
}

/// Why there is no answer.
#[derive(Serialize)]
struct Error<'a> {
    status: &'a str,
    message: String,
    /// The errors of a policy, each with its location.
    diagnostics: &'a [Diagnostic],
}

/// An engine that was made.
#[derive(Serialize)]
struct Loaded {
    engine: u32,
    policy: Digest,
}

/// What removes findings of lint.
#[derive(Serialize)]
struct Fixes<'f> {
    fixes: Vec<Fix<'f>>,
}

/// The results of a test file.
#[derive(Serialize)]
struct Tested {
    cases: Vec<Checked>,
    properties: Vec<Checked>,
    uncovered: Vec<Place>,
}

/// A case or a property, and what is wrong with it.
#[derive(Serialize)]
struct Checked {
    #[serde(flatten)]
    place: Place,
    wrong: Vec<String>,
    /// Why a property holds trivially.
    warning: Option<String>,
}

#[derive(Serialize)]
struct Place {
    location: Location,
    name: String,
}

/// The version, and what the codes of decisions mean, in words.
#[derive(Serialize)]
struct About {
    version: &'static str,
    reasons: Sentences,
    details: Sentences,
    missing_steps: Sentences,
    pages: Pages,
}

/// The pages that describe codes.
#[derive(Serialize)]
struct Pages {
    /// Each code of lint has a heading.
    lint: &'static str,
    /// Reasons and details.
    codes: &'static str,
}

type Sentences = BTreeMap<&'static str, &'static str>;

/// Adds them one by one: a map that is made of many sorts them first, with code for each list.
fn sentences(codes: &[(&'static str, &'static str)]) -> Sentences {
    let mut sentences = Sentences::new();
    sentences.extend(codes.iter().copied());
    sentences
}

/// The state of an instance.
#[derive(Debug, Default)]
pub(crate) struct Module {
    engines: BTreeMap<u32, Engine>,
    last: u32,
    input: Vec<u8>,
    answer: Vec<u8>,
}

impl Module {
    pub(crate) fn input(&mut self, len: usize) -> *mut u8 {
        self.answer = Vec::new();
        // What a large input took is given back.
        self.input = Vec::new();
        if self.input.try_reserve_exact(len).is_err() {
            return core::ptr::null_mut();
        }
        self.input.resize(len, 0);
        self.input.as_mut_ptr()
    }

    pub(crate) fn load(&mut self) -> Status {
        match self.policy() {
            Err(status) => status,
            Ok((policy, _)) => self.keep(Engine::new(&policy)),
        }
    }

    pub(crate) fn fixes(&mut self) -> Status {
        match self.policy() {
            Err(status) => status,
            Ok((policy, text)) => {
                let findings = lint(&policy, &text).list;
                let fixes = fixes(&Text::new(text), &findings);
                self.say(Status::Ok, &Fixes { fixes })
            }
        }
    }

    /// The policy that is the input, and its text.
    fn policy(&mut self) -> Result<(Policy, String), Status> {
        let input = core::mem::take(&mut self.input);
        let text = String::from_utf8(input).map_err(|_| {
            let message = "the policy is not UTF-8".to_owned();
            self.refuse(Status::InvalidArgument, message)
        })?;
        match Policy::from_yaml(&text) {
            Err(error) => Err(self.refuse_policy(&error)),
            Ok(policy) => Ok((policy, text)),
        }
    }

    pub(crate) fn external(&mut self) -> Status {
        self.input = Vec::new();
        self.keep(Engine::external().clone())
    }

    /// Gives an engine its number.
    fn keep(&mut self, engine: Engine) -> Status {
        // Numbers are not used again, so an old one never means another engine.
        let Some(number) = self.last.checked_add(1) else {
            return self.refuse(Status::InvalidArgument, "too many engines".to_owned());
        };
        self.last = number;
        let loaded = Loaded { engine: number, policy: engine.digest() };
        self.engines.insert(number, engine);
        self.say(Status::Ok, &loaded)
    }

    pub(crate) fn ask(&mut self, engine: u32, question_len: usize, form: u32) -> Status {
        let input = core::mem::take(&mut self.input);
        let Some(engine) = self.engines.get(&engine) else {
            let message = format!("there is no engine {engine}");
            return self.refuse(Status::InvalidArgument, message);
        };
        let split = str::from_utf8(&input).ok();
        let Some((question, arguments)) = split.and_then(|text| text.split_at_checked(question_len)) else {
            let message = "the input is not UTF-8, or shorter than the question";
            return self.refuse(Status::InvalidArgument, message.to_owned());
        };
        let Some(form) = Form::of(form) else {
            return self.refuse(Status::InvalidArgument, format!("no form of an answer is {form}"));
        };
        match ask_in(engine, question, arguments, form) {
            Ok(answer) => {
                self.answer = answer;
                Status::Ok
            }
            Err(AskError::Policy(error)) => self.refuse_policy(&error),
            Err(error @ AskError::Unknown(_)) => self.refuse(Status::NotFound, error.to_string()),
            Err(error @ (AskError::Arguments(_) | AskError::Incomplete)) => {
                self.refuse(Status::InvalidArgument, error.to_string())
            }
        }
    }

    pub(crate) fn test(&mut self, engine: u32) -> Status {
        let input = core::mem::take(&mut self.input);
        let Some(engine) = self.engines.get(&engine) else {
            return self.refuse(Status::InvalidArgument, format!("there is no engine {engine}"));
        };
        let suite = match Suite::from_bytes(&input) {
            Ok(suite) => suite,
            Err(diagnostics) => {
                let status = Status::InvalidPolicy;
                let message = "the test file has errors".to_owned();
                return self.say(status, &Error { status: status.name(), message, diagnostics: &diagnostics });
            }
        };
        let mut coverage = Coverage::new(engine);
        let tried = suite.run(engine, &mut coverage).into_iter().map(|tried| {
            let wrong = tried.differences.iter().map(ToString::to_string);
            let slips = tried.slips.iter().filter(|_| !tried.passed()).cloned();
            let place = Place { location: tried.case.location, name: tried.case.name.clone() };
            Checked { place, wrong: wrong.chain(slips).collect(), warning: None }
        });
        let cases = tried.collect();
        let properties = suite.prove(engine).into_iter().map(|proved| {
            let place = Place { location: proved.stated.location, name: proved.stated.text.clone() };
            Checked { place, wrong: proved.why_not(), warning: proved.warning().map(str::to_owned) }
        });
        let properties = properties.collect();
        let uncovered = coverage.rows().filter(|row| !row.is_touched());
        let uncovered = uncovered.map(|row| Place { location: row.location(), name: row.name().to_owned() }).collect();
        self.say(Status::Ok, &Tested { cases, properties, uncovered })
    }

    pub(crate) fn unload(&mut self, engine: u32) {
        self.engines.remove(&engine);
    }

    pub(crate) fn about(&mut self) -> Status {
        let about = About {
            version: env!("CARGO_PKG_VERSION"),
            reasons: sentences(&Reason::ALL.map(|code| (code.as_str(), code.explanation()))),
            details: sentences(&Detail::ALL.map(|code| (code.as_str(), code.explanation()))),
            missing_steps: sentences(&MissingStep::ALL.map(|code| (code.as_str(), code.explanation()))),
            pages: Pages { lint: Code::PAGE, codes: "https://github.com/orbgate/orbgate/blob/main/docs/codes.md" },
        };
        self.say(Status::Ok, &about)
    }

    pub(crate) fn answer(&self) -> &[u8] {
        &self.answer
    }

    fn refuse_policy(&mut self, error: &PolicyError) -> Status {
        let status = Status::InvalidPolicy;
        let answer = Error { status: status.name(), message: error.to_string(), diagnostics: error.diagnostics() };
        self.say(status, &answer)
    }

    fn refuse(&mut self, status: Status, message: String) -> Status {
        let answer = Error { status: status.name(), message, diagnostics: &[] };
        self.say(status, &answer)
    }

    fn say(&mut self, status: Status, answer: &impl Serialize) -> Status {
        // Texts, numbers and lists: JSON has them all.
        self.answer = serde_json::to_vec(answer).unwrap_or_default();
        status
    }
}

#[cfg(test)]
#[allow(clippy::as_conversions, clippy::disallowed_methods, reason = "tests read files and know the numbers")]
mod tests {
    use serde_json::Value;

    use super::*;

    /// An input as a host writes it.
    fn write(module: &mut Module, input: &str) {
        assert!(!module.input(input.len()).is_null());
        module.input.copy_from_slice(input.as_bytes());
    }

    fn answer(module: &Module) -> Value {
        serde_json::from_slice(module.answer()).unwrap()
    }

    fn load(module: &mut Module, policy: &str) -> (Status, Value) {
        write(module, policy);
        (module.load(), answer(module))
    }

    fn question(module: &mut Module, engine: u32, name: &str, arguments: &str) -> (Status, Value) {
        write(module, &format!("{name}{arguments}"));
        (module.ask(engine, name.len(), 0), answer(module))
    }

    fn engine(module: &mut Module, policy: &str) -> u32 {
        let (status, answer) = load(module, policy);
        assert_eq!(status, Status::Ok, "{answer}");
        u32::try_from(answer["engine"].as_u64().unwrap()).unwrap()
    }

    const POLICY: &str = include_str!("../../../policy/external.yaml");

    #[test]
    fn statuses_are_those_of_the_c_abi() {
        let codes = include_str!("../../orbgate-capi/layout.tsv");
        for status in [Status::Ok, Status::InvalidArgument, Status::InvalidPolicy, Status::NotFound] {
            let name = format!("ORBGATE_STATUS_{}", status.name().to_uppercase());
            let row = codes.lines().find(|line| line.contains(&name)).unwrap();
            let number = row.split('\t').next_back().unwrap();
            assert_eq!(number.parse(), Ok(status as i32), "{row}");
        }
    }

    #[test]
    fn the_built_in_policy_is_there() {
        let mut module = Module::default();
        assert_eq!(module.external(), Status::Ok);
        let digest = Engine::external().digest().to_string();
        let expected = serde_json::json!({"engine": 1, "policy": digest});
        assert_eq!(answer(&module), expected);
        assert_eq!(engine(&mut module, POLICY), 2);
    }

    #[test]
    fn questions_are_answered_as_by_the_command() {
        let cases = concat!(env!("CARGO_MANIFEST_DIR"), "/../../policy/cases");
        let rows = std::fs::read_to_string(format!("{cases}/questions.jsonl")).unwrap();
        let mut module = Module::default();
        let external = engine(&mut module, POLICY);
        for row in rows.lines() {
            let row: Value = serde_json::from_str(row).unwrap();
            let number = row["engine"].as_str().map(|name| {
                let policy = std::fs::read_to_string(format!("{cases}/policies/{name}.yaml"));
                engine(&mut module, &policy.unwrap())
            });
            let (name, arguments) = (row["question"].as_str().unwrap(), row["arguments"].to_string());
            let number = number.unwrap_or(external);
            let (status, answer) = question(&mut module, number, name, &arguments);
            assert_eq!((status, &answer), (Status::Ok, &row["answer"]), "{name}");
        }
    }

    #[test]
    fn what_cannot_be_answered_says_why() {
        let mut module = Module::default();
        let (status, answer) = load(&mut module, "orbgate: 2\n");
        assert_eq!(status, Status::InvalidPolicy);
        assert_eq!(answer["status"], "invalid_policy");
        assert_eq!(answer["diagnostics"][0]["location"]["line"], 1);

        let external = engine(&mut module, POLICY);
        for (number, name, arguments, expected, message) in [
            (external, "why", "{}", Status::NotFound, "no question is `why`"),
            (external, "table", "[", Status::InvalidArgument, "arguments: "),
            (9, "table", "{}", Status::InvalidArgument, "there is no engine 9"),
            (external, "diff", r#"{"policy":""}"#, Status::InvalidPolicy, "1:1: "),
        ] {
            let (status, answer) = question(&mut module, number, name, arguments);
            assert_eq!(status, expected, "{answer}");
            assert_eq!(answer["status"], expected.name());
            let actual = answer["message"].as_str().unwrap();
            assert!(actual.starts_with(message), "{actual}");
        }

        // A form that isn't one. Fields aren't JSON: the first is `policy`.
        write(&mut module, "table{}");
        assert_eq!(module.ask(external, 5, 2), Status::InvalidArgument);
        write(&mut module, "table{}");
        assert_eq!(module.ask(external, 5, 1), Status::Ok);
        assert_eq!(module.answer().get(..4), Some(3_u32.to_le_bytes().as_slice()));

        // A length that isn't one, and text that isn't UTF-8.
        write(&mut module, "table{}");
        assert_eq!(module.ask(external, 8, 0), Status::InvalidArgument);
        write(&mut module, "é{}");
        assert_eq!(module.ask(external, 1, 0), Status::InvalidArgument);
        module.input(1);
        module.input.copy_from_slice(b"\xff");
        assert_eq!(module.load(), Status::InvalidArgument);
        assert!(module.input(usize::MAX).is_null());
        // Nothing was written: the last input isn't asked again.
        assert_eq!(module.ask(external, 5, 0), Status::InvalidArgument);
    }

    #[test]
    fn an_engine_that_was_freed_is_gone_and_its_number_too() {
        let mut module = Module::default();
        let first = engine(&mut module, POLICY);
        let second = engine(&mut module, POLICY);
        module.unload(second);
        module.unload(second);
        assert_eq!(question(&mut module, first, "table", "{}").0, Status::Ok);
        let gone = question(&mut module, second, "table", "{}").0;
        assert_eq!(gone, Status::InvalidArgument);
        assert_eq!(engine(&mut module, POLICY), second + 1);
    }

    #[test]
    fn findings_have_their_fixes() {
        let mut module = Module::default();
        let policy = POLICY.strip_suffix("...\n").unwrap();
        write(&mut module, policy);
        assert_eq!(module.fixes(), Status::Ok);
        let fixes = answer(&module);
        let fix = &fixes["fixes"][0];
        assert_eq!(fix["finding"]["code"], "no_end_marker");
        let end = policy.len() - 1;
        let expected = serde_json::json!({"start": end, "end": end});
        assert_eq!((&fix["span"], fix["new"].as_str()), (&expected, Some("\n...")));
        write(&mut module, POLICY);
        assert_eq!(module.fixes(), Status::Ok);
        assert_eq!(answer(&module), serde_json::json!({"fixes": []}));
        write(&mut module, "orbgate: 2\n");
        assert_eq!(module.fixes(), Status::InvalidPolicy);
        module.input(1);
        module.input.copy_from_slice(b"\xff");
        assert_eq!(module.fixes(), Status::InvalidArgument);
    }

    #[test]
    fn the_version_and_the_codes_are_told() {
        let mut module = Module::default();
        assert_eq!(module.about(), Status::Ok);
        let about = answer(&module);
        assert_eq!(about["version"], env!("CARGO_PKG_VERSION"));
        for (words, count) in
            [("reasons", Reason::ALL.len()), ("details", Detail::ALL.len()), ("missing_steps", MissingStep::ALL.len())]
        {
            assert_eq!(about[words].as_object().unwrap().len(), count);
        }
        assert_eq!(about["reasons"]["no_token"], "no token was supplied");
    }
}
