/*
 * Orbgate: which scope does this route need, may this token call it, does it consume orbs, and why?
 *
 * Made by `cargo xtask codes` from crates/orbgate-capi; edit it there.
 *
 * What holds for every function:
 *
 * - Text and other data come as a pointer and a length: any bytes, no NUL at the end, nothing is copied or
 *   kept beyond the call. A null pointer is fine where the length is 0. Text that is handed out is part of a
 *   larger text and not copied, so no NUL ends it, a name's neither: print it with `"%.*s"` and ORBGATE_STR_ARGS.
 * - A pointer that is not null points to what its parameter describes, for the whole call, and no thread writes to
 *   it meanwhile. That is the caller's word. All else is checked: a null or misaligned pointer, a length or
 *   offset out of range, an unknown number or flag is ORBGATE_STATUS_INVALID_ARGUMENT.
 * - Outputs are written only with ORBGATE_STATUS_OK. Any other status must be treated as a denial, and so
 *   must a decision of all zeros. No error is kept for a thread or the process: what went wrong is in the
 *   status and, for policies, in an OrbgateError that the caller owns.
 * - No panic leaves the library: an error in it is ORBGATE_STATUS_PANIC, and the next call works.
 * - A struct that begins with `struct_size` has the size that its caller knows. Later releases add fields at
 *   its end; all zeros there means the same as not being there.
 *
 * Each function states what it asks of whom:
 *
 *   Ownership    who frees what, and how long a pointer lives
 *   Thread-safe  yes: any thread, at any time, also with the same arguments
 *   Allocates    whether it takes memory from the heap. Once a thread: some dozens of bytes with a thread's
 *                first such call, kept for the next thread when this one ends
 *   Blocks       whether it may wait: for a file, or for another thread, which waits for nothing itself
 *   Cost         constant  a few instructions
 *                decision  tens of nanoseconds for a usual request; linear in the bytes handed over, of which
 *                          a target's first 8,192 count, and at most 64 look-ups in a policy of any
 *                          size. The worst request against the worst policy takes about 300,000 instructions
 *                batch     a decision for each row
 *                policy    linear in the size of the policy, or of the configuration of tokens: milliseconds for
 *                          thousands of routes
 *                token     reading a token of at most 8,192 bytes, and a decision; tens of microseconds where its
 *                          signature is checked in place
 *                keys      linear in the bytes of a document, such as a key set of at most 262,144
 *
 * No function calls back. Constant and decision functions that neither allocate nor block suit Java's
 * Linker.Option.critical and .NET's SuppressGCTransition, which ask for less than a microsecond, as every
 * usual request takes; and with batch functions cgo's noescape and nocallback.
 */
#ifndef ORBGATE_H
#define ORBGATE_H
