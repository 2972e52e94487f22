/*
 * Gates: what a gate is asked and answers, set and read field by field over the one call `orbgate_gate_call`.
 *
 * Made of crates/orbgate-capi/src/tests/questions/shapes.txt by `cargo xtask codes`; not to be edited.
 *
 *   OrbgateQuestion question = orbgate_question_init();
 *   OrbgateMessage answer;
 *   orbgate_ask_begin(&question);
 *   orbgate_ask_set_method(&question, ORBGATE_TEXT("GET"));
 *   ...
 *   if (orbgate_gate_send(gate, engine, step, &question, &answer) == ORBGATE_STATUS_OK && orbgate_answer_is_allow(&answer)) ...
 *
 * - A question serves one question after another: `begin` starts it, `set` sets a field, once, and `add` adds an item to a list. What
 *   isn't set is 0, false or empty. Setters copy. A wrong argument, no room left or a setter of another question makes the whole
 *   question wrong, and then sending it gives ORBGATE_STATUS_INVALID_ARGUMENT. So only that status needs a check.
 * - An answer is checked when it arrives, with everything in it. If it has something critical that this header doesn't know, the
 *   status is ORBGATE_STATUS_INVALID_ARGUMENT: deny, as with any other status. The request of the step is over then.
 * - Getters of another kind of answer, and of one that isn't there, return 0, false or no string. Strings lie in the memory of the
 *   step: they are valid until the next call with it.
 * - Null is fine for questions and answers everywhere. No function has a lock: a question, an answer and a step belong to one thread
 *   at a time.
 *
 * docs/messages.md describes every message. The functions that begin with `orbgate_wire_` are details of the others.
 */
#ifndef ORBGATE_GATE_H
#define ORBGATE_GATE_H

#include "orbgate.h"

#ifdef __cplusplus
#include <cstdlib>
#else
#include <stdlib.h>
#endif

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

/* Kinds of answers, in `OrbgateMessage.kind`. */
#define ORBGATE_MESSAGE_DONE 64u
#define ORBGATE_MESSAGE_FAILED 65u
#define ORBGATE_MESSAGE_ANSWER 66u
#define ORBGATE_MESSAGE_WAIT 67u
#define ORBGATE_MESSAGE_CHECK_SIGNATURE 68u
#define ORBGATE_MESSAGE_CALL 69u
#define ORBGATE_MESSAGE_OVER 70u
#define ORBGATE_MESSAGE_SECRET_SOURCES 71u
#define ORBGATE_MESSAGE_KEY_STATUS 72u
#define ORBGATE_MESSAGE_ROUTE_DIFFERENCES 73u
#define ORBGATE_MESSAGE_READ_BODY 74u
#define ORBGATE_MESSAGE_LOADED 84u
#define ORBGATE_MESSAGE_CHARGE 90u
#define ORBGATE_MESSAGE_HOLD_STEP 91u
#define ORBGATE_MESSAGE_LEDGER_CALL 92u
#define ORBGATE_MESSAGE_LEDGERED 93u
#define ORBGATE_MESSAGE_RESPONDED 94u
#define ORBGATE_MESSAGE_VISIBLE_NAMES 98u
/* A question to a gate. */
typedef struct OrbgateQuestion {
    /* The message so far. */
    char *data;
    size_t len;
    /* The memory at `data`. */
    size_t room;
    /* Which question it is; 0 if it isn't one. */
    uint32_t number;
    /* Whether the memory grows. */
    bool grows;
} OrbgateQuestion;

/* An answer of a gate, or a part of one. */
typedef struct OrbgateMessage {
    /* An ORBGATE_MESSAGE_* number for an answer; 0 without a message. */
    uint32_t kind;
    /* Its bytes, and those of the fields that it has at most once. */
    OrbgateStr bytes;
    OrbgateStr fields[ORBGATE_WIRE_FIELDS];
} OrbgateMessage;

/* A question in memory of its own, which grows. Free it with `orbgate_question_free`. */
static inline OrbgateQuestion orbgate_question_init(void)
{
    OrbgateQuestion question;
    memset(&question, 0, sizeof question);
    question.grows = true;
    return question;
}

/* A question in memory of the caller, without any allocation. */
static inline OrbgateQuestion orbgate_question_in(char *room, size_t size)
{
    OrbgateQuestion question;
    memset(&question, 0, sizeof question);
    question.data = room;
    question.room = room == NULL ? 0 : size;
    return question;
}

/* Frees the memory of `orbgate_question_init`. The question can be used again. */
static inline void orbgate_question_free(OrbgateQuestion *question)
{
    if (question != NULL && question->grows) {
        free(question->data);
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

/* Adds a field with a copy of these bytes. */
static inline void orbgate_wire_add(OrbgateQuestion *to, uint32_t question, uint32_t number, const char *value, size_t len)
{
    if (to == NULL) {
        return;
    }
    if (to->number != question || (value == NULL && len > 0) || to->len > ORBGATE_MAX_MESSAGE_BYTES - 8
        || len > ORBGATE_MAX_MESSAGE_BYTES - 8 - to->len) {
        to->number = 0;
        return;
    }
    if (len + 8 > to->room - to->len) {
        const size_t room = 2 * (to->len + len + 8);
        char *data = to->grows ? (char *)realloc(to->data, room) : NULL;
        if (data == NULL) {
            to->number = 0;
            return;
        }
        to->data = data;
        to->room = room;
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
        orbgate_wire_add(to, question, question, NULL, 0);
    }
}

/* Sets bytes; no bytes are left out. */
static inline void orbgate_wire_set(OrbgateQuestion *to, uint32_t question, uint32_t number, const char *value, size_t len)
{
    if (len > 0) {
        orbgate_wire_add(to, question, number, value, len);
    } else if (to != NULL && to->number != question) {
        to->number = 0;
    }
}

static inline void orbgate_wire_set_integer(OrbgateQuestion *to, uint32_t question, uint32_t number, uint64_t value)
{
    char bytes[8];
    orbgate_wire_write(bytes, (uint32_t)(value & 0xffffffffu));
    orbgate_wire_write(bytes + 4, (uint32_t)(value >> 32));
    orbgate_wire_set(to, question, number, bytes, value == 0 ? 0 : sizeof bytes);
}

static inline void orbgate_wire_set_boolean(OrbgateQuestion *to, uint32_t question, uint32_t number, bool value)
{
    if (value) {
        orbgate_wire_add(to, question, number, NULL, 0);
    } else {
        orbgate_wire_set(to, question, number, NULL, 0);
    }
}

/* Begins a part, whose fields follow; `orbgate_wire_end` takes what this returns. */
static inline size_t orbgate_wire_part(OrbgateQuestion *to, uint32_t question, uint32_t number)
{
    orbgate_wire_add(to, question, number, NULL, 0);
    return to == NULL ? 0 : to->len;
}

static inline void orbgate_wire_end(OrbgateQuestion *to, size_t part)
{
    if (to != NULL && to->number != 0) {
        orbgate_wire_write(to->data + part - 4, (uint32_t)(to->len - part));
    }
}

/* Sources: Asks for the secrets that a token configuration needs. Answered by `SecretSources` or `Failed`, without a gate. */
static inline void orbgate_sources_begin(OrbgateQuestion *to) { orbgate_wire_begin(to, 1u); }
/* The token configuration, in YAML. */
static inline void orbgate_sources_set_tokens(OrbgateQuestion *to, const char *value, size_t len) { orbgate_wire_set(to, 1u, 1u, value, len); }

/* Make: Makes a gate. Answered by `Done` or `Failed`; after `Done`, `orbgate_step_gate` returns the gate. */
static inline void orbgate_make_begin(OrbgateQuestion *to) { orbgate_wire_begin(to, 2u); }
/* The token configuration, in YAML: which tokens are accepted. */
static inline void orbgate_make_set_tokens(OrbgateQuestion *to, const char *value, size_t len) { orbgate_wire_set(to, 2u, 1u, value, len); }
/* Every denial has the status 403, so that callers can't distinguish an unknown route from a missing scope. */
static inline void orbgate_make_set_flat_403(OrbgateQuestion *to, bool value) { orbgate_wire_set_boolean(to, 2u, 2u, value); }
/* A `POST` counts as one even if a header names another method. Only safe if nothing in the service follows such headers. */
static inline void orbgate_make_set_ignore_method_override(OrbgateQuestion *to, bool value) { orbgate_wire_set_boolean(to, 2u, 3u, value); }
/* The host checks signatures. A library without cryptography, such as the WebAssembly module, always requires it. */
static inline void orbgate_make_set_signatures_outside(OrbgateQuestion *to, bool value) { orbgate_wire_set_boolean(to, 2u, 4u, value); }
/* No key is used after its time; `max_stale_ms` must be 0. */
static inline void orbgate_make_set_no_stale_keys(OrbgateQuestion *to, bool value) { orbgate_wire_set_boolean(to, 2u, 5u, value); }
/* The host sends calls that have a body. Without it, a configuration with an issuer of opaque tokens is rejected. */
static inline void orbgate_make_set_introspection(OrbgateQuestion *to, bool value) { orbgate_wire_set_boolean(to, 2u, 6u, value); }
/* An `ORBGATE_CHALLENGE_*` number: the `WWW-Authenticate` header of denials. */
static inline void orbgate_make_set_challenge(OrbgateQuestion *to, uint64_t value) { orbgate_wire_set_integer(to, 2u, 7u, value); }
/* An `ORBGATE_TEMPLATES_*` number: the router's syntax for parameters. */
static inline void orbgate_make_set_templates(OrbgateQuestion *to, uint64_t value) { orbgate_wire_set_integer(to, 2u, 8u, value); }
/* An `ORBGATE_CORS_PREFLIGHT_*` number, for `OPTIONS` with `Origin` and `Access-Control-Request-Method`. */
static inline void orbgate_make_set_cors_preflight(OrbgateQuestion *to, uint64_t value) { orbgate_wire_set_integer(to, 2u, 9u, value); }
/* The realm of a full challenge: printable ASCII without `"` and `\`. */
static inline void orbgate_make_set_realm(OrbgateQuestion *to, const char *value, size_t len) { orbgate_wire_set(to, 2u, 10u, value, len); }
/* The URL of the service's metadata in a full challenge (RFC 9728): absolute, `https`. */
static inline void orbgate_make_set_resource_metadata(OrbgateQuestion *to, const char *value, size_t len) { orbgate_wire_set(to, 2u, 11u, value, len); }
/* How long keys are fresh if the issuer sends no usable `Cache-Control`. 0 selects 600 s. */
static inline void orbgate_make_set_ttl_ms(OrbgateQuestion *to, uint64_t value) { orbgate_wire_set_integer(to, 2u, 12u, value); }
/* The shortest time that an issuer can set. 0 selects 60 s. */
static inline void orbgate_make_set_ttl_min_ms(OrbgateQuestion *to, uint64_t value) { orbgate_wire_set_integer(to, 2u, 13u, value); }
/* The longest time that an issuer can set. 0 selects 3,600 s. */
static inline void orbgate_make_set_ttl_max_ms(OrbgateQuestion *to, uint64_t value) { orbgate_wire_set_integer(to, 2u, 14u, value); }
/* The part of that time, in percent, after which a token starts a call without waiting for it. 0 selects 80. */
static inline void orbgate_make_set_ahead_percent(OrbgateQuestion *to, uint64_t value) { orbgate_wire_set_integer(to, 2u, 15u, value); }
/* How long stale keys are used if new ones can't be fetched. 0 selects 3,600 s. */
static inline void orbgate_make_set_max_stale_ms(OrbgateQuestion *to, uint64_t value) { orbgate_wire_set_integer(to, 2u, 16u, value); }
/* The time between two attempts. 0 selects 30 s. */
static inline void orbgate_make_set_cooldown_ms(OrbgateQuestion *to, uint64_t value) { orbgate_wire_set_integer(to, 2u, 17u, value); }
/* How many attempts tokens with unknown keys can start at once, and again in every cooldown. 0 selects 4. */
static inline void orbgate_make_set_burst(OrbgateQuestion *to, uint64_t value) { orbgate_wire_set_integer(to, 2u, 18u, value); }
/* The time between two attempts while there are no keys. 0 selects 1 s. */
static inline void orbgate_make_set_retry_ms(OrbgateQuestion *to, uint64_t value) { orbgate_wire_set_integer(to, 2u, 19u, value); }
/* The time limit for one attempt. 0 selects 5 s. */
static inline void orbgate_make_set_timeout_ms(OrbgateQuestion *to, uint64_t value) { orbgate_wire_set_integer(to, 2u, 20u, value); }
/* Routes that need no token, such as `GET /healthz`, each written as in a policy with the whole path. */
static inline void orbgate_make_add_public_route(OrbgateQuestion *to, const char *value, size_t len) { orbgate_wire_add(to, 2u, 21u, value, len); }
/* The secrets of the clients that ask about opaque tokens, in the order of `SecretSources`. Empty: the library reads them all. */
static inline void orbgate_make_add_secret(OrbgateQuestion *to, const char *value, size_t value_len)
{
    const size_t part = orbgate_wire_part(to, 2u, 22u);
    if (value != NULL || value_len > 0) {
        orbgate_wire_add(to, 2u, 1u, value, value_len);
    }
    orbgate_wire_end(to, part);
}
/* The path of an MCP endpoint, whose requests are decided by the operations in their bodies. */
static inline void orbgate_make_set_mcp(OrbgateQuestion *to, const char *value, size_t len) { orbgate_wire_set(to, 2u, 23u, value, len); }
/* The scopes that a client without a token should ask for, separated by spaces. */
static inline void orbgate_make_set_mcp_initial_scopes(OrbgateQuestion *to, const char *value, size_t len) { orbgate_wire_set(to, 2u, 24u, value, len); }
/* The longest body of the endpoint, at most 8 MiB. 0 selects 4 MiB. */
static inline void orbgate_make_set_mcp_most_bytes(OrbgateQuestion *to, uint64_t value) { orbgate_wire_set_integer(to, 2u, 25u, value); }
/* Requests of protocol versions without the headers of MCP are denied. */
static inline void orbgate_make_set_mcp_deny_legacy(OrbgateQuestion *to, bool value) { orbgate_wire_set_boolean(to, 2u, 26u, value); }
/* The URL of the protected resource, whose metadata (RFC 9728) the gate serves. */
static inline void orbgate_make_set_metadata(OrbgateQuestion *to, const char *value, size_t len) { orbgate_wire_set(to, 2u, 27u, value, len); }
/* The origins whose pages may send requests to the endpoint, such as `https://app.example`. */
static inline void orbgate_make_add_mcp_origin(OrbgateQuestion *to, const char *value, size_t len) { orbgate_wire_add(to, 2u, 28u, value, len); }

/* Ask: Starts a request as received over the wire. Don't decode, strip or join any part of it. Answered by `Answer`, `Wait`, `CheckSignature`, `ReadBody` or `Charge`. */
static inline void orbgate_ask_begin(OrbgateQuestion *to) { orbgate_wire_begin(to, 3u); }
/* The method. */
static inline void orbgate_ask_set_method(OrbgateQuestion *to, const char *value, size_t len) { orbgate_wire_set(to, 3u, 1u, value, len); }
/* The target: path and query, in the bytes of the request line or of `:path`. */
static inline void orbgate_ask_set_target(OrbgateQuestion *to, const char *value, size_t len) { orbgate_wire_set(to, 3u, 2u, value, len); }
/* Every value of `Authorization`, one item for each header line. */
static inline void orbgate_ask_add_authorization(OrbgateQuestion *to, const char *value, size_t len) { orbgate_wire_add(to, 3u, 3u, value, len); }
/* The names of all headers, or at least those that contain `method`, in any letter case, because a header can override the method. */
static inline void orbgate_ask_add_header_name(OrbgateQuestion *to, const char *value, size_t len) { orbgate_wire_add(to, 3u, 4u, value, len); }
/* Every value of `Upgrade`. A request that lists `h2c` is denied. */
static inline void orbgate_ask_add_upgrade(OrbgateQuestion *to, const char *value, size_t len) { orbgate_wire_add(to, 3u, 5u, value, len); }
/* Every value of `Origin`. */
static inline void orbgate_ask_add_origin(OrbgateQuestion *to, const char *value, size_t len) { orbgate_wire_add(to, 3u, 6u, value, len); }
/* Every value of `Access-Control-Request-Method`. */
static inline void orbgate_ask_add_access_control_request_method(OrbgateQuestion *to, const char *value, size_t len) { orbgate_wire_add(to, 3u, 7u, value, len); }
/* An `ORBGATE_MATCHED_*` number: what a router before the gate has chosen. */
static inline void orbgate_ask_set_matched(OrbgateQuestion *to, uint64_t value) { orbgate_wire_set_integer(to, 3u, 8u, value); }
/* With `ORBGATE_MATCHED_TEMPLATE`, the template that the router chose, including any prefix, in the gate's syntax. */
static inline void orbgate_ask_set_path_template(OrbgateQuestion *to, const char *value, size_t len) { orbgate_wire_set(to, 3u, 9u, value, len); }
/* The request allows bonus orbs. */
static inline void orbgate_ask_set_allow_bonus_orbs(OrbgateQuestion *to, bool value) { orbgate_wire_set_boolean(to, 3u, 10u, value); }
/* The answer has a line for an audit log. */
static inline void orbgate_ask_set_with_audit(OrbgateQuestion *to, bool value) { orbgate_wire_set_boolean(to, 3u, 11u, value); }
/* A thread blocks while this request waits for keys. Only one such request waits for longer than a second. */
static inline void orbgate_ask_set_holds_thread(OrbgateQuestion *to, bool value) { orbgate_wire_set_boolean(to, 3u, 12u, value); }
/* The time since 1970, which determines whether tokens are valid. */
static inline void orbgate_ask_set_unix_ms(OrbgateQuestion *to, uint64_t value) { orbgate_wire_set_integer(to, 3u, 13u, value); }
/* The time since any moment, on a clock that is never set, which determines when keys are fetched. */
static inline void orbgate_ask_set_monotonic_ms(OrbgateQuestion *to, uint64_t value) { orbgate_wire_set_integer(to, 3u, 14u, value); }
/* The host reads whether the request allows bonus orbs, so the audit's `bonus_allowed` isn't null. */
static inline void orbgate_ask_set_reads_bonus_orbs(OrbgateQuestion *to, bool value) { orbgate_wire_set_boolean(to, 3u, 15u, value); }
/* The handler is about to run, and a ledger must hold the call's orbs. If it consumes, answered by `Charge`, or by a denial. */
static inline void orbgate_ask_set_charges(OrbgateQuestion *to, bool value) { orbgate_wire_set_boolean(to, 3u, 20u, value); }
/* A function has returned how many orbs the call consumes; otherwise the policy states it. */
static inline void orbgate_ask_set_has_amount(OrbgateQuestion *to, bool value) { orbgate_wire_set_boolean(to, 3u, 21u, value); }
/* What the function has returned. 0 holds nothing. */
static inline void orbgate_ask_set_amount(OrbgateQuestion *to, uint64_t value) { orbgate_wire_set_integer(to, 3u, 22u, value); }
/* The `unpaid` of a `HoldStep` that has denied the call: answered by its denial. */
static inline void orbgate_ask_set_unpaid(OrbgateQuestion *to, uint64_t value) { orbgate_wire_set_integer(to, 3u, 23u, value); }
/* That of the same `HoldStep`. */
static inline void orbgate_ask_set_retry_after_ms(OrbgateQuestion *to, uint64_t value) { orbgate_wire_set_integer(to, 3u, 24u, value); }
/* The function has failed, so the call is denied. */
static inline void orbgate_ask_set_amount_failed(OrbgateQuestion *to, bool value) { orbgate_wire_set_boolean(to, 3u, 25u, value); }
/* After an allow that consumes, and after `Charge`, the step keeps the token for an `Ask` with `again`. */
static inline void orbgate_ask_set_keeps(OrbgateQuestion *to, bool value) { orbgate_wire_set_boolean(to, 3u, 26u, value); }
/* The request is that of the step's last answer, which it keeps: its token isn't verified a second time. The rest of the question counts as it is. */
static inline void orbgate_ask_set_again(OrbgateQuestion *to, bool value) { orbgate_wire_set_boolean(to, 3u, 27u, value); }

/* Resume: Resumes a step after its `Wait` is over. The engine can be a later one. Answered like `Ask`. */
static inline void orbgate_resume_begin(OrbgateQuestion *to) { orbgate_wire_begin(to, 4u); }
/* The time since 1970. */
static inline void orbgate_resume_set_unix_ms(OrbgateQuestion *to, uint64_t value) { orbgate_wire_set_integer(to, 4u, 1u, value); }
/* The time on the monotonic clock. */
static inline void orbgate_resume_set_monotonic_ms(OrbgateQuestion *to, uint64_t value) { orbgate_wire_set_integer(to, 4u, 2u, value); }

/* Checked: Resumes a step after the host has checked its signature. Answered by `Answer`, `ReadBody` or `Charge`. */
static inline void orbgate_checked_begin(OrbgateQuestion *to) { orbgate_wire_begin(to, 5u); }
/* The signature is valid. */
static inline void orbgate_checked_set_is_right(OrbgateQuestion *to, bool value) { orbgate_wire_set_boolean(to, 5u, 1u, value); }
/* The first 8 bytes of the token's SHA-256 hash, if the host has instructions for it; 0 if the library must hash it. */
static inline void orbgate_checked_set_token_hash(OrbgateQuestion *to, uint64_t value) { orbgate_wire_set_integer(to, 5u, 2u, value); }
/* The time since 1970. */
static inline void orbgate_checked_set_unix_ms(OrbgateQuestion *to, uint64_t value) { orbgate_wire_set_integer(to, 5u, 3u, value); }
/* The time on the monotonic clock. */
static inline void orbgate_checked_set_monotonic_ms(OrbgateQuestion *to, uint64_t value) { orbgate_wire_set_integer(to, 5u, 4u, value); }

/* IsOver: Asks whether the wait of a step is over: after each report of a call, and when `until_ms` is reached. Answered by `Over`. */
static inline void orbgate_is_over_begin(OrbgateQuestion *to) { orbgate_wire_begin(to, 6u); }
/* The time on the monotonic clock. */
static inline void orbgate_is_over_set_monotonic_ms(OrbgateQuestion *to, uint64_t value) { orbgate_wire_set_integer(to, 6u, 1u, value); }

/* NextCall: Asks for the next call. Ask after each other question until the answer is `Done`, or only at the start, after `ReadSecrets` and after answers with `may_call`. Answered by `Call` or `Done`. */
static inline void orbgate_next_call_begin(OrbgateQuestion *to) { orbgate_wire_begin(to, 7u); }
/* The time on the monotonic clock. */
static inline void orbgate_next_call_set_monotonic_ms(OrbgateQuestion *to, uint64_t value) { orbgate_wire_set_integer(to, 7u, 1u, value); }

/* Called: Reports the result of a call. Answered by `Call`, the next one of the same attempt, or by `Done`, and then the steps that wait for it can be resumed. A report for an attempt that is already over has no effect. */
static inline void orbgate_called_begin(OrbgateQuestion *to) { orbgate_wire_begin(to, 8u); }
/* The attempt of the call. */
static inline void orbgate_called_set_attempt(OrbgateQuestion *to, uint64_t value) { orbgate_wire_set_integer(to, 8u, 1u, value); }
/* An `ORBGATE_FETCH_*` number if there is no response; otherwise 0. */
static inline void orbgate_called_set_failure(OrbgateQuestion *to, uint64_t value) { orbgate_wire_set_integer(to, 8u, 2u, value); }
/* The status of the response. */
static inline void orbgate_called_set_status(OrbgateQuestion *to, uint64_t value) { orbgate_wire_set_integer(to, 8u, 3u, value); }
/* Its headers, or at least each `Cache-Control`. */
static inline void orbgate_called_add_header(OrbgateQuestion *to, const char *name, size_t name_len, const char *value, size_t value_len)
{
    const size_t part = orbgate_wire_part(to, 8u, 4u);
    orbgate_wire_set(to, 8u, 1u, name, name_len);
    orbgate_wire_set(to, 8u, 2u, value, value_len);
    orbgate_wire_end(to, part);
}
/* Its body, which can be left out if the status isn't 200. */
static inline void orbgate_called_set_body(OrbgateQuestion *to, const char *value, size_t len) { orbgate_wire_set(to, 8u, 5u, value, len); }
/* The time on the monotonic clock. */
static inline void orbgate_called_set_monotonic_ms(OrbgateQuestion *to, uint64_t value) { orbgate_wire_set_integer(to, 8u, 6u, value); }

/* Warm: Requests every issuer's keys, as far as the settings allow, so that the first token needn't wait. Answered by `Done`; then ask for the next call. */
static inline void orbgate_warm_begin(OrbgateQuestion *to) { orbgate_wire_begin(to, 9u); }
/* The time on the monotonic clock. */
static inline void orbgate_warm_set_monotonic_ms(OrbgateQuestion *to, uint64_t value) { orbgate_wire_set_integer(to, 9u, 1u, value); }

/* Revoke: Never uses an issuer's key again, even if the issuer still publishes it. Answered by `Done`; for an unknown issuer, the status is `ORBGATE_STATUS_NOT_FOUND`. */
static inline void orbgate_revoke_begin(OrbgateQuestion *to) { orbgate_wire_begin(to, 10u); }
/* The issuer. */
static inline void orbgate_revoke_set_issuer(OrbgateQuestion *to, const char *value, size_t len) { orbgate_wire_set(to, 10u, 1u, value, len); }
/* The key's `kid`. */
static inline void orbgate_revoke_set_kid(OrbgateQuestion *to, const char *value, size_t len) { orbgate_wire_set(to, 10u, 2u, value, len); }

/* Forget: Forgets an issuer's keys, or the answers about its tokens, if it has withdrawn one before it expired. Answered like `Revoke`. */
static inline void orbgate_forget_begin(OrbgateQuestion *to) { orbgate_wire_begin(to, 11u); }
/* The issuer. */
static inline void orbgate_forget_set_issuer(OrbgateQuestion *to, const char *value, size_t len) { orbgate_wire_set(to, 11u, 1u, value, len); }

/* ReadSecrets: Reads the secrets of the clients that ask about opaque tokens again. If one can't be read, all of them stay as they are. Answered by `Done` or `Failed`. */
static inline void orbgate_read_secrets_begin(OrbgateQuestion *to) { orbgate_wire_begin(to, 12u); }
/* As in `Make`. */
static inline void orbgate_read_secrets_add_secret(OrbgateQuestion *to, const char *value, size_t value_len)
{
    const size_t part = orbgate_wire_part(to, 12u, 1u);
    if (value != NULL || value_len > 0) {
        orbgate_wire_add(to, 12u, 1u, value, value_len);
    }
    orbgate_wire_end(to, part);
}

/* Status: Asks for the status of each issuer's keys. Answered by `KeyStatus`. */
static inline void orbgate_status_begin(OrbgateQuestion *to) { orbgate_wire_begin(to, 13u); }

/* CheckEngine: Checks that no path matches both a public route and a route of the engine's policy. Answered by `Done` or `Failed`. */
static inline void orbgate_check_engine_begin(OrbgateQuestion *to) { orbgate_wire_begin(to, 14u); }

/* CheckRoutes: Compares the routes of a service with those of the engine's policy, and with the gate's public ones if there is a gate. Answered by `RouteDifferences`. */
static inline void orbgate_check_routes_begin(OrbgateQuestion *to) { orbgate_wire_begin(to, 15u); }
/* The routes of the service. */
static inline void orbgate_check_routes_add_route(OrbgateQuestion *to, const char *method, size_t method_len, const char *path_template, size_t path_template_len)
{
    const size_t part = orbgate_wire_part(to, 15u, 1u);
    orbgate_wire_set(to, 15u, 1u, method, method_len);
    orbgate_wire_set(to, 15u, 2u, path_template, path_template_len);
    orbgate_wire_end(to, part);
}
/* Without a gate, an `ORBGATE_TEMPLATES_*` number: the syntax of the templates. */
static inline void orbgate_check_routes_set_templates(OrbgateQuestion *to, uint64_t value) { orbgate_wire_set_integer(to, 15u, 2u, value); }

/* Drop: Ends the request of a step, for example because the client has disconnected, so that the step can serve another. Answered by `Done`, without a gate. */
static inline void orbgate_drop_begin(OrbgateQuestion *to) { orbgate_wire_begin(to, 16u); }

/* Body: Decides a request after its `ReadBody`. Answered by `Answer` or `Charge`. */
static inline void orbgate_body_begin(OrbgateQuestion *to) { orbgate_wire_begin(to, 17u); }
/* The whole body as received, unless one of the flags is set. */
static inline void orbgate_body_set_body(OrbgateQuestion *to, const char *value, size_t len) { orbgate_wire_set(to, 17u, 1u, value, len); }
/* The body is longer than allowed. */
static inline void orbgate_body_set_too_large(OrbgateQuestion *to, bool value) { orbgate_wire_set_boolean(to, 17u, 2u, value); }
/* Each header line, or at least those whose names start with `content` or `mcp`, in any letter case. */
static inline void orbgate_body_add_header(OrbgateQuestion *to, const char *name, size_t name_len, const char *value, size_t value_len)
{
    const size_t part = orbgate_wire_part(to, 17u, 3u);
    orbgate_wire_set(to, 17u, 1u, name, name_len);
    orbgate_wire_set(to, 17u, 2u, value, value_len);
    orbgate_wire_end(to, part);
}
/* The time since 1970, for the audit log. */
static inline void orbgate_body_set_unix_ms(OrbgateQuestion *to, uint64_t value) { orbgate_wire_set_integer(to, 17u, 4u, value); }
/* There was no room for the body. */
static inline void orbgate_body_set_busy(OrbgateQuestion *to, bool value) { orbgate_wire_set_boolean(to, 17u, 5u, value); }
/* The body couldn't be read. */
static inline void orbgate_body_set_unreadable(OrbgateQuestion *to, bool value) { orbgate_wire_set_boolean(to, 17u, 6u, value); }

/* Reload: Checks a version of the policy. The engine is the active one, or null before the first. If the answer is `Loaded` with `is_loaded`, the secrets were read again; make an engine of the same bytes and activate it. The first version that is followed is active already if it has the engine's digest. */
static inline void orbgate_reload_begin(OrbgateQuestion *to) { orbgate_wire_begin(to, 24u); }
/* The contents of the file, which was read once. A policy without an end marker is rejected, unless `interval_ms` is set. */
static inline void orbgate_reload_set_policy(OrbgateQuestion *to, const char *value, size_t len) { orbgate_wire_set(to, 24u, 1u, value, len); }
/* Why the file can't be read; empty if it was read. */
static inline void orbgate_reload_set_failure(OrbgateQuestion *to, const char *value, size_t len) { orbgate_wire_set(to, 24u, 2u, value, len); }
/* Reject a version without a seal. */
static inline void orbgate_reload_set_require_seal(OrbgateQuestion *to, bool value) { orbgate_wire_set_boolean(to, 24u, 3u, value); }
/* Reject a version that allows more than the active one, or for fewer orbs. */
static inline void orbgate_reload_set_refuse_wider(OrbgateQuestion *to, bool value) { orbgate_wire_set_boolean(to, 24u, 4u, value); }
/* As in `Make`. */
static inline void orbgate_reload_add_secret(OrbgateQuestion *to, const char *value, size_t value_len)
{
    const size_t part = orbgate_wire_part(to, 24u, 5u);
    if (value != NULL || value_len > 0) {
        orbgate_wire_add(to, 24u, 1u, value, value_len);
    }
    orbgate_wire_end(to, part);
}
/* Follow the file with this step: ask again after each `pause_ms`, until `Drop`. A version counts once it was read twice without a change. 0: the version counts now. */
static inline void orbgate_reload_set_interval_ms(OrbgateQuestion *to, uint64_t value) { orbgate_wire_set_integer(to, 24u, 6u, value); }
/* An operator waits for the result. */
static inline void orbgate_reload_set_is_told(OrbgateQuestion *to, bool value) { orbgate_wire_set_boolean(to, 24u, 7u, value); }
/* The time on the monotonic clock. */
static inline void orbgate_reload_set_monotonic_ms(OrbgateQuestion *to, uint64_t value) { orbgate_wire_set_integer(to, 24u, 8u, value); }
/* The name of the file, for errors and the log. */
static inline void orbgate_reload_set_file(OrbgateQuestion *to, const char *value, size_t len) { orbgate_wire_set(to, 24u, 9u, value, len); }
/* Why the host can't read a secret; empty if it read all. A version isn't loaded then. */
static inline void orbgate_reload_set_secrets_failure(OrbgateQuestion *to, const char *value, size_t len) { orbgate_wire_set(to, 24u, 10u, value, len); }
/* A ledger charges calls, so each route that consumes orbs must have an amount. */
static inline void orbgate_reload_set_has_ledger(OrbgateQuestion *to, bool value) { orbgate_wire_set_boolean(to, 24u, 11u, value); }
/* The routes with a function that states the amount. */
static inline void orbgate_reload_add_amount(OrbgateQuestion *to, const char *value, size_t len) { orbgate_wire_add(to, 24u, 12u, value, len); }

/* UseLedger: Makes the step the holds of a process in one ledger service, until `Drop`. All questions from `Hold` to `LedgerCalled` are for this step. Answered by `Ledgered` or `Failed`. */
static inline void orbgate_use_ledger_begin(OrbgateQuestion *to) { orbgate_wire_begin(to, 30u); }
/* A call is charged whose handler was stopped midway, or whose stream failed after its first byte. */
static inline void orbgate_use_ledger_set_captures_cancelled(OrbgateQuestion *to, bool value) { orbgate_wire_set_boolean(to, 30u, 1u, value); }
/* How long a hold lasts if the process stops. 0 selects 60 s. */
static inline void orbgate_use_ledger_set_ttl_ms(OrbgateQuestion *to, uint64_t value) { orbgate_wire_set_integer(to, 30u, 2u, value); }
/* How long a call waits for the service before it is denied. 0 selects 2 s. */
static inline void orbgate_use_ledger_set_timeout_ms(OrbgateQuestion *to, uint64_t value) { orbgate_wire_set_integer(to, 30u, 3u, value); }
/* How many settlements can wait for the service. 0 selects 4,096. */
static inline void orbgate_use_ledger_set_queue(OrbgateQuestion *to, uint64_t value) { orbgate_wire_set_integer(to, 30u, 4u, value); }
/* Such a call isn't charged. One of the two must be true. */
static inline void orbgate_use_ledger_set_voids_cancelled(OrbgateQuestion *to, bool value) { orbgate_wire_set_boolean(to, 30u, 5u, value); }
/* A call at an MCP endpoint is charged whose result has `isError`. */
static inline void orbgate_use_ledger_set_captures_tool_errors(OrbgateQuestion *to, bool value) { orbgate_wire_set_boolean(to, 30u, 6u, value); }
/* Such a call isn't charged. For a gate with an MCP endpoint, one of the two must be true. */
static inline void orbgate_use_ledger_set_voids_tool_errors(OrbgateQuestion *to, bool value) { orbgate_wire_set_boolean(to, 30u, 7u, value); }
/* A call at an MCP endpoint is charged whose result asks for input. */
static inline void orbgate_use_ledger_set_captures_input_required(OrbgateQuestion *to, bool value) { orbgate_wire_set_boolean(to, 30u, 8u, value); }
/* Such a call isn't charged. For a gate with an MCP endpoint, one of the two must be true. */
static inline void orbgate_use_ledger_set_voids_input_required(OrbgateQuestion *to, bool value) { orbgate_wire_set_boolean(to, 30u, 9u, value); }

/* Hold: Begins to hold the orbs of a `Charge`. Answered by `HoldStep`. */
static inline void orbgate_hold_begin(OrbgateQuestion *to) { orbgate_wire_begin(to, 31u); }
/* 16 random bytes, new for each request. */
static inline void orbgate_hold_set_id(OrbgateQuestion *to, const char *value, size_t len) { orbgate_wire_set(to, 31u, 1u, value, len); }
/* That of the `Charge`, and so are the others. */
static inline void orbgate_hold_set_account(OrbgateQuestion *to, const char *value, size_t len) { orbgate_wire_set(to, 31u, 2u, value, len); }
/* How many orbs. */
static inline void orbgate_hold_set_amount(OrbgateQuestion *to, uint64_t value) { orbgate_wire_set_integer(to, 31u, 3u, value); }
/* Bonus orbs may be used. */
static inline void orbgate_hold_set_bonus(OrbgateQuestion *to, bool value) { orbgate_wire_set_boolean(to, 31u, 4u, value); }
/* What the service notes. */
static inline void orbgate_hold_set_note(OrbgateQuestion *to, const char *value, size_t len) { orbgate_wire_set(to, 31u, 5u, value, len); }
/* The time on the monotonic clock. */
static inline void orbgate_hold_set_monotonic_ms(OrbgateQuestion *to, uint64_t value) { orbgate_wire_set_integer(to, 31u, 6u, value); }

/* Held: Reports what the service has answered to the call of a `HoldStep`. Answered by `HoldStep`. */
static inline void orbgate_held_begin(OrbgateQuestion *to) { orbgate_wire_begin(to, 32u); }
/* The id of the hold. */
static inline void orbgate_held_set_id(OrbgateQuestion *to, const char *value, size_t len) { orbgate_wire_set(to, 32u, 1u, value, len); }
/* The HTTP status; 0 without an answer. */
static inline void orbgate_held_set_status(OrbgateQuestion *to, uint64_t value) { orbgate_wire_set_integer(to, 32u, 2u, value); }
/* The body. */
static inline void orbgate_held_set_body(OrbgateQuestion *to, const char *value, size_t len) { orbgate_wire_set(to, 32u, 3u, value, len); }
/* The time since 1970. */
static inline void orbgate_held_set_unix_ms(OrbgateQuestion *to, uint64_t value) { orbgate_wire_set_integer(to, 32u, 4u, value); }
/* The time on the monotonic clock. */
static inline void orbgate_held_set_monotonic_ms(OrbgateQuestion *to, uint64_t value) { orbgate_wire_set_integer(to, 32u, 5u, value); }

/* Waited: The request has waited. Answered by `HoldStep`. */
static inline void orbgate_waited_begin(OrbgateQuestion *to) { orbgate_wire_begin(to, 33u); }
/* The id of the hold. */
static inline void orbgate_waited_set_id(OrbgateQuestion *to, const char *value, size_t len) { orbgate_wire_set(to, 33u, 1u, value, len); }
/* The time on the monotonic clock. */
static inline void orbgate_waited_set_monotonic_ms(OrbgateQuestion *to, uint64_t value) { orbgate_wire_set_integer(to, 33u, 2u, value); }

/* Ended: Reports once how the handler of a hold has ended. Answered by `Ledgered`; then ask for the next call. */
static inline void orbgate_ended_begin(OrbgateQuestion *to) { orbgate_wire_begin(to, 34u); }
/* The id of the hold. */
static inline void orbgate_ended_set_id(OrbgateQuestion *to, const char *value, size_t len) { orbgate_wire_set(to, 34u, 1u, value, len); }
/* It was stopped midway, or its stream failed after the first byte. */
static inline void orbgate_ended_set_cancelled(OrbgateQuestion *to, bool value) { orbgate_wire_set_boolean(to, 34u, 2u, value); }
/* The HTTP status of the whole answer; 0 if the handler failed, or its answer did before the first byte. */
static inline void orbgate_ended_set_status(OrbgateQuestion *to, uint64_t value) { orbgate_wire_set_integer(to, 34u, 3u, value); }
/* The handler has stated how many orbs it has consumed. */
static inline void orbgate_ended_set_is_stated(OrbgateQuestion *to, bool value) { orbgate_wire_set_boolean(to, 34u, 4u, value); }
/* How many. */
static inline void orbgate_ended_set_stated(OrbgateQuestion *to, uint64_t value) { orbgate_wire_set_integer(to, 34u, 5u, value); }
/* The time on the monotonic clock. */
static inline void orbgate_ended_set_monotonic_ms(OrbgateQuestion *to, uint64_t value) { orbgate_wire_set_integer(to, 34u, 6u, value); }
/* It never ran. */
static inline void orbgate_ended_set_never_ran(OrbgateQuestion *to, bool value) { orbgate_wire_set_boolean(to, 34u, 7u, value); }
/* Of a call at an MCP endpoint, the `end` of its last `Responded`; 0 for any other. */
static inline void orbgate_ended_set_response(OrbgateQuestion *to, uint64_t value) { orbgate_wire_set_integer(to, 34u, 8u, value); }

/* NextLedgerCall: Asks for the next message to the service, after each report and at `wake_ms`. Send one at a time. Answered by `LedgerCall` or `Ledgered`. */
static inline void orbgate_next_ledger_call_begin(OrbgateQuestion *to) { orbgate_wire_begin(to, 35u); }
/* The time on the monotonic clock. */
static inline void orbgate_next_ledger_call_set_monotonic_ms(OrbgateQuestion *to, uint64_t value) { orbgate_wire_set_integer(to, 35u, 1u, value); }

/* LedgerCalled: Reports what the service has answered. Answered by `Ledgered`; then ask for the next call. */
static inline void orbgate_ledger_called_begin(OrbgateQuestion *to) { orbgate_wire_begin(to, 36u); }
/* The number of the `LedgerCall`. */
static inline void orbgate_ledger_called_set_call(OrbgateQuestion *to, uint64_t value) { orbgate_wire_set_integer(to, 36u, 1u, value); }
/* The HTTP status; 0 without an answer. */
static inline void orbgate_ledger_called_set_status(OrbgateQuestion *to, uint64_t value) { orbgate_wire_set_integer(to, 36u, 2u, value); }
/* The body. */
static inline void orbgate_ledger_called_set_body(OrbgateQuestion *to, const char *value, size_t len) { orbgate_wire_set(to, 36u, 3u, value, len); }
/* The time on the monotonic clock. */
static inline void orbgate_ledger_called_set_monotonic_ms(OrbgateQuestion *to, uint64_t value) { orbgate_wire_set_integer(to, 36u, 4u, value); }

/* CheckAmounts: Checks at the start that each route of the engine's policy that consumes orbs has an amount, in the policy or by a function, and that the policy has each route with a function. `Reload` checks the amounts of later versions. Answered by `Done` or `Failed`. It needs no gate. */
static inline void orbgate_check_amounts_begin(OrbgateQuestion *to) { orbgate_wire_begin(to, 37u); }
/* The routes with a function, as the policy names them. */
static inline void orbgate_check_amounts_add_function(OrbgateQuestion *to, const char *value, size_t len) { orbgate_wire_add(to, 37u, 1u, value, len); }

/* ReadResponse: Makes the step the reader of the response to a call at an MCP endpoint that holds orbs, until `Drop`. Ask it before the handler runs. Answered by `Responded`. */
static inline void orbgate_read_response_begin(OrbgateQuestion *to) { orbgate_wire_begin(to, 38u); }
/* That of the `Charge`. */
static inline void orbgate_read_response_set_mcp_id(OrbgateQuestion *to, const char *value, size_t len) { orbgate_wire_set(to, 38u, 1u, value, len); }
/* That of the `Charge`. */
static inline void orbgate_read_response_set_mcp_legacy(OrbgateQuestion *to, bool value) { orbgate_wire_set_boolean(to, 38u, 2u, value); }

/* ResponseBegins: The response begins. Answered by `Responded`. */
static inline void orbgate_response_begins_begin(OrbgateQuestion *to) { orbgate_wire_begin(to, 39u); }
/* Its header lines, or at least `Content-Type` and `Content-Encoding`. */
static inline void orbgate_response_begins_add_header(OrbgateQuestion *to, const char *name, size_t name_len, const char *value, size_t value_len)
{
    const size_t part = orbgate_wire_part(to, 39u, 1u);
    orbgate_wire_set(to, 39u, 1u, name, name_len);
    orbgate_wire_set(to, 39u, 2u, value, value_len);
    orbgate_wire_end(to, part);
}

/* ResponsePiece: A piece of its body. Answered by `Responded`. */
static inline void orbgate_response_piece_begin(OrbgateQuestion *to) { orbgate_wire_begin(to, 40u); }
/* The bytes. */
static inline void orbgate_response_piece_set_piece(OrbgateQuestion *to, const char *value, size_t len) { orbgate_wire_set(to, 40u, 1u, value, len); }

/* Visible: Asks which of these names a token may pass to a method of the MCP endpoint. Answered by `VisibleNames`. */
static inline void orbgate_visible_begin(OrbgateQuestion *to) { orbgate_wire_begin(to, 44u); }
/* The kind of the token, an `OrbgateTokenKind`. */
static inline void orbgate_visible_set_kind(OrbgateQuestion *to, uint64_t value) { orbgate_wire_set_integer(to, 44u, 1u, value); }
/* Its scopes. */
static inline void orbgate_visible_set_scopes(OrbgateQuestion *to, const char *value, size_t len) { orbgate_wire_set(to, 44u, 2u, value, len); }
/* `tools/call` for tools, `prompts/get` for prompts, `resources/read` for URIs. */
static inline void orbgate_visible_set_method(OrbgateQuestion *to, const char *value, size_t len) { orbgate_wire_set(to, 44u, 3u, value, len); }
/* The names. */
static inline void orbgate_visible_add_name(OrbgateQuestion *to, const char *value, size_t len) { orbgate_wire_add(to, 44u, 4u, value, len); }

/* The form of each field, by its number; null for an unknown kind. */
static inline const unsigned char *orbgate_wire_forms(uint32_t kind)
{
    static const unsigned char forms[][ORBGATE_WIRE_FIELDS] = {
        {0, 3, 3}, /* Done */
        {0, 129, 3, 73}, /* Failed */
        {0, 129, 129, 130, 3, 3, 3, 3, 3, 3, 10, 2, 131, 75, 1}, /* Answer */
        {0, 129, 2}, /* Wait */
        {0, 131, 131, 131, 129, 131, 2}, /* CheckSignature */
        {0, 129, 131, 131, 203, 131, 129, 129}, /* Call */
        {0, 130}, /* Over */
        {0, 204}, /* SecretSources */
        {0, 77}, /* KeyStatus */
        {0, 206}, /* RouteDifferences */
        {0, 129, 2, 129}, /* ReadBody */
        {0, 130, 3, 3, 3, 1, 73, 1, 3}, /* Loaded */
        {0, 131, 129, 130, 131, 131, 130}, /* Charge */
        {0, 130, 131, 131, 129, 129, 1, 1, 3}, /* HoldStep */
        {0, 129, 131, 131, 129}, /* LedgerCall */
        {0, 130, 129, 1, 1, 1, 1}, /* Ledgered */
        {0, 130, 129}, /* Responded */
        {0, 131}, /* VisibleNames */
        {0, 1, 1, 3}, /* Diagnostic */
        {0, 1, 3, 3, 3, 3, 3, 3, 3, 1}, /* Token */
        {0, 131, 131}, /* CallHeader */
        {0, 129, 131}, /* SecretSource */
        {0, 3, 1, 1, 3, 3, 2}, /* IssuerStatus */
        {0, 129, 131, 3}, /* RouteDifference */
    };
    switch (kind) {
    case 64u: return forms[0];
    case 65u: return forms[1];
    case 66u: return forms[2];
    case 67u: return forms[3];
    case 68u: return forms[4];
    case 69u: return forms[5];
    case 70u: return forms[6];
    case 71u: return forms[7];
    case 72u: return forms[8];
    case 73u: return forms[9];
    case 74u: return forms[10];
    case 84u: return forms[11];
    case 90u: return forms[12];
    case 91u: return forms[13];
    case 92u: return forms[14];
    case 93u: return forms[15];
    case 94u: return forms[16];
    case 98u: return forms[17];
    case 1u: return forms[18];
    case 2u: return forms[19];
    case 3u: return forms[20];
    case 4u: return forms[21];
    case 5u: return forms[22];
    case 6u: return forms[23];
    default: return NULL;
    }
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
        const unsigned form = plain < ORBGATE_WIRE_FIELDS ? forms[plain] : 0u;
        if (form == 0 || (form & ORBGATE_WIRE_CRITICAL) != (is_critical != 0 ? ORBGATE_WIRE_CRITICAL : 0u)) {
            if (is_critical != 0) {
                return false;
            }
            continue;
        }
        const unsigned one = form & (ORBGATE_WIRE_LIST - 1);
        if ((one == ORBGATE_WIRE_INTEGER && field.len != 8) || (one == ORBGATE_WIRE_BOOLEAN && field.len != 0)) {
            return false;
        }
        if (one >= ORBGATE_WIRE_PART) {
            OrbgateMessage part;
            if (!orbgate_wire_read(&part, one - ORBGATE_WIRE_PART, field.data, field.len)) {
                return false;
            }
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

/*
 * Reads an answer; false if it isn't one that this header knows, and then `to` has no message. Only needed for an answer that doesn't come
 * from `orbgate_gate_send`, such as a copy by `orbgate_step_copy`.
 */
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

/* Reads a part of `from`, false if it has none. */
static inline bool orbgate_wire_get_part(const OrbgateMessage *from, uint32_t kind, unsigned number, uint32_t part, OrbgateMessage *to)
{
    const OrbgateStr field = orbgate_wire_get(from, kind, number);
    if (to == NULL) {
        return false;
    }
    if (field.data != NULL && orbgate_wire_read(to, part, field.data, field.len)) {
        return true;
    }
    memset(to, 0, sizeof *to);
    return false;
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

/* No message: the `to` of a first `next`. */
static inline OrbgateMessage orbgate_message_init(void)
{
    OrbgateMessage none;
    memset(&none, 0, sizeof none);
    return none;
}

/* Done: The question is done. */
/* After `NextCall`, what to log, one sentence on each line, once for each change: issuers that can't be fetched or asked, or can be again, and keys that are left out of a set. After `CheckEngine`, for hosts that never charge: that routes of the policy consume orbs, a warning. */
static inline OrbgateStr orbgate_done_get_notices(const OrbgateMessage *from) { return orbgate_wire_get(from, 64u, 1u); }
/* The level of each line of `notices`, on a line of its own: `info`, `warning` or `error`. */
static inline OrbgateStr orbgate_done_get_levels(const OrbgateMessage *from) { return orbgate_wire_get(from, 64u, 2u); }

/* Failed: A configuration or an option has errors. */
/* The `OrbgateStatus` of the error. */
static inline uint64_t orbgate_failed_get_status(const OrbgateMessage *from) { return orbgate_wire_get_integer(from, 65u, 1u); }
/* All errors in one string, each on a line `line:column: message`. */
static inline OrbgateStr orbgate_failed_get_message(const OrbgateMessage *from) { return orbgate_wire_get(from, 65u, 2u); }
/* The errors that have a position, in the order of the file. */
static inline bool orbgate_failed_next_diagnostic(const OrbgateMessage *from, OrbgateMessage *to) { return orbgate_wire_next_part(from, 65u, 0x3u, 1u, to); }

/* Answer: The result of a request. Only an allow without `http_status` permits it. */
/* The decision, packed as with `ORBGATE_PACK_ABOUT`. */
static inline uint64_t orbgate_answer_get_packed(const OrbgateMessage *from) { return orbgate_wire_get_integer(from, 66u, 1u); }
/* The status of the response to a denied request, which has no body unless `body` is set; 0 for an allow. */
static inline uint64_t orbgate_answer_get_http_status(const OrbgateMessage *from) { return orbgate_wire_get_integer(from, 66u, 2u); }
/* The request is allowed only as a CORS preflight, so a handler that takes other methods than `OPTIONS` must not run. */
static inline bool orbgate_answer_get_preflight(const OrbgateMessage *from) { return orbgate_wire_get(from, 66u, 3u).data != NULL; }
/* The `WWW-Authenticate` header of a denial. */
static inline OrbgateStr orbgate_answer_get_www_authenticate(const OrbgateMessage *from) { return orbgate_wire_get(from, 66u, 4u); }
/* The `Allow` header of a denial. */
static inline OrbgateStr orbgate_answer_get_allow(const OrbgateMessage *from) { return orbgate_wire_get(from, 66u, 5u); }
/* Why the token is rejected, such as `expired`, only for logs and counters. */
static inline OrbgateStr orbgate_answer_get_refused(const OrbgateMessage *from) { return orbgate_wire_get(from, 66u, 6u); }
/* The template that the router chose instead of the allowed route; empty if the router didn't report one. Count it. */
static inline OrbgateStr orbgate_answer_get_misrouted(const OrbgateMessage *from) { return orbgate_wire_get(from, 66u, 7u); }
/* The template of an allowed request that needs no token, because its decision names no route. */
static inline OrbgateStr orbgate_answer_get_public_template(const OrbgateMessage *from) { return orbgate_wire_get(from, 66u, 8u); }
/* With `with_audit`, a JSON line for an audit log, without a line feed. */
static inline OrbgateStr orbgate_answer_get_audit(const OrbgateMessage *from) { return orbgate_wire_get(from, 66u, 9u); }
/* The verified token; absent without a valid token. */
static inline bool orbgate_answer_get_token(const OrbgateMessage *from, OrbgateMessage *to) { return orbgate_wire_get_part(from, 66u, 10u, 2u, to); }
/* `NextCall` might be answered by a call. */
static inline bool orbgate_answer_get_may_call(const OrbgateMessage *from) { return orbgate_wire_get(from, 66u, 11u).data != NULL; }
/* The body of the response, if it has one: JSON, and at a status of 200 the metadata of the protected resource. */
static inline OrbgateStr orbgate_answer_get_body(const OrbgateMessage *from) { return orbgate_wire_get(from, 66u, 12u); }
/* More headers of the response. */
static inline bool orbgate_answer_next_header(const OrbgateMessage *from, OrbgateMessage *to) { return orbgate_wire_next_part(from, 66u, 0xdu, 3u, to); }
/* The seconds of its `Retry-After` header; 0 if it has none. */
static inline uint64_t orbgate_answer_get_retry_after(const OrbgateMessage *from) { return orbgate_wire_get_integer(from, 66u, 14u); }

/* Wait: The request needs keys, or an answer about its token. Send the calls of `NextCall`, wait until `IsOver` is answered so, at the latest until `until_ms`, and then resume. */
/* When the wait ends even without a report, on the monotonic clock. */
static inline uint64_t orbgate_wait_get_until_ms(const OrbgateMessage *from) { return orbgate_wire_get_integer(from, 67u, 1u); }
/* `NextCall` might be answered by a call. */
static inline bool orbgate_wait_get_may_call(const OrbgateMessage *from) { return orbgate_wire_get(from, 67u, 2u).data != NULL; }

/* CheckSignature: Check a signature, and report with `Checked` whether it is valid. The algorithm fits the key, and key and signature have a valid form and length. */
/* The algorithm, such as `RS256`. ECDSA signatures are two numbers, not DER (RFC 7518 §3.4); PSS has a salt as long as its hash. */
static inline OrbgateStr orbgate_check_signature_get_algorithm(const OrbgateMessage *from) { return orbgate_wire_get(from, 68u, 1u); }
/* The key as a JWK with only its required members. Equal keys have equal strings. If it can't be imported, the signature is invalid. */
static inline OrbgateStr orbgate_check_signature_get_key(const OrbgateMessage *from) { return orbgate_wire_get(from, 68u, 2u); }
/* The token, whose first `signed` bytes are the signed ones. */
static inline OrbgateStr orbgate_check_signature_get_token(const OrbgateMessage *from) { return orbgate_wire_get(from, 68u, 3u); }
/* How many bytes of the token are signed. */
static inline uint64_t orbgate_check_signature_get_signed(const OrbgateMessage *from) { return orbgate_wire_get_integer(from, 68u, 4u); }
/* The signature. */
static inline OrbgateStr orbgate_check_signature_get_signature(const OrbgateMessage *from) { return orbgate_wire_get(from, 68u, 5u); }
/* `NextCall` might be answered by a call. */
static inline bool orbgate_check_signature_get_may_call(const OrbgateMessage *from) { return orbgate_wire_get(from, 68u, 6u).data != NULL; }

/* Call: A call to make without following redirects. In any case, report the result with `Called`. */
/* The attempt that needs it. */
static inline uint64_t orbgate_call_get_attempt(const OrbgateMessage *from) { return orbgate_wire_get_integer(from, 69u, 1u); }
/* Its method. */
static inline OrbgateStr orbgate_call_get_method(const OrbgateMessage *from) { return orbgate_wire_get(from, 69u, 2u); }
/* `https`, or a loopback address. */
static inline OrbgateStr orbgate_call_get_url(const OrbgateMessage *from) { return orbgate_wire_get(from, 69u, 3u); }
/* Its headers. One of them can contain a secret, so don't log them. */
static inline bool orbgate_call_next_header(const OrbgateMessage *from, OrbgateMessage *to) { return orbgate_wire_next_part(from, 69u, 0x80000004u, 3u, to); }
/* Its body, if it has one. It can contain a token, so don't log it. */
static inline OrbgateStr orbgate_call_get_body(const OrbgateMessage *from) { return orbgate_wire_get(from, 69u, 5u); }
/* If the response hasn't arrived after this time, report `ORBGATE_FETCH_TIMEOUT`. */
static inline uint64_t orbgate_call_get_timeout_ms(const OrbgateMessage *from) { return orbgate_wire_get_integer(from, 69u, 6u); }
/* If the body is longer, stop reading and report `ORBGATE_FETCH_TOO_LARGE`. */
static inline uint64_t orbgate_call_get_max_bytes(const OrbgateMessage *from) { return orbgate_wire_get_integer(from, 69u, 7u); }

/* Over: Whether the wait of a step is over. */
/* The step can be resumed. */
static inline bool orbgate_over_get_is_over(const OrbgateMessage *from) { return orbgate_wire_get(from, 70u, 1u).data != NULL; }

/* SecretSources: Where the secrets of a token configuration are, in the order of the issuers that have one. */
/* The sources. */
static inline bool orbgate_secret_sources_next_source(const OrbgateMessage *from, OrbgateMessage *to) { return orbgate_wire_next_part(from, 71u, 0x80000001u, 4u, to); }

/* KeyStatus: The status of the keys at one moment. */
/* The issuers, in the order of the configuration. */
static inline bool orbgate_key_status_next_issuer(const OrbgateMessage *from, OrbgateMessage *to) { return orbgate_wire_next_part(from, 72u, 0x1u, 5u, to); }

/* RouteDifferences: The differences between the routes of a service and of its policy; empty if they are the same. */
/* First the routes that the policy lacks, then those that the service lacks. */
static inline bool orbgate_route_differences_next_difference(const OrbgateMessage *from, OrbgateMessage *to) { return orbgate_wire_next_part(from, 73u, 0x80000001u, 6u, to); }

/* ReadBody: The request is for an MCP endpoint, and its token is valid. Read its body and ask with `Body`. */
/* If the body is longer, stop reading and report `too_large`. */
static inline uint64_t orbgate_read_body_get_most_bytes(const OrbgateMessage *from) { return orbgate_wire_get_integer(from, 74u, 1u); }
/* `NextCall` might be answered by a call. */
static inline bool orbgate_read_body_get_may_call(const OrbgateMessage *from) { return orbgate_wire_get(from, 74u, 2u).data != NULL; }
/* The most bytes of bodies that the host holds for all requests. Without a `Content-Length`, a body needs room for `most_bytes`. If there is no room, report `busy`. */
static inline uint64_t orbgate_read_body_get_most_held(const OrbgateMessage *from) { return orbgate_wire_get_integer(from, 74u, 3u); }

/* Loaded: What became of a version of the policy. */
/* Activate it. */
static inline bool orbgate_loaded_get_is_loaded(const OrbgateMessage *from) { return orbgate_wire_get(from, 84u, 1u).data != NULL; }
/* The label of `orbgate_policy_loads_total`, such as `loaded` or `wider`. Empty if there is nothing to count or to log. */
static inline OrbgateStr orbgate_loaded_get_result(const OrbgateMessage *from) { return orbgate_wire_get(from, 84u, 2u); }
/* What to log: the digest, or why the previous policy stays active. */
static inline OrbgateStr orbgate_loaded_get_message(const OrbgateMessage *from) { return orbgate_wire_get(from, 84u, 3u); }
/* What to log as a warning, such as the changes for callers; empty if there is nothing. */
static inline OrbgateStr orbgate_loaded_get_warning(const OrbgateMessage *from) { return orbgate_wire_get(from, 84u, 4u); }
/* The `OrbgateStatus` of a rejection; otherwise 0. */
static inline uint64_t orbgate_loaded_get_status(const OrbgateMessage *from) { return orbgate_wire_get_integer(from, 84u, 5u); }
/* The errors of a policy or a configuration that have a position. */
static inline bool orbgate_loaded_next_diagnostic(const OrbgateMessage *from, OrbgateMessage *to) { return orbgate_wire_next_part(from, 84u, 0x6u, 1u, to); }
/* With `interval_ms`, when to ask again. */
static inline uint64_t orbgate_loaded_get_pause_ms(const OrbgateMessage *from) { return orbgate_wire_get_integer(from, 84u, 7u); }
/* Why a version is rejected, for the language's error: each error on a line, with the file. */
static inline OrbgateStr orbgate_loaded_get_reason(const OrbgateMessage *from) { return orbgate_wire_get(from, 84u, 8u); }

/* Charge: The call is allowed and consumes orbs, which must be held before its handler runs: ask the ledger's step with `Hold`. */
/* The account. */
static inline OrbgateStr orbgate_charge_get_account(const OrbgateMessage *from) { return orbgate_wire_get(from, 90u, 1u); }
/* How many orbs. */
static inline uint64_t orbgate_charge_get_amount(const OrbgateMessage *from) { return orbgate_wire_get_integer(from, 90u, 2u); }
/* Bonus orbs may be used. */
static inline bool orbgate_charge_get_bonus(const OrbgateMessage *from) { return orbgate_wire_get(from, 90u, 3u).data != NULL; }
/* What the service notes: the route and the policy's digest. */
static inline OrbgateStr orbgate_charge_get_note(const OrbgateMessage *from) { return orbgate_wire_get(from, 90u, 4u); }
/* For a call at an MCP endpoint whose response settles it: ask with `ReadResponse`. Otherwise empty. */
static inline OrbgateStr orbgate_charge_get_mcp_id(const OrbgateMessage *from) { return orbgate_wire_get(from, 90u, 5u); }
/* Its protocol version is an older one. */
static inline bool orbgate_charge_get_mcp_legacy(const OrbgateMessage *from) { return orbgate_wire_get(from, 90u, 6u).data != NULL; }

/* HoldStep: What a request that waits for its orbs must do next. */
/* The orbs are held: run the handler. */
static inline bool orbgate_hold_step_get_may_run(const OrbgateMessage *from) { return orbgate_wire_get(from, 91u, 1u).data != NULL; }
/* If it isn't empty, send a call and report it with `Held`. This is its path, to be added to the service's URL. By POST, with the secret as a bearer token. */
static inline OrbgateStr orbgate_hold_step_get_path(const OrbgateMessage *from) { return orbgate_wire_get(from, 91u, 2u); }
/* Its body, which is JSON. */
static inline OrbgateStr orbgate_hold_step_get_body(const OrbgateMessage *from) { return orbgate_wire_get(from, 91u, 3u); }
/* After this time the call has failed. */
static inline uint64_t orbgate_hold_step_get_timeout_ms(const OrbgateMessage *from) { return orbgate_wire_get_integer(from, 91u, 4u); }
/* If it isn't 0, wait until then, on the monotonic clock, and ask with `Waited`. Otherwise deny. */
static inline uint64_t orbgate_hold_step_get_until_ms(const OrbgateMessage *from) { return orbgate_wire_get_integer(from, 91u, 5u); }
/* Of a denial: for `unpaid` of `Ask`. */
static inline uint64_t orbgate_hold_step_get_unpaid(const OrbgateMessage *from) { return orbgate_wire_get_integer(from, 91u, 6u); }
/* Of a denial: for `Ask`. */
static inline uint64_t orbgate_hold_step_get_retry_after_ms(const OrbgateMessage *from) { return orbgate_wire_get_integer(from, 91u, 7u); }
/* At the end, the label of `orbgate_holds_total`. */
static inline OrbgateStr orbgate_hold_step_get_result(const OrbgateMessage *from) { return orbgate_wire_get(from, 91u, 8u); }

/* LedgerCall: The next message to the service. Report it with `LedgerCalled`. */
/* Its number. */
static inline uint64_t orbgate_ledger_call_get_call(const OrbgateMessage *from) { return orbgate_wire_get_integer(from, 92u, 1u); }
/* Its path. By POST, like that of `HoldStep`. */
static inline OrbgateStr orbgate_ledger_call_get_path(const OrbgateMessage *from) { return orbgate_wire_get(from, 92u, 2u); }
/* Its body. */
static inline OrbgateStr orbgate_ledger_call_get_body(const OrbgateMessage *from) { return orbgate_wire_get(from, 92u, 3u); }
/* After this time the call has failed. */
static inline uint64_t orbgate_ledger_call_get_timeout_ms(const OrbgateMessage *from) { return orbgate_wire_get_integer(from, 92u, 4u); }

/* Ledgered: The state of a ledger's step. */
/* Ask with `NextLedgerCall` at `wake_ms`; otherwise only after a report. */
static inline bool orbgate_ledgered_get_wakes(const OrbgateMessage *from) { return orbgate_wire_get(from, 93u, 1u).data != NULL; }
/* On the monotonic clock. */
static inline uint64_t orbgate_ledgered_get_wake_ms(const OrbgateMessage *from) { return orbgate_wire_get_integer(from, 93u, 2u); }
/* How many settlements wait for the service. */
static inline uint64_t orbgate_ledgered_get_waiting(const OrbgateMessage *from) { return orbgate_wire_get_integer(from, 93u, 3u); }
/* How many calls were charged so far. */
static inline uint64_t orbgate_ledgered_get_captured(const OrbgateMessage *from) { return orbgate_wire_get_integer(from, 93u, 4u); }
/* How many holds were released. */
static inline uint64_t orbgate_ledgered_get_voided(const OrbgateMessage *from) { return orbgate_wire_get_integer(from, 93u, 5u); }
/* How many settlements were given up. */
static inline uint64_t orbgate_ledgered_get_lost(const OrbgateMessage *from) { return orbgate_wire_get_integer(from, 93u, 6u); }

/* Responded: What a response has said so far. */
/* The next piece must be read; otherwise none. */
static inline bool orbgate_responded_get_reads(const OrbgateMessage *from) { return orbgate_wire_get(from, 94u, 1u).data != NULL; }
/* For `response` of `Ended`. */
static inline uint64_t orbgate_responded_get_end(const OrbgateMessage *from) { return orbgate_wire_get_integer(from, 94u, 2u); }

/* VisibleNames: The names that the token may pass, in their order. */
/* The names, one on each line. */
static inline OrbgateStr orbgate_visible_names_get_names(const OrbgateMessage *from) { return orbgate_wire_get(from, 98u, 1u); }

/* Diagnostic: An error of a configuration. */
/* Line, from 1. */
static inline uint64_t orbgate_diagnostic_get_line(const OrbgateMessage *from) { return orbgate_wire_get_integer(from, 1u, 1u); }
/* Column in characters, from 1. */
static inline uint64_t orbgate_diagnostic_get_column(const OrbgateMessage *from) { return orbgate_wire_get_integer(from, 1u, 2u); }
/* The message: lower case, no final period, without the position. */
static inline OrbgateStr orbgate_diagnostic_get_message(const OrbgateMessage *from) { return orbgate_wire_get(from, 1u, 3u); }

/* Token: A verified token. */
/* Its kind: an `OrbgateTokenKind`. */
static inline uint64_t orbgate_token_get_kind(const OrbgateMessage *from) { return orbgate_wire_get_integer(from, 2u, 1u); }
/* Its scopes, separated by single spaces. */
static inline OrbgateStr orbgate_token_get_scopes(const OrbgateMessage *from) { return orbgate_wire_get(from, 2u, 2u); }
/* The issuer. */
static inline OrbgateStr orbgate_token_get_issuer(const OrbgateMessage *from) { return orbgate_wire_get(from, 2u, 3u); }
/* The subject (`sub`); empty if the token doesn't state it. */
static inline OrbgateStr orbgate_token_get_subject(const OrbgateMessage *from) { return orbgate_wire_get(from, 2u, 4u); }
/* The client that the token was issued to; empty if the token doesn't state it. */
static inline OrbgateStr orbgate_token_get_client(const OrbgateMessage *from) { return orbgate_wire_get(from, 2u, 5u); }
/* The party that acts for the subject (`act`); empty if the token doesn't state it. */
static inline OrbgateStr orbgate_token_get_actor(const OrbgateMessage *from) { return orbgate_wire_get(from, 2u, 6u); }
/* The token's own id (`jti`); empty if the token doesn't state it. */
static inline OrbgateStr orbgate_token_get_id(const OrbgateMessage *from) { return orbgate_wire_get(from, 2u, 7u); }
/* An id that reveals nothing about the token: 16 hexadecimal digits. */
static inline OrbgateStr orbgate_token_get_fingerprint(const OrbgateMessage *from) { return orbgate_wire_get(from, 2u, 8u); }
/* When the token expires: in milliseconds since 1970. */
static inline uint64_t orbgate_token_get_expires_ms(const OrbgateMessage *from) { return orbgate_wire_get_integer(from, 2u, 9u); }

/* CallHeader: A header line of a call. */
/* Its name. */
static inline OrbgateStr orbgate_call_header_get_name(const OrbgateMessage *from) { return orbgate_wire_get(from, 3u, 1u); }
/* Its value. */
static inline OrbgateStr orbgate_call_header_get_value(const OrbgateMessage *from) { return orbgate_wire_get(from, 3u, 2u); }

/* SecretSource: Where a secret is. A configuration never contains the secret. */
/* An `ORBGATE_SECRET_*` number. */
static inline uint64_t orbgate_secret_source_get_kind(const OrbgateMessage *from) { return orbgate_wire_get_integer(from, 4u, 1u); }
/* The path of the file, or the name of the variable. */
static inline OrbgateStr orbgate_secret_source_get_name(const OrbgateMessage *from) { return orbgate_wire_get(from, 4u, 2u); }

/* IssuerStatus: The status of one issuer's keys. */
/* The issuer. */
static inline OrbgateStr orbgate_issuer_status_get_issuer(const OrbgateMessage *from) { return orbgate_wire_get(from, 5u, 1u); }
/* The number of usable keys. If it is 0 and `opaque` isn't true, every token of the issuer is rejected. */
static inline uint64_t orbgate_issuer_status_get_key_count(const OrbgateMessage *from) { return orbgate_wire_get_integer(from, 5u, 2u); }
/* When the keys were fetched, on the monotonic clock; 0 if there aren't any. */
static inline uint64_t orbgate_issuer_status_get_fetched_ms(const OrbgateMessage *from) { return orbgate_wire_get_integer(from, 5u, 3u); }
/* Why the last attempt failed; empty if it succeeded. */
static inline OrbgateStr orbgate_issuer_status_get_failure(const OrbgateMessage *from) { return orbgate_wire_get(from, 5u, 4u); }
/* The keys that were left out, with the reasons: one line for each. */
static inline OrbgateStr orbgate_issuer_status_get_warnings(const OrbgateMessage *from) { return orbgate_wire_get(from, 5u, 5u); }
/* The issuer's tokens are opaque: it has no keys, and `failure` is that of its introspection endpoint. */
static inline bool orbgate_issuer_status_get_opaque(const OrbgateMessage *from) { return orbgate_wire_get(from, 5u, 6u).data != NULL; }

/* RouteDifference: A route that only the service or only the policy has. */
/* An `ORBGATE_DIFFERENCE_*` number. */
static inline uint64_t orbgate_route_difference_get_kind(const OrbgateMessage *from) { return orbgate_wire_get_integer(from, 6u, 1u); }
/* The route, for example `GET /users/export`. */
static inline OrbgateStr orbgate_route_difference_get_route(const OrbgateMessage *from) { return orbgate_wire_get(from, 6u, 2u); }
/* The policy's route that decides the requests of an undeclared route; empty if they are denied. */
static inline OrbgateStr orbgate_route_difference_get_decided_as(const OrbgateMessage *from) { return orbgate_wire_get(from, 6u, 3u); }

/* Whether an answer permits its request. Nothing else does. */
static inline bool orbgate_answer_is_allow(const OrbgateMessage *answer)
{
    return orbgate_packed_is_allow(orbgate_answer_get_packed(answer)) && orbgate_answer_get_http_status(answer) == 0;
}

/*
 * Asks a gate: `orbgate_gate_call` with a question and its answer. That function documents which of `gate` and `engine` a question
 * needs.
 *
 * After any status but ORBGATE_STATUS_OK, the request of the step is over, and `answer` has no message.
 */
ORBGATE_NODISCARD static inline OrbgateStatus orbgate_gate_send(const OrbgateGate *gate, const OrbgateEngine *engine, OrbgateStep *step,
                                                                const OrbgateQuestion *question, OrbgateMessage *answer)
{
    static const char drop[] = {16, 0, 0, 0, 0, 0, 0, 0};
    OrbgateStr bytes = {NULL, 0};
    OrbgateStatus status = ORBGATE_STATUS_INVALID_ARGUMENT;
    if (question != NULL && question->number != 0 && answer != NULL) {
        status = orbgate_gate_call(gate, engine, step, question->data, question->len, &bytes);
    }
    if (status == ORBGATE_STATUS_OK) {
        if (orbgate_message_read(answer, bytes.data, bytes.len)) {
            return status;
        }
        status = ORBGATE_STATUS_INVALID_ARGUMENT;
    }
    if (answer != NULL) {
        memset(answer, 0, sizeof *answer);
    }
    return orbgate_gate_call(NULL, NULL, step, drop, sizeof drop, &bytes) == ORBGATE_STATUS_PANIC ? ORBGATE_STATUS_PANIC : status;
}

#endif /* ORBGATE_GATE_H */
