//! Reads a request's body, with limits on its size and time, and on how many are read at once.
#![expect(
    clippy::disallowed_types,
    reason = "the bodies that are being read are listed under a lock, which is held for no longer than an insertion"
)]

use core::time::Duration;
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use tokio::sync::oneshot;

/// Why the body couldn't be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unread {
    TooLarge,
    TooSlow,
    /// It ended early, or its encoding is invalid.
    NotWhole,
    /// It was the oldest of too many.
    TooMany,
}

/// The bodies that are being read. Once there are as many as the limit, the oldest gives way to the next one.
///
/// A client can open any number of requests and send no body. An honest body is there at once, so it's never the oldest for long.
#[derive(Debug)]
pub(crate) struct Bodies {
    limit: usize,
    read: Mutex<Reading>,
}

#[derive(Debug, Default)]
struct Reading {
    next: u64,
    /// By its number, which grows; sending, or dropping this, ends the reading.
    under_way: BTreeMap<u64, oneshot::Sender<()>>,
}

impl Bodies {
    pub(crate) fn new(limit: usize) -> Self {
        Self { limit, read: Mutex::default() }
    }

    fn lock(&self) -> MutexGuard<'_, Reading> {
        self.read.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn begin(&self) -> (Place<'_>, oneshot::Receiver<()>) {
        let (end, ended) = oneshot::channel();
        let mut reading = self.lock();
        while reading.under_way.len() >= self.limit && reading.under_way.pop_first().is_some() {}
        let number = reading.next;
        reading.next = number.saturating_add(1);
        reading.under_way.insert(number, end);
        (Place { bodies: self, number }, ended)
    }
}

/// A body that is being read, until this is dropped.
struct Place<'b> {
    bodies: &'b Bodies,
    number: u64,
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.bodies.lock().under_way.remove(&self.number);
    }
}

/// The whole body, up to this number of bytes.
///
/// It is copied as it arrives. Keeping its chunks would take forty bytes for each, even if each
/// contains one byte.
pub(crate) async fn whole(
    mut body: Incoming,
    most: usize,
    patience: Duration,
    bodies: &Bodies,
) -> Result<Bytes, Unread> {
    let (_place, ended) = bodies.begin();
    let read = async {
        let mut whole = BytesMut::new();
        while let Some(frame) = body.frame().await {
            let frame = frame.map_err(|_| Unread::NotWhole)?;
            let Some(piece) = frame.data_ref() else {
                continue;
            };
            if piece.len() > most.saturating_sub(whole.len()) {
                return Err(Unread::TooLarge);
            }
            whole.extend_from_slice(piece);
        }
        Ok(whole.freeze())
    };
    let read = tokio::time::timeout(patience, read);
    tokio::select! {
        // What is whole by now counts.
        biased;
        read = read => read.unwrap_or(Err(Unread::TooSlow)),
        _ = ended => Err(Unread::TooMany),
    }
}

#[cfg(test)]
mod tests {
    use tokio::sync::oneshot::error::TryRecvError;

    use super::Bodies;

    #[test]
    fn the_oldest_body_gives_way_to_one_too_many() {
        let bodies = Bodies::new(2);
        let (first, mut first_ended) = bodies.begin();
        let (second, mut second_ended) = bodies.begin();
        assert_eq!(first_ended.try_recv(), Err(TryRecvError::Empty));
        let (third, _third_ended) = bodies.begin();
        assert_eq!(first_ended.try_recv(), Err(TryRecvError::Closed));
        assert_eq!(second_ended.try_recv(), Err(TryRecvError::Empty));
        // A body that is read makes room.
        drop((first, third));
        let (_fourth, _fourth_ended) = bodies.begin();
        assert_eq!(second_ended.try_recv(), Err(TryRecvError::Empty));
        drop(second);
    }
}
