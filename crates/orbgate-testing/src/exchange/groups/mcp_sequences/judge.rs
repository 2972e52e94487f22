//! The table of docs/mcp.md: what each ending costs, and who decides it.

use core::fmt;

use crate::exchange::groups::mcp_sequences::plan::{Call, End, Id, Session, Version};
use crate::exchange::groups::mcp_sequences::world::Sent;

/// A call, and what came of it.
pub(super) struct Made {
    pub(super) call: Call,
    pub(super) key: String,
    pub(super) request: Vec<u8>,
    pub(super) sent: Option<Sent>,
    /// How often its tool has worked.
    pub(super) worked: usize,
}

impl fmt::Debug for Made {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sent = self.sent.as_ref();
        let read = sent.map(|sent| (sent.status(), sent.is_whole(), sent.has_left));
        write!(f, "{:?} worked {}: (status, whole, left) = {read:?}", self.call, self.worked)
    }
}

impl Made {
    /// The id of the last event of its response.
    pub(super) fn last_event(&self) -> Option<String> {
        let text = self.sent.as_ref()?.text();
        text.lines().rev().find_map(|line| line.strip_prefix("id: ").map(|id| id.trim_end().to_owned()))
    }

    /// What the table doesn't say. `holds` are the causes of each of its holds, and `charges` is what the settings say. The server can have
    /// forgotten a call that `is_lost`.
    pub(super) fn fault(&self, holds: Option<&Vec<Vec<String>>>, is_lost: bool, charges: bool) -> Option<String> {
        let holds = holds.map_or(&[][..], Vec::as_slice);
        let says = |what: String| Some(format!("{}: {what}: {holds:?}", self.key));
        if self.worked > 1 {
            return says(format!("worked {} times", self.worked));
        }
        if is_lost && holds.iter().all(|causes| causes.len() == 1) && holds.len() == 1 {
            return None;
        }
        if holds.iter().any(|causes| causes.len() != 2) {
            return says("is still held".to_owned());
        }
        let costs: Vec<_> = holds.iter().map(|causes| causes[1].as_str()).collect();
        if self.call.is_free || self.call.id == Id::Absent {
            return (!holds.is_empty()).then(|| says("holds orbs".to_owned())).flatten();
        }
        let allowed = if self.worked == 0 { self.of_no_work(charges) } else { self.of_work(charges) };
        let fits = match costs.as_slice() {
            // It never reached the handler.
            [] => self.worked == 0,
            [one] => allowed.contains(one),
            _ => false,
        };
        if fits { None } else { says(format!("worked {}, and may cost {allowed:?}", self.worked)) }
    }

    fn status(&self) -> u16 {
        self.sent.as_ref().map_or(0, Sent::status)
    }

    pub(super) fn has_left(&self) -> bool {
        self.sent.as_ref().is_none_or(|sent| !sent.is_whole())
    }

    /// A tool that has worked is free only by a setting or by its own error.
    fn of_work(&self, charges: bool) -> Vec<&'static str> {
        let by_setting = if charges { "capture" } else { "void" };
        if self.call.session != Session::None {
            return vec!["capture"];
        }
        let own = match (self.call.id, self.call.end) {
            // The gate can't read such a response, so its status counts.
            (Id::Long, _) => return vec![if self.status() >= 400 { "void" } else { "capture" }, by_setting],
            (_, End::Result) => "capture",
            (_, End::Error) => "void",
            (_, End::ToolError) => by_setting,
        };
        match (self.has_left(), self.call.version) {
            (false, _) => vec![own],
            (true, Version::Newest) => vec![own, by_setting],
            // The client can ask for the rest.
            (true, Version::Older) => vec![own, "capture"],
        }
    }

    /// What hasn't worked costs something only if the gate can't know that.
    fn of_no_work(&self, charges: bool) -> Vec<&'static str> {
        let is_refused = self.status() >= 400;
        let is_unknown = match (self.call.session, self.call.version) {
            (Session::None, Version::Newest) => self.call.id == Id::Long || self.has_left() && charges,
            (Session::None, Version::Older) => self.call.id == Id::Long || self.has_left(),
            _ => true,
        };
        if is_unknown && !is_refused { vec!["void", "capture"] } else { vec!["void"] }
    }
}
