/*
 * Eight threads ask one gate and answer what it asks of them, while one replaces the policy, forgets keys and revokes others. A request with
 * a right token is allowed, or refused because there are no keys; never anything else.
 *
 *   gate_threads [CHANGES]    1,000 unless said otherwise
 */
#include <pthread.h>

#include "gate.h"

enum { THREADS = 8 };

static OrbgateGate *gate;
static OrbgateHandle *handle;
static int done;
/* The clock that keys are fetched by. */
static uint64_t now;

static uint64_t tick(void) { return __atomic_add_fetch(&now, 1, __ATOMIC_RELAXED); }

static OrbgateEngine *current(void)
{
    OrbgateEngine *engine = NULL;
    CHECK_OK(orbgate_handle_load(handle, &engine));
    return engine;
}

/* Asks to the end: fetches what is to be fetched, and checks no signature itself, because this token's is right. */
static int allowed(const OrbgateGateRequest *request)
{
    OrbgateEngine *engine = current();
    OrbgateStep *step = NULL;
    CHECK_OK(orbgate_gate_ask(gate, engine, request, TIME, tick(), &step));
    OrbgateStepInfo info = info_of(step);
    while (info.kind != ORBGATE_STEP_ANSWER) {
        if (info.kind == ORBGATE_STEP_CHECK_SIGNATURE) {
            CHECK(info.message.len > 0 && info.signature.len == 64);
            CHECK_OK(orbgate_gate_checked(gate, engine, step, 1, TIME, tick(), &step));
        } else {
            uint8_t over = 0;
            while (over == 0) {
                serve(gate, tick());
                CHECK_OK(orbgate_gate_is_over(gate, step, tick(), &over));
            }
            orbgate_engine_free(engine);
            engine = current();
            CHECK_OK(orbgate_gate_resume(gate, engine, step, TIME, tick(), &step));
        }
        info = info_of(step);
    }
    int is_allow = orbgate_decision_is_allow(&info.decision);
    CHECK(is_allow ? is(info.subject, "user-7") : is(info.refused, "no_keys"));
    orbgate_step_free(step);
    orbgate_engine_free(engine);
    return is_allow;
}

static void *ask_on(void *count)
{
    /* A copy, because the room of `file` is used again for what is served. */
    char text[4096];
    OrbgateStr bearer = file("Bearer ", FOLDER "token.jwt");
    memcpy(text, bearer.data, bearer.len);
    bearer.data = text;
    OrbgateGateRequest request = get(ACCOUNT, &bearer);
    size_t *passed = count;
    while (!__atomic_load_n(&done, __ATOMIC_ACQUIRE)) {
        __atomic_add_fetch(passed, (size_t)allowed(&request), __ATOMIC_RELAXED);
    }
    return NULL;
}

int main(int count, char **arguments)
{
    long changes = count > 1 ? atol(arguments[1]) : 1000;
    OrbgateGateOptions options = orbgate_gate_options_init();
    options.flags = ORBGATE_GATE_SIGNATURES_OUTSIDE;
    gate = warm_gate(&options);
    OrbgateEngine *engine = external_engine();
    CHECK_OK(orbgate_handle_new(engine, &handle));
    pthread_t threads[THREADS];
    size_t passed = 0;
    for (int at = 0; at < THREADS; at++) {
        CHECK(pthread_create(&threads[at], NULL, ask_on, &passed) == 0);
    }
    /* On a busy machine all changes may be made before a thread has asked. */
    for (long change = 0; change < changes || (!__atomic_load_n(&passed, __ATOMIC_RELAXED) && change < 1000 * changes); change++) {
        OrbgateEngine *next = external_engine();
        CHECK_OK(orbgate_handle_store(handle, next));
        orbgate_engine_free(next);
        if (change % 16 == 0) {
            CHECK_OK(orbgate_gate_forget(gate, ORBGATE_TEXT(ISSUER)));
            CHECK_OK(orbgate_gate_revoke(gate, ORBGATE_TEXT(ISSUER), ORBGATE_TEXT("another")));
            __atomic_add_fetch(&now, 60000, __ATOMIC_RELAXED); /* long enough for another attempt */
        }
        OrbgateKeyStatus *status = NULL;
        CHECK_OK(orbgate_gate_status(gate, &status));
        orbgate_key_status_free(status);
    }
    __atomic_store_n(&done, 1, __ATOMIC_RELEASE);
    for (int at = 0; at < THREADS; at++) {
        CHECK(pthread_join(threads[at], NULL) == 0);
    }
    CHECK(passed > 0);
    orbgate_handle_free(handle);
    orbgate_engine_free(engine);
    orbgate_gate_free(gate);
    printf("%zu requests were allowed\n", passed);
    return 0;
}
