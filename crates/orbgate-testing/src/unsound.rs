//! Public keys for which anyone can make signatures, and tokens with such signatures.

use aws_lc_rs::digest;
use aws_lc_rs::signature::{ED25519, RSA_PKCS1_2048_8192_SHA256, RsaPublicKeyComponents, UnparsedPublicKey};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use num_bigint::BigUint;
use serde_json::{Value, json};

use crate::signer::{base64url, with};

/// An unsound key.
pub struct Unsound {
    pub kid: String,
    pub algorithm: &'static str,
    pub jwk: Value,
    /// Words of the reason for which every gate leaves it out. Empty if only its verifier finds the fault.
    pub left_out: &'static str,
    forgery: Forgery,
}

/// How its signatures are made.
enum Forgery {
    /// S = 0 and the neutral point are a signature of each message whose hash is divisible by the key's order, at most 8.
    SmallOrder { x: [u8; 32], is_canonical: bool },
    /// The factors of the modulus are known.
    Factored,
    /// Twice the point is zero if a verifier adds points without asking for the curve. Then the generator's x, and the hash itself,
    /// are a signature of each message for which the point's factor is even.
    OffCurve(Curve),
    /// None is known.
    Unknown,
}

#[derive(Clone, Copy)]
struct Curve {
    name: &'static str,
    algorithm: &'static str,
    hash: &'static digest::Algorithm,
    bytes: usize,
    order: &'static str,
    generator_x: &'static str,
}

const CURVES: [Curve; 3] = [
    Curve {
        name: "P-256",
        algorithm: "ES256",
        hash: &digest::SHA256,
        bytes: 32,
        order: "ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551",
        generator_x: "6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296",
    },
    Curve {
        name: "P-384",
        algorithm: "ES384",
        hash: &digest::SHA384,
        bytes: 48,
        order: "ffffffffffffffffffffffffffffffffffffffffffffffffc7634d81f4372ddf581a0db248b0a77aecec196accc52973",
        generator_x: "aa87ca22be8b05378eb1c71ef320ad746e1d3b628ba79b9859f741e082542a385502f25dbf55296c3a545e3872760ab7",
    },
    Curve {
        name: "P-521",
        algorithm: "ES512",
        hash: &digest::SHA512,
        bytes: 66,
        order: "1fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffa51868783bf2f966b7fcc0148f709a5d03bb5c9b8899c47aebb\
                6fb71e91386409",
        generator_x: "c6858e06b70404e9cd9e3ecb662395b4429c648139053fb521f828af606b4d3dbaa14b5e77efe75928fe1dc127a2ffa8de3348b3c1856a429bf97e7\
                      e31c2e5bd66",
    },
];

/// A prime. The modulus is three times it.
const PRIME: &str = "NdMcgXRrSif9TdJxtnOLwgcQFx4dKiQ96IRsFrDKHNrHah_gCzlrLqbTUxXRVZl2II3RVO1IxpR69Eu0PYZpBsoIRGEwbOzaIR-tuHQTuV40Cb\
    p4Nv1DarKBHUtYKAVrJBVtj4Gf1Geq5Xq7215iz62NLLZ8dJEZpSggZGPsfwIGuJbLlKjimn7OGS00zhKk7Md8yRnLruTPmgsEhzCyQHyTu2q1\
    kEC4R8MY_wz4wQlq150Y5Wc1B6osui599Gb2M85YbTS3cYyP_i07MVBcQvBUW83wCGTXxHdKqNBPP9jQ-Iu3m-J8KvOb88EfTnDXUtNhqTUrgX\
    JO9mBR5L7JoQ";

/// Every unsound key: all encodings of points of small order, every other y that isn't below the prime, a modulus with a small factor, and
/// points that aren't on their curve.
pub fn keys() -> Vec<Unsound> {
    let prime = field_prime();
    let small = small_order(&prime);
    let mut keys = Vec::new();
    let all = small.iter().cloned().chain((0_u8..19).map(|more| &prime + more));
    for (number, y) in all.enumerate() {
        for sign in [0, 0x80] {
            let mut x: [u8; 32] = padded(&y, 32).try_into().unwrap();
            x.reverse();
            x[31] |= sign;
            // For y = 1 and y = -1, x is 0 and has no sign.
            let is_canonical = y < prime && (sign == 0 || number != 1 && number != 4);
            let is_small = small.contains(&(&y % &prime));
            let left_out = if y < prime { "small order" } else { "canonically" };
            let forgery = if is_small { Forgery::SmallOrder { x, is_canonical } } else { Forgery::Unknown };
            keys.push(edwards(format!("point-{number}-{sign}"), &x, left_out, forgery));
        }
    }
    // No x has 2 as its y.
    let mut two = [0; 32];
    two[0] = 2;
    keys.push(edwards("off-Ed25519".to_owned(), &two, "", Forgery::Unknown));
    keys.push(Unsound {
        kid: "thrice".to_owned(),
        algorithm: "RS256",
        jwk: rsa_divisible_by(3),
        left_out: "a prime below 752",
        forgery: Forgery::Factored,
    });
    keys.extend(CURVES.map(|curve| Unsound {
        kid: format!("off-{}", curve.name),
        algorithm: curve.algorithm,
        jwk: json!({
            "kty": "EC", "crv": curve.name,
            "x": base64url(padded(&5_u8.into(), curve.bytes)), "y": base64url(vec![0; curve.bytes]),
        }),
        left_out: "",
        forgery: Forgery::OffCurve(curve),
    }));
    for key in &mut keys {
        key.jwk["kid"] = key.kid.as_str().into();
    }
    keys
}

/// A key whose modulus is a prime times this divisor.
pub fn rsa_divisible_by(divisor: u32) -> Value {
    json!({"kty": "RSA", "n": base64url((prime() * divisor).to_bytes_be()), "e": "AQAB"})
}

fn edwards(kid: String, x: &[u8; 32], left_out: &'static str, forgery: Forgery) -> Unsound {
    let jwk = json!({"kty": "OKP", "crv": "Ed25519", "x": base64url(x)});
    Unsound { kid, algorithm: "EdDSA", jwk, left_out, forgery }
}

impl Unsound {
    /// A token with these claims and a signature made without a private key. A verifier that trusts the key accepts it, if any
    /// message has such a signature: then the `jti` changes until it has.
    pub fn token(&self, claims: &Value) -> String {
        let header = json!({"alg": self.algorithm, "typ": "at+jwt", "kid": self.kid});
        let forged = (0..1_000).find_map(|number| {
            let claims = with(claims.clone(), "jti", format!("forged-{number}"));
            let signed = format!("{}.{}", base64url(header.to_string()), base64url(claims.to_string()));
            let signature = self.forged(signed.as_bytes())?;
            Some(format!("{signed}.{}", base64url(signature)))
        });
        forged.expect("one message in eight has such a signature")
    }

    /// A signature that a verifier accepts.
    fn forged(&self, message: &[u8]) -> Option<Vec<u8>> {
        match &self.forgery {
            Forgery::Unknown => Some(neutral()),
            Forgery::SmallOrder { x, is_canonical } => {
                let hash = digest::digest(&digest::SHA512, &[&neutral()[..32], x, message].concat());
                let order = (BigUint::from(1_u8) << 252_u8) + 27_742_317_777_372_353_535_851_937_790_883_648_493_u128;
                let factor = BigUint::from_bytes_le(hash.as_ref()) % order;
                let is_forged = factor % 8_u8 == BigUint::default();
                if is_forged && *is_canonical {
                    UnparsedPublicKey::new(&ED25519, x).verify(message, &neutral()).unwrap();
                }
                is_forged.then(neutral)
            }
            Forgery::Factored => {
                let (n, one) = (modulus(), BigUint::from(1_u8));
                let exponent = BigUint::from(65_537_u32).modinv(&(prime() - &one)).unwrap();
                // RFC 8017 §9.2: EMSA-PKCS1-v1_5.
                let mut encoded = vec![0xff; 256];
                let hash = digest::digest(&digest::SHA256, message);
                let end = [
                    &b"\x00\x30\x31\x30\x0d\x06\x09\x60\x86\x48\x01\x65\x03\x04\x02\x01\x05\x00\x04\x20"[..],
                    hash.as_ref(),
                ]
                .concat();
                encoded[..2].copy_from_slice(&[0, 1]);
                encoded[256 - end.len()..].copy_from_slice(&end);
                let signature = padded(&BigUint::from_bytes_be(&encoded).modpow(&exponent, &n), 256);
                let key = RsaPublicKeyComponents { n: n.to_bytes_be(), e: vec![1, 0, 1] };
                key.verify(&RSA_PKCS1_2048_8192_SHA256, message, &signature).unwrap();
                Some(signature)
            }
            Forgery::OffCurve(curve) => {
                let hash = BigUint::from_bytes_be(digest::digest(curve.hash, message).as_ref());
                let [order, r] =
                    [curve.order, curve.generator_x].map(|number| BigUint::parse_bytes(number.as_bytes(), 16).unwrap());
                let s = hash % &order;
                // The verifier multiplies the generator by hash / s, which is 1, and the key by r / s.
                let of_key = &r * s.modinv(&order)? % &order;
                let signature = [padded(&r, curve.bytes), padded(&s, curve.bytes)].concat();
                (!of_key.bit(0)).then_some(signature)
            }
        }
    }
}

/// R is the neutral point, and S is zero.
fn neutral() -> Vec<u8> {
    [vec![1], vec![0; 63]].concat()
}

fn prime() -> BigUint {
    BigUint::from_bytes_be(&URL_SAFE_NO_PAD.decode(PRIME).unwrap())
}

fn modulus() -> BigUint {
    prime() * 3_u8
}

/// Big endian, with leading zeros.
fn padded(number: &BigUint, length: usize) -> Vec<u8> {
    let bytes = number.to_bytes_be();
    [vec![0; length - bytes.len()], bytes].concat()
}

fn field_prime() -> BigUint {
    (BigUint::from(1_u8) << 255_u8) - 19_u8
}

/// Every y coordinate of a point of small order on -x² + y² = 1 + dx²y². Twice a point of order 8 has order 4, so its y is 0; then
/// x² = -y², and dy⁴ + 2y² = 1.
fn small_order(prime: &BigUint) -> [BigUint; 5] {
    let inverse = |number: &BigUint| number.modinv(prime).unwrap();
    let minus = |number: &BigUint| prime - number;
    let [zero, one] = [0_u8, 1].map(BigUint::from);
    let d = minus(&(BigUint::from(121_665_u32) * inverse(&121_666_u32.into()) % prime));
    let root = root(&(&d + &one), prime).unwrap();
    let squares = [minus(&root), root].map(|root| (root + prime - &one) * inverse(&d) % prime);
    let y = squares.iter().find_map(|square| self::root(square, prime)).unwrap();
    [zero, one.clone(), y.clone(), minus(&y), minus(&one)]
}

/// A square root modulo the prime.
fn root(square: &BigUint, prime: &BigUint) -> Option<BigUint> {
    let of_one = BigUint::from(2_u8).modpow(&((prime - 1_u8) / 4_u8), prime);
    let root = square.modpow(&((prime + 3_u8) / 8_u8), prime);
    let roots = [root.clone(), root * of_one % prime];
    roots.into_iter().find(|root| root * root % prime == square % prime)
}
