//! Errors of a policy or a configuration, in an object that the caller owns.

use orbgate::PolicyError;

use crate::arguments::{Sized32, first_size, shared, write_sized};
use crate::owners::{drop_owned, into_owned};
use crate::status::{OrbgateStatus, caught, guard};
use crate::text::OrbgateStr;

/// Why a call failed. Immutable; the caller owns it.
#[derive(Debug)]
pub struct OrbgateError {
    status: OrbgateStatus,
    path: Option<String>,
    message: String,
    diagnostics: Vec<(u32, u32, String)>,
}

/// The properties of an error.
#[derive(Debug)]
#[repr(C)]
pub struct OrbgateErrorInfo {
    /// Set it to `sizeof(OrbgateErrorInfo)`.
    pub struct_size: u32,
    /// The `OrbgateStatus` that the call returned.
    pub code: i32,
    /// The line of the first error, from 1; 0 if the error has no location.
    pub line: u32,
    /// The column of the first error in characters, from 1; 0 if the error has no location.
    pub column: u32,
    /// The number of errors that `orbgate_error_diagnostic` returns.
    pub diagnostic_count: usize,
    /// All errors in one string, each on a line `[path:]line:column: message`.
    pub message: OrbgateStr,
    /// The path of the file as given; no string if there was no file.
    pub path: OrbgateStr,
}

// SAFETY: integers and strings, the u32 first.
unsafe impl Sized32 for OrbgateErrorInfo {
    const FIRST_SIZE: usize = first_size(56, 36);
}

/// One error in a policy or a configuration.
#[derive(Debug)]
#[repr(C)]
pub struct OrbgateDiagnostic {
    /// Set it to `sizeof(OrbgateDiagnostic)`.
    pub struct_size: u32,
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
    /// 0.
    pub reserved: u32,
    /// The message: lower case, no final period, without the location.
    pub message: OrbgateStr,
}

// SAFETY: integers and a string, the u32 first.
unsafe impl Sized32 for OrbgateDiagnostic {
    const FIRST_SIZE: usize = first_size(32, 24);
}

impl OrbgateError {
    pub(crate) const fn new(status: OrbgateStatus, path: Option<String>, message: String) -> Self {
        Self { status, path, message, diagnostics: Vec::new() }
    }

    pub(crate) fn policy(path: Option<String>, error: &PolicyError) -> Self {
        let message = match &path {
            Some(path) => error.in_file(path),
            None => error.to_string(),
        };
        let diagnostics = error.diagnostics().iter().map(|diagnostic| {
            let location = diagnostic.location;
            (location.line, location.column, diagnostic.message.clone())
        });
        Self { diagnostics: diagnostics.collect(), ..Self::new(OrbgateStatus::InvalidPolicy, path, message) }
    }

    #[cfg(feature = "gate")]
    pub(crate) fn tokens(error: &orbgate_token::ConfigError) -> Self {
        let diagnostics = error.diagnostics().iter().map(|diagnostic| {
            let (line, column) = diagnostic.location.map_or((0, 0), |location| (location.line, location.column));
            (line, column, diagnostic.message.clone())
        });
        Self {
            diagnostics: diagnostics.collect(),
            ..Self::new(OrbgateStatus::InvalidConfiguration, None, error.to_string())
        }
    }

    /// The status, the message, and the errors with their lines and columns.
    #[cfg(feature = "gate")]
    pub(crate) fn parts(&self) -> (OrbgateStatus, &str, &[(u32, u32, String)]) {
        (self.status, &self.message, &self.diagnostics)
    }

    /// Passes the error to the caller if it wants it, and returns the call's status.
    pub(crate) unsafe fn hand_over(self, location: *mut *mut Self) -> OrbgateStatus {
        let status = self.status;
        if !location.is_null() && location.is_aligned() {
            // SAFETY: neither null nor misaligned; the caller guarantees that it may be written.
            unsafe { location.write(into_owned(self)) }
        }
        status
    }
}

impl From<OrbgateStatus> for OrbgateError {
    fn from(status: OrbgateStatus) -> Self {
        Self::new(status, None, status.explanation().to_owned())
    }
}

/// An argument that the call rejects.
pub(crate) fn refused(status: OrbgateStatus, message: &str) -> OrbgateError {
    OrbgateError::new(status, None, message.to_owned())
}

/// Runs a call that makes an object. If it fails, `location` receives the error.
pub(crate) unsafe fn handing_over(
    location: *mut *mut OrbgateError,
    make: impl FnOnce() -> Result<(), OrbgateError>,
) -> OrbgateStatus {
    let failed = match caught(|| Ok(make())) {
        Ok(Ok(())) => return OrbgateStatus::Ok,
        Ok(Err(failed)) => failed,
        Err(status) => status.into(),
    };
    // SAFETY: the caller guarantees it, see the preamble.
    unsafe { failed.hand_over(location) }
}

/// Returns all properties of an error, except its individual diagnostics.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn orbgate_error_info(error: *const OrbgateError, out: *mut OrbgateErrorInfo) -> OrbgateStatus {
    guard(|| {
        // SAFETY: the caller guarantees it, see the preamble.
        let error = unsafe { shared(error) }?;
        let (line, column) = error.diagnostics.first().map_or((0, 0), |(line, column, _)| (*line, *column));
        let info = OrbgateErrorInfo {
            struct_size: 0,
            code: error.status.number(),
            line,
            column,
            diagnostic_count: error.diagnostics.len(),
            message: OrbgateStr::new(&error.message),
            path: OrbgateStr::optional(error.path.as_deref()),
        };
        // SAFETY: the caller guarantees it, see the preamble.
        unsafe { write_sized(out, &info) }
    })
}

/// Returns one of the errors, in the order of the file, or `ORBGATE_STATUS_NOT_FOUND` after the last one.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn orbgate_error_diagnostic(
    error: *const OrbgateError,
    index: usize,
    out: *mut OrbgateDiagnostic,
) -> OrbgateStatus {
    guard(|| {
        // SAFETY: the caller guarantees it, see the preamble.
        let error = unsafe { shared(error) }?;
        let diagnostic = error.diagnostics.get(index).ok_or(OrbgateStatus::NotFound)?;
        let (line, column, message) = diagnostic;
        let diagnostic = OrbgateDiagnostic {
            struct_size: 0,
            line: *line,
            column: *column,
            reserved: 0,
            message: OrbgateStr::new(message),
        };
        // SAFETY: the caller guarantees it, see the preamble.
        unsafe { write_sized(out, &diagnostic) }
    })
}

/// Removes an owner.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn orbgate_error_free(error: *mut OrbgateError) {
    // SAFETY: the caller guarantees it, see the preamble.
    unsafe { drop_owned(error) }
}
