//! Making, sharing and freeing engines, and reading their properties.

use core::ffi::c_char;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use orbgate::policy::PolicyFile;
use orbgate::{Digest, Engine, Policy};

use crate::alternatives::Alternatives;
use crate::answers::Answers;
use crate::arguments::{Out, Sized32, bytes, first_size, shared, write_sized};
use crate::error::{OrbgateError, handing_over, refused};
use crate::methods::Methods;
use crate::owners::{release, retain};
use crate::status::{OrbgateStatus, guard};
use crate::text::OrbgateStr;

/// A compiled, immutable policy, shared by reference counting. Its decisions remain valid without it.
#[derive(Debug)]
pub struct OrbgateEngine {
    engine: Engine,
    digest: String,
    policy: u64,
    has_end_marker: bool,
    is_sealed: bool,
    answers: Answers,
    methods: Methods,
    alternatives: Alternatives,
}

impl OrbgateEngine {
    fn new(engine: Engine, has_end_marker: bool, is_sealed: bool) -> Arc<Self> {
        let digest = engine.digest();
        let policy = mark(digest);
        let answers = Answers::new(&engine, policy);
        let methods = Methods::new(&engine);
        let alternatives = Alternatives::new(&engine);
        Arc::new(Self {
            engine,
            digest: digest.to_string(),
            policy,
            has_end_marker,
            is_sealed,
            answers,
            methods,
            alternatives,
        })
    }

    /// The core's engine.
    #[inline(always)]
    pub(crate) const fn engine(&self) -> &Engine {
        &self.engine
    }

    /// The prepared decisions.
    #[inline(always)]
    pub(crate) const fn answers(&self) -> &Answers {
        &self.answers
    }

    /// The value of the `Allow` header for each route's template.
    pub(crate) const fn methods(&self) -> &Methods {
        &self.methods
    }

    /// What each route needs, as scope strings.
    pub(crate) const fn alternatives(&self) -> &Alternatives {
        &self.alternatives
    }

    /// The policy's value in every decision.
    #[inline(always)]
    pub(crate) const fn policy(&self) -> u64 {
        self.policy
    }

    pub(crate) fn digest_string(&self) -> &str {
        &self.digest
    }
}

/// The first eight bytes of a digest, the first byte highest, in the order in which they are
/// printed.
fn mark(digest: Digest) -> u64 {
    digest.as_bytes().first_chunk().map_or(0, |first| u64::from_be_bytes(*first))
}

/// Returns the engine that is compiled into the library: the table of the specification.
/// Allocates: yes. Cost: policy.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn orbgate_engine_external(out: *mut *mut OrbgateEngine) -> OrbgateStatus {
    guard(|| {
        let out = Out::new(out)?;
        // It is compiled into the library, so it can't be incomplete.
        let (has_end_marker, is_sealed) = (true, true);
        let engine = OrbgateEngine::new(Engine::external().clone(), has_end_marker, is_sealed);
        // SAFETY: the caller guarantees it, see the preamble.
        unsafe { out.write(Arc::into_raw(engine).cast_mut()) }
        Ok(())
    })
}

/// Compiles a policy from the contents of a policy file. `error` may be null. If it isn't and the call fails, `*error`
/// contains every error of the policy; otherwise, it stays unchanged.
/// Allocates: yes. Cost: policy.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn orbgate_engine_from_yaml(
    yaml: *const c_char,
    yaml_len: usize,
    out: *mut *mut OrbgateEngine,
    error: *mut *mut OrbgateError,
) -> OrbgateStatus {
    let make = || {
        let out = Out::new(out).map_err(|status| refused(status, "`out` is null or misaligned"))?;
        // SAFETY: the caller guarantees it, see the preamble.
        let yaml = unsafe { bytes(yaml, yaml_len) }
            .map_err(|status| refused(status, "`yaml` is null, or `yaml_len` no length"))?;
        let engine = compile(yaml, None)?;
        // SAFETY: the caller guarantees it, see the preamble.
        unsafe { out.write(Arc::into_raw(engine).cast_mut()) }
        Ok(())
    };
    // SAFETY: the caller guarantees it, see the preamble.
    unsafe { handing_over(error, make) }
}

/// Compiles a policy from a regular file. Other files, such as pipes, are rejected, because reading them could block.
/// The path is bytes on Unix and UTF-8 elsewhere. The errors also contain it.
/// Allocates: yes. Blocks: yes. Cost: policy.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn orbgate_engine_from_file(
    path: *const c_char,
    path_len: usize,
    out: *mut *mut OrbgateEngine,
    error: *mut *mut OrbgateError,
) -> OrbgateStatus {
    let make = || {
        let out = Out::new(out).map_err(|status| refused(status, "`out` is null or misaligned"))?;
        // SAFETY: the caller guarantees it, see the preamble.
        let path = unsafe { bytes(path, path_len) }
            .map_err(|status| refused(status, "`path` is null, or `path_len` no length"))?;
        let engine = compile_file(path)?;
        // SAFETY: the caller guarantees it, see the preamble.
        unsafe { out.write(Arc::into_raw(engine).cast_mut()) }
        Ok(())
    };
    // SAFETY: the caller guarantees it, see the preamble.
    unsafe { handing_over(error, make) }
}

fn compile(yaml: &[u8], path: Option<&str>) -> Result<Arc<OrbgateEngine>, OrbgateError> {
    let policy = Policy::from_bytes(yaml).map_err(|error| OrbgateError::policy(path.map(str::to_owned), &error))?;
    let engine = Engine::new(&policy);
    Ok(OrbgateEngine::new(engine, policy.has_end_marker(), policy.is_sealed()))
}

fn compile_file(path: &[u8]) -> Result<Arc<OrbgateEngine>, OrbgateError> {
    let shown = String::from_utf8_lossy(path).into_owned();
    let file = native(path).and_then(PolicyFile::read);
    let file = file.map_err(|error| {
        let message = format!("cannot read `{shown}`: {error}");
        OrbgateError::new(OrbgateStatus::Io, Some(shown.clone()), message)
    })?;
    compile(file.bytes(), Some(&shown))
}

#[cfg_attr(unix, expect(clippy::unnecessary_wraps, reason = "elsewhere not every path is one"))]
fn native(path: &[u8]) -> io::Result<PathBuf> {
    #[cfg(unix)]
    {
        use std::os::unix::ffi::OsStrExt as _;
        Ok(PathBuf::from(std::ffi::OsStr::from_bytes(path)))
    }
    #[cfg(not(unix))]
    {
        let path = str::from_utf8(path);
        path.map(PathBuf::from).map_err(|_| io::Error::new(io::ErrorKind::InvalidInput, "the path is not UTF-8"))
    }
}

/// Adds an owner.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn orbgate_engine_retain(engine: *const OrbgateEngine) -> *mut OrbgateEngine {
    // SAFETY: the caller guarantees it, see the preamble.
    unsafe { retain(engine) }
}

/// Cost: policy.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn orbgate_engine_free(engine: *mut OrbgateEngine) {
    // SAFETY: the caller guarantees it, see the preamble.
    unsafe { release(engine) }
}

/// The properties of an engine.
#[derive(Debug)]
#[repr(C)]
pub struct OrbgateEngineInfo {
    /// Set it to `sizeof(OrbgateEngineInfo)`, or use `orbgate_engine_info_init()`.
    pub struct_size: u32,
    /// The number of routes. Their numbers start at 1.
    pub route_count: u32,
    /// The number of scopes. Their numbers start at 1, in the order of their names.
    pub scope_count: u32,
    /// 1 if the policy ends in YAML's end marker, the line `...`; otherwise 0. A file that is still being written, or
    /// that was cut short, can be a valid policy with fewer routes, but lacks it: don't reload such a file.
    pub has_end_marker: u8,
    /// 1 if the end marker has a seal, `... # sha256:` and the digest of everything before that line; otherwise 0. A
    /// wrong seal is an error, so a sealed policy is neither cut short nor a mixture of two versions.
    pub is_sealed: u8,
    /// 0.
    pub reserved: u16,
    /// The digest: `sha256:` and 64 hexadecimal digits.
    pub digest: OrbgateStr,
    /// The policy's name; no string if it has none.
    pub name: OrbgateStr,
}

// SAFETY: integers and strings, the u32 first.
unsafe impl Sized32 for OrbgateEngineInfo {
    const FIRST_SIZE: usize = first_size(48, 32);
}

/// Returns all properties of an engine, except its individual routes and scopes.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn orbgate_engine_info(
    engine: *const OrbgateEngine,
    out: *mut OrbgateEngineInfo,
) -> OrbgateStatus {
    guard(|| {
        // SAFETY: the caller guarantees it, see the preamble.
        let engine = unsafe { shared(engine) }?;
        let count = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        let info = OrbgateEngineInfo {
            struct_size: 0,
            route_count: count(engine.engine().routes().len()),
            scope_count: count(engine.engine().scope_count()),
            has_end_marker: engine.has_end_marker.into(),
            is_sealed: engine.is_sealed.into(),
            reserved: 0,
            digest: OrbgateStr::new(&engine.digest),
            name: OrbgateStr::optional(engine.engine().name()),
        };
        // SAFETY: the caller guarantees it, see the preamble.
        unsafe { write_sized(out, &info) }
    })
}
