//! The platforms that artefacts are for, and the name that each packager has for them.

/// The oldest glibc that the libraries run with: that of manylinux2014.
pub(super) const GLIBC: &str = "2.17";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Arch {
    X86_64,
    Aarch64,
}

/// The C library of a Linux.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Libc {
    Gnu,
    Musl,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Platform {
    pub(super) arch: Arch,
    pub(super) libc: Libc,
}

impl Arch {
    pub(super) const ALL: [Self; 2] = [Self::X86_64, Self::Aarch64];

    pub(super) const HOST: Self = if cfg!(target_arch = "aarch64") {
        Self::Aarch64
    } else {
        Self::X86_64
    };

    /// As Rust, rpm and Java say it.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::X86_64 => "x86_64",
            Self::Aarch64 => "aarch64",
        }
    }

    /// As Go says it, too.
    pub(super) const fn debian(self) -> &'static str {
        match self {
            Self::X86_64 => "amd64",
            Self::Aarch64 => "arm64",
        }
    }

    pub(super) const fn node(self) -> &'static str {
        match self {
            Self::X86_64 => "x64",
            Self::Aarch64 => "arm64",
        }
    }

    pub(super) const fn with(self, libc: Libc) -> Platform {
        Platform { arch: self, libc }
    }
}

impl Libc {
    pub(super) const ALL: [Self; 2] = [Self::Gnu, Self::Musl];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Gnu => "gnu",
            Self::Musl => "musl",
        }
    }
}

impl Platform {
    /// `x86_64-linux-gnu`: the name of archives, and Debian's of folders and of programs for it.
    pub(super) fn name(self) -> String {
        format!("{}-linux-{}", self.arch.name(), self.libc.name())
    }

    /// Rust's name.
    pub(super) fn target(self) -> String {
        format!("{}-unknown-linux-{}", self.arch.name(), self.libc.name())
    }

    pub(super) fn is_host(self) -> bool {
        self == Arch::HOST.with(Libc::Gnu)
    }
}
