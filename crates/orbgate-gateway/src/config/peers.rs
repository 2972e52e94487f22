//! The trusted addresses: blocks of addresses, such as `10.0.0.0/8`.

use core::net::IpAddr;
use core::str::FromStr;

/// A block of addresses (RFC 4632).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Block {
    /// The first address as a number; all other bits are 0.
    first: u128,
    bits: u32,
    is_v4: bool,
}

impl Block {
    /// Whether it contains an address. An IPv4 address mapped to IPv6 counts as IPv4.
    pub(crate) fn contains(self, address: IpAddr) -> bool {
        let (number, width, is_v4) = number(address.to_canonical());
        is_v4 == self.is_v4 && number & mask(self.bits, width) == self.first
    }
}

/// An address or a block. The error is a message.
impl FromStr for Block {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (address, bits) = match text.split_once('/') {
            Some((address, bits)) => (address, Some(bits)),
            None => (text, None),
        };
        let address: IpAddr = address.parse().map_err(|_| "it is no IP address")?;
        let (number, width, is_v4) = number(address.to_canonical());
        let bits = match bits {
            Some(bits) if bits.len() <= 3 && bits.bytes().all(|byte| byte.is_ascii_digit()) => {
                bits.parse().unwrap_or(u32::MAX)
            }
            Some(_) => u32::MAX,
            None => width,
        };
        if bits > width {
            return Err("its length is no number of bits");
        }
        if bits == 0 {
            return Err("it trusts every address");
        }
        if number & mask(bits, width) != number {
            return Err("its address has bits after its length");
        }
        Ok(Self { first: number, bits, is_v4 })
    }
}

fn number(address: IpAddr) -> (u128, u32, bool) {
    match address {
        IpAddr::V4(address) => (u128::from(address.to_bits()), 32, true),
        IpAddr::V6(address) => (address.to_bits(), 128, false),
    }
}

/// The first `bits` of `width` bits; `bits` is at least 1 and at most `width`.
fn mask(bits: u32, width: u32) -> u128 {
    let after = width.saturating_sub(bits);
    let all = u128::MAX.checked_shl(after).unwrap_or_default();
    match width {
        128 => all,
        _ => all & u128::from(u32::MAX),
    }
}

#[cfg(test)]
mod tests {
    use super::Block;

    #[test]
    fn a_block_has_the_addresses_of_its_prefix() {
        let table = [
            ("10.0.0.0/8", "10.1.2.3", true),
            ("10.0.0.0/8", "11.0.0.0", false),
            ("10.0.0.0/8", "::ffff:10.1.2.3", true),
            ("127.0.0.1", "127.0.0.1", true),
            ("127.0.0.1", "127.0.0.2", false),
            ("127.0.0.1/32", "::1", false),
            ("::1", "::1", true),
            ("fd00::/8", "fd12::1", true),
            ("fd00::/8", "fe00::1", false),
            ("2001:db8::/127", "2001:db8::1", true),
            ("2001:db8::/128", "2001:db8::1", false),
        ];
        for (block, address, expected) in table {
            let block: Block = block.parse().unwrap();
            assert_eq!(block.contains(address.parse().unwrap()), expected, "{block:?} {address}");
        }
    }

    #[test]
    fn what_is_no_block_is_refused() {
        for text in [
            "",
            "10.0.0.0/33",
            "10.0.0.1/8",
            "0.0.0.0/0",
            "::/0",
            "10.0.0.0/+8",
            "10.0.0.0/",
            "localhost",
            "fd00::/129",
            "10.0/8",
        ] {
            assert!(text.parse::<Block>().is_err(), "{text}");
        }
    }
}
