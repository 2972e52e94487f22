/*
 * Eight threads decide while one reloads: every answer comes from one of the two policies.
 *
 *   reload [RELOADS]    10,000 unless said otherwise, and more until both have been seen
 */
#include <pthread.h>
#include <time.h>

#include "test.h"

/* So long a slow machine may take until its readers have seen both. */
enum { THREADS = 8, SECONDS = 120 };

static OrbgateHandle *handle;
/* What each of the two policies answers. */
static OrbgateDecision answers[2];
static int done;
/* How often each reader has seen each of the two. */
static size_t seen[THREADS][2];

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

/* Only its reader writes, while the main thread looks. */
static void note(size_t *counts, const OrbgateDecision *decision)
{
    size_t *one = &counts[which(decision)];
    __atomic_store_n(one, *one + 1, __ATOMIC_RELAXED);
}

static size_t seen_of(int policy)
{
    size_t all = 0;
    for (int at = 0; at < THREADS; at++) {
        all += __atomic_load_n(&seen[at][policy], __ATOMIC_RELAXED);
    }
    return all;
}

static void *read_on(void *counts)
{
    OrbgateHandle *own = orbgate_handle_retain(handle);
    OrbgateToken token = user("read:orders");
    while (!__atomic_load_n(&done, __ATOMIC_ACQUIRE)) {
        OrbgateDecision decision;
        CHECK_OK(orbgate_handle_decide(own, ORBGATE_TEXT("GET"), ORBGATE_TEXT("/v1/orders"), &token, 0, &decision));
        note(counts, &decision);
        OrbgateEngine *engine = NULL;
        CHECK_OK(orbgate_handle_load(own, &engine));
        decision = decide(engine);
        note(counts, &decision);
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
    for (int at = 0; at < THREADS; at++) {
        CHECK(pthread_create(&threads[at], NULL, read_on, seen[at]) == 0);
    }
    const time_t end = time(NULL) + SECONDS;
    long at = 0;
    for (; at < reloads || ((seen_of(0) == 0 || seen_of(1) == 0) && time(NULL) < end); at++) {
        /* Every hundredth is compiled anew, so that engines die under their readers, too. */
        OrbgateEngine *fresh = at % 100 == 0 ? shop_engine() : orbgate_engine_retain(engines[at % 2]);
        CHECK_OK(orbgate_handle_store(handle, fresh));
        orbgate_engine_free(fresh);
    }
    __atomic_store_n(&done, 1, __ATOMIC_RELEASE);
    for (int thread = 0; thread < THREADS; thread++) {
        CHECK(pthread_join(threads[thread], NULL) == 0);
    }
    CHECK(seen_of(0) > 0 && seen_of(1) > 0);
    orbgate_handle_free(handle);
    orbgate_engine_free(engines[0]);
    orbgate_engine_free(engines[1]);
    printf("%ld reloads; %zu answers of the one policy, %zu of the other, none of neither\n", at, seen_of(0), seen_of(1));
    return 0;
}
