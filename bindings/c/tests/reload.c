/*
 * Eight threads decide while one reloads: every answer is that of the one policy or of the other.
 *
 *   reload [RELOADS]    10,000 unless said otherwise
 */
#include <pthread.h>

#include "test.h"

enum { THREADS = 8 };

static OrbgateHandle *handle;
/* What each of the two policies answers. */
static OrbgateDecision answers[2];
static int done;

static OrbgateDecision decide(const OrbgateEngine *engine)
{
    OrbgateToken token = user("read:orders");
    OrbgateDecision decision;
    CHECK_OK(orbgate_engine_decide(engine, ORBGATE_TEXT("GET"), ORBGATE_TEXT("/v1/orders"), &token, 0, &decision));
    return decision;
}

static int which(const OrbgateDecision *decision)
{
    for (int at = 0; at < 2; at++) {
        if (memcmp(decision, &answers[at], sizeof *decision) == 0) {
            return at;
        }
    }
    CHECK(!"an answer of neither policy");
    return 2;
}

static void *read_on(void *counts)
{
    size_t *seen = counts;
    OrbgateHandle *own = orbgate_handle_retain(handle);
    OrbgateToken token = user("read:orders");
    while (!__atomic_load_n(&done, __ATOMIC_ACQUIRE)) {
        OrbgateDecision decision;
        CHECK_OK(orbgate_handle_decide(own, ORBGATE_TEXT("GET"), ORBGATE_TEXT("/v1/orders"), &token, 0, &decision));
        seen[which(&decision)]++;
        OrbgateEngine *engine = NULL;
        CHECK_OK(orbgate_handle_load(own, &engine));
        decision = decide(engine);
        seen[which(&decision)]++;
        orbgate_engine_free(engine);
    }
    orbgate_handle_free(own);
    return NULL;
}

int main(int count, char **arguments)
{
    long reloads = count > 1 ? atol(arguments[1]) : 10000;
    OrbgateEngine *engines[2] = {external_engine(), shop_engine()};
    for (int at = 0; at < 2; at++) {
        answers[at] = decide(engines[at]);
    }
    CHECK(answers[0].effect == ORBGATE_EFFECT_DENY && answers[1].effect == ORBGATE_EFFECT_ALLOW);
    CHECK_OK(orbgate_handle_new(engines[0], &handle));
    pthread_t threads[THREADS];
    size_t seen[THREADS][2] = {{0}};
    for (int at = 0; at < THREADS; at++) {
        CHECK(pthread_create(&threads[at], NULL, read_on, seen[at]) == 0);
    }
    for (long at = 0; at < reloads; at++) {
        /* Every hundredth is compiled anew, so that engines die under their readers, too. */
        OrbgateEngine *fresh = at % 100 == 0 ? shop_engine() : orbgate_engine_retain(engines[at % 2]);
        CHECK_OK(orbgate_handle_store(handle, fresh));
        orbgate_engine_free(fresh);
    }
    __atomic_store_n(&done, 1, __ATOMIC_RELEASE);
    size_t all[2] = {0};
    for (int at = 0; at < THREADS; at++) {
        CHECK(pthread_join(threads[at], NULL) == 0);
        all[0] += seen[at][0];
        all[1] += seen[at][1];
    }
    orbgate_handle_free(handle);
    orbgate_engine_free(engines[0]);
    orbgate_engine_free(engines[1]);
    printf("%ld reloads; %zu answers of the one policy, %zu of the other, none of neither\n", reloads, all[0], all[1]);
    return 0;
}
