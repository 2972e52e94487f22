//! Grants of the ledger service: one, or up to 1,000 in a message.

use core::time::Duration;
use std::sync::Arc;

use orbgate_ledger::many::{Wrong, after, offset};
use orbgate_ledger::{AccountId, Done, Grant, GrantAnswer, Granted, Ledger, Similar, similar};
use orbgate_yaml::Object;
use serde_json::value::RawValue;

/// The most grants of a message.
const MOST: usize = 1_000;

/// How long a receipt waits for the names of other accounts.
const PATIENCE: Duration = Duration::from_secs(5);

/// The grants of a message, or everything that is wrong with them.
pub(super) fn several(body: &[u8]) -> Result<Vec<Grant>, String> {
    let text = str::from_utf8(body).map_err(|error| error.to_string())?;
    let grants = serde_json::from_str::<Vec<&RawValue>>(text).map_err(|error| error.to_string())?;
    if grants.len() > MOST {
        return Err(format!("there are more than {MOST} grants"));
    }
    let mut wrong = Wrong::default();
    let (mut place, mut end, mut all) = ((1, 1), 0, Vec::with_capacity(grants.len()));
    for raw in grants {
        let start = offset(text, raw.get());
        place = after(place, text.get(end..start).unwrap_or_default());
        end = start;
        all.extend(wrong.json(raw.get(), place).map(|Object(grant)| grant));
    }
    wrong.found().map_err(|found| found.join("\n"))?;
    Ok(all)
}

/// Accounts with names like those of new ones. The grants are done, so a failure only leaves them out.
pub(super) async fn names(store: &Arc<dyn Ledger>, new: Vec<AccountId>) -> Similar {
    if new.is_empty() {
        return Similar::default();
    }
    let store = Arc::clone(store);
    // A store reads on the thread that asks.
    let found = tokio::task::spawn_blocking(move || similar(&*store, &new));
    let error = match tokio::time::timeout(PATIENCE, found).await {
        Ok(Ok(Ok(found))) => return found,
        Ok(Ok(Err(error))) => error.to_string(),
        Ok(Err(error)) => error.to_string(),
        Err(_) => "the ledger didn't answer in time".to_owned(),
    };
    tracing::warn!(error, "the names of new accounts aren't compared with others");
    Similar::default()
}

/// The log has no names of accounts.
pub(super) fn told(done: Done<Granted>, similar: &Similar) -> GrantAnswer {
    let found = if done.opens() { similar.to(&done.receipt.account) } else { Vec::new() };
    if !found.is_empty() {
        let (grant, others) = (done.receipt.id.as_str(), found.len());
        tracing::warn!(grant, others, "a grant has opened an account with a name like that of others");
    }
    done.with(found)
}
