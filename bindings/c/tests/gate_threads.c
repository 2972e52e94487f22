/*
 * Eight threads ask one gate and answer what it asks of them, while one replaces the policy, forgets keys and revokes
 * others. A request with a valid token is allowed, or refused because there are no keys; never anything else.
 *
 *   gate_threads [CHANGES]    1,000 unless said otherwise
 */
#include <pthread.h>

#include "gate.h"

enum { THREADS = 8 };

static uint64_t gate;
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

/* Asks to the end: makes the calls that are to be made, and checks no signature itself, because this token's is valid. */
static bool allowed(Host *to, OrbgateStr bearer)
{
    OrbgateEngine *engine = current();
    to->engine = engine;
    begin(to, "GET", ACCOUNT, bearer, tick());
    uint32_t kind = sent(to);
    while (kind != ORBGATE_MESSAGE_ANSWER) {
        if (kind == ORBGATE_MESSAGE_CHECK_SIGNATURE) {
            CHECK(orbgate_check_signature_get_signature(&to->answer).len == 64);
            kind = checked(to, true, tick());
        } else {
            CHECK(kind == ORBGATE_MESSAGE_WAIT);
            Host calling = host(gate, NULL);
            do {
                serve(&calling, tick());
            } while (!is_over(to, tick()));
            end(&calling);
            orbgate_engine_free(engine);
            to->engine = engine = current();
            kind = resumed(to, tick());
        }
    }
    const bool is_allow = orbgate_answer_is_allow(&to->answer);
    OrbgateMessage token;
    orbgate_answer_get_token(&to->answer, &token);
    CHECK(is_allow ? is(orbgate_token_get_subject(&token), "user-7") : is(orbgate_answer_get_refused(&to->answer), "no_keys"));
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
    size_t *passed = (size_t *)count;
    Host asking = host(gate, NULL); /* one memory for request after request */
    while (!__atomic_load_n(&done, __ATOMIC_ACQUIRE)) {
        __atomic_add_fetch(passed, (size_t)allowed(&asking, bearer), __ATOMIC_RELAXED);
    }
    end(&asking);
    return NULL;
}

int main(int count, char **arguments)
{
    long changes = count > 1 ? atol(arguments[1]) : 1000;
    gate = warm_gate(true);
    Host changing = host(gate, NULL);
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
            orbgate_forget_begin(&changing.question);
            orbgate_forget_set_issuer(&changing.question, ORBGATE_TEXT(ISSUER));
            CHECK(sent(&changing) == ORBGATE_MESSAGE_DONE);
            orbgate_revoke_begin(&changing.question);
            orbgate_revoke_set_issuer(&changing.question, ORBGATE_TEXT(ISSUER));
            orbgate_revoke_set_kid(&changing.question, ORBGATE_TEXT("another"));
            CHECK(sent(&changing) == ORBGATE_MESSAGE_DONE);
            __atomic_add_fetch(&now, 60000, __ATOMIC_RELAXED); /* long enough for another attempt */
        }
        orbgate_status_begin(&changing.question);
        CHECK(sent(&changing) == ORBGATE_MESSAGE_KEY_STATUS);
    }
    __atomic_store_n(&done, 1, __ATOMIC_RELEASE);
    for (int at = 0; at < THREADS; at++) {
        CHECK(pthread_join(threads[at], NULL) == 0);
    }
    CHECK(passed > 0);
    end(&changing);
    orbgate_handle_free(handle);
    orbgate_engine_free(engine);
    orbgate_gate_end(&gate);
    printf("%zu requests were allowed\n", passed);
    return 0;
}
