/* What the tests of arguments share: a call that must be refused, and leave its output alone. */
#ifndef ORBGATE_REFUSED_H
#define ORBGATE_REFUSED_H

#include "test.h"

/* Outputs are filled with this before a call that must be refused, and must still be afterwards. */
#define CANARY 0xa5

static inline bool untouched(const void *output, size_t from, size_t size)
{
    const unsigned char *bytes = output;
    for (size_t at = from; at < size; at++) {
        if (bytes[at] != CANARY) {
            return false;
        }
    }
    return true;
}

/* The call, which names `out`, is refused with this status and leaves `out` alone. */
#define REFUSED_WITH(status, out, call)                 \
    do {                                                \
        memset(&(out), CANARY, sizeof(out));            \
        CHECK((call) == (status));                      \
        CHECK(untouched(&(out), 0, sizeof(out)));       \
    } while (0)

/* The same for a struct that begins with struct_size. */
#define REFUSED_SIZED(status, out, call)                          \
    do {                                                          \
        memset(&(out), CANARY, sizeof(out));                      \
        (out).struct_size = (uint32_t)sizeof(out);                \
        CHECK((call) == (status));                                \
        CHECK((out).struct_size == (uint32_t)sizeof(out));        \
        CHECK(untouched(&(out), sizeof(uint32_t), sizeof(out)));  \
    } while (0)

#define INVALID ORBGATE_STATUS_INVALID_ARGUMENT
#define REFUSED(out, call) REFUSED_WITH(INVALID, out, call)
#define REFUSED_PACKED(call) CHECK(orbgate_packed_status(call) == INVALID && !orbgate_packed_is_allow(call))

/* More than any object has: no 64-bit machine addresses so much. */
#define HUGE_LEN (SIZE_MAX > UINT32_MAX ? SIZE_MAX / 255 : SIZE_MAX / 2 + 1)

/* A pointer that is not null, and to nothing that may be read as what it says. */
static inline const void *misaligned(const void *object)
{
    return (const char *)object + 1;
}

#endif
