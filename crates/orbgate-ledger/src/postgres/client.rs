//! A connection to a server. Callers wait for several statements as long as for one: all are sent before the first answer.
//!
//! No statement has a name, so that a pool may give each transaction another connection.

use core::future::{Future, poll_fn};
use core::mem;
use core::pin::Pin;
use core::sync::atomic::{AtomicBool, Ordering};
use core::task::{Context, Poll};
use std::borrow::Cow;
use std::sync::Arc;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::runtime::{Builder, Runtime};
use tokio_postgres::error::{Severity, SqlState};
use tokio_postgres::tls::MakeTlsConnect;
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{AsyncMessage, Config, Connection, Error, Row, Socket};

use crate::postgres::failed::{Failed, failed, unconnected, wrong};

pub(crate) type Parameters<'p> = &'p [(&'p (dyn ToSql + Sync), Type)];

/// A statement and its values.
pub(crate) struct Statement<'s> {
    sql: Cow<'static, str>,
    values: Vec<(Box<dyn ToSql + Sync + 's>, Type)>,
}

impl<'s> Statement<'s> {
    pub(crate) const fn new(sql: &'static str) -> Self {
        Self { sql: Cow::Borrowed(sql), values: Vec::new() }
    }

    /// Calls functions one after the other: each statement is the name of one, and its arguments.
    pub(crate) fn calls(functions: Vec<Self>) -> Self {
        let (mut calls, mut values) = (Vec::new(), Vec::new());
        for mut function in functions {
            let first = values.len().saturating_add(1);
            values.append(&mut function.values);
            let arguments: Vec<_> = (first..=values.len()).map(|number| format!("${number}")).collect();
            calls.push(format!("{}({})", function.sql, arguments.join(", ")));
        }
        Self { sql: format!("SELECT {}", calls.join(", ")).into(), values }
    }

    pub(crate) fn with(mut self, value: impl ToSql + Sync + 's, of: Type) -> Self {
        self.values.push((Box::new(value), of));
        self
    }

    fn borrowed(&self) -> impl Iterator<Item = (&(dyn ToSql + Sync), Type)> {
        self.values.iter().map(|(value, of)| -> (&(dyn ToSql + Sync), Type) { (&**value, of.clone()) })
    }
}

/// What is sent: some statements without values, or one with typed ones.
#[derive(Clone, Copy)]
enum Sent<'s> {
    Simple(&'s str),
    Typed(&'s str, Parameters<'s>),
}

/// A connection to a server.
pub(crate) struct Client {
    /// None at the end, so that the server learns of it.
    client: Option<tokio_postgres::Client>,
    /// What sends and receives. None after its end.
    messages: Option<Box<dyn Messages>>,
    runtime: Runtime,
    has_warned: Arc<AtomicBool>,
    /// What begins a transaction, until it is sent.
    begin: Option<&'static str>,
    /// A transaction has begun, and not ended.
    is_open: bool,
}

impl Client {
    /// Connects. `has_warned` is set when the server warns.
    pub(crate) fn connect<T>(config: &Config, tls: T, has_warned: Arc<AtomicBool>) -> Result<Self, Failed>
    where
        T: MakeTlsConnect<Socket>,
        T::Stream: Send + 'static,
    {
        let runtime = Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| wrong(format!("cannot start a client: {error}")))?;
        let (client, messages) = runtime.block_on(config.connect(tls)).map_err(unconnected)?;
        let messages: Option<Box<dyn Messages>> = Some(Box::new(messages));
        Ok(Self { client: Some(client), messages, runtime, has_warned, begin: None, is_open: false })
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.messages.is_none() || self.client.as_ref().is_none_or(tokio_postgres::Client::is_closed)
    }

    /// The rows of a statement.
    pub(crate) fn query(&mut self, sql: &str, parameters: Parameters<'_>) -> Result<Vec<Row>, Failed> {
        Ok(self.send(&[Sent::Typed(sql, parameters)])?.pop().unwrap_or_default())
    }

    /// The only row of a statement.
    pub(crate) fn query_one(&mut self, sql: &str, parameters: Parameters<'_>) -> Result<Row, Failed> {
        let row = self.query(sql, parameters)?.pop();
        row.ok_or_else(|| wrong("postgres: a statement has no row".to_owned()))
    }

    /// Does some statements without values.
    pub(crate) fn batch_execute(&mut self, sql: &str) -> Result<(), Failed> {
        self.send(&[Sent::Simple(sql)]).map(drop)
    }

    /// The rows of each statement. As always, one sees what others have committed before it starts. If one fails, those after it aren't done.
    pub(crate) fn query_all<'s>(
        &mut self,
        statements: impl Iterator<Item = &'s Statement<'s>>,
    ) -> Result<Vec<Vec<Row>>, Failed> {
        self.send_all(&statements.collect::<Vec<_>>(), None)
    }

    /// Does statements and commits. If one of them fails, nothing of the transaction is done, and it has ended.
    pub(crate) fn commit_with(&mut self, statements: &[Statement<'_>]) -> Result<(), Failed> {
        // The commit of a transaction that has failed rolls it back.
        self.send_all(&statements.iter().collect::<Vec<_>>(), Some("COMMIT")).map(drop)
    }

    fn send_all(&mut self, statements: &[&Statement<'_>], end: Option<&str>) -> Result<Vec<Vec<Row>>, Failed> {
        let values: Vec<Vec<_>> = statements.iter().map(|statement| statement.borrowed().collect()).collect();
        let sent = statements.iter().zip(&values).map(|(statement, values)| Sent::Typed(&statement.sql, values));
        let sent: Vec<_> = sent.chain(end.map(Sent::Simple)).collect();
        let rows = self.send(&sent);
        self.is_open &= end.is_none();
        rows
    }

    /// Works in a transaction, and commits.
    pub(crate) fn transaction<T>(
        &mut self,
        begin: &'static str,
        work: impl FnOnce(&mut Self) -> Result<T, Failed>,
    ) -> Result<T, Failed> {
        self.until_commit(begin, |client| {
            let done = work(client)?;
            client.commit_with(&[]).map(|()| done)
        })
    }

    /// Works in a transaction, and commits with the last statements.
    pub(crate) fn until_commit<T>(
        &mut self,
        begin: &'static str,
        work: impl FnOnce(&mut Self) -> Result<T, Failed>,
    ) -> Result<T, Failed> {
        // It is sent with the first statements.
        self.begin = Some(begin);
        let done = work(self);
        self.begin = None;
        if mem::take(&mut self.is_open) {
            // The error that comes before is what counts.
            let _ = self.batch_execute("ROLLBACK");
        }
        done
    }

    /// Sends everything, waits for all answers, and returns the rows of each, or the first error.
    fn send(&mut self, all: &[Sent<'_>]) -> Result<Vec<Vec<Row>>, Failed> {
        let Self { client, messages, runtime, has_warned, begin, is_open } = self;
        let client = client.as_ref().ok_or_else(|| Failed::Lost("no connection".to_owned()))?;
        let begin = begin.take();
        *is_open |= begin.is_some();
        let sent = begin.into_iter().map(Sent::Simple).chain(all.iter().copied());
        let mut answers: Vec<_> = sent.map(|sent| Answer::Waits(Box::pin(rows(client, sent)))).collect();
        let ended = runtime.block_on(poll_fn(|context| {
            if let Err(error) = receive(messages, has_warned, context) {
                return Poll::Ready(Some(error));
            }
            // Each is sent when it is polled first.
            let waiting = answers.iter_mut().filter_map(|answer| (!answer.poll(context)).then_some(())).count();
            if waiting == 0 { Poll::Ready(None) } else { Poll::Pending }
        }));
        let all = answers.into_iter().filter_map(|answer| match answer {
            Answer::Is(rows) => Some(rows),
            Answer::Waits(_) => None,
        });
        let mut all = all.collect::<Result<Vec<_>, _>>().map_err(failed)?;
        if let Some(error) = ended {
            return Err(failed(error));
        }
        drop(all.drain(..usize::from(begin.is_some())));
        Ok(all)
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        self.client = None;
        let Self { messages, runtime, has_warned, .. } = self;
        runtime.block_on(poll_fn(|context| {
            let received = receive(messages, has_warned, context);
            if received.is_err() || messages.is_none() { Poll::Ready(()) } else { Poll::Pending }
        }));
    }
}

async fn rows(client: &tokio_postgres::Client, sent: Sent<'_>) -> Result<Vec<Row>, Error> {
    match sent {
        Sent::Simple(sql) => client.batch_execute(sql).await.map(|()| Vec::new()),
        Sent::Typed(sql, parameters) => client.query_typed(sql, parameters).await,
    }
}

enum Answer<'s> {
    Waits(Pin<Box<dyn Future<Output = Result<Vec<Row>, Error>> + 's>>),
    Is(Result<Vec<Row>, Error>),
}

impl Answer<'_> {
    /// Whether it is there.
    fn poll(&mut self, context: &mut Context<'_>) -> bool {
        if let Self::Waits(rows) = self {
            match rows.as_mut().poll(context) {
                Poll::Ready(rows) => *self = Self::Is(rows),
                Poll::Pending => return false,
            }
        }
        true
    }
}

/// What sends and receives, over any kind of stream.
trait Messages: Send {
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<AsyncMessage, Error>>>;
}

impl<S: AsyncRead + AsyncWrite + Unpin + Send, T: AsyncRead + AsyncWrite + Unpin + Send> Messages for Connection<S, T> {
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<AsyncMessage, Error>>> {
        self.poll_message(context)
    }
}

/// Sends and receives what is possible now.
fn receive(
    messages: &mut Option<Box<dyn Messages>>,
    has_warned: &AtomicBool,
    context: &mut Context<'_>,
) -> Result<(), Error> {
    while let Some(open) = messages {
        match open.poll(context) {
            Poll::Pending => break,
            Poll::Ready(Some(Ok(AsyncMessage::Notice(notice)))) => {
                // The text of the severity is in the server's language.
                if notice.parsed_severity() == Some(Severity::Warning) || notice.code() == &SqlState::WARNING {
                    has_warned.store(true, Ordering::SeqCst);
                }
            }
            Poll::Ready(Some(Ok(_))) => {}
            Poll::Ready(Some(Err(error))) => {
                *messages = None;
                return Err(error);
            }
            Poll::Ready(None) => *messages = None,
        }
    }
    Ok(())
}
