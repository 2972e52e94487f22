//! The fingerprint of RSA keys from a flawed generator (ROCA, CVE-2017-15361). The private keys can be
//! computed from the public ones.

/// The primes of the fingerprint, as its discoverers published them.
const PRIMES: [u32; 38] = [
    3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71, 73, 79, 83, 89, 97, 101, 103, 107, 109,
    113, 127, 131, 137, 139, 149, 151, 157, 163, 167,
];

/// Whether the modulus (big endian) has the fingerprint: modulo each prime, it is a power of 65537.
/// For a modulus from another generator, that is practically impossible.
pub(crate) fn has_fingerprint(modulus: &[u8]) -> bool {
    PRIMES.iter().all(|prime| is_power_of_65537(remainder(modulus, *prime), *prime))
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
