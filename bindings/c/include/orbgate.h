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

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The version of this header. orbgate_version_number() is that of the library. */
#define ORBGATE_VERSION_MAJOR 0
#define ORBGATE_VERSION_MINOR 1
#define ORBGATE_VERSION_PATCH 0
#define ORBGATE_VERSION_NUMBER \
    ((ORBGATE_VERSION_MAJOR << 24) | (ORBGATE_VERSION_MINOR << 16) | (ORBGATE_VERSION_PATCH << 8))
#define ORBGATE_VERSION "0.1.0"

/* The ABI of this header: see orbgate_check_abi(). */
#define ORBGATE_ABI_MAJOR 1
#define ORBGATE_ABI_MINOR 0
#define ORBGATE_ABI_VERSION ((ORBGATE_ABI_MAJOR << 16) | ORBGATE_ABI_MINOR)

/* Define ORBGATE_STATIC where the static library is linked on Windows. */
#ifndef ORBGATE_API
#if defined(_WIN32) && !defined(ORBGATE_STATIC)
#define ORBGATE_API __declspec(dllimport)
#else
#define ORBGATE_API
#endif
#endif

/* An unread status or decision protects nothing. */
#ifndef ORBGATE_NODISCARD
#if defined(__cplusplus) && __cplusplus >= 201703L
#define ORBGATE_NODISCARD [[nodiscard]]
#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 202311L
#define ORBGATE_NODISCARD [[nodiscard]]
#elif defined(__GNUC__)
#define ORBGATE_NODISCARD __attribute__((warn_unused_result))
#else
#define ORBGATE_NODISCARD
#endif
#endif

/* The Arrow C data interface, as its specification asks for: the first header that is included defines it. */
#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE

#define ARROW_FLAG_DICTIONARY_ORDERED 1
#define ARROW_FLAG_NULLABLE 2
#define ARROW_FLAG_MAP_KEYS_SORTED 4

struct ArrowSchema {
  const char* format;
  const char* name;
  const char* metadata;
  int64_t flags;
  int64_t n_children;
  struct ArrowSchema** children;
  struct ArrowSchema* dictionary;
  void (*release)(struct ArrowSchema*);
  void* private_data;
};

struct ArrowArray {
  int64_t length;
  int64_t null_count;
  int64_t offset;
  int64_t n_buffers;
  int64_t n_children;
  const void** buffers;
  struct ArrowArray** children;
  struct ArrowArray* dictionary;
  void (*release)(struct ArrowArray*);
  void* private_data;
};

#endif /* ARROW_C_DATA_INTERFACE */

/**
 * How a call ended. Outputs are written with `ORBGATE_STATUS_OK` only. Numbers are frozen; a later release
 * may add one: deny on every status that is not `OK`.
 */
enum OrbgateStatus
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif
{
  /**
   * Done; the outputs are written.
   */
  ORBGATE_STATUS_OK = 0,
  /**
   * A pointer is null or misaligned, a length, offset, number or flag is out of range, or a struct's size is unknown to the library.
   */
  ORBGATE_STATUS_INVALID_ARGUMENT = 1,
  /**
   * The policy has errors; the error names each with its line and column.
   */
  ORBGATE_STATUS_INVALID_POLICY = 2,
  /**
   * The file could not be read; the error says why.
   */
  ORBGATE_STATUS_IO = 3,
  /**
   * The policy has nothing of that name or number.
   */
  ORBGATE_STATUS_NOT_FOUND = 4,
  /**
   * An error of the library was caught: the call had no effect, and the library goes on working.
   */
  ORBGATE_STATUS_PANIC = 5,
  /**
   * The configuration of tokens, or an option of a gate, has errors; the error names each.
   */
  ORBGATE_STATUS_INVALID_CONFIGURATION = 6,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum OrbgateStatus OrbgateStatus;
#else
typedef int32_t OrbgateStatus;
#endif
#endif

/**
 * What a decision says. All zeros is not a decision: deny.
 */
enum OrbgateEffect
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint8_t
#endif
{
  /**
   * No decision was made.
   */
  ORBGATE_EFFECT_INVALID = 0,
  /**
   * The call must be refused.
   */
  ORBGATE_EFFECT_DENY = 1,
  /**
   * The call may be made.
   */
  ORBGATE_EFFECT_ALLOW = 2,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum OrbgateEffect OrbgateEffect;
#else
typedef uint8_t OrbgateEffect;
#endif
#endif

/**
 * Why a request was allowed or denied. Numbers and names are frozen.
 */
enum OrbgateReason
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint8_t
#endif
{
  /**
   * No decision was made.
   */
  ORBGATE_REASON_NONE = 0,
  /**
   * The request has no single, safe spelling. Status 400.
   */
  ORBGATE_REASON_MALFORMED_REQUEST = 1,
  /**
   * No token was supplied. Status 401.
   */
  ORBGATE_REASON_NO_TOKEN = 2,
  /**
   * The token was refused, or its kind is unknown. Status 401.
   */
  ORBGATE_REASON_INVALID_TOKEN = 3,
  /**
   * The policy has no such route or scope. Status 404.
   */
  ORBGATE_REASON_NO_ROUTE = 4,
  /**
   * The route does not declare this method. Status 405.
   */
  ORBGATE_REASON_METHOD_NOT_DECLARED = 5,
  /**
   * The scope applies only to a user's token. Status 403.
   */
  ORBGATE_REASON_USER_TOKEN_REQUIRED = 6,
  /**
   * Allowed: the scope applies only to a user's token; organisations pass without it.
   */
  ORBGATE_REASON_SCOPE_NOT_APPLICABLE = 7,
  /**
   * The token does not carry the required scope. Status 403.
   */
  ORBGATE_REASON_SCOPE_MISSING = 8,
  /**
   * Allowed: the token carries the required scope.
   */
  ORBGATE_REASON_SCOPE_HELD = 9,
  /**
   * Allowed: the route needs no token.
   */
  ORBGATE_REASON_PUBLIC_ROUTE = 10,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum OrbgateReason OrbgateReason;
#else
typedef uint8_t OrbgateReason;
#endif
#endif

/**
 * Which rule a malformed request breaks. Numbers and names are frozen.
 */
enum OrbgateDetail
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint8_t
#endif
{
  /**
   * The request is not malformed.
   */
  ORBGATE_DETAIL_NONE = 0,
  /**
   * A method is 1 to 16 capital letters.
   */
  ORBGATE_DETAIL_METHOD = 1,
  /**
   * A target has 1 to 8,192 bytes, at most 32 segments, each at most 256 bytes.
   */
  ORBGATE_DETAIL_LENGTH = 2,
  /**
   * A target has only visible ASCII characters.
   */
  ORBGATE_DETAIL_BYTE = 3,
  /**
   * A target never carries a `#`.
   */
  ORBGATE_DETAIL_FRAGMENT = 4,
  /**
   * A target starts with `/`.
   */
  ORBGATE_DETAIL_FORM = 5,
  /**
   * A path never carries a `\`.
   */
  ORBGATE_DETAIL_BACKSLASH = 6,
  /**
   * A path never carries a `;`.
   */
  ORBGATE_DETAIL_MATRIX_PARAM = 7,
  /**
   * The path carries a character that must be escaped there.
   */
  ORBGATE_DETAIL_PATH_CHAR = 8,
  /**
   * This policy accepts no percent-encoding in a path.
   */
  ORBGATE_DETAIL_PERCENT = 9,
  /**
   * A `%` needs two hexadecimal digits after it.
   */
  ORBGATE_DETAIL_BAD_ESCAPE = 10,
  /**
   * The path escapes a control character.
   */
  ORBGATE_DETAIL_ENCODED_CONTROL = 11,
  /**
   * The path escapes a delimiter.
   */
  ORBGATE_DETAIL_ENCODED_DELIMITER = 12,
  /**
   * The path escapes a character that needs no escape.
   */
  ORBGATE_DETAIL_ENCODED_UNRESERVED = 13,
  /**
   * The path escapes a byte outside ASCII.
   */
  ORBGATE_DETAIL_NON_ASCII = 14,
  /**
   * A segment starts or ends with an escaped space.
   */
  ORBGATE_DETAIL_WHITESPACE = 15,
  /**
   * The path has an empty segment or a trailing `/`.
   */
  ORBGATE_DETAIL_EMPTY_SEGMENT = 16,
  /**
   * A segment of the path is nothing but dots.
   */
  ORBGATE_DETAIL_DOT_SEGMENT = 17,
  /**
   * A segment is an escaped spelling of a literal.
   */
  ORBGATE_DETAIL_NON_CANONICAL_LITERAL = 18,
  /**
   * The path differs only in case from a more specific route.
   */
  ORBGATE_DETAIL_AMBIGUOUS_CASE = 19,
  /**
   * A request never asks for an upgrade to `h2c`.
   */
  ORBGATE_DETAIL_UPGRADE = 20,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum OrbgateDetail OrbgateDetail;
#else
typedef uint8_t OrbgateDetail;
#endif
#endif

/**
 * Whose token it is. Functions take it as a `uint32_t`, columns as a `uint8_t`; any other number is an
 * invalid argument.
 */
enum OrbgateTokenKind
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint8_t
#endif
{
  /**
   * Not known, or none of the others: denied as `invalid_token`.
   */
  ORBGATE_TOKEN_KIND_UNKNOWN = 0,
  /**
   * A user's.
   */
  ORBGATE_TOKEN_KIND_USER = 1,
  /**
   * An organisation's.
   */
  ORBGATE_TOKEN_KIND_ORGANISATION = 2,
  /**
   * No token was supplied: denied as `no_token`.
   */
  ORBGATE_TOKEN_KIND_NONE = 255,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum OrbgateTokenKind OrbgateTokenKind;
#else
typedef uint8_t OrbgateTokenKind;
#endif
#endif

/**
 * The HTTP status of a denial that says nothing of its own, such as one that was never made.
 */
#define ORBGATE_DEFAULT_HTTP_STATUS 403

/**
 * Largest size of a policy, in bytes. When you read a file, you can stop one byte later: the library reports the error.
 */
#define ORBGATE_MAX_POLICY_BYTES 8388608

/**
 * In `OrbgateDecision.charge`: the policy states an orb column, so the other bits say something. Without
 * it the service that charges must find out.
 */
#define ORBGATE_CHARGE_STATED 1

/**
 * In `OrbgateDecision.charge`: the call consumes the user's orbs.
 */
#define ORBGATE_CHARGE_CONSUMES 2

/**
 * In `OrbgateDecision.charge`: `amount` is how many; without it the service that charges must supply it.
 */
#define ORBGATE_CHARGE_AMOUNT_STATED 4

/**
 * In `OrbgateDecision.charge`: bonus orbs may be used: the call consumes orbs and its request allows it.
 */
#define ORBGATE_CHARGE_BONUS_ALLOWED 8

/**
 * The request says `allowBonusOrbsUse: true`. A bit that no flag has is an invalid argument.
 */
#define ORBGATE_ALLOW_BONUS_ORBS 1

/**
 * A packed decision without a valid token carries the route that the request is about in the bits of `route`, which
 * are 0 without this flag. Changes nothing else: an `OrbgateDecision` has a field for it.
 */
#define ORBGATE_PACK_ABOUT 2

/**
 * Why a fetch failed: no connection, an untrusted certificate, or an answer that is not HTTP or broke off.
 */
#define ORBGATE_FETCH_UNREACHABLE 1

/**
 * Why a fetch failed: it was not there within `timeout_ms`.
 */
#define ORBGATE_FETCH_TIMEOUT 2

/**
 * Why a fetch failed: the body has more than `max_bytes`.
 */
#define ORBGATE_FETCH_TOO_LARGE 3

/**
 * Why a fetch failed: the host does not fetch from there.
 */
#define ORBGATE_FETCH_BAD_URL 4

/**
 * In `OrbgateGateOptions.flags`: every denial has the status 403, so that a caller cannot tell an unknown route from a missing
 * scope.
 */
#define ORBGATE_GATE_FLAT_403 1

/**
 * In `OrbgateGateOptions.flags`: a `POST` counts as one even if a header names another method. Only where nothing follows such
 * headers.
 */
#define ORBGATE_GATE_IGNORE_METHOD_OVERRIDE 2

/**
 * In `OrbgateGateOptions.flags`: the caller checks signatures, see `ORBGATE_STEP_CHECK_SIGNATURE`. A library without
 * cryptography, such as the WebAssembly module, always asks for it.
 */
#define ORBGATE_GATE_SIGNATURES_OUTSIDE 4

/**
 * In `OrbgateGateOptions.flags`: no key is used beyond its time; `max_stale_ms` is 0.
 */
#define ORBGATE_GATE_NO_STALE_KEYS 8

/**
 * In `OrbgateGateOptions.challenge`: `WWW-Authenticate: Bearer` with every 401 and 403.
 */
#define ORBGATE_CHALLENGE_MINIMAL 0

/**
 * In `OrbgateGateOptions.challenge`: with the error and the missing scope, as RFC 6750 says.
 */
#define ORBGATE_CHALLENGE_FULL 1

/**
 * In `OrbgateGateOptions.challenge`: no header; every denial is a bare 403.
 */
#define ORBGATE_CHALLENGE_NONE 2

/**
 * In `OrbgateGateOptions.cors_preflight`: a browser's question before a cross-origin request is decided as any other request.
 */
#define ORBGATE_CORS_PREFLIGHT_DENY 0

/**
 * In `OrbgateGateOptions.cors_preflight`: it passes without a token, if the method that it asks about is declared for the path.
 */
#define ORBGATE_CORS_PREFLIGHT_PASS 1

/**
 * How a router writes the parameters of its templates: `{id}`, `{id:[0-9]+}`, `{id:int}`.
 */
#define ORBGATE_TEMPLATES_BRACES 0

/**
 * How a router writes the parameters of its templates: `:id`, `:id(\d+)`.
 */
#define ORBGATE_TEMPLATES_COLONS 1

/**
 * How a router writes the parameters of its templates: `<id>`, `<int:id>`.
 */
#define ORBGATE_TEMPLATES_ANGLES 2

/**
 * In `OrbgateGateRequest.flags`: the answer has a line for an audit.
 */
#define ORBGATE_WITH_AUDIT 4

/**
 * In `OrbgateGateRequest.flags`: a thread does nothing else while this request waits for keys, as in a server with a thread for
 * each request. Only one such request waits for longer than a second.
 */
#define ORBGATE_HOLDS_THREAD 8

/**
 * In `OrbgateGateRequest.matched`: no router is outside the gate.
 */
#define ORBGATE_MATCHED_NOTHING 0

/**
 * In `OrbgateGateRequest.matched`: a router has taken the route of `path_template`. A request that another route would allow is denied.
 */
#define ORBGATE_MATCHED_TEMPLATE 1

/**
 * In `OrbgateGateRequest.matched`: the router doesn't report a route, for example for a fallback. A request that would be allowed is denied.
 */
#define ORBGATE_MATCHED_UNKNOWN 2

/**
 * The service has a route that the policy lacks: no gate protects it.
 */
#define ORBGATE_DIFFERENCE_UNDECLARED 1

/**
 * The policy has a route that the service lacks, which is harmless where several services share a policy.
 */
#define ORBGATE_DIFFERENCE_UNSERVED 2

/**
 * In `OrbgateStepInfo.kind`: the answer.
 */
#define ORBGATE_STEP_ANSWER 1

/**
 * In `OrbgateStepInfo.kind`: keys must come first. Fetch what `orbgate_gate_next_fetch` has, wait until `orbgate_gate_is_over`
 * says so, at the latest until `until_ms`, and then call `orbgate_gate_resume`.
 */
#define ORBGATE_STEP_WAIT 2

/**
 * In `OrbgateStepInfo.kind`: check this signature, and tell `orbgate_gate_checked` whether it is right.
 */
#define ORBGATE_STEP_CHECK_SIGNATURE 3

/**
 * The answer to a question. Owned by the caller, immutable.
 */
typedef struct OrbgateAnswer OrbgateAnswer;

/**
 * A compiled, immutable policy. Shared by reference counting: `orbgate_engine_retain` adds an owner,
 * `orbgate_engine_free` takes one away.
 */
typedef struct OrbgateEngine OrbgateEngine;

/**
 * Why a call failed. Owned by the caller, immutable.
 */
typedef struct OrbgateError OrbgateError;

/**
 * A URL to fetch. Immutable; the caller owns it.
 */
typedef struct OrbgateFetch OrbgateFetch;

/**
 * Rules and keys: from a request as it came to its answer. It does no I/O, reads no clock and has no thread: the caller fetches
 * what `orbgate_gate_next_fetch` has, and gives the time, by two clocks: `unix_ms` since 1970, which tokens are valid by, and
 * `monotonic_ms` since any moment, on a clock that is never set, which keys are fetched by.
 */
typedef struct OrbgateGate OrbgateGate;

/**
 * Holds an engine, for hot reload: readers never wait, and every decision comes from exactly
 * one engine. Shared by reference counting.
 */
typedef struct OrbgateHandle OrbgateHandle;

/**
 * How the keys of a gate are, at one time. Immutable; the caller owns it.
 */
typedef struct OrbgateKeyStatus OrbgateKeyStatus;

/**
 * How the routes of a service and those of its policy differ. Immutable; the caller owns it.
 */
typedef struct OrbgateRouteDifferences OrbgateRouteDifferences;

/**
 * A token's scopes as a set of bits: one test per decision. It belongs to the policy of the engine
 * that made it; with an engine of another policy it holds nothing, so that decisions deny rather than
 * misread it. Immutable and shared by reference counting.
 */
typedef struct OrbgateScopeSet OrbgateScopeSet;

/**
 * What comes of a question to a gate. Immutable; the caller owns it.
 */
typedef struct OrbgateStep OrbgateStep;

/**
 * Which tokens count: the issuers, and what their tokens must be. Immutable; a gate keeps a copy.
 */
typedef struct OrbgateVerifier OrbgateVerifier;

/**
 * A *verified* bearer token. A null pointer means no token: denied as `no_token`. All zeros but for
 * the size is a token of unknown kind: denied as `invalid_token`.
 */
typedef struct OrbgateToken {
  /**
   * Set it to `sizeof(OrbgateToken)`, or use `orbgate_token_init()`.
   */
  uint32_t struct_size;
  /**
   * An `OrbgateTokenKind`.
   */
  uint32_t kind;
  /**
   * The token's scopes as it has them, separated by spaces.
   */
  const char *scopes;
  /**
   * How many bytes.
   */
  size_t scopes_len;
  /**
   * The same interned; then `scopes_len` must be 0.
   */
  const struct OrbgateScopeSet *scope_set;
} OrbgateToken;

/**
 * A decision: plain data of a size that never changes. All zeros is not a decision and not an allow.
 */
typedef struct OrbgateDecision {
  /**
   * An `OrbgateEffect`. Only `ORBGATE_EFFECT_ALLOW` lets a call through.
   */
  uint8_t effect;
  /**
   * An `OrbgateReason`.
   */
  uint8_t reason;
  /**
   * An `OrbgateDetail`.
   */
  uint8_t detail;
  /**
   * What an allowed call consumes: `ORBGATE_CHARGE_*` bits. 0 on a denial.
   */
  uint8_t charge;
  /**
   * The HTTP status of a denial; 0 on an allow.
   */
  uint16_t http_status;
  /**
   * The scope's number in its engine, from 1; 0 if there is no scope.
   */
  uint16_t scope;
  /**
   * The route's number in its engine, from 1; 0 if there is no route. For `method_not_declared` it is one
   * of the routes that share the path's template.
   */
  uint32_t route;
  /**
   * The number of the route that the request is about, with any token: that of `route`, and also where a call without
   * a valid token may not name it. 0 where no route has the path and the method, and by scope. For logs, not for answers.
   */
  uint32_t about;
  /**
   * How many orbs, with `ORBGATE_CHARGE_AMOUNT_STATED`; else 0.
   */
  uint64_t amount;
  /**
   * The first eight bytes of the digest of the policy that decided, as a number.
   */
  uint64_t policy;
} OrbgateDecision;

/**
 * String of the library: UTF-8, not NUL-terminated. `data` is null where there is no string, and a valid address otherwise, also for
 * an empty string.
 */
typedef struct OrbgateStr {
  /**
   * The first byte, or null.
   */
  const char *data;
  /**
   * How many bytes.
   */
  size_t len;
} OrbgateStr;

/**
 * A column of strings, as Arrow lays out utf8: the string of row `i` is the bytes `offsets[i]` to `offsets[i + 1]`
 * of `data`. There is one offset more than there are rows; offsets never decrease and never exceed
 * `data_len`. The first need not be 0.
 */
typedef struct OrbgateColumn {
  /**
   * The bytes of all rows, end to end.
   */
  const char *data;
  /**
   * How many bytes.
   */
  size_t data_len;
  /**
   * Where each row starts, and where the last one ends. Null: no such column.
   */
  const uint32_t *offsets;
} OrbgateColumn;

/**
 * Requests by columns. All zeros except the size is an empty batch.
 */
typedef struct OrbgateBatch {
  /**
   * Set it to `sizeof(OrbgateBatch)`, or use `orbgate_batch_init()`.
   */
  uint32_t struct_size;
  /**
   * `ORBGATE_ALLOW_BONUS_ORBS` and `ORBGATE_PACK_ABOUT`, or 0, for every row; with `allow_bonus_orbs` without the first.
   */
  uint32_t flags;
  /**
   * How many rows.
   */
  size_t len;
  /**
   * Each row's method.
   */
  struct OrbgateColumn method;
  /**
   * Each row's target.
   */
  struct OrbgateColumn target;
  /**
   * One token for every row. Null, and `kinds` null too: no row has a token.
   */
  const struct OrbgateToken *token;
  /**
   * Each row's `OrbgateTokenKind`; then `token` must be null.
   */
  const uint8_t *kinds;
  /**
   * Each row's scopes as a string, separated by spaces: only with `kinds`.
   */
  struct OrbgateColumn scopes;
  /**
   * Each row's scopes interned, null for none: only with `kinds`, and without `scopes`.
   */
  const struct OrbgateScopeSet *const *scope_sets;
  /**
   * 1 for each row that allows bonus orbs, 0 for the others. Null: `flags` says it for all.
   */
  const uint8_t *allow_bonus_orbs;
  /**
   * A bitmap as Arrow's, least significant bit first: a row whose bit is 0 is null and gets all zeros for
   * a decision. Null: no row is null.
   */
  const uint8_t *validity;
  /**
   * The bit of the first row.
   */
  size_t validity_offset;
} OrbgateBatch;

/**
 * Names a route of a policy: the same in every process, and never equal to a route of another policy. All zeros means no route.
 */
typedef struct OrbgateRouteId {
  /**
   * The upper 64 bits.
   */
  uint64_t high;
  /**
   * The lower 64 bits.
   */
  uint64_t low;
} OrbgateRouteId;

/**
 * An error as a whole.
 */
typedef struct OrbgateErrorInfo {
  /**
   * Set it to `sizeof(OrbgateErrorInfo)`.
   */
  uint32_t struct_size;
  /**
   * The `OrbgateStatus` that the call returned.
   */
  int32_t code;
  /**
   * Line of the first error, from 1; 0 where the error has no location.
   */
  uint32_t line;
  /**
   * Column of the first error in characters, from 1; 0 where the error has no location.
   */
  uint32_t column;
  /**
   * How many errors there are to ask for with `orbgate_error_diagnostic`.
   */
  size_t diagnostic_count;
  /**
   * Everything in one string: a line `[path:]line:column: message` for each error.
   */
  struct OrbgateStr message;
  /**
   * The path of the file as given; no string if there was no file.
   */
  struct OrbgateStr path;
} OrbgateErrorInfo;

/**
 * One thing wrong with a policy or a configuration.
 */
typedef struct OrbgateDiagnostic {
  /**
   * Set it to `sizeof(OrbgateDiagnostic)`.
   */
  uint32_t struct_size;
  /**
   * Line, from 1.
   */
  uint32_t line;
  /**
   * Column in characters, from 1.
   */
  uint32_t column;
  /**
   * 0.
   */
  uint32_t reserved;
  /**
   * What is wrong: lower case, no final period, without the location.
   */
  struct OrbgateStr message;
} OrbgateDiagnostic;

/**
 * A URL to fetch, by `GET`, without following a redirect and without credentials. Report what came of it in any case, by
 * `orbgate_gate_fetched` or `orbgate_gate_fetch_failed`.
 */
typedef struct OrbgateFetchInfo {
  /**
   * Set it to `sizeof(OrbgateFetchInfo)`, or use `orbgate_fetch_info_init()`.
   */
  uint32_t struct_size;
  /**
   * What is not there after this time is `ORBGATE_FETCH_TIMEOUT`.
   */
  uint32_t timeout_ms;
  /**
   * The attempt that needs it.
   */
  uint64_t attempt;
  /**
   * A longer body is `ORBGATE_FETCH_TOO_LARGE`; stop reading there.
   */
  uint64_t max_bytes;
  /**
   * `https`, or an address of this very machine.
   */
  struct OrbgateStr url;
} OrbgateFetchInfo;

/**
 * How one issuer's keys are.
 */
typedef struct OrbgateIssuerStatus {
  /**
   * Set it to `sizeof(OrbgateIssuerStatus)`, or use `orbgate_issuer_status_init()`.
   */
  uint32_t struct_size;
  /**
   * How many keys there are to use. With 0 every token of the issuer is refused.
   */
  uint32_t key_count;
  /**
   * When the keys were fetched, on the monotonic clock; 0 if there are no keys.
   */
  uint64_t fetched_ms;
  /**
   * The issuer.
   */
  struct OrbgateStr issuer;
  /**
   * Why the last attempt failed; no string if it did not.
   */
  struct OrbgateStr failure;
  /**
   * The keys that were left out, and why: a line for each.
   */
  struct OrbgateStr warnings;
} OrbgateIssuerStatus;

/**
 * How a gate answers, and how often and patiently it fetches keys. All zeros but for the size are the defaults; a time is in
 * milliseconds, and 0 means the default.
 */
typedef struct OrbgateGateOptions {
  /**
   * Set it to `sizeof(OrbgateGateOptions)`, or use `orbgate_gate_options_init()`.
   */
  uint32_t struct_size;
  /**
   * `ORBGATE_GATE_*` bits.
   */
  uint32_t flags;
  /**
   * An `ORBGATE_CHALLENGE_*` number.
   */
  uint32_t challenge;
  /**
   * An `ORBGATE_TEMPLATES_*` number: how the router writes what is given as `OrbgateGateRequest.path_template`.
   */
  uint32_t templates;
  /**
   * The realm of a full challenge: printable ASCII without `"` and `\`; none where it has no bytes.
   */
  struct OrbgateStr realm;
  /**
   * The URL of the service's metadata in a full challenge (RFC 9728): absolute, `https`; none where it has no bytes.
   */
  struct OrbgateStr resource_metadata;
  /**
   * How long keys are good for where the issuer sends no usable `Cache-Control`: 600 s by default.
   */
  uint32_t ttl_ms;
  /**
   * The least that an issuer may say: 60 s.
   */
  uint32_t ttl_min_ms;
  /**
   * The most that an issuer may say: 3,600 s.
   */
  uint32_t ttl_max_ms;
  /**
   * After how much of that time a token starts a fetch without waiting for it, in percent: 80.
   */
  uint32_t ahead_percent;
  /**
   * How long keys are used beyond their time while no fresh ones can be fetched: 3,600 s.
   */
  uint32_t max_stale_ms;
  /**
   * The time from one attempt to the next: 30 s.
   */
  uint32_t cooldown_ms;
  /**
   * How many attempts tokens with unknown keys may start at once, and then in every cooldown: 4.
   */
  uint32_t burst;
  /**
   * The time from one attempt to the next while there are no keys: 1 s.
   */
  uint32_t retry_ms;
  /**
   * How long one attempt may take altogether: 5 s.
   */
  uint32_t timeout_ms;
  /**
   * 0.
   */
  uint32_t reserved;
  /**
   * Routes that need no token, each written as in a policy with the whole path, such as `GET /healthz`. Check each engine with
   * `orbgate_gate_check_engine` before you ask with it.
   */
  const struct OrbgateStr *public_routes;
  /**
   * How many.
   */
  size_t public_route_count;
  /**
   * An `ORBGATE_CORS_PREFLIGHT_*` number: `OPTIONS` with `Origin` and `Access-Control-Request-Method`.
   */
  uint32_t cors_preflight;
  /**
   * 0.
   */
  uint32_t reserved2;
} OrbgateGateOptions;

/**
 * A request as it came over the wire: nothing of it is decoded, stripped or joined.
 */
typedef struct OrbgateGateRequest {
  /**
   * Set it to `sizeof(OrbgateGateRequest)`, or use `orbgate_gate_request_init()`.
   */
  uint32_t struct_size;
  /**
   * 0, or of `ORBGATE_ALLOW_BONUS_ORBS`, `ORBGATE_WITH_AUDIT` and `ORBGATE_HOLDS_THREAD`.
   */
  uint32_t flags;
  /**
   * The method.
   */
  struct OrbgateStr method;
  /**
   * The target: path and query, in the bytes of the request line or of `:path`.
   */
  struct OrbgateStr target;
  /**
   * Every value of `Authorization`, one item per header line.
   */
  const struct OrbgateStr *authorization;
  /**
   * How many.
   */
  size_t authorization_count;
  /**
   * The names of all headers, or at least those that contain `method`, in any letter case: a header can override the method.
   */
  const struct OrbgateStr *header_names;
  /**
   * How many.
   */
  size_t header_name_count;
  /**
   * With `ORBGATE_MATCHED_TEMPLATE` the template that the router has taken, with the prefix of its router, written as the gate's
   * options say; else no string.
   */
  struct OrbgateStr path_template;
  /**
   * An `ORBGATE_MATCHED_*` number.
   */
  uint32_t matched;
  /**
   * 0.
   */
  uint32_t reserved;
  /**
   * Every value of `Upgrade`, one item for each line of the header. A request that lists `h2c` is denied.
   */
  const struct OrbgateStr *upgrade;
  /**
   * How many.
   */
  size_t upgrade_count;
  /**
   * Every value of `Origin`, one item for each line of the header.
   */
  const struct OrbgateStr *origin;
  /**
   * How many.
   */
  size_t origin_count;
  /**
   * Every value of `Access-Control-Request-Method`, one item for each line of the header.
   */
  const struct OrbgateStr *access_control_request_method;
  /**
   * How many.
   */
  size_t access_control_request_method_count;
} OrbgateGateRequest;

/**
 * A route that only the service or only the policy has.
 */
typedef struct OrbgateRouteDifference {
  /**
   * Set it to `sizeof(OrbgateRouteDifference)`, or use `orbgate_route_difference_init()`.
   */
  uint32_t struct_size;
  /**
   * An `ORBGATE_DIFFERENCE_*` number.
   */
  uint32_t kind;
  /**
   * The route, as `GET /users/export`.
   */
  struct OrbgateStr route;
  /**
   * The policy's route that decides the requests of an undeclared one; no string where they are denied.
   */
  struct OrbgateStr decided_as;
} OrbgateRouteDifference;

/**
 * What comes of a question. Fields of another kind of step are 0, and strings of it no string.
 */
typedef struct OrbgateStepInfo {
  /**
   * Set it to `sizeof(OrbgateStepInfo)`, or use `orbgate_step_info_init()`.
   */
  uint32_t struct_size;
  /**
   * An `ORBGATE_STEP_*` number.
   */
  uint32_t kind;
  /**
   * The attempt to wait for.
   */
  uint64_t attempt;
  /**
   * When it ends even without a report, on the monotonic clock.
   */
  uint64_t until_ms;
  /**
   * The algorithm of the signature to check, as in `RS256`. ECDSA signatures are two numbers, not DER (RFC 7518 §3.4); PSS has a salt
   * as long as its hash. It fits the key, and key and signature have their right form and length.
   */
  struct OrbgateStr algorithm;
  /**
   * The key as a JWK with only its required members: equal keys have equal strings, so keep what you have imported. If it cannot
   * be imported, the signature is wrong.
   */
  struct OrbgateStr key;
  /**
   * What was signed.
   */
  struct OrbgateStr message;
  /**
   * The signature: bytes.
   */
  struct OrbgateStr signature;
  /**
   * The decision. Only `ORBGATE_EFFECT_ALLOW` lets the request through.
   */
  struct OrbgateDecision decision;
  /**
   * The status to answer a denial with, and no body; 0 for an allow.
   */
  uint32_t http_status;
  /**
   * An `OrbgateTokenKind` of the token, `ORBGATE_TOKEN_KIND_NONE` where none is right.
   */
  uint32_t token_kind;
  /**
   * The `WWW-Authenticate` of a denial; no string where it has none.
   */
  struct OrbgateStr www_authenticate;
  /**
   * The `Allow` of a denial; no string where it has none.
   */
  struct OrbgateStr allow;
  /**
   * Why the token is rejected, such as `expired`: only for logs and counters.
   */
  struct OrbgateStr refused;
  /**
   * Where the router went instead of the allowed route, of no bytes where it did not say: count it. No string where they agree.
   */
  struct OrbgateStr misrouted;
  /**
   * With `ORBGATE_WITH_AUDIT` a line of JSON for an audit, without the end of the line.
   */
  struct OrbgateStr audit;
  /**
   * The token's scopes, with one space between two.
   */
  struct OrbgateStr scopes;
  /**
   * The issuer.
   */
  struct OrbgateStr issuer;
  /**
   * Whom it is about (`sub`).
   */
  struct OrbgateStr subject;
  /**
   * The client that it was issued to.
   */
  struct OrbgateStr client;
  /**
   * The party that acts for the subject (`act`).
   */
  struct OrbgateStr actor;
  /**
   * Its own name (`jti`).
   */
  struct OrbgateStr id;
  /**
   * A name that reveals nothing of it: 16 hexadecimal digits.
   */
  struct OrbgateStr fingerprint;
  /**
   * When it expires, in milliseconds since 1970.
   */
  uint64_t expires_ms;
  /**
   * The decision packed, as with `ORBGATE_PACK_ABOUT`.
   */
  uint64_t packed;
  /**
   * The token's scopes interned, for further questions to the engine that has answered; null without a token. It is the step's:
   * `orbgate_scope_set_retain` keeps it.
   */
  const struct OrbgateScopeSet *scope_set;
  /**
   * The template of an allowed request that needs no token, because its decision names no route; else no string.
   */
  struct OrbgateStr public_template;
} OrbgateStepInfo;

/**
 * A route of an engine.
 */
typedef struct OrbgateRoute {
  /**
   * Set it to `sizeof(OrbgateRoute)`.
   */
  uint32_t struct_size;
  /**
   * Its number in this engine, from 1: for arrays with an entry for each route, as counters.
   */
  uint32_t number;
  /**
   * What `orbgate_engine_decide_route` takes.
   */
  struct OrbgateRouteId id;
  /**
   * `METHOD /template`.
   */
  struct OrbgateStr text;
  /**
   * The method.
   */
  struct OrbgateStr method;
  /**
   * The path template, the api's base path included.
   */
  struct OrbgateStr path_template;
  /**
   * The scope that it needs.
   */
  struct OrbgateStr scope;
  /**
   * The api.
   */
  struct OrbgateStr api;
  /**
   * How many orbs a call consumes, with `ORBGATE_CHARGE_AMOUNT_STATED`; else 0.
   */
  uint64_t amount;
  /**
   * What a call consumes: `ORBGATE_CHARGE_*` bits.
   */
  uint32_t charge;
  /**
   * The scope's number in this engine, from 1.
   */
  uint32_t scope_number;
  /**
   * Line of the policy file, from 1.
   */
  uint32_t line;
  /**
   * Column of the policy file in characters, from 1.
   */
  uint32_t column;
  /**
   * The methods that its template declares, its own among them, in alphabetical order, as in `GET, POST`.
   */
  struct OrbgateStr methods;
} OrbgateRoute;

/**
 * A scope of an engine.
 */
typedef struct OrbgateScope {
  /**
   * Set it to `sizeof(OrbgateScope)`.
   */
  uint32_t struct_size;
  /**
   * Its number in this engine, from 1.
   */
  uint32_t number;
  /**
   * The scope token.
   */
  struct OrbgateStr name;
  /**
   * The api; where several have the scope, the first by name.
   */
  struct OrbgateStr api;
  /**
   * The permitted action; no string where the policy states none.
   */
  struct OrbgateStr permits;
  /**
   * What an organisation's token gets, `deny` or `allow_without_scope`, where the scope applies only to a
   * user's token; else no string.
   */
  struct OrbgateStr organisation;
  /**
   * The orb column's amount, with `ORBGATE_CHARGE_AMOUNT_STATED`; else 0.
   */
  uint64_t amount;
  /**
   * The orb column: `ORBGATE_CHARGE_*` bits, 0 where the policy states none.
   */
  uint32_t charge;
  /**
   * Line of the policy file, from 1.
   */
  uint32_t line;
  /**
   * Column of the policy file in characters, from 1.
   */
  uint32_t column;
  /**
   * 0.
   */
  uint32_t reserved;
} OrbgateScope;

/**
 * A decision in words: those of the JSON interface. A string that is null there has no data here.
 */
typedef struct OrbgateDecisionStrings {
  /**
   * Set it to `sizeof(OrbgateDecisionStrings)`.
   */
  uint32_t struct_size;
  /**
   * 0.
   */
  uint32_t reserved;
  /**
   * `allow` or `deny`.
   */
  struct OrbgateStr decision;
  /**
   * The reason's name.
   */
  struct OrbgateStr reason;
  /**
   * The detail's name.
   */
  struct OrbgateStr detail;
  /**
   * The api of the route or scope.
   */
  struct OrbgateStr api;
  /**
   * `METHOD /template`; for `method_not_declared`, only the template.
   */
  struct OrbgateStr route;
  /**
   * The scope that the call needs.
   */
  struct OrbgateStr scope;
  /**
   * The policy's digest, `sha256:…`.
   */
  struct OrbgateStr policy;
  /**
   * The route that the request is about, with any token: `METHOD /template`.
   */
  struct OrbgateStr about;
} OrbgateDecisionStrings;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/**
 * Decides every row of a table that comes over the Arrow C data interface: a struct array whose children are
 * named `method` and `target` and, if rows have tokens of their own, `kind` (`user`, `organisation`; null is no
 * token) and `scopes` (separated by spaces; null is none), and `allow_bonus_orbs` (boolean; null is false).
 * Strings are utf8 or large utf8, none is a dictionary. Any other child is an invalid argument, and so is an
 * array or a schema that has been released.
 *
 * A row that is null, or whose method or target is, gets all zeros for a decision. Where there is no child
 * `kind`, `token` is that of every row; where there is no child `allow_bonus_orbs`, `flags` holds for every row.
 *
 * Ownership: `array` and `schema` stay the caller's, to release; everything is only read. `out` has room for
 * `out_len` decisions, at least `array->length`.
 * Thread-safe: yes. Allocates: no. Blocks: no. Cost: batch.
 */
ORBGATE_API
ORBGATE_NODISCARD
OrbgateStatus orbgate_engine_decide_arrow(const struct OrbgateEngine *engine,
                                          const struct ArrowArray *array,
                                          const struct ArrowSchema *schema,
                                          const struct OrbgateToken *token,
                                          uint32_t flags,
                                          struct OrbgateDecision *out,
                                          size_t out_len);

/**
 * Asks a question about the engine's policy, one of `check`, `diff`, `explain`, `lint`, `needs`, `reach`, `table`, `unused` and `who`.
 * `arguments` is a JSON object, UTF-8. The answer is the JSON that `orbgate QUESTION --json` prints.
 *
 * `error` is used as by `orbgate_engine_from_yaml`. The status is `ORBGATE_STATUS_NOT_FOUND` if there is no such question,
 * `ORBGATE_STATUS_INVALID_ARGUMENT` if the arguments are not its own, and `ORBGATE_STATUS_INVALID_POLICY` if `diff` gets a policy with
 * errors; `check` and `lint` answer with the errors.
 *
 * Ownership: `*out` is the caller's, to free with `orbgate_answer_free`; `*error`, if it is set, with
 * `orbgate_error_free`. `question` and `arguments` are only read.
 * Thread-safe: yes. Allocates: yes. Blocks: no. Cost: policy.
 */
ORBGATE_API
ORBGATE_NODISCARD
OrbgateStatus orbgate_engine_ask(const struct OrbgateEngine *engine,
                                 const char *question,
                                 size_t question_len,
                                 const char *arguments,
                                 size_t arguments_len,
                                 struct OrbgateAnswer **out,
                                 struct OrbgateError **error);

/**
 * The answer, one JSON document.
 *
 * Ownership: the string is the answer's and lives as long as it.
 * Thread-safe: yes. Allocates: no. Blocks: no. Cost: constant.
 */
ORBGATE_API
ORBGATE_NODISCARD
OrbgateStatus orbgate_answer_json(const struct OrbgateAnswer *answer,
                                  struct OrbgateStr *out);

/**
 * Frees an answer. Null is fine.
 *
 * Ownership: takes `answer`; it and its string are gone.
 * Thread-safe: yes. Allocates: no. Blocks: no. Cost: constant.
 */
ORBGATE_API
void orbgate_answer_free(struct OrbgateAnswer *answer);

/**
 * Decides every row of a batch, each as `orbgate_engine_decide` would. Everything is checked before the first
 * row is decided: either all of `out` is written or nothing, unless the status is `ORBGATE_STATUS_PANIC`.
 *
 * Ownership: `out` has room for `out_len` decisions, at least `batch->len`, and overlaps nothing of the
 * batch. Everything else is only read.
 * Thread-safe: yes. Allocates: no. Blocks: no. Cost: batch.
 */
ORBGATE_API
ORBGATE_NODISCARD
OrbgateStatus orbgate_engine_decide_batch(const struct OrbgateEngine *engine,
                                          const struct OrbgateBatch *batch,
                                          struct OrbgateDecision *out,
                                          size_t out_len);

/**
 * The same, each decision packed; 0 for a row that is null.
 *
 * Ownership: `out` has room for `out_len` integers, at least `batch->len`, and overlaps nothing of the
 * batch. Everything else is only read.
 * Thread-safe: yes. Allocates: no. Blocks: no. Cost: batch.
 */
ORBGATE_API
ORBGATE_NODISCARD
OrbgateStatus orbgate_engine_decide_batch_packed(const struct OrbgateEngine *engine,
                                                 const struct OrbgateBatch *batch,
                                                 uint64_t *out,
                                                 size_t out_len);

/**
 * Decides a request: which scope it needs, whether the token may make the call, what it consumes, and
 * why. `method` and `target` are the bytes of the request line as they came over the wire, neither
 * decoded nor normalised; `token` is null where none was supplied; `flags` is 0 or
 * `ORBGATE_ALLOW_BONUS_ORBS`.
 *
 * Ownership: nothing; everything is only read.
 * Thread-safe: yes. Allocates: no. Blocks: no. Cost: decision.
 */
ORBGATE_API
ORBGATE_NODISCARD
OrbgateStatus orbgate_engine_decide(const struct OrbgateEngine *engine,
                                    const char *method,
                                    size_t method_len,
                                    const char *target,
                                    size_t target_len,
                                    const struct OrbgateToken *token,
                                    uint32_t flags,
                                    struct OrbgateDecision *out);

/**
 * The same, packed into the result; the token comes in parts. `kind` is an `OrbgateTokenKind`; the
 * scopes are a string or, where `scope_set` is not null, that set.
 *
 * Ownership: nothing; everything is only read.
 * Thread-safe: yes. Allocates: no. Blocks: no. Cost: decision.
 */
ORBGATE_API
ORBGATE_NODISCARD
uint64_t orbgate_engine_decide_packed(const struct OrbgateEngine *engine,
                                      const char *method,
                                      size_t method_len,
                                      const char *target,
                                      size_t target_len,
                                      uint32_t kind,
                                      const char *scopes,
                                      size_t scopes_len,
                                      const struct OrbgateScopeSet *scope_set,
                                      uint32_t flags);

/**
 * Decides by route, for a server that has already matched the route. Reads no strings. The
 * id is one of `orbgate_engine_find_route` or `OrbgateRoute`; one of another policy, and one of zeros, is denied as
 * `no_route`.
 *
 * Ownership: nothing; everything is only read.
 * Thread-safe: yes. Allocates: no. Blocks: no. Cost: decision.
 */
ORBGATE_API
ORBGATE_NODISCARD
OrbgateStatus orbgate_engine_decide_route(const struct OrbgateEngine *engine,
                                          struct OrbgateRouteId route_id,
                                          const struct OrbgateToken *token,
                                          uint32_t flags,
                                          struct OrbgateDecision *out);

/**
 * The same, packed into the result; id and token come in parts.
 *
 * Ownership: nothing; everything is only read.
 * Thread-safe: yes. Allocates: no. Blocks: no. Cost: decision.
 */
ORBGATE_API
ORBGATE_NODISCARD
uint64_t orbgate_engine_decide_route_packed(const struct OrbgateEngine *engine,
                                            uint64_t route_id_high,
                                            uint64_t route_id_low,
                                            uint32_t kind,
                                            const char *scopes,
                                            size_t scopes_len,
                                            const struct OrbgateScopeSet *scope_set,
                                            uint32_t flags);

/**
 * Decides by scope, for a service whose routes the policy does not list, as the inference api. A scope
 * that the policy does not have is denied as `no_route`; the decision has no route.
 *
 * Ownership: nothing; everything is only read.
 * Thread-safe: yes. Allocates: no. Blocks: no. Cost: decision.
 */
ORBGATE_API
ORBGATE_NODISCARD
OrbgateStatus orbgate_engine_decide_scope(const struct OrbgateEngine *engine,
                                          const char *scope,
                                          size_t scope_len,
                                          const struct OrbgateToken *token,
                                          uint32_t flags,
                                          struct OrbgateDecision *out);

/**
 * The same, packed into the result; the token comes in parts.
 *
 * Ownership: nothing; everything is only read.
 * Thread-safe: yes. Allocates: no. Blocks: no. Cost: decision.
 */
ORBGATE_API
ORBGATE_NODISCARD
uint64_t orbgate_engine_decide_scope_packed(const struct OrbgateEngine *engine,
                                            const char *scope,
                                            size_t scope_len,
                                            uint32_t kind,
                                            const char *scopes,
                                            size_t scopes_len,
                                            const struct OrbgateScopeSet *scope_set,
                                            uint32_t flags);

/**
 * The engine of the policy that is compiled into the library: the table of the specification.
 *
 * Ownership: `*out` is the caller's, to free with `orbgate_engine_free`.
 * Thread-safe: yes. Allocates: yes. Blocks: no. Cost: policy.
 */
ORBGATE_API
ORBGATE_NODISCARD
OrbgateStatus orbgate_engine_external(struct OrbgateEngine **out);

/**
 * Compiles a policy from the text of a policy file.
 *
 * `error` may be null. If it isn't and the call fails, `*error` contains every error of the
 * policy. Otherwise it stays unchanged.
 *
 * Ownership: `*out` is the caller's, to free with `orbgate_engine_free`; `*error`, if it is set, with
 * `orbgate_error_free`. `yaml` is only read.
 * Thread-safe: yes. Allocates: yes. Blocks: no. Cost: policy.
 */
ORBGATE_API
ORBGATE_NODISCARD
OrbgateStatus orbgate_engine_from_yaml(const char *yaml,
                                       size_t yaml_len,
                                       struct OrbgateEngine **out,
                                       struct OrbgateError **error);

/**
 * Compiles a policy from a regular file: a pipe would make its reader wait. The path is bytes on Unix and
 * UTF-8 elsewhere.
 *
 * `error` is used as by `orbgate_engine_from_yaml`; its errors also contain the path.
 *
 * Ownership: `*out` is the caller's, to free with `orbgate_engine_free`; `*error`, if it is set, with
 * `orbgate_error_free`. `path` is only read.
 * Thread-safe: yes. Allocates: yes. Blocks: yes. Cost: policy.
 */
ORBGATE_API
ORBGATE_NODISCARD
OrbgateStatus orbgate_engine_from_file(const char *path,
                                       size_t path_len,
                                       struct OrbgateEngine **out,
                                       struct OrbgateError **error);

/**
 * Adds an owner to an engine and returns the same pointer; null for null.
 *
 * Ownership: the result is the caller's, to free with `orbgate_engine_free`, no matter what becomes of
 * `engine`.
 * Thread-safe: yes. Allocates: no. Blocks: no. Cost: constant.
 */
ORBGATE_API
ORBGATE_NODISCARD
struct OrbgateEngine *orbgate_engine_retain(const struct OrbgateEngine *engine);

/**
 * Takes an owner away from an engine; the last one frees it. Null is fine.
 *
 * Ownership: takes `engine`; with the last owner the engine and its strings are gone. A decision does
 * not need its engine to live, only the strings do.
 * Thread-safe: yes. Allocates: no. Blocks: no. Cost: policy.
 */
ORBGATE_API
void orbgate_engine_free(struct OrbgateEngine *engine);

/**
 * The SHA-256 of the policy's canonical form: 32 bytes.
 *
 * Ownership: `out` has room for 32 bytes.
 * Thread-safe: yes. Allocates: no. Blocks: no. Cost: constant.
 */
ORBGATE_API
ORBGATE_NODISCARD
OrbgateStatus orbgate_engine_digest(const struct OrbgateEngine *engine,
                                    uint8_t *out);

/**
 * The same as a string: `sha256:` and 64 hexadecimal digits.
 *
 * Ownership: the string is the engine's and lives as long as it.
 * Thread-safe: yes. Allocates: no. Blocks: no. Cost: constant.
 */
ORBGATE_API
ORBGATE_NODISCARD
OrbgateStatus orbgate_engine_digest_string(const struct OrbgateEngine *engine,
                                           struct OrbgateStr *out);

/**
 * The policy's name; no string where it states none.
 *
 * Ownership: the string is the engine's and lives as long as it.
 * Thread-safe: yes. Allocates: no. Blocks: no. Cost: constant.
 */
ORBGATE_API
ORBGATE_NODISCARD
OrbgateStatus orbgate_engine_name(const struct OrbgateEngine *engine,
                                  struct OrbgateStr *out);

/**
 * Whether the text that the policy was compiled from ends in YAML's end marker, the line `...`: `*out` is 1 or 0.
 *
 * A document that is still being written, or that was cut short, may be a valid policy with fewer routes. It lacks the
 * marker, so refuse one without it where you reload files that change.
 *
 * Ownership: nothing.
 * Thread-safe: yes. Allocates: no. Blocks: no. Cost: constant.
 */
ORBGATE_API
ORBGATE_NODISCARD
OrbgateStatus orbgate_engine_has_end_marker(const struct OrbgateEngine *engine,
                                            uint8_t *out);

/**
 * Whether the end marker of that document carries a seal, `... # sha256:` and the digest of everything before that line: `*out` is
 * 1 or 0. It is 1 for the policy that is compiled into the library.
 *
 * A document with a wrong seal is no policy, so a sealed one is the document that was sealed: neither cut short, nor a mixture of two
 * versions, as writing over a file in place can leave it.
 *
 * Ownership: nothing.
 * Thread-safe: yes. Allocates: no. Blocks: no. Cost: constant.
 */
ORBGATE_API
ORBGATE_NODISCARD
OrbgateStatus orbgate_engine_is_sealed(const struct OrbgateEngine *engine,
                                       uint8_t *out);

/**
 * The whole table as one JSON document, as `orbgate table --format json` prints it:
 * `{"policy","name","target","apis":[{"name","token","organisation","scopes":[{"scope","permits","orbs",
 * "location","routes":[{"route","method","template","orbs","location"}]}]}],"headings"}`.
 *
 * Made when it is first asked for, by each thread that asks meanwhile; one of them is kept.
 *
 * Ownership: the string is the engine's and lives as long as it.
 * Thread-safe: yes. Allocates: yes. Blocks: yes. Cost: policy.
 */
ORBGATE_API
ORBGATE_NODISCARD
OrbgateStatus orbgate_engine_table_json(const struct OrbgateEngine *engine,
                                        struct OrbgateStr *out);

/**
 * Everything about an error but its single diagnostics.
 *
 * Ownership: the strings in `out` are the error's and live as long as it.
 * Thread-safe: yes. Allocates: no. Blocks: no. Cost: constant.
 */
ORBGATE_API
ORBGATE_NODISCARD
OrbgateStatus orbgate_error_info(const struct OrbgateError *error,
                                 struct OrbgateErrorInfo *out);

/**
 * One of the errors of a policy or a configuration, in the order of the file.
 *
 * Returns `ORBGATE_STATUS_NOT_FOUND` where `index` is not below `diagnostic_count`.
 *
 * Ownership: the string in `out` is the error's and lives as long as it.
 * Thread-safe: yes. Allocates: no. Blocks: no. Cost: constant.
 */
ORBGATE_API
ORBGATE_NODISCARD
OrbgateStatus orbgate_error_diagnostic(const struct OrbgateError *error,
                                       size_t index,
                                       struct OrbgateDiagnostic *out);

/**
 * Frees an error. Null is fine.
 *
 * Ownership: takes `error`; it and its strings are gone.
 * Thread-safe: yes. Allocates: no. Blocks: no. Cost: constant.
 */
ORBGATE_API
void orbgate_error_free(struct OrbgateError *error);

/**
 * What to fetch next; `*out` is null where there is nothing. Ask after each call, until there is nothing.
 *
 * Ownership: `*out` is the caller's, to free with `orbgate_fetch_free`.
 * Thread-safe: yes. Allocates: yes. Blocks: yes. Cost: constant.
 */
ORBGATE_API
ORBGATE_NODISCARD
OrbgateStatus orbgate_gate_next_fetch(const struct OrbgateGate *gate,
                                      uint64_t monotonic_ms,
                                      struct OrbgateFetch **out);

/**
 * What a fetch has brought: the status, the value of `Cache-Control` (several joined by commas) and the body, which may be left out
 * where the status is not 200. `*out` is what to fetch next for the same attempt, the keys after their address, or null: then the
 * attempt is over, and those who wait for it ask again. A report of an attempt that is over already changes nothing.
 *
 * Ownership: `*out` is the caller's, to free with `orbgate_fetch_free`. Everything else is only read.
 * Thread-safe: yes. Allocates: yes. Blocks: yes. Cost: keys.
 */
ORBGATE_API
ORBGATE_NODISCARD
OrbgateStatus orbgate_gate_fetched(const struct OrbgateGate *gate,
                                   uint64_t attempt,
                                   uint32_t http_status,
                                   const char *cache_control,
                                   size_t cache_control_len,
                                   const char *body,
                                   size_t body_len,
                                   uint64_t monotonic_ms,
                                   struct OrbgateFetch **out);

/**
 * A fetch has failed, for the reason of an `ORBGATE_FETCH_*` number. Its attempt is over, and those who wait for it ask again.
 *
 * Ownership: nothing.
 * Thread-safe: yes. Allocates: yes. Blocks: yes. Cost: constant.
 */
ORBGATE_API
ORBGATE_NODISCARD
OrbgateStatus orbgate_gate_fetch_failed(const struct OrbgateGate *gate,
                                        uint64_t attempt,
                                        uint32_t failure,
                                        uint64_t monotonic_ms);

/**
 * Whether what a step waits for is over, so that `orbgate_gate_resume` goes on: `*out` is 1 or 0. Ask after each report of a fetch,
 * and when `until_ms` has come. Any step other than `ORBGATE_STEP_WAIT` is an invalid argument.
 *
 * Ownership: nothing.
 * Thread-safe: yes. Allocates: no. Blocks: yes. Cost: constant.
 */
ORBGATE_API
ORBGATE_NODISCARD
OrbgateStatus orbgate_gate_is_over(const struct OrbgateGate *gate,
                                   const struct OrbgateStep *step,
                                   uint64_t monotonic_ms,
                                   uint8_t *out);

/**
 * Asks for every issuer's keys, as far as the options allow, so that the first token need not wait: fetch what
 * `orbgate_gate_next_fetch` has then. `orbgate_gate_status` says what came.
 *
 * Ownership: nothing.
 * Thread-safe: yes. Allocates: yes. Blocks: yes. Cost: constant.
 */
ORBGATE_API
ORBGATE_NODISCARD
OrbgateStatus orbgate_gate_warm(const struct OrbgateGate *gate,
                                uint64_t monotonic_ms);

/**
 * What a fetch is.
 *
 * Ownership: the string in `out` is the fetch's and lives as long as it.
 * Thread-safe: yes. Allocates: no. Blocks: no. Cost: constant.
 */
ORBGATE_API
ORBGATE_NODISCARD
OrbgateStatus orbgate_fetch_info(const struct OrbgateFetch *fetch,
                                 struct OrbgateFetchInfo *out);

/**
 * Frees a fetch. Null is fine.
 *
 * Ownership: takes `fetch`; its string is gone.
 * Thread-safe: yes. Allocates: no. Blocks: no. Cost: constant.
 */
ORBGATE_API
void orbgate_fetch_free(struct OrbgateFetch *fetch);

/**
 * Never again uses an issuer's key with this `kid`, even if the issuer still publishes it: for a key whose private half was
 * stolen. Tokens that name it are refused as `key_revoked`. An unknown issuer is `ORBGATE_STATUS_NOT_FOUND`.
 *
 * Ownership: nothing; everything is only read.
 * Thread-safe: yes. Allocates: yes. Blocks: no. Cost: constant.
 */
ORBGATE_API
ORBGATE_NODISCARD
OrbgateStatus orbgate_gate_revoke(const struct OrbgateGate *gate,
                                  const char *issuer,
                                  size_t issuer_len,
                                  const char *kid,
                                  size_t kid_len);

/**
 * Forgets an issuer's keys: for an issuer that has withdrawn a key before it expired. The next token waits for a fetch; until one
 * succeeds, every token of the issuer is refused. An unknown issuer is `ORBGATE_STATUS_NOT_FOUND`.
 *
 * Ownership: nothing; everything is only read.
 * Thread-safe: yes. Allocates: yes. Blocks: yes. Cost: constant.
 */
ORBGATE_API
ORBGATE_NODISCARD
OrbgateStatus orbgate_gate_forget(const struct OrbgateGate *gate,
                                  const char *issuer,
                                  size_t issuer_len);

/**
 * How each issuer's keys are, for logs and health checks.
 *
 * Ownership: `*out` is the caller's, to free with `orbgate_key_status_free`.
 * Thread-safe: yes. Allocates: yes. Blocks: no. Cost: constant.
 */
ORBGATE_API
ORBGATE_NODISCARD
OrbgateStatus orbgate_gate_status(const struct OrbgateGate *gate,
                                  struct OrbgateKeyStatus **out);

/**
 * How one issuer's keys are, in the order of the configuration. Returns `ORBGATE_STATUS_NOT_FOUND` where there are not more than
 * `index` issuers.
 *
 * Ownership: the strings in `out` are those of `status` and live as long as it.
 * Thread-safe: yes. Allocates: no. Blocks: no. Cost: constant.
 */
ORBGATE_API
ORBGATE_NODISCARD
OrbgateStatus orbgate_key_status_issuer(const struct OrbgateKeyStatus *status,
                                        size_t index,
                                        struct OrbgateIssuerStatus *out);

/**
 * Frees what `orbgate_gate_status` gave. Null is fine.
 *
 * Ownership: takes `status`; its strings are gone.
 * Thread-safe: yes. Allocates: no. Blocks: no. Cost: constant.
 */
ORBGATE_API
void orbgate_key_status_free(struct OrbgateKeyStatus *status);

/**
 * Makes a gate. `options` may be null: then all are the defaults. It has no keys yet: the first token waits for them, unless
 * `orbgate_gate_warm` has asked for them.
 *
 * `error` is used as by `orbgate_verifier_from_yaml`: an option that cannot be is `ORBGATE_STATUS_INVALID_CONFIGURATION`.
 *
 * Ownership: `*out` is the caller's, to free with `orbgate_gate_free`; `*error`, if it is set, with `orbgate_error_free`.
 * Everything else is only read.
 * Thread-safe: yes. Allocates: yes. Blocks: no. Cost: policy.
 */
ORBGATE_API
ORBGATE_NODISCARD
OrbgateStatus orbgate_gate_new(const struct OrbgateVerifier *verifier,
                               const struct OrbgateGateOptions *options,
                               struct OrbgateGate **out,
                               struct OrbgateError **error);

/**
 * Asks about a request, to be decided by this engine. After each call, fetch what `orbgate_gate_next_fetch` has, even when you
 * have the answer: keys are refreshed before they expire, without delaying requests.
 *
 * Nothing that a caller or an issuer does is another status than `ORBGATE_STATUS_OK`: a token whose keys cannot be had is a
 * denial.
 *
 * Ownership: `*out` is the caller's, to free with `orbgate_step_free` or to hand on; it does not need `request`. Everything else is
 * only read.
 * Thread-safe: yes. Allocates: yes. Blocks: yes. Cost: token.
 */
ORBGATE_API
ORBGATE_NODISCARD
OrbgateStatus orbgate_gate_ask(const struct OrbgateGate *gate,
                               const struct OrbgateEngine *engine,
                               const struct OrbgateGateRequest *request,
                               uint64_t unix_ms,
                               uint64_t monotonic_ms,
                               struct OrbgateStep **out);

/**
 * Asks again about a request whose wait is over. The engine may be a later one than that of `orbgate_gate_ask`. A step that is no
 * `ORBGATE_STEP_WAIT` is an invalid argument.
 *
 * Ownership: takes `step`, also on an error; `*out` is the caller's, to free with `orbgate_step_free` or to hand on.
 * Thread-safe: yes. Allocates: yes. Blocks: yes. Cost: token.
 */
ORBGATE_API
ORBGATE_NODISCARD
OrbgateStatus orbgate_gate_resume(const struct OrbgateGate *gate,
                                  const struct OrbgateEngine *engine,
                                  struct OrbgateStep *step,
                                  uint64_t unix_ms,
                                  uint64_t monotonic_ms,
                                  struct OrbgateStep **out);

/**
 * The answer, once the caller has checked a signature: `is_right` is 1 or 0. A step that is no `ORBGATE_STEP_CHECK_SIGNATURE` is an
 * invalid argument.
 *
 * Ownership: takes `step`, also on an error; `*out` is the caller's, to free with `orbgate_step_free`.
 * Thread-safe: yes. Allocates: yes. Blocks: no. Cost: token.
 */
ORBGATE_API
ORBGATE_NODISCARD
OrbgateStatus orbgate_gate_checked(const struct OrbgateGate *gate,
                                   const struct OrbgateEngine *engine,
                                   struct OrbgateStep *step,
                                   uint8_t is_right,
                                   uint64_t unix_ms,
                                   uint64_t monotonic_ms,
                                   struct OrbgateStep **out);

/**
 * Checks that no path fits both a public route of the gate and a route of this engine's policy: call it at the start, and before
 * a later engine takes the place of the current one. Until then, such a path needs its scope.
 *
 * `error` is used as by `orbgate_verifier_from_yaml`: an overlap is `ORBGATE_STATUS_INVALID_CONFIGURATION`.
 *
 * Ownership: `*error`, if it is set, is the caller's, to free with `orbgate_error_free`. Everything else is only read.
 * Thread-safe: yes. Allocates: yes. Blocks: no. Cost: policy.
 */
ORBGATE_API
ORBGATE_NODISCARD
OrbgateStatus orbgate_gate_check_engine(const struct OrbgateGate *gate,
                                        const struct OrbgateEngine *engine,
                                        struct OrbgateError **error);

/**
 * Frees a gate. Null is fine.
 *
 * Ownership: takes `gate`; its keys are gone, and steps that are left can only be freed.
 * Thread-safe: yes. Allocates: no. Blocks: no. Cost: constant.
 */
ORBGATE_API
void orbgate_gate_free(struct OrbgateGate *gate);

/**
 * Compares the routes of a service, a method and a template each, with those of a policy: call it at the start and in tests.
 * `templates_written` is an `ORBGATE_TEMPLATES_*` number. `*out` is null where they have the same routes.
 *
 * Ownership: `*out` is the caller's, to free with `orbgate_route_differences_free`. Everything else is only read; `methods` and
 * `path_templates` are arrays of `count` strings.
 * Thread-safe: yes. Allocates: yes. Blocks: no. Cost: policy.
 */
ORBGATE_API
ORBGATE_NODISCARD
OrbgateStatus orbgate_engine_check_routes(const struct OrbgateEngine *engine,
                                          const struct OrbgateStr *methods,
                                          const struct OrbgateStr *path_templates,
                                          size_t count,
                                          uint32_t templates_written,
                                          struct OrbgateRouteDifferences **out);

/**
 * The same with the public routes of a gate, and with templates written as its options say.
 *
 * Ownership: as `orbgate_engine_check_routes`.
 * Thread-safe: yes. Allocates: yes. Blocks: no. Cost: policy.
 */
ORBGATE_API
ORBGATE_NODISCARD
OrbgateStatus orbgate_gate_check_routes(const struct OrbgateGate *gate,
                                        const struct OrbgateEngine *engine,
                                        const struct OrbgateStr *methods,
                                        const struct OrbgateStr *path_templates,
                                        size_t count,
                                        struct OrbgateRouteDifferences **out);

/**
 * One of the differences: first those that the policy lacks, then those that the service lacks. Returns
 * `ORBGATE_STATUS_NOT_FOUND` where there are not more than `index`.
 *
 * Ownership: the strings in `out` are those of `differences` and live as long as it.
 * Thread-safe: yes. Allocates: no. Blocks: no. Cost: constant.
 */
ORBGATE_API
ORBGATE_NODISCARD
OrbgateStatus orbgate_route_difference(const struct OrbgateRouteDifferences *differences,
                                       size_t index,
                                       struct OrbgateRouteDifference *out);

/**
 * Frees what `orbgate_engine_check_routes` gave. Null is fine.
 *
 * Ownership: takes `differences`; its strings are gone.
 * Thread-safe: yes. Allocates: no. Blocks: no. Cost: constant.
 */
ORBGATE_API
void orbgate_route_differences_free(struct OrbgateRouteDifferences *differences);

/**
 * Whether a whole body is a JSON object that says `"allowBonusOrbsUse": true`, once: `*out` is 1 or 0. Then give the request the
 * flag `ORBGATE_ALLOW_BONUS_ORBS`.
 *
 * Ownership: nothing; `body` is only read.
 * Thread-safe: yes. Allocates: yes. Blocks: no. Cost: keys.
 */
ORBGATE_API
ORBGATE_NODISCARD
OrbgateStatus orbgate_allows_bonus_orbs(const char *body,
                                        size_t body_len,
                                        uint8_t *out);

/**
 * What a step says.
 *
 * Ownership: the strings and the scope set in `out` are the step's and live as long as it.
 * Thread-safe: yes. Allocates: no. Blocks: no. Cost: constant.
 */
ORBGATE_API
ORBGATE_NODISCARD
OrbgateStatus orbgate_step_info(const struct OrbgateStep *step,
                                struct OrbgateStepInfo *out);

/**
 * Frees a step, at any time: a request whose caller goes away leaves nothing. Null is fine.
 *
 * Ownership: takes `step`; its strings are gone.
 * Thread-safe: yes. Allocates: no. Blocks: no. Cost: constant.
 */
ORBGATE_API
void orbgate_step_free(struct OrbgateStep *step);

/**
 * Reads the text of a token configuration.
 *
 * `error` may be null. If it isn't and the call fails, `*error` contains every error of the configuration. Otherwise it stays
 * unchanged.
 *
 * Ownership: `*out` is the caller's, to free with `orbgate_verifier_free`; `*error`, if it is set, with
 * `orbgate_error_free`. `yaml` is only read.
 * Thread-safe: yes. Allocates: yes. Blocks: no. Cost: policy.
 */
ORBGATE_API
ORBGATE_NODISCARD
OrbgateStatus orbgate_verifier_from_yaml(const char *yaml,
                                         size_t yaml_len,
                                         struct OrbgateVerifier **out,
                                         struct OrbgateError **error);

/**
 * Frees a verifier. Null is fine.
 *
 * Ownership: takes `verifier`; gates made with it do not need it.
 * Thread-safe: yes. Allocates: no. Blocks: no. Cost: constant.
 */
ORBGATE_API
void orbgate_verifier_free(struct OrbgateVerifier *verifier);

/**
 * Makes a handle that holds an engine.
 *
 * Ownership: `*out` is the caller's, to free with `orbgate_handle_free`. The handle becomes one more
 * owner of `engine`; the caller keeps its own.
 * Thread-safe: yes. Allocates: yes. Blocks: no. Cost: constant.
 */
ORBGATE_API
ORBGATE_NODISCARD
OrbgateStatus orbgate_handle_new(const struct OrbgateEngine *engine,
                                 struct OrbgateHandle **out);

/**
 * Puts another engine into the handle. Calls under way end with the engine they began with.
 *
 * Ownership: the handle becomes one more owner of `engine`, and gives up the engine it held.
 * Thread-safe: yes. Allocates: once a thread. Blocks: no. Cost: policy.
 */
ORBGATE_API
ORBGATE_NODISCARD
OrbgateStatus orbgate_handle_store(const struct OrbgateHandle *handle,
                                   const struct OrbgateEngine *engine);

/**
 * The engine that the handle holds now, for several questions to one policy.
 *
 * Ownership: `*out` is the caller's, to free with `orbgate_engine_free`.
 * Thread-safe: yes. Allocates: once a thread. Blocks: no. Cost: constant.
 */
ORBGATE_API
ORBGATE_NODISCARD
OrbgateStatus orbgate_handle_load(const struct OrbgateHandle *handle,
                                  struct OrbgateEngine **out);

/**
 * Decides as `orbgate_engine_decide` does, with the engine that the handle holds now, without becoming an
 * owner of it. The decision's `policy` says which one it was. A scope set holds nothing for another
 * policy than its own, so a token's string is the safe choice across reloads. A call that began before its engine was
 * replaced may be the one that frees it, which is linear in the size of that policy.
 *
 * Ownership: nothing; everything is only read.
 * Thread-safe: yes. Allocates: once a thread. Blocks: no. Cost: decision.
 */
ORBGATE_API
ORBGATE_NODISCARD
OrbgateStatus orbgate_handle_decide(const struct OrbgateHandle *handle,
                                    const char *method,
                                    size_t method_len,
                                    const char *target,
                                    size_t target_len,
                                    const struct OrbgateToken *token,
                                    uint32_t flags,
                                    struct OrbgateDecision *out);

/**
 * Adds an owner to a handle and returns the same pointer; null for null.
 *
 * Ownership: the result is the caller's, to free with `orbgate_handle_free`.
 * Thread-safe: yes. Allocates: no. Blocks: no. Cost: constant.
 */
ORBGATE_API
ORBGATE_NODISCARD
struct OrbgateHandle *orbgate_handle_retain(const struct OrbgateHandle *handle);

/**
 * Takes an owner away from a handle; the last one frees it and gives up its engine. Null is fine.
 *
 * Ownership: takes `handle`.
 * Thread-safe: yes. Allocates: no. Blocks: no. Cost: policy.
 */
ORBGATE_API
void orbgate_handle_free(struct OrbgateHandle *handle);

/**
 * How many routes there are: their numbers go from 1 to this.
 *
 * Ownership: nothing.
 * Thread-safe: yes. Allocates: no. Blocks: no. Cost: constant.
 */
ORBGATE_API
ORBGATE_NODISCARD
OrbgateStatus orbgate_engine_route_count(const struct OrbgateEngine *engine,
                                         uint32_t *out);

/**
 * How many scopes there are: their numbers go from 1 to this, in the order of their names.
 *
 * Ownership: nothing.
 * Thread-safe: yes. Allocates: no. Blocks: no. Cost: constant.
 */
ORBGATE_API
ORBGATE_NODISCARD
OrbgateStatus orbgate_engine_scope_count(const struct OrbgateEngine *engine,
                                         uint32_t *out);

/**
 * The route of a number. `ORBGATE_STATUS_NOT_FOUND` if there is none.
 *
 * Ownership: the strings in `out` are the engine's and live as long as it.
 * Thread-safe: yes. Allocates: no. Blocks: no. Cost: constant.
 */
ORBGATE_API
ORBGATE_NODISCARD
OrbgateStatus orbgate_engine_route(const struct OrbgateEngine *engine,
                                   uint32_t number,
                                   struct OrbgateRoute *out);

/**
 * One of the methods that a route's template declares, its own among them, in alphabetical order: what
 * the `Allow` header of a 405 lists. `ORBGATE_STATUS_NOT_FOUND` after the last.
 *
 * Ownership: the string is the engine's and lives as long as it.
 * Thread-safe: yes. Allocates: no. Blocks: no. Cost: constant.
 */
ORBGATE_API
ORBGATE_NODISCARD
OrbgateStatus orbgate_engine_route_method(const struct OrbgateEngine *engine,
                                          uint32_t number,
                                          size_t index,
                                          struct OrbgateStr *out);

/**
 * The scope of a number. `ORBGATE_STATUS_NOT_FOUND` if there is none.
 *
 * Ownership: the strings in `out` are the engine's and live as long as it.
 * Thread-safe: yes. Allocates: no. Blocks: no. Cost: constant.
 */
ORBGATE_API
ORBGATE_NODISCARD
OrbgateStatus orbgate_engine_scope(const struct OrbgateEngine *engine,
                                   uint32_t number,
                                   struct OrbgateScope *out);

/**
 * The id of the route that the policy writes with this method and this template, the api's base path
 * included, as in `GET` and `/api/v1/external/voxies/{voxieId}`. For a server's start: then each request
 * asks `orbgate_engine_decide_route`, and no string crosses.
 *
 * Returns `ORBGATE_STATUS_NOT_FOUND` where the policy has no such route.
 *
 * Ownership: nothing; everything is only read.
 * Thread-safe: yes. Allocates: no. Blocks: no. Cost: policy.
 */
ORBGATE_API
ORBGATE_NODISCARD
OrbgateStatus orbgate_engine_find_route(const struct OrbgateEngine *engine,
                                        const char *method,
                                        size_t method_len,
                                        const char *path_template,
                                        size_t path_template_len,
                                        struct OrbgateRouteId *out);

/**
 * A status's name, as in `invalid_argument`; no string for an unknown number.
 *
 * Ownership: the string is static.
 * Thread-safe: yes. Allocates: no. Blocks: no. Cost: constant.
 */
ORBGATE_API
struct OrbgateStr orbgate_status_name(int32_t status);

/**
 * An effect's name, `allow` or `deny`; no string for any other number.
 *
 * Ownership: the string is static.
 * Thread-safe: yes. Allocates: no. Blocks: no. Cost: constant.
 */
ORBGATE_API
struct OrbgateStr orbgate_effect_name(uint8_t effect);

/**
 * A reason's name, as in `scope_missing`; no string for an unknown number.
 *
 * Ownership: the string is static.
 * Thread-safe: yes. Allocates: no. Blocks: no. Cost: constant.
 */
ORBGATE_API
struct OrbgateStr orbgate_reason_name(uint8_t reason);

/**
 * A sentence that explains a reason; no string for an unknown number.
 *
 * Ownership: the string is static.
 * Thread-safe: yes. Allocates: no. Blocks: no. Cost: constant.
 */
ORBGATE_API
struct OrbgateStr orbgate_reason_explanation(uint8_t reason);

/**
 * The HTTP status of a denial for this reason; 0 for reasons that allow and for unknown numbers.
 *
 * Ownership: nothing.
 * Thread-safe: yes. Allocates: no. Blocks: no. Cost: constant.
 */
ORBGATE_API
uint16_t orbgate_reason_http_status(uint8_t reason);

/**
 * A detail's name, as in `empty_segment`; no string for an unknown number.
 *
 * Ownership: the string is static.
 * Thread-safe: yes. Allocates: no. Blocks: no. Cost: constant.
 */
ORBGATE_API
struct OrbgateStr orbgate_detail_name(uint8_t detail);

/**
 * A sentence that explains a detail; no string for an unknown number.
 *
 * Ownership: the string is static.
 * Thread-safe: yes. Allocates: no. Blocks: no. Cost: constant.
 */
ORBGATE_API
struct OrbgateStr orbgate_detail_explanation(uint8_t detail);

/**
 * The token kind of a name, `user` or `organisation`; any other string is
 * `ORBGATE_TOKEN_KIND_UNKNOWN`, which is denied.
 *
 * Ownership: nothing; `name` is only read.
 * Thread-safe: yes. Allocates: no. Blocks: no. Cost: constant.
 */
ORBGATE_API
ORBGATE_NODISCARD
OrbgateStatus orbgate_token_kind_from_name(const char *name,
                                           size_t name_len,
                                           uint32_t *out);

/**
 * Puts a decision into words. One that no engine of this policy can have made is an invalid argument.
 *
 * Ownership: the strings in `out` are static or the engine's and live as long as it.
 * Thread-safe: yes. Allocates: no. Blocks: no. Cost: constant.
 */
ORBGATE_API
ORBGATE_NODISCARD
OrbgateStatus orbgate_engine_decision_strings(const struct OrbgateEngine *engine,
                                              const struct OrbgateDecision *decision,
                                              struct OrbgateDecisionStrings *out);

/**
 * What the `Allow` header of a 405 lists: the methods that the request's path declares, in alphabetical order, as in
 * `GET, POST`. No string where the reason is not `method_not_declared`: then the answer has no such header.
 *
 * A decision that no engine of this policy can have made is an invalid argument.
 *
 * Ownership: the string is the engine's and lives as long as it.
 * Thread-safe: yes. Allocates: no. Blocks: no. Cost: constant.
 */
ORBGATE_API
ORBGATE_NODISCARD
OrbgateStatus orbgate_engine_declared_methods(const struct OrbgateEngine *engine,
                                              const struct OrbgateDecision *decision,
                                              struct OrbgateStr *out);

/**
 * Unpacks a decision that an engine of the same policy has made; the amount comes from the policy.
 *
 * A value with effect 0 gives its status; one that no engine of this policy can have made is an
 * invalid argument.
 *
 * Ownership: nothing.
 * Thread-safe: yes. Allocates: no. Blocks: no. Cost: constant.
 */
ORBGATE_API
ORBGATE_NODISCARD
OrbgateStatus orbgate_engine_unpack(const struct OrbgateEngine *engine,
                                    uint64_t packed,
                                    struct OrbgateDecision *out);

/**
 * Interns the scopes of a token, separated by spaces. Those that the policy does not have are dropped.
 *
 * Ownership: `*out` is the caller's, to free with `orbgate_scope_set_free`; it does not need the
 * engine. `scopes` is only read.
 * Thread-safe: yes. Allocates: yes. Blocks: no. Cost: decision.
 */
ORBGATE_API
ORBGATE_NODISCARD
OrbgateStatus orbgate_scope_set_from_string(const struct OrbgateEngine *engine,
                                            const char *scopes,
                                            size_t scopes_len,
                                            struct OrbgateScopeSet **out);

/**
 * Interns scopes that come one by one, as from a JSON array. Each is one scope as it is: one with
 * a space in it is in no policy.
 *
 * Ownership: `*out` is the caller's, to free with `orbgate_scope_set_free`; it does not need the
 * engine. `scopes` is an array of `scope_count` strings and only read.
 * Thread-safe: yes. Allocates: yes. Blocks: no. Cost: decision.
 */
ORBGATE_API
ORBGATE_NODISCARD
OrbgateStatus orbgate_scope_set_from_list(const struct OrbgateEngine *engine,
                                          const struct OrbgateStr *scopes,
                                          size_t scope_count,
                                          struct OrbgateScopeSet **out);

/**
 * Adds an owner to a scope set and returns the same pointer; null for null.
 *
 * Ownership: the result is the caller's, to free with `orbgate_scope_set_free`.
 * Thread-safe: yes. Allocates: no. Blocks: no. Cost: constant.
 */
ORBGATE_API
ORBGATE_NODISCARD
struct OrbgateScopeSet *orbgate_scope_set_retain(const struct OrbgateScopeSet *set);

/**
 * Takes an owner away from a scope set; the last one frees it. Null is fine.
 *
 * Ownership: takes `set`.
 * Thread-safe: yes. Allocates: no. Blocks: no. Cost: constant.
 */
ORBGATE_API
void orbgate_scope_set_free(struct OrbgateScopeSet *set);

/**
 * The ABI version of the library: compare it with `ORBGATE_ABI_VERSION` of the header, or call
 * `orbgate_check_abi`.
 *
 * Ownership: nothing.
 * Thread-safe: yes. Allocates: no. Blocks: no. Cost: constant.
 */
ORBGATE_API
uint32_t orbgate_abi_version(void);

/**
 * The version of the library as a string, as in `0.1.0`.
 *
 * Ownership: the string is static.
 * Thread-safe: yes. Allocates: no. Blocks: no. Cost: constant.
 */
ORBGATE_API
struct OrbgateStr orbgate_version(void);

/**
 * The version of the library as one number, made like `ORBGATE_VERSION_NUMBER` of the header.
 *
 * Ownership: nothing.
 * Thread-safe: yes. Allocates: no. Blocks: no. Cost: constant.
 */
ORBGATE_API
uint32_t orbgate_version_number(void);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#ifdef __cplusplus
#include <cstring>
#else
#include <string.h>
#endif

/* Structs that begin with struct_size, empty: `OrbgateToken token = orbgate_token_init();` and so on. */
#define ORBGATE_DEFINE_INIT(type, name)        \
    static inline type name(void)              \
    {                                          \
        type value;                            \
        memset(&value, 0, sizeof value);       \
        value.struct_size = (uint32_t)sizeof value; \
        return value;                          \
    }
ORBGATE_DEFINE_INIT(OrbgateToken, orbgate_token_init)
ORBGATE_DEFINE_INIT(OrbgateBatch, orbgate_batch_init)
ORBGATE_DEFINE_INIT(OrbgateDecisionStrings, orbgate_decision_strings_init)
ORBGATE_DEFINE_INIT(OrbgateRoute, orbgate_route_init)
ORBGATE_DEFINE_INIT(OrbgateScope, orbgate_scope_init)
ORBGATE_DEFINE_INIT(OrbgateErrorInfo, orbgate_error_info_init)
ORBGATE_DEFINE_INIT(OrbgateDiagnostic, orbgate_diagnostic_init)
ORBGATE_DEFINE_INIT(OrbgateGateOptions, orbgate_gate_options_init)
ORBGATE_DEFINE_INIT(OrbgateGateRequest, orbgate_gate_request_init)
ORBGATE_DEFINE_INIT(OrbgateStepInfo, orbgate_step_info_init)
ORBGATE_DEFINE_INIT(OrbgateFetchInfo, orbgate_fetch_info_init)
ORBGATE_DEFINE_INIT(OrbgateIssuerStatus, orbgate_issuer_status_init)
ORBGATE_DEFINE_INIT(OrbgateRouteDifference, orbgate_route_difference_init)
#undef ORBGATE_DEFINE_INIT

/* The arguments of `"%.*s"` for an OrbgateStr in a variable: a call, which would run thrice, does not compile. */
#define ORBGATE_STR_ARGS(text) (int)(&(text))->len, (&(text))->data != NULL ? (&(text))->data : ""

/*
 * The pointer and the length of a string literal: ORBGATE_TEXT("GET"). Nothing else compiles, so that nothing is
 * evaluated twice; for a string in a variable write `name, strlen(name)`.
 */
#define ORBGATE_TEXT(literal) ("" literal), (sizeof(literal) - 1)

/* Whether the library has everything that this header declares. Ask once, at the start. */
static inline bool orbgate_check_abi(void)
{
    uint32_t abi = orbgate_abi_version();
    return abi >> 16 == ORBGATE_ABI_MAJOR && abi >= ORBGATE_ABI_VERSION;
}

/* Whether a decision lets the call through. Nothing else does. */
static inline bool orbgate_decision_is_allow(const OrbgateDecision *decision)
{
    return decision != NULL && decision->effect == ORBGATE_EFFECT_ALLOW;
}

/*
 * A packed decision, from its lowest bit. No field crosses the middle, and the whole stays below 2^53.
 *
 *   bits  0 to  1  effect, 0 where the call failed
 *   bits  2 to  5  charge
 *   bits  6 to 13  detail
 *   bits 14 to 31  route
 *   bits 32 to 47  scope
 *   bits 48 to 52  reason; with effect 0 the status
 *
 * The fields are those of OrbgateDecision; orbgate_engine_unpack adds amount, HTTP status and policy. With
 * ORBGATE_PACK_ABOUT the route of a decision for no_token or invalid_token is OrbgateDecision.about, and is there
 * when it is unpacked.
 */
static inline bool orbgate_packed_is_allow(uint64_t packed)
{
    return (packed & 3u) == ORBGATE_EFFECT_ALLOW;
}

static inline uint8_t orbgate_packed_effect(uint64_t packed)
{
    return (uint8_t)(packed & 3u);
}

static inline uint8_t orbgate_packed_charge(uint64_t packed)
{
    return (uint8_t)(packed >> 2 & 15u);
}

static inline uint8_t orbgate_packed_detail(uint64_t packed)
{
    return (uint8_t)(packed >> 6 & 255u);
}

static inline uint32_t orbgate_packed_route(uint64_t packed)
{
    return (uint32_t)(packed >> 14 & 0x3ffffu);
}

static inline uint16_t orbgate_packed_scope(uint64_t packed)
{
    return (uint16_t)(packed >> 32 & 0xffffu);
}

/* The reason; 0 where the call failed. */
static inline uint8_t orbgate_packed_reason(uint64_t packed)
{
    return (packed & 3u) == 0 ? (uint8_t)0 : (uint8_t)(packed >> 48 & 31u);
}

/* The OrbgateStatus of the call: ORBGATE_STATUS_OK where there is a decision. */
static inline int32_t orbgate_packed_status(uint64_t packed)
{
    return (packed & 3u) == 0 ? (int32_t)(packed >> 48 & 31u) : 0;
}

#endif /* ORBGATE_H */
