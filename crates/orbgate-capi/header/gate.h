/*
 * Gates: what a gate is asked and answers, set and read field by field over the one call `orbgate_gate_ask`.
 *
 * @MADE@
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
#define ORBGATE_WIRE_FIELDS @FIELDS@u
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

@SETTERS@
#define ORBGATE_WIRE_FORMS(message, ...) \
    case message##u: { static const unsigned char forms[ORBGATE_WIRE_FIELDS] = {0, __VA_ARGS__}; return forms; }
/* The form of each field from 1, by its number; null for an unknown kind. */
static inline const unsigned char *orbgate_wire_forms(uint32_t kind)
{
    switch (kind) {
@FORMS@
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
    if (data != NULL && orbgate_wire_next(data, len, &kind, &fields) && fields.len == len - 8 && kind >= @FIRST@u
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

@GETTERS@
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
