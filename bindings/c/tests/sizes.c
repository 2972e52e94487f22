/*
 * Structs that begin with struct_size, in two clients: a later one, whose structs have more fields, and the first one, whose structs
 * have fewer.
 */
#include "test.h"

#define INVALID ORBGATE_STATUS_INVALID_ARGUMENT
#define CANARY 0xa5

static bool all(const void *from, size_t size, unsigned char value)
{
    const unsigned char *bytes = from;
    for (size_t at = 0; at < size; at++) {
        if (bytes[at] != value) {
            return false;
        }
    }
    return true;
}

/* A struct that the library writes in `call`, which names `out`; `first` is its size in the first release. */
#define WRITTEN(type, first, call)                                                             \
    do {                                                                                       \
        struct {                                                                               \
            type now;                                                                          \
            unsigned char more[64];                                                            \
        } later, known, earlier;                                                               \
        type *out = &known.now;                                                                \
        memset(&known, 0, sizeof known);                                                       \
        out->struct_size = sizeof(type);                                                       \
        CHECK_OK(call);                                                                        \
        memset(&later, CANARY, sizeof later);                                                  \
        out = &later.now;                                                                      \
        out->struct_size = sizeof later;                                                       \
        CHECK_OK(call);                                                                        \
        CHECK(out->struct_size == sizeof later && all(later.more, sizeof later.more, 0));      \
        CHECK(memcmp((char *)out + 4, (char *)&known.now + 4, sizeof(type) - 4) == 0);         \
        memset(&earlier, CANARY, sizeof earlier);                                              \
        out = &earlier.now;                                                                    \
        out->struct_size = first;                                                              \
        CHECK_OK(call);                                                                        \
        CHECK(memcmp((char *)out + 4, (char *)&known.now + 4, (first) - 4) == 0);              \
        CHECK(all((char *)out + (first), sizeof earlier - (first), CANARY));                   \
        for (int size = 0; size < (first) + 8; size++) {                                       \
            memset(&earlier, CANARY, sizeof earlier);                                          \
            out->struct_size = (uint32_t)size;                                                 \
            CHECK(size == (first) || (call) == INVALID);                                       \
            CHECK(all((char *)out + 4, sizeof earlier - 4, CANARY) || size == (first));        \
        }                                                                                      \
    } while (0)

/* A struct that the library reads in `call`, which names `in`; `first` is its size in the first release. */
#define READ(type, first, value, call)                                            \
    do {                                                                          \
        struct {                                                                  \
            type now;                                                             \
            unsigned char more[64];                                               \
        } later;                                                                  \
        type *in = &later.now;                                                    \
        memset(&later, 0, sizeof later);                                          \
        later.now = (value);                                                      \
        CHECK_OK(call);                                                           \
        in->struct_size = sizeof later;                                           \
        CHECK_OK(call);                                                           \
        for (size_t at = 0; at < sizeof later.more; at++) {                       \
            later.more[at] = 1;                                                   \
            CHECK((call) == INVALID);                                             \
            later.more[at] = 0;                                                   \
        }                                                                         \
        for (uint32_t size = 0; size < sizeof(type) + 8; size++) {                \
            in->struct_size = size;                                               \
            CHECK(((first) <= size && size <= sizeof(type)) || (call) == INVALID);\
        }                                                                         \
    } while (0)

int main(void)
{
    OrbgateEngine *engine = shop_engine(), *none = NULL;
    OrbgateToken token = user("read:orders");
    OrbgateDecision decision;
    READ(OrbgateToken, sizeof(OrbgateToken), token,
         orbgate_engine_decide(engine, ORBGATE_TEXT("GET"), ORBGATE_TEXT("/v1/orders"), in, 0, &decision));
    const uint32_t methods[] = {0, 3}, targets[] = {0, 10};
    OrbgateBatch batch = orbgate_batch_init();
    batch.len = 1;
    batch.method.data = "GET";
    batch.method.data_len = 3;
    batch.method.offsets = methods;
    batch.target.data = "/v1/orders";
    batch.target.data_len = 10;
    batch.target.offsets = targets;
    batch.token = &token;
    READ(OrbgateBatch, sizeof(OrbgateBatch), batch, orbgate_engine_decide_batch(engine, in, &decision, 1));
    CHECK(orbgate_decision_is_allow(&decision));

    WRITTEN(OrbgateDecisionStrings, 152, orbgate_engine_decision_strings(engine, &decision, out));
    WRITTEN(OrbgateEngineInfo, 48, orbgate_engine_info(engine, out));
    WRITTEN(OrbgateRoute, 144, orbgate_engine_route(engine, 2, out));
    WRITTEN(OrbgateScope, 96, orbgate_engine_scope(engine, 1, out));
    OrbgateError *error = NULL;
    CHECK(orbgate_engine_from_yaml(ORBGATE_TEXT("orbgate: 1\ncolour: red\n"), &none, &error) ==
          ORBGATE_STATUS_INVALID_POLICY);
    WRITTEN(OrbgateErrorInfo, 56, orbgate_error_info(error, out));
    WRITTEN(OrbgateDiagnostic, 32, orbgate_error_diagnostic(error, 0, out));
    orbgate_error_free(error);
    orbgate_engine_free(engine);
    return 0;
}
