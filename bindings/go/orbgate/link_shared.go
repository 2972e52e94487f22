//go:build orbgate_cgo && (!linux || orbgate_shared)

package orbgate

// #cgo pkg-config: orbgate
import "C"
