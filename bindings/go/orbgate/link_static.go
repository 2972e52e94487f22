//go:build orbgate_cgo && linux && (amd64 || arm64) && !orbgate_shared

package orbgate

// The C library is in this folder and goes into the program. What it needs of the system is on every Linux with glibc, and the
// unwinder, of panics, is that of the C compiler: gcc, clang and Zig have it by this name, also for programs that are all static.

// #cgo amd64 LDFLAGS: ${SRCDIR}/liborbgate_linux_amd64.a
// #cgo arm64 LDFLAGS: ${SRCDIR}/liborbgate_linux_arm64.a
// #cgo LDFLAGS: -lgcc_eh -lutil -lrt -lpthread -lm -ldl
import "C"
