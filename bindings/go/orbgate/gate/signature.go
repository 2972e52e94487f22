package gate

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"crypto/sha256"
	_ "crypto/sha512" // the other hashes of algorithms
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"math/big"
	"sync"

	"github.com/orbgate/orbgate/bindings/go/orbgate/internal/steps"
)

// A keyring checks signatures for an engine without cryptography. Everything else is already checked: whether issuer
// and key allow the algorithm, and the form and length of key and signature.
type keyring struct {
	mutex sync.RWMutex
	// Imported keys by their JWK strings. Equal keys have equal strings.
	keys map[string]crypto.PublicKey
}

// More keys than issuers have at one time. When the limit is reached, the map is emptied.
const mostKeys = 1024

// Checks a signature, and hashes the token, which begins with the signed bytes. Usually one hash is an intermediate state of the other.
func (k *keyring) verify(check *steps.CheckSignature) (isRight bool, tokenHash uint64) {
	algorithm, signature := check.Algorithm, check.Signature
	hash, known := hashes[algorithm]
	if !known || check.Signed > uint64(len(check.Token)) {
		return false, 0
	}
	message, rest := check.Token[:check.Signed], check.Token[check.Signed:]
	var digest []byte
	sums := make([]byte, 0, 2*sha256.Size)
	token := sha256.New()
	token.Write(message)
	switch hash {
	case 0:
	case crypto.SHA256:
		sums = token.Sum(sums)
		digest = sums
	default:
		hasher := hash.New()
		hasher.Write(message)
		digest = hasher.Sum(nil)
	}
	token.Write(rest)
	tokenHash = binary.LittleEndian.Uint64(token.Sum(sums)[len(sums):])
	return k.isRight(algorithm, check.Key, hash, message, digest, signature), tokenHash
}

func (k *keyring) isRight(algorithm, jwk string, hash crypto.Hash, message, digest, signature []byte) bool {
	switch key := k.key(jwk).(type) {
	case *rsa.PublicKey:
		if algorithm[0] == 'P' {
			options := &rsa.PSSOptions{SaltLength: rsa.PSSSaltLengthEqualsHash}
			return rsa.VerifyPSS(key, hash, digest, signature, options) == nil
		}
		return algorithm[0] == 'R' && rsa.VerifyPKCS1v15(key, hash, digest, signature) == nil
	case *ecdsa.PublicKey:
		// Two numbers, not DER (RFC 7518 §3.4).
		half := len(signature) / 2
		r, s := new(big.Int).SetBytes(signature[:half]), new(big.Int).SetBytes(signature[half:])
		return algorithm[:2] == "ES" && ecdsa.Verify(key, digest, r, s)
	case ed25519.PublicKey:
		return hash == 0 && ed25519.Verify(key, message, signature)
	}
	return false
}

// The hash of each algorithm; Ed25519 has a built-in one.
var hashes = map[string]crypto.Hash{
	"RS256": crypto.SHA256, "RS384": crypto.SHA384, "RS512": crypto.SHA512,
	"PS256": crypto.SHA256, "PS384": crypto.SHA384, "PS512": crypto.SHA512,
	"ES256": crypto.SHA256, "ES384": crypto.SHA384, "ES512": crypto.SHA512,
	"EdDSA": 0, "Ed25519": 0,
}

// The key of a JWK; nil if it can't be imported.
func (k *keyring) key(jwk string) crypto.PublicKey {
	k.mutex.RLock()
	key, known := k.keys[jwk]
	k.mutex.RUnlock()
	if known {
		return key
	}
	key = importKey(jwk)
	k.mutex.Lock()
	defer k.mutex.Unlock()
	if k.keys == nil || len(k.keys) >= mostKeys {
		k.keys = map[string]crypto.PublicKey{}
	}
	k.keys[jwk] = key
	return key
}

func importKey(jwk string) crypto.PublicKey {
	var members struct{ Kty, Crv, N, E, X, Y string }
	if json.Unmarshal([]byte(jwk), &members) != nil {
		return nil
	}
	number := func(text string) *big.Int {
		bytes, err := base64.RawURLEncoding.DecodeString(text)
		if err != nil {
			return new(big.Int)
		}
		return new(big.Int).SetBytes(bytes)
	}
	switch members.Kty {
	case "RSA":
		exponent := number(members.E)
		if !exponent.IsInt64() || exponent.Int64() > 1<<31-1 {
			return nil
		}
		return &rsa.PublicKey{N: number(members.N), E: int(exponent.Int64())}
	case "EC":
		curve, known := map[string]elliptic.Curve{"P-256": elliptic.P256(), "P-384": elliptic.P384(), "P-521": elliptic.P521()}[members.Crv]
		if !known {
			return nil
		}
		key := &ecdsa.PublicKey{Curve: curve, X: number(members.X), Y: number(members.Y)}
		if _, err := key.ECDH(); err != nil { // it is not on the curve
			return nil
		}
		return key
	case "OKP":
		point, err := base64.RawURLEncoding.DecodeString(members.X)
		if err != nil || len(point) != ed25519.PublicKeySize {
			return nil
		}
		return ed25519.PublicKey(point)
	}
	return nil
}
