//! `orbgate decide`: decides one request.

use orbgate::{Decision, Reason};

use crate::answer::{self, Advice};
use crate::output::{self, Exit, Stop};
use crate::policy_file::Source;
use crate::question::{Question, decide};

pub(crate) fn run(question: &Question, source: &Source) -> Result<Exit, Stop> {
    let decision = decide(question, question.scopes(), source.engine());
    if question.json {
        output::print_json(&decision)?;
    } else {
        let near = decision.reason() == Reason::NoRoute && question.scope.is_none();
        let near = near.then_some("`orbgate explain` with the same arguments names near routes");
        let advice: Vec<_> = answer::advice(question, &decision, source)
            .into_iter()
            .chain(near.map(|near| Advice::Hint(near.to_owned())))
            .collect();
        output::print(|out| answer::write(out, &decision, &advice, source))?;
    }
    Ok(exit(&decision))
}

pub(crate) const fn exit(decision: &Decision<'_>) -> Exit {
    if decision.is_allow() { Exit::Fine } else { Exit::Findings }
}
