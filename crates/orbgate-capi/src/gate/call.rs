//! Which part answers a question. `docs/messages.md` describes the messages.

use super::asking::Asking;
use super::messages::*;
use super::progress::State;
use crate::status::OrStatus;

impl Asking<'_> {
    pub(super) fn answer(&mut self, question: Question<'_>) -> OrStatus {
        match question {
            Question::Sources(sources) => self.sources(&sources),
            Question::Make(make) => self.make(&make),
            Question::Ask(ask) => self.ask(ask),
            Question::Resume(resume) => self.resume(&resume),
            Question::Checked(checked) => self.checked(&checked),
            Question::Body(body) => self.body(&body),
            Question::IsOver(is_over) => self.is_over(&is_over),
            Question::NextCall(next) => self.next_call(&next),
            Question::Called(called) => self.called(&called),
            Question::Warm(warm) => self.warm(&warm),
            Question::Revoke(revoke) => self.revoke(&revoke),
            Question::Forget(forget) => self.forget(&forget),
            Question::ReadSecrets(read) => self.read_secrets(&read),
            Question::Status => self.status(),
            Question::CheckEngine => self.check_engine(),
            Question::CheckRoutes(question) => self.routes(&question),
            Question::Reload(question) => self.reload(&question),
            Question::UseLedger(question) => self.use_ledger(&question),
            Question::Hold(question) => self.hold(&question),
            Question::Held(question) => self.held(&question),
            Question::Waited(question) => self.waited(&question),
            Question::Ended(question) => self.ended(&question),
            Question::NextLedgerCall(question) => self.next_ledger_call(&question),
            Question::LedgerCalled(question) => self.ledger_called(&question),
            Question::LedgerReplied(question) => self.ledger_replied(&question),
            Question::CheckLedger(question) => self.check_ledger(&question),
            Question::CheckAmounts(question) => self.check_amounts(&question),
            Question::ReadResponse(question) => self.read_response(&question),
            Question::ResponseBegins(question) => self.response_begins(&question),
            Question::ResponsePiece(question) => self.response_piece(&question),
            Question::Visible(question) => self.visible(&question),
            Question::Drop => self.dropped(),
        }
    }

    fn dropped(&mut self) -> OrStatus {
        self.step.state = State::Idle;
        self.done()
    }
}
