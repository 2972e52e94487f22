//! The trusted addresses: blocks of addresses, such as `10.0.0.0/8`.

use core::net::IpAddr;
use core::str::FromStr;

use ipnet::IpNet;

/// A block of addresses (RFC 4632).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Block(IpNet);

impl Block {
    /// Whether it contains an address. An IPv4 address mapped to IPv6 counts as IPv4.
    pub(crate) fn contains(self, address: IpAddr) -> bool {
        self.0.contains(&address.to_canonical())
    }
}

/// An address or a block. The error is a message.
impl FromStr for Block {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        const LENGTH: &str = "its length is no number of bits";
        let (address, bits) = text.split_once('/').map_or((text, None), |(address, bits)| (address, Some(bits)));
        let address: IpAddr = address.parse().map_err(|_| "it is no IP address")?;
        let address = address.to_canonical();
        let block = match bits {
            None => IpNet::from(address),
            Some(bits) if bits.len() > 3 || bits.starts_with('+') => return Err(LENGTH),
            Some(bits) => IpNet::new(address, bits.parse().map_err(|_| LENGTH)?).map_err(|_| LENGTH)?,
        };
        if block.prefix_len() == 0 {
            return Err("it trusts every address");
        }
        if block.trunc() != block {
            return Err("its address has bits after its length");
        }
        Ok(Self(block))
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
