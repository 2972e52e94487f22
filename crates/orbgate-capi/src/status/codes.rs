//! The statuses of calls. `orbgate-generate` reads this file as well, which knows nothing else of the library.

orbgate::codes! {
    /// The status of a call. Outputs are written only with `ORBGATE_STATUS_OK`.
    pub enum OrbgateStatus: i32 {
        Ok = 0: "ok", "done; the outputs are written";
        InvalidArgument = 1: "invalid_argument",
            "a pointer is null or misaligned, or a length, offset, number, flag or size is out of range";
        InvalidPolicy = 2: "invalid_policy", "the policy has errors; the error lists each with its line and column";
        Io = 3: "io", "the file can't be read; the error states the reason";
        NotFound = 4: "not_found", "the policy has nothing with that name or number";
        Panic = 5: "panic", "a bug in the library was caught: the call had no effect, and later calls work";
        InvalidConfiguration = 6: "invalid_configuration",
            "the token configuration, or an option of a gate, has errors; the error lists each";
        TooSmall = 7: "too_small", "the answer needs more room; the step keeps it";
        Full = 8: "full", "too many steps are open, so none has begun; end those that no request needs";
    }
}
