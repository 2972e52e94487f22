/* A panic in the library is a status, in every thread, and the next call works. Needs the feature test-panic. */
#include <pthread.h>

#include "test.h"

OrbgateStatus orbgate__test_panic(void);

static void *panic_and_go_on(void *engine)
{
    OrbgateToken token = user("read:orbs");
    for (int at = 0; at < 10; at++) {
        OrbgateDecision decision;
        CHECK(orbgate__test_panic() == ORBGATE_STATUS_PANIC);
        CHECK_OK(orbgate_engine_decide(engine, ORBGATE_TEXT("GET"), ORBGATE_TEXT("/api/v1/external/orbs"), &token, 0,
                                       &decision));
        CHECK(orbgate_decision_is_allow(&decision));
    }
    return NULL;
}

int main(void)
{
    OrbgateEngine *engine = external_engine();
    pthread_t threads[8];
    panic_and_go_on(engine);
    for (int at = 0; at < 8; at++) {
        CHECK(pthread_create(&threads[at], NULL, panic_and_go_on, engine) == 0);
    }
    for (int at = 0; at < 8; at++) {
        CHECK(pthread_join(threads[at], NULL) == 0);
    }
    orbgate_engine_free(engine);
    return 0;
}
