//go:build orbgate_cgo && linux && !orbgate_shared

package orbgate

// A Go program is one file, so the static library goes into it. It is named to the linker, which would prefer the
// shared one; that one is then not needed.

// #cgo pkg-config: --static orbgate
// #cgo LDFLAGS: -Wl,--as-needed -l:liborbgate.a
import "C"
