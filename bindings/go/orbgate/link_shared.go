//go:build !linux || orbgate_shared

package orbgate

// #cgo pkg-config: orbgate
import "C"
