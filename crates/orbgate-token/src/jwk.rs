//! One public key of a key set (RFC 7517, RFC 7518 §6): accepted as a whole, or left out with a
//! reason.

use std::sync::Arc;

use serde_json::{Map, Value};

use crate::algorithm::{Algorithm, Family, Parts};
use crate::compact::decode;
#[cfg(feature = "aws-lc-rs")]
use crate::material::Material;

/// Rules for keys in a key set, in addition to those that this crate applies to every key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyRules {
    /// The smallest public exponent of an RSA key. Default: 65537. Set it to 3 if an issuer has old
    /// keys that need it.
    pub rsa_exponent_min: u64,
}

impl Default for KeyRules {
    fn default() -> Self {
        Self { rsa_exponent_min: 65_537 }
    }
}

/// A key, and the algorithms that it can be used with.
pub(crate) struct Key {
    pub(crate) kid: Option<String>,
    /// The key in the form of RFC 7638.
    pub(crate) text: Arc<str>,
    /// One entry for each algorithm.
    pub(crate) uses: Vec<Use>,
}

/// A key for one algorithm.
pub(crate) struct Use {
    pub(crate) algorithm: Algorithm,
    pub(crate) signature_bytes: usize,
    #[cfg(feature = "aws-lc-rs")]
    pub(crate) material: Material,
}

impl Use {
    /// `None` if the numbers aren't a valid key for the algorithm.
    #[cfg_attr(not(feature = "aws-lc-rs"), expect(clippy::missing_const_for_fn, reason = "the library is not const"))]
    fn new(algorithm: Algorithm, parts: &Parts<'_>) -> Option<Self> {
        Some(Self {
            algorithm,
            signature_bytes: parts.signature_bytes(algorithm),
            #[cfg(feature = "aws-lc-rs")]
            material: Material::new(algorithm, parts)?,
        })
    }
}

/// Why secrets and private keys are left out.
pub(crate) const SECRET: &str = "a secret does not belong in a public key set";
pub(crate) const PRIVATE: &str = "a private key does not belong in a public key set";

impl Key {
    pub(crate) fn from_jwk(jwk: &Value, rules: &KeyRules) -> Result<Self, &'static str> {
        let members = jwk.as_object().ok_or("it is not an object")?;
        let jwk = Jwk { members, only: None, most_bits: 8192 };
        let (text, uses) = jwk.admit(rules)?;
        Ok(Self { kid: jwk.text("kid")?.map(str::to_owned), text, uses })
    }

    /// A secret for an algorithm, at least as long as its hash (RFC 7518 §3.2).
    pub(crate) fn from_secret(kid: &str, algorithm: Algorithm, secret: &[u8]) -> Result<Self, &'static str> {
        let parts = Parts::Secret(secret);
        let fits = algorithm.family() == Family::Secret && secret.len() >= algorithm.hash_bytes();
        let usage = fits.then(|| Use::new(algorithm, &parts)).flatten();
        let usage = usage.ok_or("it is too short, or its algorithm is not HMAC")?;
        Ok(Self { kid: Some(kid.to_owned()), text: parts.jwk(Family::Secret).into(), uses: vec![usage] })
    }
}

/// The key of a DPoP proof: one that a sender brings, for one algorithm.
pub(crate) struct ProofKey {
    pub(crate) text: Arc<str>,
    usage: Use,
}

impl ProofKey {
    /// Admits a key as those of issuers are admitted, of which these are the [required members](required_members). Without an
    /// algorithm there is no key, but a bad one is an error nevertheless.
    pub(crate) fn admit(jwk: &Value, text: &str, algorithm: Option<Algorithm>) -> Result<Option<Self>, &'static str> {
        let members = jwk.as_object().ok_or("it is not an object")?;
        // A longer key makes a signature slow to check, and its sender has chosen it.
        let jwk = Jwk { members, only: algorithm, most_bits: 4096 };
        let (normal, uses) = jwk.admit(&KeyRules::default())?;
        // The thumbprint is that of the key, not of another spelling of it.
        if &*normal != text {
            return Err("its numbers are not spelt as RFC 7518 does");
        }
        let usage = uses.into_iter().next().filter(|_| algorithm.is_some());
        Ok(usage.map(|usage| Self { text: normal, usage }))
    }

    pub(crate) const fn algorithm(&self) -> Algorithm {
        self.usage.algorithm
    }

    pub(crate) const fn signature_bytes(&self) -> usize {
        self.usage.signature_bytes
    }

    #[cfg(feature = "aws-lc-rs")]
    pub(crate) fn verifies(&self, message: &[u8], signature: &[u8]) -> bool {
        self.usage.material.verify(message, signature)
    }
}

/// A public key with only its required members, as they are written (RFC 7638 §3). `None` if one is missing or isn't base64url.
pub(crate) fn required_members(jwk: &Value) -> Option<String> {
    let text = |name: &str| {
        let value = jwk.get(name)?.as_str()?;
        let is_plain = value.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'));
        is_plain.then_some(value)
    };
    Some(match text("kty")? {
        "RSA" => format!(r#"{{"e":"{}","kty":"RSA","n":"{}"}}"#, text("e")?, text("n")?),
        "EC" => format!(r#"{{"crv":"{}","kty":"EC","x":"{}","y":"{}"}}"#, text("crv")?, text("x")?, text("y")?),
        "OKP" => format!(r#"{{"crv":"{}","kty":"OKP","x":"{}"}}"#, text("crv")?, text("x")?),
        _ => return None,
    })
}

type Uses = (Arc<str>, Vec<Use>);

struct Jwk<'a> {
    members: &'a Map<String, Value>,
    /// The only algorithm that the key is wanted for; `None` for all that fit.
    only: Option<Algorithm>,
    /// The largest modulus of an RSA key.
    most_bits: usize,
}

impl Jwk<'_> {
    /// The key's text and its uses, if it is a public key that can be trusted to check signatures.
    fn admit(&self, rules: &KeyRules) -> Result<Uses, &'static str> {
        let kind = self.text("kty")?.ok_or("it has no `kty`")?;
        if kind == "oct" {
            return Err(SECRET);
        }
        if ["d", "p", "q", "dp", "dq", "qi", "oth", "k"].iter().any(|name| self.members.contains_key(*name)) {
            return Err(PRIVATE);
        }
        self.is_for_signatures()?;
        match kind {
            "RSA" => self.rsa(rules),
            "EC" => self.curve(),
            "OKP" => self.edwards(),
            _ => Err("its `kty` is not RSA, EC or OKP"),
        }
    }

    fn rsa(&self, rules: &KeyRules) -> Result<Uses, &'static str> {
        let n = self.number("n")?;
        let e = self.number("e")?;
        let bits = n.first().map_or(0, |first| {
            let unused = usize::try_from(first.leading_zeros()).unwrap_or(0);
            n.len().saturating_mul(8).saturating_sub(unused)
        });
        if !(2048..=self.most_bits).contains(&bits) {
            return Err("its modulus does not have 2048 to 8192 bits");
        }
        if n.last().is_none_or(|last| last & 1 == 0) {
            return Err("its modulus is even");
        }
        // A larger exponent makes verification slow, and no issuer uses one.
        if e.len() > 4 {
            return Err("its exponent has more than 32 bits");
        }
        if !exponent_fits(&e, rules.rsa_exponent_min) {
            return Err("its exponent is even or too small");
        }
        if has_small_divisor(&n) {
            return Err("its modulus is divisible by a prime below 752, so anyone can compute the private key");
        }
        if has_roca_fingerprint(&n) {
            return Err("its modulus is from a flawed generator (CVE-2017-15361)");
        }
        self.uses(Family::Rsa, &Parts::Rsa { n: &n, e: &e })
    }

    fn curve(&self) -> Result<Uses, &'static str> {
        let (family, length) = match self.text("crv")? {
            Some("P-256") => (Family::P256, 32),
            Some("P-384") => (Family::P384, 48),
            Some("P-521") => (Family::P521, 66),
            _ => return Err("its `crv` is not P-256, P-384 or P-521"),
        };
        let (x, y) = (self.bytes("x")?, self.bytes("y")?);
        if x.len() != length || y.len() != length {
            return Err("a coordinate has not the length of its curve's");
        }
        self.uses(family, &Parts::Point { x: &x, y: &y })
    }

    fn edwards(&self) -> Result<Uses, &'static str> {
        if self.text("crv")? != Some("Ed25519") {
            return Err("its `crv` is not Ed25519");
        }
        let point = self.bytes("x")?;
        if point.len() != 32 {
            return Err("a coordinate has not the length of its curve's");
        }
        let y = without_sign(&point);
        if is_prime_or_more(&y) {
            return Err("its point is not encoded canonically");
        }
        if SMALL_ORDER.iter().any(|small| *small == *y) {
            return Err("its point is of small order, so anyone can make its signatures");
        }
        self.uses(Family::Ed25519, &Parts::Edwards(&point))
    }

    /// The key for its own `alg` or, without one, for every algorithm of its family.
    fn uses(&self, family: Family, parts: &Parts<'_>) -> Result<Uses, &'static str> {
        let named = self.text("alg")?;
        let mut uses = Vec::new();
        for algorithm in Algorithm::ALL {
            let is_wanted = self.only.is_none_or(|only| only == algorithm);
            if algorithm.family() == family && is_wanted && named.is_none_or(|named| named == algorithm.as_str()) {
                let usage = Use::new(algorithm, parts);
                uses.push(usage.ok_or("it is not a point of its curve, or no key")?);
            }
        }
        if uses.is_empty() {
            return Err("its `alg` is not for signatures by such a key");
        }
        Ok((parts.jwk(family).into(), uses))
    }

    fn is_for_signatures(&self) -> Result<(), &'static str> {
        if self.text("use")?.is_some_and(|usage| usage != "sig") {
            return Err("its `use` is not `sig`");
        }
        let verifies = |operations: &Value| {
            operations.as_array().is_some_and(|list| list.iter().any(|operation| operation == "verify"))
        };
        if !self.members.get("key_ops").is_none_or(verifies) {
            return Err("its `key_ops` do not have `verify`");
        }
        Ok(())
    }

    fn text(&self, name: &str) -> Result<Option<&str>, &'static str> {
        match self.members.get(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(_) => Err("a member that must be a string isn't one"),
        }
    }

    fn bytes(&self, name: &str) -> Result<Vec<u8>, &'static str> {
        let text = self.text(name)?.ok_or("a part of the key is missing")?;
        decode(text).map_err(|_| "a part of the key is not base64url without padding")
    }

    /// A number without the leading zeros that RFC 7518 forbids but some providers write.
    fn number(&self, name: &str) -> Result<Vec<u8>, &'static str> {
        let mut bytes = self.bytes(name)?;
        let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
        bytes.drain(..zeros);
        Ok(bytes)
    }
}

/// Whether the exponent (big endian, without leading zeros) is odd and large enough.
fn exponent_fits(e: &[u8], min: u64) -> bool {
    let odd = e.last().is_some_and(|last| last & 1 == 1);
    let value = e.iter().try_fold(0_u64, |value, byte| value.checked_mul(256)?.checked_add(u64::from(*byte)));
    odd && value.is_some_and(|value| value >= min.max(3))
}

/// The y coordinates of the eight points of small order on Ed25519: of order 4, 1, 8, 8 and 2. With such a key, libraries
/// accept a signature that doesn't depend on a private key, for one message in eight or more.
const SMALL_ORDER: [[u8; 32]; 5] = [
    [0; 32],
    [1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
    [
        0x26, 0xe8, 0x95, 0x8f, 0xc2, 0xb2, 0x27, 0xb0, 0x45, 0xc3, 0xf4, 0x89, 0xf2, 0xef, 0x98, 0xf0, 0xd5, 0xdf,
        0xac, 0x05, 0xd3, 0xc6, 0x33, 0x39, 0xb1, 0x38, 0x02, 0x88, 0x6d, 0x53, 0xfc, 0x05,
    ],
    [
        0xc7, 0x17, 0x6a, 0x70, 0x3d, 0x4d, 0xd8, 0x4f, 0xba, 0x3c, 0x0b, 0x76, 0x0d, 0x10, 0x67, 0x0f, 0x2a, 0x20,
        0x53, 0xfa, 0x2c, 0x39, 0xcc, 0xc6, 0x4e, 0xc7, 0xfd, 0x77, 0x92, 0xac, 0x03, 0x7a,
    ],
    [
        0xec, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
        0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f,
    ],
];

/// The y coordinate of a point, little endian. The encoding also has the sign of x, in the last bit.
fn without_sign(point: &[u8]) -> Vec<u8> {
    let mut y = point.to_vec();
    if let Some(last) = y.last_mut() {
        *last &= 0x7f;
    }
    y
}

/// Whether 32 bytes, little endian, are at least the field's prime, 2^255 - 19.
fn is_prime_or_more(y: &[u8]) -> bool {
    match y {
        [first, middle @ .., last] => *first >= 0xed && middle.iter().all(|byte| *byte == 0xff) && *last >= 0x7f,
        _ => false,
    }
}

/// Whether a prime below 752 divides the odd modulus (big endian): NIST SP 800-89 §5.3.3 requires this check. A divisor
/// that isn't a prime has one that is.
fn has_small_divisor(modulus: &[u8]) -> bool {
    (3..752).step_by(2).any(|divisor| remainder(modulus, divisor) == 0)
}

/// The primes of the fingerprint of RSA keys from a flawed generator (ROCA, CVE-2017-15361), as its discoverers published
/// them. The private keys can be computed from the public ones.
const ROCA_PRIMES: [u32; 38] = [
    3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71, 73, 79, 83, 89, 97, 101, 103, 107, 109,
    113, 127, 131, 137, 139, 149, 151, 157, 163, 167,
];

/// Whether the modulus (big endian) has the fingerprint: modulo each prime, it is a power of 65537.
/// For a modulus from another generator, that is practically impossible.
fn has_roca_fingerprint(modulus: &[u8]) -> bool {
    ROCA_PRIMES.iter().all(|prime| is_power_of_65537(remainder(modulus, *prime), *prime))
}

fn remainder(modulus: &[u8], prime: u32) -> u32 {
    modulus
        .iter()
        .fold(0, |rest, byte| rest.wrapping_mul(256).wrapping_add(u32::from(*byte)).checked_rem(prime).unwrap_or(0))
}

fn is_power_of_65537(value: u32, prime: u32) -> bool {
    let mut power = 1;
    for _ in 0..prime {
        if power == value {
            return true;
        }
        power = power.wrapping_mul(65_537).checked_rem(prime).unwrap_or(0);
    }
    false
}
