//! `orbgate decide`: one question, one answer.

use orbgate::Decision;

use crate::answer;
use crate::output::{self, Exit, Stop};
use crate::policy_file::Source;
use crate::question::{Question, decide};

/// Decides and prints the answer.
pub(crate) fn run(question: &Question, source: &Source) -> Result<Exit, Stop> {
    let decision = decide(question, question.scopes(), source.engine());
    if question.json {
        output::print_json(&decision)?;
    } else {
        let advice: Vec<_> = answer::advice(question, &decision, source)
            .into_iter()
            .collect();
        output::print(|out| answer::write(out, &decision, &advice, source))?;
    }
    Ok(exit(&decision))
}

/// How a command ends that took this decision.
pub(crate) const fn exit(decision: &Decision<'_>) -> Exit {
    if decision.is_allow() {
        Exit::Fine
    } else {
        Exit::Findings
    }
}
