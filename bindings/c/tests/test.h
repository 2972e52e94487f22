/* What the tests of the C interface share: a check that says where it failed, and some arguments. */
#ifndef ORBGATE_TEST_H
#define ORBGATE_TEST_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "orbgate.h"

#define CHECK(condition)                                                            \
    do {                                                                            \
        if (!(condition)) {                                                         \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
            exit(1);                                                                \
        }                                                                           \
    } while (0)

#define CHECK_OK(call) CHECK((call) == ORBGATE_STATUS_OK)

static const char SHOP[] = "orbgate: 1\n"
                           "name: shop\n"
                           "apis:\n"
                           "  shop:\n"
                           "    base_path: /v1\n"
                           "    scopes:\n"
                           "      read:orders: { orbs: false, routes: [GET /orders] }\n"
                           "      write:orders: { orbs: true, routes: [{ route: PUT /orders, orbs: 5 }] }\n";

static inline bool is(OrbgateStr text, const char *expected)
{
    return text.len == strlen(expected) && (text.len == 0 || memcmp(text.data, expected, text.len) == 0);
}

static inline bool has(OrbgateStr text, const char *part)
{
    const size_t length = strlen(part);
    for (size_t at = 0; at + length <= text.len; at++) {
        if (memcmp(text.data + at, part, length) == 0) {
            return true;
        }
    }
    return false;
}

static inline OrbgateEngine *external_engine(void)
{
    OrbgateEngine *engine = NULL;
    CHECK_OK(orbgate_engine_external(&engine));
    return engine;
}

static inline OrbgateEngine *shop_engine(void)
{
    OrbgateEngine *engine = NULL;
    CHECK_OK(orbgate_engine_from_yaml(SHOP, strlen(SHOP), &engine, NULL));
    return engine;
}

static inline OrbgateToken user(const char *scopes)
{
    OrbgateToken token = orbgate_token_init();
    token.kind = ORBGATE_TOKEN_KIND_USER;
    token.scopes = scopes;
    token.scopes_len = strlen(scopes);
    return token;
}

#endif
