/*
 * Gates: what a gate is asked and answers, set and read field by field over the one call `orbgate_gate_ask`.
 *
 * Made of crates/orbgate-generate/shapes.txt by `cargo xtask codes`; not to be edited.
 *
 *   uint64_t gate = ..., step = 0;
 *   OrbgateQuestion question = orbgate_question_init();
 *   OrbgateMessage answer;
 *   orbgate_ask_begin(&question);
 *   orbgate_ask_set_method(&question, ORBGATE_TEXT("GET"));
 *   ...
 *   if (orbgate_gate_send(&gate, engine, &step, &question, &answer) == ORBGATE_STATUS_OK && orbgate_answer_is_allow(&answer)) ...
 *
 * - A question serves one question after another: `begin` starts it, `set` sets a field, once, and `add` adds an item to a list. What
 *   isn't set is 0, false or empty. Setters copy. A wrong argument, no room left or a setter of another question makes the whole
 *   question wrong, and then sending it gives ORBGATE_STATUS_INVALID_ARGUMENT. So only that status needs a check.
 * - An answer is checked when it arrives, with everything in it. If it has something critical that this header doesn't know, the
 *   status is ORBGATE_STATUS_INVALID_ARGUMENT: deny and end the step, as with any other status.
 * - Getters of another kind of answer, and of one that isn't there, return 0, false or no string. Strings lie in the memory of the
 *   question: they are valid until it is sent again or freed, so the next question can be made of them.
 * - Null is fine for questions and answers everywhere. Nothing locks: a question or answer belongs to one thread at a time.
 *
 * docs/messages.md describes every message. What begins with `orbgate_wire_`, and the macros that declare functions, are details.
 */
#ifndef ORBGATE_GATE_H
#define ORBGATE_GATE_H

#include "orbgate.h"

#include <stdlib.h>

/* The largest question, with a token configuration; others have at most 2,097,152 bytes. */
#define ORBGATE_MAX_MESSAGE_BYTES 10485760u

/* One more than the highest number of a field of an answer. */
#define ORBGATE_WIRE_FIELDS 15u
/* The form of a field: one of these; or that of a part, whose kind follows; and whether it is a list or critical. */
#define ORBGATE_WIRE_INTEGER 1u
#define ORBGATE_WIRE_BOOLEAN 2u
#define ORBGATE_WIRE_BYTES 3u
#define ORBGATE_WIRE_PART 8u
#define ORBGATE_WIRE_LIST 64u
#define ORBGATE_WIRE_CRITICAL 128u

/* A question to a gate. */
typedef struct OrbgateQuestion {
    char *data; /* The message so far. */
    size_t len; /* Its bytes. */
    size_t room; /* The memory at `data`. */
    char *answer; /* The memory of its answer. */
    size_t answer_room; /* Its bytes. */
    uint32_t number; /* Which question it is; 0 if it isn't one. */
    bool grows; /* Whether the memory grows. */
} OrbgateQuestion;

/* An answer of a gate, or a part of one. */
typedef struct OrbgateMessage {
    uint32_t kind; /* An ORBGATE_MESSAGE_* number for an answer, which is above its getters; 0 without a message. */
    OrbgateStr bytes; /* Its bytes. */
    OrbgateStr fields[ORBGATE_WIRE_FIELDS]; /* Those of the fields that it has at most once. */
} OrbgateMessage;

/* A question with memory of its own, which grows. Free it with `orbgate_question_free`. */
static inline OrbgateQuestion orbgate_question_init(void)
{
    const OrbgateQuestion question = {NULL, 0, 0, NULL, 0, 0, true};
    return question;
}

/* A question and its answer in memory of the caller, without any allocation. */
static inline OrbgateQuestion orbgate_question_in(char *room, size_t size, char *answer, size_t answer_size)
{
    const OrbgateQuestion question = {room, 0, room == NULL ? 0 : size, answer, answer == NULL ? 0 : answer_size, 0, false};
    return question;
}

/* Frees the memory of `orbgate_question_init`. The question can be used again. */
static inline void orbgate_question_free(OrbgateQuestion *question)
{
    if (question != NULL && question->grows) {
        free(question->data);
        free(question->answer);
        *question = orbgate_question_init();
    }
}

/* Compilers make one instruction of it, where the machine is little-endian. */
static inline void orbgate_wire_write(char *to, uint32_t value)
{
    to[0] = (char)(unsigned char)(value & 0xffu);
    to[1] = (char)(unsigned char)(value >> 8 & 0xffu);
    to[2] = (char)(unsigned char)(value >> 16 & 0xffu);
    to[3] = (char)(unsigned char)(value >> 24);
}

static inline uint32_t orbgate_wire_word(const char *from)
{
    return (uint32_t)(unsigned char)from[0] | (uint32_t)(unsigned char)from[1] << 8 | (uint32_t)(unsigned char)from[2] << 16
           | (uint32_t)(unsigned char)from[3] << 24;
}

static inline bool orbgate_wire_grow(char **data, size_t *room, size_t least)
{
    const size_t size = least < 1024 ? 1024 : least;
    char *const grown = (char *)realloc(*data, size);
    *data = grown == NULL ? *data : grown;
    *room = grown == NULL ? *room : size;
    return grown != NULL;
}

/* Adds a field with a copy of these bytes, if it is there. */
static inline void orbgate_wire_add(OrbgateQuestion *to, uint32_t question, uint32_t number, bool is_there, const char *value, size_t len)
{
    if (to == NULL || (!is_there && to->number == question)) {
        return;
    }
    if (to->number != question || (value == NULL && len > 0) || to->len > ORBGATE_MAX_MESSAGE_BYTES - 8
        || len > ORBGATE_MAX_MESSAGE_BYTES - 8 - to->len
        || (len + 8 > to->room - to->len && !(to->grows && orbgate_wire_grow(&to->data, &to->room, 2 * (to->len + len + 8))))) {
        to->number = 0;
        return;
    }
    orbgate_wire_write(to->data + to->len, number);
    orbgate_wire_write(to->data + to->len + 4, (uint32_t)len);
    if (len > 0) {
        memcpy(to->data + to->len + 8, value, len);
    }
    to->len += len + 8;
    orbgate_wire_write(to->data + 4, (uint32_t)(to->len - 8));
}

static inline void orbgate_wire_begin(OrbgateQuestion *to, uint32_t question)
{
    if (to != NULL) {
        to->len = 0;
        to->number = question;
        orbgate_wire_add(to, question, question, true, NULL, 0);
    }
}

static inline void orbgate_wire_set_integer(OrbgateQuestion *to, uint32_t question, uint32_t number, uint64_t value)
{
    char bytes[8];
    orbgate_wire_write(bytes, (uint32_t)(value & 0xffffffffu));
    orbgate_wire_write(bytes + 4, (uint32_t)(value >> 32));
    orbgate_wire_add(to, question, number, value != 0, bytes, sizeof bytes);
}

/* Begins a part, whose fields follow; `orbgate_wire_end` takes what this returns. */
static inline size_t orbgate_wire_part(OrbgateQuestion *to, uint32_t question, uint32_t number)
{
    orbgate_wire_add(to, question, number, true, NULL, 0);
    return to == NULL ? 0 : to->len;
}

static inline void orbgate_wire_end(OrbgateQuestion *to, size_t part)
{
    if (to != NULL && to->number != 0) {
        orbgate_wire_write(to->data + part - 4, (uint32_t)(to->len - part));
    }
}

/*
 * The functions of each message. A line declares one: `ORBGATE_SET_STR(orbgate_ask_set_method, 3, 1)` is the function
 * `void orbgate_ask_set_method(OrbgateQuestion *to, const char *value, size_t len)` for field 1 of message 3.
 */
#define ORBGATE_BEGIN(name, message) \
    static inline void name(OrbgateQuestion *to) { orbgate_wire_begin(to, message##u); }
#define ORBGATE_SET_STR(name, message, field) \
    static inline void name(OrbgateQuestion *to, const char *value, size_t len) \
    { orbgate_wire_add(to, message##u, field##u, len > 0, value, len); }
#define ORBGATE_SET_INT(name, message, field) \
    static inline void name(OrbgateQuestion *to, uint64_t value) { orbgate_wire_set_integer(to, message##u, field##u, value); }
#define ORBGATE_SET_BOOL(name, message, field) \
    static inline void name(OrbgateQuestion *to, bool value) { orbgate_wire_add(to, message##u, field##u, value, NULL, 0); }
#define ORBGATE_ADD_STR(name, message, field) \
    static inline void name(OrbgateQuestion *to, const char *value, size_t len) \
    { orbgate_wire_add(to, message##u, field##u, true, value, len); }
/* Adds an item of two strings. */
#define ORBGATE_ADD_PAIR(name, message, field, one, two) \
    static inline void name(OrbgateQuestion *to, const char *one, size_t one##_len, const char *two, size_t two##_len) \
    { \
        const size_t part = orbgate_wire_part(to, message##u, field##u); \
        orbgate_wire_add(to, message##u, 1u, one##_len > 0, one, one##_len); \
        orbgate_wire_add(to, message##u, 2u, two##_len > 0, two, two##_len); \
        orbgate_wire_end(to, part); \
    }
/* Adds an item that has a string, or none if the pointer is null. */
#define ORBGATE_ADD_OPTIONAL(name, message, field) \
    static inline void name(OrbgateQuestion *to, const char *value, size_t len) \
    { \
        const size_t part = orbgate_wire_part(to, message##u, field##u); \
        orbgate_wire_add(to, message##u, 1u, value != NULL || len > 0, value, len); \
        orbgate_wire_end(to, part); \
    }

ORBGATE_BEGIN(orbgate_sources_begin, 1) /* Asks which secrets a token configuration needs. Answered by `SecretSources` or `Failed`. */
ORBGATE_SET_STR(orbgate_sources_set_tokens, 1, 1) /* The token configuration, in YAML. */

ORBGATE_BEGIN(orbgate_make_begin, 2) /* Makes a gate. Answered by `Done` or `Failed`; after `Done`, `*gate` is its handle. */
ORBGATE_SET_STR(orbgate_make_set_tokens, 2, 1) /* The token configuration, in YAML: which tokens are accepted. */
ORBGATE_SET_BOOL(orbgate_make_set_flat_403, 2, 2) /* Every denial has the status 403, so an unknown route looks like a missing scope. */
ORBGATE_SET_BOOL(orbgate_make_set_ignore_method_override, 2, 3) /* No header can override a `POST`. Unsafe if the service follows such headers. */
ORBGATE_SET_BOOL(orbgate_make_set_signatures_outside, 2, 4) /* The host checks signatures. A library without cryptography requires it. */
ORBGATE_SET_BOOL(orbgate_make_set_no_stale_keys, 2, 5) /* No key is used after its time; `max_stale_ms` must be 0. */
ORBGATE_SET_BOOL(orbgate_make_set_introspection, 2, 6) /* The host sends calls that have a body, which issuers of opaque tokens need. */
ORBGATE_SET_INT(orbgate_make_set_challenge, 2, 7) /* An `ORBGATE_CHALLENGE_*` number: the `WWW-Authenticate` header of denials. */
ORBGATE_SET_INT(orbgate_make_set_templates, 2, 8) /* An `ORBGATE_TEMPLATES_*` number: the router's syntax for parameters. */
ORBGATE_SET_INT(orbgate_make_set_cors_preflight, 2, 9) /* An `ORBGATE_CORS_PREFLIGHT_*` number: how a CORS preflight is decided. */
ORBGATE_SET_STR(orbgate_make_set_realm, 2, 10) /* The realm of a full challenge: printable ASCII without `"` and `\`. */
ORBGATE_SET_STR(orbgate_make_set_resource_metadata, 2, 11) /* The `https` URL of the service's metadata in a full challenge (RFC 9728). */
ORBGATE_SET_INT(orbgate_make_set_ttl_ms, 2, 12) /* How long keys are fresh if the issuer sends no usable `Cache-Control`. 0 selects 600 s. */
ORBGATE_SET_INT(orbgate_make_set_ttl_min_ms, 2, 13) /* The shortest time that an issuer can set. 0 selects 60 s. */
ORBGATE_SET_INT(orbgate_make_set_ttl_max_ms, 2, 14) /* The longest time that an issuer can set. 0 selects 3,600 s. */
ORBGATE_SET_INT(orbgate_make_set_ahead_percent, 2, 15) /* The percentage of keys' time after which a token starts a call ahead. 0 selects 80. */
ORBGATE_SET_INT(orbgate_make_set_max_stale_ms, 2, 16) /* How long stale keys are used if new ones can't be fetched. 0 selects 3,600 s. */
ORBGATE_SET_INT(orbgate_make_set_cooldown_ms, 2, 17) /* The time between two attempts. 0 selects 30 s. */
ORBGATE_SET_INT(orbgate_make_set_burst, 2, 18) /* How many attempts tokens with unknown keys can start at once and per cooldown. 0 selects 4. */
ORBGATE_SET_INT(orbgate_make_set_retry_ms, 2, 19) /* The time between two attempts while there are no keys. 0 selects 1 s. */
ORBGATE_SET_INT(orbgate_make_set_timeout_ms, 2, 20) /* The time limit for one attempt. 0 selects 5 s. */
ORBGATE_ADD_STR(orbgate_make_add_public_route, 2, 21) /* Routes that need no token, as in a policy with the whole path: `GET /healthz`. */
ORBGATE_ADD_OPTIONAL(orbgate_make_add_secret, 2, 22) /* Secrets in the order of `SecretSources`. Empty: the library reads them all. */
ORBGATE_SET_STR(orbgate_make_set_mcp, 2, 23) /* The path of an MCP endpoint, whose requests are decided by the operations in their bodies. */
ORBGATE_SET_STR(orbgate_make_set_mcp_initial_scopes, 2, 24) /* The scopes that a client without a token should ask for, separated by spaces. */
ORBGATE_SET_INT(orbgate_make_set_mcp_most_bytes, 2, 25) /* The longest body of the endpoint, at most 8 MiB. 0 selects 4 MiB. */
ORBGATE_SET_BOOL(orbgate_make_set_mcp_deny_legacy, 2, 26) /* Requests of protocol versions without the headers of MCP are denied. */
ORBGATE_SET_STR(orbgate_make_set_metadata, 2, 27) /* The URL of the protected resource, whose metadata (RFC 9728) the gate serves. */
ORBGATE_ADD_STR(orbgate_make_add_mcp_origin, 2, 28) /* Origins whose pages may call the endpoint and read its responses: `https://app.example`. */
ORBGATE_SET_BOOL(orbgate_make_set_mcp_charge_sessions, 2, 29) /* Calls in sessions are charged however they end, not denied. */
ORBGATE_SET_BOOL(orbgate_make_set_proofs, 2, 30) /* `Ask` has what proves a token. Without it, a configuration with `proof` is refused. */

ORBGATE_BEGIN(orbgate_ask_begin, 3) /* Starts a request as received. Answered by `Answer`, `Wait`, `CheckSignature`, `ReadBody` or `Charge`. */
ORBGATE_SET_STR(orbgate_ask_set_method, 3, 1) /* The method. */
ORBGATE_SET_STR(orbgate_ask_set_target, 3, 2) /* The target: path and query, in the bytes of the request line or of `:path`. */
ORBGATE_ADD_STR(orbgate_ask_add_authorization, 3, 3) /* Every value of `Authorization`, one item for each header line. */
ORBGATE_ADD_STR(orbgate_ask_add_header_name, 3, 4) /* The names of all headers, or at least those that contain `method`, in any letter case. */
ORBGATE_ADD_STR(orbgate_ask_add_upgrade, 3, 5) /* Every value of `Upgrade`. A request that lists `h2c` is denied. */
ORBGATE_ADD_STR(orbgate_ask_add_origin, 3, 6) /* Every value of `Origin`. */
ORBGATE_ADD_STR(orbgate_ask_add_access_control_request_method, 3, 7) /* Every value of `Access-Control-Request-Method`. */
ORBGATE_SET_INT(orbgate_ask_set_matched, 3, 8) /* An `ORBGATE_MATCHED_*` number: what a router before the gate has chosen. */
ORBGATE_SET_STR(orbgate_ask_set_path_template, 3, 9) /* With `ORBGATE_MATCHED_TEMPLATE`, that template with any prefix, in the gate's syntax. */
ORBGATE_SET_BOOL(orbgate_ask_set_allow_bonus_orbs, 3, 10) /* The request allows bonus orbs. */
ORBGATE_SET_BOOL(orbgate_ask_set_with_audit, 3, 11) /* The answer has a line for an audit log. */
ORBGATE_SET_BOOL(orbgate_ask_set_holds_thread, 3, 12) /* A thread blocks while it waits: only one such request waits longer than a second. */
ORBGATE_SET_INT(orbgate_ask_set_unix_ms, 3, 13) /* The time since 1970, which determines whether tokens are valid. */
ORBGATE_SET_INT(orbgate_ask_set_monotonic_ms, 3, 14) /* The time on the monotonic clock, which determines when keys are fetched. */
ORBGATE_SET_BOOL(orbgate_ask_set_reads_bonus_orbs, 3, 15) /* The host reads `allow_bonus_orbs`, so the audit's `bonus_allowed` isn't null. */
ORBGATE_ADD_STR(orbgate_ask_add_dpop, 3, 16) /* Every value of `DPoP`, one item for each header line. */
ORBGATE_SET_STR(orbgate_ask_set_certificate, 3, 17) /* The client's certificate of the connection, in DER; empty without one. */
ORBGATE_SET_BOOL(orbgate_ask_set_repeats, 3, 18) /* The same request was allowed before: the token's proof isn't used again. */
ORBGATE_SET_BOOL(orbgate_ask_set_charges, 3, 20) /* A ledger must hold the call's orbs: if it consumes, answered by `Charge`, or by a denial. */
ORBGATE_SET_BOOL(orbgate_ask_set_has_amount, 3, 21) /* A function has returned how many orbs the call consumes; otherwise the policy states it. */
ORBGATE_SET_INT(orbgate_ask_set_amount, 3, 22) /* What the function has returned. 0 holds nothing. */
ORBGATE_SET_INT(orbgate_ask_set_unpaid, 3, 23) /* The `unpaid` of a `HoldStep` that has denied the call: answered by its denial. */
ORBGATE_SET_INT(orbgate_ask_set_retry_after_ms, 3, 24) /* That of the same `HoldStep`. */
ORBGATE_SET_BOOL(orbgate_ask_set_amount_failed, 3, 25) /* The function has failed, so the call is denied. */
ORBGATE_SET_BOOL(orbgate_ask_set_keeps, 3, 26) /* After an allow that consumes, and after `Charge`, the step keeps the token for `again`. */
ORBGATE_SET_BOOL(orbgate_ask_set_again, 3, 27) /* The request of the last answer: its token isn't verified again, the rest counts as it is. */
ORBGATE_SET_STR(orbgate_ask_set_hold, 3, 28) /* With `charges`, the `id` of the `Hold` that follows: 16 random bytes. `Charge` names it. */
ORBGATE_ADD_STR(orbgate_ask_add_access_control_request_header, 3, 29) /* Every value of `Access-Control-Request-Headers`, for an MCP endpoint. */

ORBGATE_BEGIN(orbgate_resume_begin, 4) /* Resumes a step after its `Wait` is over. The engine can be a later one. Answered like `Ask`. */
ORBGATE_SET_INT(orbgate_resume_set_unix_ms, 4, 1) /* The time since 1970. */
ORBGATE_SET_INT(orbgate_resume_set_monotonic_ms, 4, 2) /* The time on the monotonic clock. */

ORBGATE_BEGIN(orbgate_checked_begin, 5) /* Resumes a step after its signature was checked. Answered like `Ask`, without `Wait`. */
ORBGATE_SET_BOOL(orbgate_checked_set_is_right, 5, 1) /* The signature is valid. */
ORBGATE_SET_INT(orbgate_checked_set_token_hash, 5, 2) /* The first 8 bytes of the token's SHA-256 hash, or 0 if the library must hash it. */
ORBGATE_SET_INT(orbgate_checked_set_unix_ms, 5, 3) /* The time since 1970. */
ORBGATE_SET_INT(orbgate_checked_set_monotonic_ms, 5, 4) /* The time on the monotonic clock. */

ORBGATE_BEGIN(orbgate_is_over_begin, 6) /* Asks whether a step's wait is over, after each report and at `until_ms`. Answered by `Over`. */
ORBGATE_SET_INT(orbgate_is_over_set_monotonic_ms, 6, 1) /* The time on the monotonic clock. */

/* Asks for the next call: at the start, after `ReadSecrets`, and after answers with `may_call`, until `Done`. Answered by `Call` or `Done`. */
ORBGATE_BEGIN(orbgate_next_call_begin, 7)
ORBGATE_SET_INT(orbgate_next_call_set_monotonic_ms, 7, 1) /* The time on the monotonic clock. */

ORBGATE_BEGIN(orbgate_called_begin, 8) /* Reports a call's result. Answered by the attempt's next `Call`, or by `Done`: then resume what waits. */
ORBGATE_SET_INT(orbgate_called_set_attempt, 8, 1) /* The attempt of the call. A report for one that is over has no effect. */
ORBGATE_SET_INT(orbgate_called_set_failure, 8, 2) /* An `ORBGATE_FETCH_*` number if there is no response; otherwise 0. */
ORBGATE_SET_INT(orbgate_called_set_status, 8, 3) /* The status of the response. */
ORBGATE_ADD_PAIR(orbgate_called_add_header, 8, 4, name, value) /* Its headers, or at least each `Cache-Control`. */
ORBGATE_SET_STR(orbgate_called_set_body, 8, 5) /* Its body, which can be left out if the status isn't 200. */
ORBGATE_SET_INT(orbgate_called_set_monotonic_ms, 8, 6) /* The time on the monotonic clock. */

ORBGATE_BEGIN(orbgate_warm_begin, 9) /* Requests every issuer's keys, as far as the settings allow. Answered by `Done`; then ask `NextCall`. */
ORBGATE_SET_INT(orbgate_warm_set_monotonic_ms, 9, 1) /* The time on the monotonic clock. */

ORBGATE_BEGIN(orbgate_revoke_begin, 10) /* Never uses a key again. Answered by `Done`; an unknown issuer gives `ORBGATE_STATUS_NOT_FOUND`. */
ORBGATE_SET_STR(orbgate_revoke_set_issuer, 10, 1) /* The issuer. */
ORBGATE_SET_STR(orbgate_revoke_set_kid, 10, 2) /* The key's `kid`. */

ORBGATE_BEGIN(orbgate_forget_begin, 11) /* Forgets an issuer's keys or answers about tokens, when it has withdrawn one. Answered like `Revoke`. */
ORBGATE_SET_STR(orbgate_forget_set_issuer, 11, 1) /* The issuer. */

ORBGATE_BEGIN(orbgate_read_secrets_begin, 12) /* Reads the secrets again. If one can't be read, all stay. Answered by `Done` or `Failed`. */
ORBGATE_ADD_OPTIONAL(orbgate_read_secrets_add_secret, 12, 1) /* As in `Make`. */

ORBGATE_BEGIN(orbgate_status_begin, 13) /* Asks for the status of each issuer's keys. Answered by `KeyStatus`. */

ORBGATE_BEGIN(orbgate_check_engine_begin, 14) /* Checks that no path has a public route and one of the policy. Answered by `Done` or `Failed`. */

ORBGATE_BEGIN(orbgate_check_routes_begin, 15) /* Compares a service's routes with the policy's and the gate's. Answered by `RouteDifferences`. */
ORBGATE_ADD_PAIR(orbgate_check_routes_add_route, 15, 1, method, path_template) /* The routes of the service. */
ORBGATE_SET_INT(orbgate_check_routes_set_templates, 15, 2) /* Without a gate, an `ORBGATE_TEMPLATES_*` number: the syntax of the templates. */

ORBGATE_BEGIN(orbgate_drop_begin, 16) /* Ends a step's request, for example when the client disconnects. Answered by `Done`. */

ORBGATE_BEGIN(orbgate_body_begin, 17) /* Decides a request after its `ReadBody`. Answered by `Answer` or `Charge`. */
ORBGATE_SET_STR(orbgate_body_set_body, 17, 1) /* The whole body as received, unless one of the flags is set. */
ORBGATE_SET_BOOL(orbgate_body_set_too_large, 17, 2) /* The body is longer than allowed. */
ORBGATE_ADD_PAIR(orbgate_body_add_header, 17, 3, name, value) /* Header lines, at least each that starts with `content` or `mcp` in any case. */
ORBGATE_SET_INT(orbgate_body_set_unix_ms, 17, 4) /* The time since 1970, for the audit log. */
ORBGATE_SET_BOOL(orbgate_body_set_busy, 17, 5) /* There was no room for the body. */
ORBGATE_SET_BOOL(orbgate_body_set_unreadable, 17, 6) /* The body couldn't be read. */

ORBGATE_BEGIN(orbgate_reload_begin, 24) /* Checks a version of the policy. The engine is the active one; null at first. Answered by `Loaded`. */
ORBGATE_SET_STR(orbgate_reload_set_policy, 24, 1) /* The contents of the file. Without `interval_ms`, it must have an end marker. */
ORBGATE_SET_STR(orbgate_reload_set_failure, 24, 2) /* Why the file can't be read; empty if it was read. */
ORBGATE_SET_BOOL(orbgate_reload_set_require_seal, 24, 3) /* Reject a version without a seal. */
ORBGATE_SET_BOOL(orbgate_reload_set_refuse_wider, 24, 4) /* Reject a version that allows more than the active one, or for fewer orbs. */
ORBGATE_ADD_OPTIONAL(orbgate_reload_add_secret, 24, 5) /* As in `Make`. */
ORBGATE_SET_INT(orbgate_reload_set_interval_ms, 24, 6) /* Ask after each `pause_ms`, until `Drop`: a version counts once it has rested. 0: now. */
ORBGATE_SET_BOOL(orbgate_reload_set_is_told, 24, 7) /* An operator waits for the result. */
ORBGATE_SET_INT(orbgate_reload_set_monotonic_ms, 24, 8) /* The time on the monotonic clock. */
ORBGATE_SET_STR(orbgate_reload_set_file, 24, 9) /* The name of the file, for errors and the log. */
ORBGATE_SET_STR(orbgate_reload_set_secrets_failure, 24, 10) /* Why the host can't read a secret; then no version is loaded. Otherwise empty. */
ORBGATE_SET_BOOL(orbgate_reload_set_has_ledger, 24, 11) /* A ledger charges calls, so each route that consumes orbs must have an amount. */
ORBGATE_ADD_STR(orbgate_reload_add_amount, 24, 12) /* The routes with a function that states the amount. */

ORBGATE_BEGIN(orbgate_use_ledger_begin, 30) /* Makes the step the holds of a process, until `Drop`. Answered by `Ledgered` or `Failed`. */
ORBGATE_SET_BOOL(orbgate_use_ledger_set_captures_cancelled, 30, 1) /* A call is charged whose caller left before the answer was whole. */
ORBGATE_SET_INT(orbgate_use_ledger_set_ttl_ms, 30, 2) /* How long a hold lasts if the process stops. 0 selects 60 s. */
ORBGATE_SET_INT(orbgate_use_ledger_set_timeout_ms, 30, 3) /* How long a call waits for the service before it is denied. 0 selects 2 s. */
ORBGATE_SET_INT(orbgate_use_ledger_set_queue, 30, 4) /* How many settlements can wait for the service. 0 selects 4,096. */
ORBGATE_SET_BOOL(orbgate_use_ledger_set_voids_cancelled, 30, 5) /* It isn't charged. If both are true, what its handler has stated is. */
ORBGATE_SET_BOOL(orbgate_use_ledger_set_captures_tool_errors, 30, 6) /* A call at an MCP endpoint is charged whose result has `isError`. */
ORBGATE_SET_BOOL(orbgate_use_ledger_set_voids_tool_errors, 30, 7) /* It isn't charged. Both: as above. Needed with an MCP endpoint. */
ORBGATE_SET_BOOL(orbgate_use_ledger_set_captures_input_required, 30, 8) /* A call at an MCP endpoint is charged whose result asks for input. */
ORBGATE_SET_BOOL(orbgate_use_ledger_set_voids_input_required, 30, 9) /* It isn't charged. Both: as above. Needed with an MCP endpoint. */
ORBGATE_SET_BOOL(orbgate_use_ledger_set_captures_broken, 30, 10) /* A call is charged whose answer the service broke off midway. */
ORBGATE_SET_BOOL(orbgate_use_ledger_set_voids_broken, 30, 11) /* It isn't charged. Both: as above. Neither: as if the caller left. */
ORBGATE_SET_INT(orbgate_use_ledger_set_ceiling, 30, 12) /* A call costs at most its hold times this. 0 selects 1. */

ORBGATE_BEGIN(orbgate_hold_begin, 31) /* Begins to hold the orbs of a `Charge`. Answered by `HoldStep`. */
ORBGATE_SET_STR(orbgate_hold_set_id, 31, 1) /* 16 random bytes, new for each request. */
ORBGATE_SET_STR(orbgate_hold_set_account, 31, 2) /* That of the `Charge`, and so are the others. */
ORBGATE_SET_INT(orbgate_hold_set_amount, 31, 3) /* How many orbs. */
ORBGATE_SET_BOOL(orbgate_hold_set_bonus, 31, 4) /* Bonus orbs may be used. */
ORBGATE_SET_STR(orbgate_hold_set_note, 31, 5) /* What the service notes. */
ORBGATE_SET_INT(orbgate_hold_set_monotonic_ms, 31, 6) /* The time on the monotonic clock. */

ORBGATE_BEGIN(orbgate_held_begin, 32) /* Reports what the service has answered to the call of a `HoldStep`. Answered by `HoldStep`. */
ORBGATE_SET_STR(orbgate_held_set_id, 32, 1) /* The id of the hold. */
ORBGATE_SET_INT(orbgate_held_set_status, 32, 2) /* The HTTP status; 0 without an answer. */
ORBGATE_SET_STR(orbgate_held_set_body, 32, 3) /* The body. */
ORBGATE_SET_INT(orbgate_held_set_unix_ms, 32, 4) /* The time since 1970. */
ORBGATE_SET_INT(orbgate_held_set_monotonic_ms, 32, 5) /* The time on the monotonic clock. */

ORBGATE_BEGIN(orbgate_waited_begin, 33) /* The request has waited. Answered by `HoldStep`. */
ORBGATE_SET_STR(orbgate_waited_set_id, 33, 1) /* The id of the hold. */
ORBGATE_SET_INT(orbgate_waited_set_monotonic_ms, 33, 2) /* The time on the monotonic clock. */

ORBGATE_BEGIN(orbgate_ended_begin, 34) /* Reports once how the handler of a hold has ended. Answered by `Ledgered`; then ask for the next call. */
ORBGATE_SET_STR(orbgate_ended_set_id, 34, 1) /* The id of the hold. */
ORBGATE_SET_BOOL(orbgate_ended_set_cancelled, 34, 2) /* Its caller left before its answer was complete. */
ORBGATE_SET_INT(orbgate_ended_set_status, 34, 3) /* The HTTP status of the whole answer; 0 if it or the handler failed before the first byte. */
ORBGATE_SET_BOOL(orbgate_ended_set_is_stated, 34, 4) /* The handler has stated how many orbs it has consumed. */
ORBGATE_SET_INT(orbgate_ended_set_stated, 34, 5) /* How many. */
ORBGATE_SET_INT(orbgate_ended_set_monotonic_ms, 34, 6) /* The time on the monotonic clock. */
ORBGATE_SET_BOOL(orbgate_ended_set_never_ran, 34, 7) /* It never ran. */
ORBGATE_SET_INT(orbgate_ended_set_response, 34, 8) /* Of a call at an MCP endpoint, the `end` of its last `Responded`; 0 for any other. */
ORBGATE_SET_BOOL(orbgate_ended_set_broken, 34, 9) /* The service broke its answer off after the first byte. */

/* Asks for the next message to the service, after each report and at `wake_ms`. Send one at a time. Answered by `LedgerCall` or `Ledgered`. */
ORBGATE_BEGIN(orbgate_next_ledger_call_begin, 35)
ORBGATE_SET_INT(orbgate_next_ledger_call_set_monotonic_ms, 35, 1) /* The time on the monotonic clock. */

ORBGATE_BEGIN(orbgate_ledger_called_begin, 36) /* Reports what the service has answered. Answered by `Ledgered`; then ask for the next call. */
ORBGATE_SET_INT(orbgate_ledger_called_set_call, 36, 1) /* The number of the `LedgerCall`. */
ORBGATE_SET_INT(orbgate_ledger_called_set_status, 36, 2) /* The HTTP status; 0 without an answer. */
ORBGATE_SET_STR(orbgate_ledger_called_set_body, 36, 3) /* The body. */
ORBGATE_SET_INT(orbgate_ledger_called_set_monotonic_ms, 36, 4) /* The time on the monotonic clock. */

ORBGATE_BEGIN(orbgate_ledger_replied_begin, 45) /* Asks what to log about an answer of the service or none: a failure once. Answered by `Done`. */
ORBGATE_SET_STR(orbgate_ledger_replied_set_url, 45, 1) /* The URL of the service. */
ORBGATE_SET_INT(orbgate_ledger_replied_set_status, 45, 2) /* The HTTP status; 0 without an answer. */
ORBGATE_SET_STR(orbgate_ledger_replied_set_body, 45, 3) /* The body. */
ORBGATE_SET_STR(orbgate_ledger_replied_set_failure, 45, 4) /* Why there is no answer, in a word or a few. */

ORBGATE_BEGIN(orbgate_check_ledger_begin, 46) /* Reads the URL of a ledger service, and the secret for it. Answered by `LedgerAt` or `Failed`. */
ORBGATE_SET_STR(orbgate_check_ledger_set_url, 46, 1) /* `https://…`, `http://` and a loopback address, or `unix:` and a path. */
ORBGATE_SET_STR(orbgate_check_ledger_set_secret, 46, 2) /* The secret, as its file or a setting says it. */

ORBGATE_BEGIN(orbgate_check_amounts_begin, 37) /* Checks that each route that consumes orbs has an amount. Answered by `Done` or `Failed`. */
ORBGATE_ADD_STR(orbgate_check_amounts_add_function, 37, 1) /* The routes with a function, as the policy names them. */

ORBGATE_BEGIN(orbgate_read_response_begin, 38) /* Begins to read an MCP endpoint's response, before its handler runs. Answered by `Responded`. */
ORBGATE_SET_STR(orbgate_read_response_set_mcp_id, 38, 1) /* That of the `Charge`. */
ORBGATE_SET_BOOL(orbgate_read_response_set_mcp_legacy, 38, 2) /* That of the `Charge`. */
ORBGATE_SET_BOOL(orbgate_read_response_set_mcp_session, 38, 3) /* That of the `Charge`. */

ORBGATE_BEGIN(orbgate_response_begins_begin, 39) /* The response begins. Answered by `Responded`. */
ORBGATE_ADD_PAIR(orbgate_response_begins_add_header, 39, 1, name, value) /* Its header lines: at least `Content-Type` and `Content-Encoding`. */

ORBGATE_BEGIN(orbgate_response_piece_begin, 40) /* A piece of its body. Answered by `Responded`. */
ORBGATE_SET_STR(orbgate_response_piece_set_piece, 40, 1) /* The bytes. */

ORBGATE_BEGIN(orbgate_visible_begin, 44) /* Asks which names a token may pass to a method of the MCP endpoint. Answered by `VisibleNames`. */
ORBGATE_SET_INT(orbgate_visible_set_kind, 44, 1) /* The kind of the token, an `OrbgateTokenKind`. */
ORBGATE_SET_STR(orbgate_visible_set_scopes, 44, 2) /* Its scopes. */
ORBGATE_SET_STR(orbgate_visible_set_method, 44, 3) /* `tools/call` for tools, `prompts/get` for prompts, `resources/read` for URIs. */
ORBGATE_ADD_STR(orbgate_visible_add_name, 44, 4) /* The names. */

#define ORBGATE_WIRE_FORMS(message, ...) \
    case message##u: { static const unsigned char forms[ORBGATE_WIRE_FIELDS] = {0, __VA_ARGS__}; return forms; }
/* The form of each field from 1, by its number; null for an unknown kind. */
static inline const unsigned char *orbgate_wire_forms(uint32_t kind)
{
    switch (kind) {
    ORBGATE_WIRE_FORMS(64, 3, 3) /* Done */
    ORBGATE_WIRE_FORMS(65, 129, 3, 73) /* Failed */
    ORBGATE_WIRE_FORMS(66, 129, 129, 130, 3, 3, 3, 3, 3, 3, 10, 2, 131, 75, 1) /* Answer */
    ORBGATE_WIRE_FORMS(67, 129, 2) /* Wait */
    ORBGATE_WIRE_FORMS(68, 131, 131, 131, 129, 131, 2) /* CheckSignature */
    ORBGATE_WIRE_FORMS(69, 129, 131, 131, 203, 131, 129, 129) /* Call */
    ORBGATE_WIRE_FORMS(70, 130) /* Over */
    ORBGATE_WIRE_FORMS(71, 204) /* SecretSources */
    ORBGATE_WIRE_FORMS(72, 77) /* KeyStatus */
    ORBGATE_WIRE_FORMS(73, 206) /* RouteDifferences */
    ORBGATE_WIRE_FORMS(74, 129, 2, 129) /* ReadBody */
    ORBGATE_WIRE_FORMS(84, 130, 3, 3, 3, 1, 73, 1, 3) /* Loaded */
    ORBGATE_WIRE_FORMS(90, 131, 129, 130, 131, 131, 130, 3, 3, 130) /* Charge */
    ORBGATE_WIRE_FORMS(91, 130, 131, 131, 129, 129, 1, 1, 3) /* HoldStep */
    ORBGATE_WIRE_FORMS(92, 129, 131, 131, 129) /* LedgerCall */
    ORBGATE_WIRE_FORMS(93, 130, 129, 1, 1, 1, 1, 1, 3) /* Ledgered */
    ORBGATE_WIRE_FORMS(94, 130, 129) /* Responded */
    ORBGATE_WIRE_FORMS(98, 131) /* VisibleNames */
    ORBGATE_WIRE_FORMS(99, 131, 131, 131, 129) /* LedgerAt */
    ORBGATE_WIRE_FORMS(1, 1, 1, 3) /* Diagnostic */
    ORBGATE_WIRE_FORMS(2, 1, 3, 3, 3, 3, 3, 3, 3, 1) /* Token */
    ORBGATE_WIRE_FORMS(3, 131, 131) /* CallHeader */
    ORBGATE_WIRE_FORMS(4, 129, 131) /* SecretSource */
    ORBGATE_WIRE_FORMS(5, 3, 1, 1, 3, 3, 2) /* IssuerStatus */
    ORBGATE_WIRE_FORMS(6, 129, 131, 3) /* RouteDifference */
    default: return NULL;
    }
}

/* No message: the `to` of a first `next`. */
static inline OrbgateMessage orbgate_message_init(void)
{
    OrbgateMessage none;
    memset(&none, 0, sizeof none);
    return none;
}

/* The number and the bytes of the first of these fields; false if they don't begin with one. */
static inline bool orbgate_wire_next(const char *from, size_t len, uint32_t *number, OrbgateStr *field)
{
    if (len < 8 || orbgate_wire_word(from + 4) > len - 8) {
        return false;
    }
    *number = orbgate_wire_word(from);
    field->data = from + 8;
    field->len = orbgate_wire_word(from + 4);
    return true;
}

/* Reads the fields of an answer or a part; false if one is wrong, or critical and unknown. */
static inline bool orbgate_wire_read(OrbgateMessage *to, uint32_t kind, const char *from, size_t len)
{
    const unsigned char *forms = orbgate_wire_forms(kind);
    const char *const end = from + len;
    OrbgateStr field;
    uint32_t number = 0;
    memset(to, 0, sizeof *to);
    to->bytes.data = from;
    to->bytes.len = len;
    for (; from != end; from = field.data + field.len) {
        if (forms == NULL || !orbgate_wire_next(from, (size_t)(end - from), &number, &field)) {
            return false;
        }
        const uint32_t is_critical = number >> 31, plain = number & 0x7fffffffu;
        const unsigned form = plain < ORBGATE_WIRE_FIELDS ? forms[plain] : 0u, one = form & (ORBGATE_WIRE_LIST - 1);
        if (form == 0 || form / ORBGATE_WIRE_CRITICAL != is_critical) {
            if (is_critical != 0) {
                return false;
            }
            continue;
        }
        OrbgateMessage part;
        if ((one == ORBGATE_WIRE_INTEGER && field.len != 8) || (one == ORBGATE_WIRE_BOOLEAN && field.len != 0)
            || (one >= ORBGATE_WIRE_PART && !orbgate_wire_read(&part, one - ORBGATE_WIRE_PART, field.data, field.len))) {
            return false;
        }
        if ((form & ORBGATE_WIRE_LIST) == 0) {
            if (to->fields[plain].data != NULL) {
                return false;
            }
            to->fields[plain] = field;
        }
    }
    to->kind = kind;
    return forms != NULL;
}

/* Reads an answer that doesn't come from `orbgate_gate_send`; false if this header doesn't know it, and then `to` has no message. */
ORBGATE_NODISCARD static inline bool orbgate_message_read(OrbgateMessage *to, const char *data, size_t len)
{
    OrbgateStr fields;
    uint32_t kind = 0;
    if (to == NULL) {
        return false;
    }
    if (data != NULL && orbgate_wire_next(data, len, &kind, &fields) && fields.len == len - 8 && kind >= 64u
        && orbgate_wire_read(to, kind, fields.data, fields.len)) {
        return true;
    }
    memset(to, 0, sizeof *to);
    return false;
}

static inline OrbgateStr orbgate_wire_get(const OrbgateMessage *from, uint32_t kind, unsigned number)
{
    const OrbgateStr none = {NULL, 0};
    return from != NULL && from->kind == kind ? from->fields[number] : none;
}

static inline uint64_t orbgate_wire_get_integer(const OrbgateMessage *from, uint32_t kind, unsigned number)
{
    const OrbgateStr field = orbgate_wire_get(from, kind, number);
    return field.len == 8 ? orbgate_wire_word(field.data) | (uint64_t)orbgate_wire_word(field.data + 4) << 32 : 0;
}

/* Reads the next item of a list, or the first one if `to` has no message. */
static inline bool orbgate_wire_next_part(const OrbgateMessage *from, uint32_t kind, uint32_t number, uint32_t part, OrbgateMessage *to)
{
    if (to == NULL) {
        return false;
    }
    if (from != NULL && from->kind == kind && from->bytes.data != NULL) {
        const char *const end = from->bytes.data + from->bytes.len;
        OrbgateStr field;
        uint32_t found = 0;
        const char *at = to->kind == part ? to->bytes.data + to->bytes.len : from->bytes.data;
        for (; orbgate_wire_next(at, (size_t)(end - at), &found, &field); at = field.data + field.len) {
            if (found == number) {
                return orbgate_wire_read(to, part, field.data, field.len);
            }
        }
    }
    memset(to, 0, sizeof *to);
    return false;
}

/* Getters return a field; those of a part read it into `to`. */
#define ORBGATE_GET_STR(name, message, field) \
    static inline OrbgateStr name(const OrbgateMessage *from) { return orbgate_wire_get(from, message##u, field##u); }
#define ORBGATE_GET_INT(name, message, field) \
    static inline uint64_t name(const OrbgateMessage *from) { return orbgate_wire_get_integer(from, message##u, field##u); }
#define ORBGATE_GET_BOOL(name, message, field) \
    static inline bool name(const OrbgateMessage *from) { return orbgate_wire_get(from, message##u, field##u).data != NULL; }
#define ORBGATE_GET_PART(name, message, field, part) \
    static inline bool name(const OrbgateMessage *from, OrbgateMessage *to) \
    { \
        if (to != NULL && to != from) { \
            to->kind = 0; \
        } \
        return orbgate_wire_next_part(from, message##u, field##u, part##u, to); \
    }
/* The next item of a list, or the first one if `to` has no message; false after the last one. */
#define ORBGATE_NEXT_PART(name, message, field, part) \
    static inline bool name(const OrbgateMessage *from, OrbgateMessage *to) \
    { return orbgate_wire_next_part(from, message##u, field##u, part##u, to); }

#define ORBGATE_MESSAGE_DONE 64u /* The question is done. */
ORBGATE_GET_STR(orbgate_done_get_notices, 64, 1) /* What to log, one sentence on each line; empty if there is nothing. */
ORBGATE_GET_STR(orbgate_done_get_levels, 64, 2) /* The level of each line of `notices`, on a line of its own: `info`, `warning` or `error`. */

#define ORBGATE_MESSAGE_FAILED 65u /* A configuration or an option has errors. */
ORBGATE_GET_INT(orbgate_failed_get_status, 65, 1) /* The `OrbgateStatus` of the error. */
ORBGATE_GET_STR(orbgate_failed_get_message, 65, 2) /* All errors in one string, each on a line `line:column: message`. */
ORBGATE_NEXT_PART(orbgate_failed_next_diagnostic, 65, 0x3, 1) /* The errors that have a position, in the order of the file. */

#define ORBGATE_MESSAGE_ANSWER 66u /* The result of a request. Only an allow without `http_status` permits it. */
ORBGATE_GET_INT(orbgate_answer_get_packed, 66, 1) /* The decision, packed as with `ORBGATE_PACK_ABOUT`. */
ORBGATE_GET_INT(orbgate_answer_get_http_status, 66, 2) /* The status of the response to a denied request; 0 for an allow. */
ORBGATE_GET_BOOL(orbgate_answer_get_preflight, 66, 3) /* The request is allowed only as a preflight, so run only a handler of `OPTIONS`. */
ORBGATE_GET_STR(orbgate_answer_get_www_authenticate, 66, 4) /* The `WWW-Authenticate` header of a denial. */
ORBGATE_GET_STR(orbgate_answer_get_allow, 66, 5) /* The `Allow` header of a denial. */
ORBGATE_GET_STR(orbgate_answer_get_refused, 66, 6) /* Why the token is rejected, such as `expired`, only for logs and counters. */
ORBGATE_GET_STR(orbgate_answer_get_misrouted, 66, 7) /* What the router chose instead of the allowed route; empty if it is unknown. Count it. */
ORBGATE_GET_STR(orbgate_answer_get_public_template, 66, 8) /* The template of an allowed request that needs no token. */
ORBGATE_GET_STR(orbgate_answer_get_audit, 66, 9) /* With `with_audit`, a JSON line for an audit log, without a line feed. */
ORBGATE_GET_PART(orbgate_answer_get_token, 66, 0xa, 2) /* The verified token; absent without a valid token. */
ORBGATE_GET_BOOL(orbgate_answer_get_may_call, 66, 11) /* `NextCall` might be answered by a call. */
ORBGATE_GET_STR(orbgate_answer_get_body, 66, 12) /* The response's body, if it has one: JSON, such as the metadata of the resource at a 200. */
ORBGATE_NEXT_PART(orbgate_answer_next_header, 66, 0xd, 3) /* More headers; of an allow, instead of the service's `access-control-` ones. */
ORBGATE_GET_INT(orbgate_answer_get_retry_after, 66, 14) /* The seconds of its `Retry-After` header; 0 if it has none. */

/* The request needs keys, or an answer about its token. Send the calls of `NextCall`, wait until `IsOver` says so or `until_ms`, and resume. */
#define ORBGATE_MESSAGE_WAIT 67u
ORBGATE_GET_INT(orbgate_wait_get_until_ms, 67, 1) /* When the wait ends even without a report, on the monotonic clock. */
ORBGATE_GET_BOOL(orbgate_wait_get_may_call, 67, 2) /* `NextCall` might be answered by a call. */

/* Report with `Checked` whether this signature is valid, of a token or of its proof. The algorithm fits the key, and both have a valid form. */
#define ORBGATE_MESSAGE_CHECK_SIGNATURE 68u
/* The algorithm, such as `RS256`. ECDSA signatures are two numbers, not DER (RFC 7518 §3.4); PSS has a salt as long as its hash. */
ORBGATE_GET_STR(orbgate_check_signature_get_algorithm, 68, 1)
/* The key as a JWK with only its required members. Equal keys have equal strings. If it can't be imported, the signature is invalid. */
ORBGATE_GET_STR(orbgate_check_signature_get_key, 68, 2)
ORBGATE_GET_STR(orbgate_check_signature_get_token, 68, 3) /* The token, of which the first `signed` bytes are signed; of a proof, only these. */
ORBGATE_GET_INT(orbgate_check_signature_get_signed, 68, 4) /* How many bytes of the token are signed. */
ORBGATE_GET_STR(orbgate_check_signature_get_signature, 68, 5) /* The signature. */
ORBGATE_GET_BOOL(orbgate_check_signature_get_may_call, 68, 6) /* `NextCall` might be answered by a call. */

#define ORBGATE_MESSAGE_CALL 69u /* A call to make without following redirects. In any case, report the result with `Called`. */
ORBGATE_GET_INT(orbgate_call_get_attempt, 69, 1) /* The attempt that needs it. */
ORBGATE_GET_STR(orbgate_call_get_method, 69, 2) /* Its method. */
ORBGATE_GET_STR(orbgate_call_get_url, 69, 3) /* `https`, or a loopback address. */
ORBGATE_NEXT_PART(orbgate_call_next_header, 69, 0x80000004, 3) /* Its headers. One of them can contain a secret, so don't log them. */
ORBGATE_GET_STR(orbgate_call_get_body, 69, 5) /* Its body, if it has one. It can contain a token, so don't log it. */
ORBGATE_GET_INT(orbgate_call_get_timeout_ms, 69, 6) /* If the response hasn't arrived after this time, report `ORBGATE_FETCH_TIMEOUT`. */
ORBGATE_GET_INT(orbgate_call_get_max_bytes, 69, 7) /* If the body is longer, stop reading and report `ORBGATE_FETCH_TOO_LARGE`. */

#define ORBGATE_MESSAGE_OVER 70u /* Whether the wait of a step is over. */
ORBGATE_GET_BOOL(orbgate_over_get_is_over, 70, 1) /* The step can be resumed. */

#define ORBGATE_MESSAGE_SECRET_SOURCES 71u /* Where the secrets of a token configuration are, in the order of the issuers that have one. */
ORBGATE_NEXT_PART(orbgate_secret_sources_next_source, 71, 0x80000001, 4) /* The sources. */

#define ORBGATE_MESSAGE_KEY_STATUS 72u /* The status of the keys at one moment. */
ORBGATE_NEXT_PART(orbgate_key_status_next_issuer, 72, 0x1, 5) /* The issuers, in the order of the configuration. */

#define ORBGATE_MESSAGE_ROUTE_DIFFERENCES 73u /* The differences between the routes of a service and of its policy; empty if they are the same. */
ORBGATE_NEXT_PART(orbgate_route_differences_next_difference, 73, 0x80000001, 6) /* First what the policy lacks, then what the service lacks. */

#define ORBGATE_MESSAGE_READ_BODY 74u /* The request is for an MCP endpoint, and its token is valid. Read its body and ask with `Body`. */
ORBGATE_GET_INT(orbgate_read_body_get_most_bytes, 74, 1) /* If the body is longer, stop reading and report `too_large`. */
ORBGATE_GET_BOOL(orbgate_read_body_get_may_call, 74, 2) /* `NextCall` might be answered by a call. */
/* The most bytes of all bodies that the host holds; one without `Content-Length` counts as `most_bytes`. Without room, report `busy`. */
ORBGATE_GET_INT(orbgate_read_body_get_most_held, 74, 3)

#define ORBGATE_MESSAGE_LOADED 84u /* What became of a version of the policy. A first one with the engine's digest is active already. */
ORBGATE_GET_BOOL(orbgate_loaded_get_is_loaded, 84, 1) /* Make an engine of the same bytes and activate it. The secrets were read again. */
ORBGATE_GET_STR(orbgate_loaded_get_result, 84, 2) /* The label of `orbgate_policy_loads_total`, such as `wider`; empty if nothing is counted. */
ORBGATE_GET_STR(orbgate_loaded_get_message, 84, 3) /* What to log: the active digest, or why the previous policy stays active. */
ORBGATE_GET_STR(orbgate_loaded_get_warning, 84, 4) /* What to log as a warning, such as the changes for callers; empty if there is nothing. */
ORBGATE_GET_INT(orbgate_loaded_get_status, 84, 5) /* The `OrbgateStatus` of a rejection; otherwise 0. */
ORBGATE_NEXT_PART(orbgate_loaded_next_diagnostic, 84, 0x6, 1) /* The errors of a policy or a configuration that have a position. */
ORBGATE_GET_INT(orbgate_loaded_get_pause_ms, 84, 7) /* With `interval_ms`, when to ask again. */
ORBGATE_GET_STR(orbgate_loaded_get_reason, 84, 8) /* Why a version is rejected, for the language's error: each error on a line, with the file. */

#define ORBGATE_MESSAGE_CHARGE 90u /* The call is allowed and consumes orbs: before its handler runs, ask the ledger's step with `Hold`. */
ORBGATE_GET_STR(orbgate_charge_get_account, 90, 1) /* The account. */
ORBGATE_GET_INT(orbgate_charge_get_amount, 90, 2) /* How many orbs. */
ORBGATE_GET_BOOL(orbgate_charge_get_bonus, 90, 3) /* Bonus orbs may be used. */
ORBGATE_GET_STR(orbgate_charge_get_note, 90, 4) /* What the service notes: the route and the policy's digest. */
ORBGATE_GET_STR(orbgate_charge_get_mcp_id, 90, 5) /* If it isn't empty, the response of an MCP endpoint settles it: ask with `ReadResponse`. */
ORBGATE_GET_BOOL(orbgate_charge_get_mcp_legacy, 90, 6) /* Its protocol version is an older one. */
ORBGATE_GET_STR(orbgate_charge_get_audit, 90, 7) /* With `with_audit`, the audit's line once the orbs are held, instead of the answer's. */
ORBGATE_GET_STR(orbgate_charge_get_hold_id, 90, 8) /* The id of the hold in the ledger, for the service's own log. */
ORBGATE_GET_BOOL(orbgate_charge_get_mcp_session, 90, 9) /* It is in a session. */

#define ORBGATE_MESSAGE_HOLD_STEP 91u /* What a request that waits for its orbs must do next. */
ORBGATE_GET_BOOL(orbgate_hold_step_get_may_run, 91, 1) /* The orbs are held: run the handler. */
ORBGATE_GET_STR(orbgate_hold_step_get_path, 91, 2) /* If it isn't empty, POST to this path with the secret as bearer token, and report `Held`. */
ORBGATE_GET_STR(orbgate_hold_step_get_body, 91, 3) /* Its body, which is JSON. */
ORBGATE_GET_INT(orbgate_hold_step_get_timeout_ms, 91, 4) /* After this time the call has failed. */
ORBGATE_GET_INT(orbgate_hold_step_get_until_ms, 91, 5) /* If it isn't 0, wait until this monotonic time and ask with `Waited`. Otherwise deny. */
ORBGATE_GET_INT(orbgate_hold_step_get_unpaid, 91, 6) /* Of a denial: for `unpaid` of `Ask`. */
ORBGATE_GET_INT(orbgate_hold_step_get_retry_after_ms, 91, 7) /* Of a denial: for `Ask`. */
ORBGATE_GET_STR(orbgate_hold_step_get_result, 91, 8) /* At the end, the label of `orbgate_holds_total`. */

#define ORBGATE_MESSAGE_LEDGER_CALL 92u /* The next message to the service. Report it with `LedgerCalled`. */
ORBGATE_GET_INT(orbgate_ledger_call_get_call, 92, 1) /* Its number. */
ORBGATE_GET_STR(orbgate_ledger_call_get_path, 92, 2) /* Its path. By POST, like that of `HoldStep`. */
ORBGATE_GET_STR(orbgate_ledger_call_get_body, 92, 3) /* Its body. */
ORBGATE_GET_INT(orbgate_ledger_call_get_timeout_ms, 92, 4) /* After this time the call has failed. */

#define ORBGATE_MESSAGE_LEDGERED 93u /* The state of a ledger's step. */
ORBGATE_GET_BOOL(orbgate_ledgered_get_wakes, 93, 1) /* Ask with `NextLedgerCall` at `wake_ms`; otherwise only after a report. */
ORBGATE_GET_INT(orbgate_ledgered_get_wake_ms, 93, 2) /* On the monotonic clock. */
ORBGATE_GET_INT(orbgate_ledgered_get_waiting, 93, 3) /* How many settlements wait for the service. */
ORBGATE_GET_INT(orbgate_ledgered_get_captured, 93, 4) /* How many calls were charged so far. */
ORBGATE_GET_INT(orbgate_ledgered_get_voided, 93, 5) /* How many holds were released. */
ORBGATE_GET_INT(orbgate_ledgered_get_lost, 93, 6) /* How many settlements were given up. */
ORBGATE_GET_INT(orbgate_ledgered_get_over, 93, 7) /* How many handlers have stated more than the ceiling so far. */
ORBGATE_GET_STR(orbgate_ledgered_get_notice, 93, 8) /* After `Ended`, what to log as a warning; empty if there is nothing. */

#define ORBGATE_MESSAGE_RESPONDED 94u /* What a response has said so far. */
ORBGATE_GET_BOOL(orbgate_responded_get_reads, 94, 1) /* The next piece must be read; otherwise none. */
ORBGATE_GET_INT(orbgate_responded_get_end, 94, 2) /* For `response` of `Ended`. */

#define ORBGATE_MESSAGE_VISIBLE_NAMES 98u /* The names that the token may pass, in their order. */
ORBGATE_GET_STR(orbgate_visible_names_get_names, 98, 1) /* The names, one on each line. */

#define ORBGATE_MESSAGE_LEDGER_AT 99u /* Where a ledger service is. */
ORBGATE_GET_STR(orbgate_ledger_at_get_base, 99, 1) /* The URL to which the paths of messages are appended. */
ORBGATE_GET_STR(orbgate_ledger_at_get_socket, 99, 2) /* The path of the Unix socket to connect to; empty if the connection is that of `base`. */
ORBGATE_GET_STR(orbgate_ledger_at_get_secret, 99, 3) /* The secret for `Authorization: Bearer`. */
ORBGATE_GET_INT(orbgate_ledger_at_get_most_bytes, 99, 4) /* A longer answer of the service counts as none. */

/* Diagnostic: An error of a configuration. */
ORBGATE_GET_INT(orbgate_diagnostic_get_line, 1, 1) /* Line, from 1. */
ORBGATE_GET_INT(orbgate_diagnostic_get_column, 1, 2) /* Column in characters, from 1. */
ORBGATE_GET_STR(orbgate_diagnostic_get_message, 1, 3) /* The message: lower case, no final period, without the position. */

/* Token: A verified token. */
ORBGATE_GET_INT(orbgate_token_get_kind, 2, 1) /* Its kind: an `OrbgateTokenKind`. */
ORBGATE_GET_STR(orbgate_token_get_scopes, 2, 2) /* Its scopes, separated by single spaces. */
ORBGATE_GET_STR(orbgate_token_get_issuer, 2, 3) /* The issuer. */
ORBGATE_GET_STR(orbgate_token_get_subject, 2, 4) /* The subject (`sub`); empty if the token doesn't state it. */
ORBGATE_GET_STR(orbgate_token_get_client, 2, 5) /* The client that the token was issued to; empty if the token doesn't state it. */
ORBGATE_GET_STR(orbgate_token_get_actor, 2, 6) /* The party that acts for the subject (`act`); empty if the token doesn't state it. */
ORBGATE_GET_STR(orbgate_token_get_id, 2, 7) /* The token's own id (`jti`); empty if the token doesn't state it. */
ORBGATE_GET_STR(orbgate_token_get_fingerprint, 2, 8) /* An id that reveals nothing about the token: 16 hexadecimal digits. */
ORBGATE_GET_INT(orbgate_token_get_expires_ms, 2, 9) /* When the token expires: in milliseconds since 1970. */

/* CallHeader: A header line of a call. */
ORBGATE_GET_STR(orbgate_call_header_get_name, 3, 1) /* Its name. */
ORBGATE_GET_STR(orbgate_call_header_get_value, 3, 2) /* Its value. */

/* SecretSource: Where a secret is. A configuration never contains the secret. */
ORBGATE_GET_INT(orbgate_secret_source_get_kind, 4, 1) /* An `ORBGATE_SECRET_*` number. */
ORBGATE_GET_STR(orbgate_secret_source_get_name, 4, 2) /* The path of the file, or the name of the variable. */

/* IssuerStatus: The status of one issuer's keys. */
ORBGATE_GET_STR(orbgate_issuer_status_get_issuer, 5, 1) /* The issuer. */
ORBGATE_GET_INT(orbgate_issuer_status_get_key_count, 5, 2) /* The number of usable keys. At 0, every token is rejected unless `opaque` is true. */
ORBGATE_GET_INT(orbgate_issuer_status_get_fetched_ms, 5, 3) /* When the keys were fetched, on the monotonic clock; 0 if there aren't any. */
ORBGATE_GET_STR(orbgate_issuer_status_get_failure, 5, 4) /* Why the last attempt failed; empty if it succeeded. */
ORBGATE_GET_STR(orbgate_issuer_status_get_warnings, 5, 5) /* The keys that were left out, with the reasons: one line for each. */
ORBGATE_GET_BOOL(orbgate_issuer_status_get_opaque, 5, 6) /* The issuer's tokens are opaque: `failure` is that of its introspection endpoint. */

/* RouteDifference: A route that only the service or only the policy has. */
ORBGATE_GET_INT(orbgate_route_difference_get_kind, 6, 1) /* An `ORBGATE_DIFFERENCE_*` number. */
ORBGATE_GET_STR(orbgate_route_difference_get_route, 6, 2) /* The route, for example `GET /users/export`. */
ORBGATE_GET_STR(orbgate_route_difference_get_decided_as, 6, 3) /* The policy's route that decides an undeclared one; empty if it is denied. */

/* Whether an answer permits its request. Nothing else does. */
static inline bool orbgate_answer_is_allow(const OrbgateMessage *answer)
{
    return orbgate_packed_is_allow(orbgate_answer_get_packed(answer)) && orbgate_answer_get_http_status(answer) == 0;
}

/* Calls `orbgate_gate_ask`. After any status but ORBGATE_STATUS_OK, `answer` has no message: deny, and end a step that isn't 0. */
ORBGATE_NODISCARD static inline OrbgateStatus orbgate_gate_send(uint64_t *gate, const OrbgateEngine *engine, uint64_t *step,
                                                                OrbgateQuestion *question, OrbgateMessage *answer)
{
    OrbgateStatus status = ORBGATE_STATUS_INVALID_ARGUMENT;
    size_t len = 0;
    if (question != NULL && question->number != 0 && answer != NULL
        && (question->answer_room > 0 || !question->grows || orbgate_wire_grow(&question->answer, &question->answer_room, 0))) {
        status = orbgate_gate_ask(gate, engine, step, question->data, question->len, question->answer, question->answer_room, &len);
        if (status == ORBGATE_STATUS_TOO_SMALL && question->grows && orbgate_wire_grow(&question->answer, &question->answer_room, len)) {
            status = orbgate_gate_ask(gate, engine, step, NULL, 0, question->answer, question->answer_room, &len);
        }
    }
    if (answer != NULL && (status != ORBGATE_STATUS_OK || !orbgate_message_read(answer, question->answer, len))) {
        memset(answer, 0, sizeof *answer);
        status = status == ORBGATE_STATUS_OK ? ORBGATE_STATUS_INVALID_ARGUMENT : status;
    }
    return status;
}

#endif /* ORBGATE_GATE_H */
