/* What the test of setters and getters checks, gate_fields.c, which `cargo xtask test c` makes. It is also compiled as C++. */
#ifndef ORBGATE_GATE_FIELDS_H
#define ORBGATE_GATE_FIELDS_H

#include "orbgate_gate.h"
#include "test.h"

static inline bool is_written(const OrbgateQuestion *question, const unsigned char *bytes, size_t len)
{
    return question->number != 0 && question->len == len && memcmp(question->data, bytes, len) == 0;
}

/* A setter of another question, or null with a length, makes the whole question wrong, whatever is set afterwards. */
#define WRONG(begin, call)                                                         \
    do {                                                                           \
        OrbgateMessage message;                                                    \
        begin(&question);                                                          \
        call;                                                                      \
        CHECK(question.number == 0);                                               \
        CHECK(orbgate_gate_send(NULL, NULL, NULL, &question, &message) == ORBGATE_STATUS_INVALID_ARGUMENT); \
    } while (0)

#define EMPTY(begin, call)                                 \
    do {                                                   \
        begin(&question);                                  \
        call;                                              \
        CHECK(question.number != 0 && question.len == 8);  \
    } while (0)

/* A setter: null, another question, and nothing, which is left out. */
#define SETS(begin, other, set, value)       \
    do {                                     \
        set(NULL, value);                    \
        WRONG(other, set(&question, value)); \
        WRONG(other, set(&question, 0));     \
        EMPTY(begin, set(&question, 0));     \
    } while (0)

#define ADDS_STRING(begin, other, add, string)              \
    do {                                                    \
        add(NULL, ORBGATE_TEXT(string));                    \
        WRONG(other, add(&question, ORBGATE_TEXT(string))); \
        WRONG(other, add(&question, NULL, 0));              \
        WRONG(begin, add(&question, NULL, 1));              \
    } while (0)

#define SETS_STRING(begin, other, set, string)     \
    do {                                           \
        ADDS_STRING(begin, other, set, string);    \
        EMPTY(begin, set(&question, NULL, 0));     \
    } while (0)

/* A setter of parts. */
#define ADDS(other, add, ...)                      \
    do {                                           \
        add(NULL, __VA_ARGS__);                    \
        WRONG(other, add(&question, __VA_ARGS__)); \
    } while (0)

static inline bool is_none(const OrbgateMessage *message)
{
    const OrbgateMessage none = orbgate_message_init();
    return message->kind == 0 && message->bytes.data == NULL && memcmp(message->fields, none.fields, sizeof none.fields) == 0;
}

static inline OrbgateMessage whole(const unsigned char *bytes, size_t len)
{
    OrbgateMessage message;
    CHECK(orbgate_message_read(&message, (const char *)bytes, len));
    return message;
}

/* A message of a kind that no getter has, with fields. */
static inline OrbgateMessage of_no_kind(OrbgateMessage message)
{
    message.kind = 999;
    return message;
}

#define INTEGER(get, from, expected)                                                  \
    do {                                                                              \
        const OrbgateMessage none = orbgate_message_init(), other = of_no_kind(from); \
        CHECK(get(&from) == (expected));                                              \
        CHECK(get(NULL) == 0 && get(&none) == 0 && get(&other) == 0);                 \
    } while (0)

#define BOOLEAN(get, from)                                                            \
    do {                                                                              \
        const OrbgateMessage none = orbgate_message_init(), other = of_no_kind(from); \
        CHECK(get(&from) && !get(NULL) && !get(&none) && !get(&other));               \
    } while (0)

#define STRING(get, from, expected)                                                                                \
    do {                                                                                                           \
        const OrbgateMessage none = orbgate_message_init(), other = of_no_kind(from);                              \
        CHECK(is(get(&from), expected));                                                                           \
        CHECK(get(NULL).data == NULL && get(&none).data == NULL && get(&other).data == NULL && get(&other).len == 0); \
    } while (0)

#define PART(get, from, part)                                                                             \
    do {                                                                                                  \
        const OrbgateMessage none = orbgate_message_init(), other = of_no_kind(from);                     \
        CHECK(!get(&from, NULL) && !get(NULL, NULL));                                                     \
        CHECK(!get(NULL, &part) && is_none(&part) && !get(&none, &part) && is_none(&part));               \
        CHECK(!get(&other, &part) && is_none(&part) && get(&from, &part));                                \
    } while (0)

#endif
