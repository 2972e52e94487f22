//go:build orbgate_cgo && (orbgate_shared || !linux || !(amd64 || arm64))

package orbgate

// The C library is one that is installed.

// #cgo pkg-config: orbgate
import "C"
