//! A question in progress, and the memory for its answer.

use orbgate_token::AttemptId;

use super::messages::*;
use super::object::OrbgateGate;
use super::progress::Progress;
use super::wire::{INVALID, Writer};
use crate::engine::OrbgateEngine;
use crate::error::OrbgateError;
use crate::status::{OrStatus, OrbgateStatus};

/// A question, and what it is about.
pub(super) struct Asking<'c> {
    pub(super) gate: Option<&'c OrbgateGate>,
    pub(super) engine: Option<&'c OrbgateEngine>,
    pub(super) step: &'c mut Progress,
    memory: &'c mut Vec<u8>,
    /// The gate that it has made.
    pub(super) made: Option<Box<OrbgateGate>>,
    /// The attempt for which the host makes a call.
    pub(super) calls: Option<AttemptId>,
}

impl<'c> Asking<'c> {
    pub(super) const fn new(
        gate: Option<&'c OrbgateGate>,
        engine: Option<&'c OrbgateEngine>,
        step: &'c mut Progress,
        memory: &'c mut Vec<u8>,
    ) -> Self {
        Self { gate, engine, step, memory, made: None, calls: None }
    }

    pub(super) fn gate(&self) -> OrStatus<&'c OrbgateGate> {
        self.gate.ok_or(INVALID)
    }

    pub(super) fn engine(&self) -> OrStatus<&'c OrbgateEngine> {
        self.engine.ok_or(INVALID)
    }

    pub(super) fn to(&mut self) -> Writer<'_> {
        Writer::over(self.memory)
    }

    pub(super) fn done(&mut self) -> OrStatus {
        Done::default().write(&mut self.to())
    }

    /// Errors of a configuration are an answer, and others the status of the call.
    pub(super) fn failed(&mut self, error: &OrbgateError) -> OrStatus {
        let (status, message, diagnostics) = error.parts();
        if status != OrbgateStatus::InvalidConfiguration {
            return Err(status);
        }
        let diagnostics = self::diagnostics(diagnostics);
        let status = u64::try_from(status.number()).unwrap_or_default();
        Failed { status, message, diagnostics }.write(&mut self.to())
    }
}

pub(super) fn diagnostics(located: &[(u32, u32, String)]) -> Vec<Diagnostic<'_>> {
    located
        .iter()
        .map(|(line, column, message)| Diagnostic { line: (*line).into(), column: (*column).into(), message })
        .collect()
}

pub(super) fn given(secrets: &[Secret<'_>]) -> Vec<Option<Vec<u8>>> {
    secrets.iter().map(|secret| secret.value.map(<[u8]>::to_vec)).collect()
}
