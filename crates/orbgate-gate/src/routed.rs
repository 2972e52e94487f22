//! What follows when a router has chosen a route.

use orbgate::{Decision, Engine};

use crate::answer::{Answer, Misrouted};
use crate::credentials::Verified;
use crate::request::{Matched, same_template};
use crate::rules::Rules;

impl Rules {
    /// The same result, unless the router chose a different route than the allowed one. In that case, the request is
    /// denied like a request without a route. Call it when the router has chosen a handler, if
    /// [`Request::matched`](crate::Request::matched) wasn't known before.
    pub fn routed<'e, T: Verified>(
        &self,
        engine: &'e Engine,
        answer: Answer<'e, T>,
        matched: Matched<'_>,
    ) -> Answer<'e, T> {
        let Decision::Allow(allow) = answer.decision else {
            return answer;
        };
        let route = allow.route().map(|route| route.template());
        let template = answer.template().or(route).unwrap_or_default();
        let taken = match matched {
            Matched::Nothing => return answer,
            Matched::Template(taken) if same_template(taken, template) => return answer,
            Matched::Template(taken) => taken,
            Matched::Unknown => "",
        };
        let misrouted = Misrouted { allowed: answer.decision, matched: taken.to_owned() };
        let decision = engine.deny_misrouted();
        let denied = self.answer(decision, answer.credentials, answer.mcp);
        self.as_mcp(Answer { misrouted: Some(misrouted), ..denied })
    }
}
