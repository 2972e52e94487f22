//! What is wrong with a policy or a configuration, as an object of the caller's.

use orbgate::PolicyError;

use crate::arguments::{Sized32, first_size, shared, write_sized};
use crate::owners::{drop_owned, into_owned};
use crate::status::{OrbgateStatus, caught, guard};
use crate::text::OrbgateStr;

/// Why a call failed. Owned by the caller, immutable.
#[derive(Debug)]
pub struct OrbgateError {
    status: OrbgateStatus,
    path: Option<String>,
    message: String,
    faults: Vec<(u32, u32, String)>,
}

/// An error as a whole.
#[derive(Debug)]
#[repr(C)]
pub struct OrbgateErrorInfo {
    /// Set it to `sizeof(OrbgateErrorInfo)`.
    pub struct_size: u32,
    /// The `OrbgateStatus` that the call returned.
    pub code: i32,
    /// Line of the first fault, from 1; 0 where the error has no place.
    pub line: u32,
    /// Column of the first fault in characters, from 1; 0 where the error has no place.
    pub column: u32,
    /// How many faults there are to ask for with `orbgate_error_fault`.
    pub fault_count: usize,
    /// Everything in one text: a line `[path:]line:column: message` for each fault.
    pub message: OrbgateStr,
    /// The file, as it was given; no text where there was none.
    pub path: OrbgateStr,
}

// SAFETY: integers and texts, the u32 first.
unsafe impl Sized32 for OrbgateErrorInfo {
    const FIRST_SIZE: usize = first_size(56, 36);
}

/// One thing wrong with a policy or a configuration.
#[derive(Debug)]
#[repr(C)]
pub struct OrbgateFault {
    /// Set it to `sizeof(OrbgateFault)`.
    pub struct_size: u32,
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
    /// 0.
    pub reserved: u32,
    /// What is wrong: lower case, no final period, without the place.
    pub message: OrbgateStr,
}

// SAFETY: integers and text, the u32 first.
unsafe impl Sized32 for OrbgateFault {
    const FIRST_SIZE: usize = first_size(32, 24);
}

impl OrbgateError {
    pub(crate) const fn new(status: OrbgateStatus, path: Option<String>, message: String) -> Self {
        Self {
            status,
            path,
            message,
            faults: Vec::new(),
        }
    }

    pub(crate) fn policy(path: Option<String>, error: &PolicyError) -> Self {
        let message = match &path {
            Some(path) => error.in_file(path).to_string(),
            None => error.to_string(),
        };
        let faults = error.faults().iter().map(|fault| {
            let place = fault.place;
            (place.line, place.column, fault.message.clone())
        });
        Self {
            faults: faults.collect(),
            ..Self::new(OrbgateStatus::InvalidPolicy, path, message)
        }
    }

    #[cfg(feature = "gate")]
    pub(crate) fn tokens(error: &orbgate_token::ConfigError) -> Self {
        let faults = error.faults().iter().map(|fault| {
            let (line, column) = fault
                .place
                .map_or((0, 0), |place| (place.line, place.column));
            (line, column, fault.message.clone())
        });
        Self {
            faults: faults.collect(),
            ..Self::new(OrbgateStatus::InvalidConfiguration, None, error.to_string())
        }
    }

    /// Hands the error over, where the caller wants it, and gives the call's status.
    pub(crate) unsafe fn hand_over(self, place: *mut *mut Self) -> OrbgateStatus {
        let status = self.status;
        if !place.is_null() && place.is_aligned() {
            // SAFETY: neither null nor misaligned; the caller vouches that it may be written.
            unsafe { place.write(into_owned(self)) }
        }
        status
    }
}

impl From<OrbgateStatus> for OrbgateError {
    fn from(status: OrbgateStatus) -> Self {
        Self::new(status, None, status.explanation().to_owned())
    }
}

/// Runs a call that makes something; if it fails, `place` gets the error.
pub(crate) unsafe fn handing_over(
    place: *mut *mut OrbgateError,
    make: impl FnOnce() -> Result<(), OrbgateError>,
) -> OrbgateStatus {
    let failed = match caught(|| Ok(make())) {
        Ok(Ok(())) => return OrbgateStatus::Ok,
        Ok(Err(failed)) => failed,
        Err(status) => status.into(),
    };
    // SAFETY: the caller's, see the preamble.
    unsafe { failed.hand_over(place) }
}

/// Everything about an error but its single faults.
///
/// Ownership: the texts in `out` are the error's and live as long as it.
/// Thread-safe: yes. Allocates: no. Blocks: no. Cost: constant.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn orbgate_error_info(
    error: *const OrbgateError,
    out: *mut OrbgateErrorInfo,
) -> OrbgateStatus {
    guard(|| {
        // SAFETY: the caller's, see the preamble.
        let error = unsafe { shared(error) }?;
        let (line, column) = error
            .faults
            .first()
            .map_or((0, 0), |(line, column, _)| (*line, *column));
        let info = OrbgateErrorInfo {
            struct_size: 0,
            code: error.status.number(),
            line,
            column,
            fault_count: error.faults.len(),
            message: OrbgateStr::new(&error.message),
            path: OrbgateStr::optional(error.path.as_deref()),
        };
        // SAFETY: the caller's, see the preamble.
        unsafe { write_sized(out, &info) }
    })
}

/// One of the faults of a policy or a configuration, in the order of the file.
///
/// Returns `ORBGATE_STATUS_NOT_FOUND` where `index` is not below `fault_count`.
///
/// Ownership: the text in `out` is the error's and lives as long as it.
/// Thread-safe: yes. Allocates: no. Blocks: no. Cost: constant.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn orbgate_error_fault(
    error: *const OrbgateError,
    index: usize,
    out: *mut OrbgateFault,
) -> OrbgateStatus {
    guard(|| {
        // SAFETY: the caller's, see the preamble.
        let error = unsafe { shared(error) }?;
        let fault = error.faults.get(index).ok_or(OrbgateStatus::NotFound)?;
        let (line, column, message) = fault;
        let fault = OrbgateFault {
            struct_size: 0,
            line: *line,
            column: *column,
            reserved: 0,
            message: OrbgateStr::new(message),
        };
        // SAFETY: the caller's, see the preamble.
        unsafe { write_sized(out, &fault) }
    })
}

/// Frees an error. Null is fine.
///
/// Ownership: takes `error`; it and its texts are gone.
/// Thread-safe: yes. Allocates: no. Blocks: no. Cost: constant.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn orbgate_error_free(error: *mut OrbgateError) {
    // SAFETY: the caller's, see the preamble.
    unsafe { drop_owned(error) }
}
