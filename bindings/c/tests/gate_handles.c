/*
 * Handles of gates and steps: one that is over, ended twice, in use by another thread or another gate's is refused, and reaches no other
 * request. Threads ask with each other's handles, among them stale ones, while others end them.
 *
 *   gate_handles [REQUESTS]    of each thread; 1,000 unless said otherwise
 */
#include <pthread.h>

#include "gate.h"
#include "refused.h"

enum { THREADS = 4, SHARED = 4, ROOM = 4096 };

static OrbgateEngine *engine;
static char bearer[ROOM];

/* Asks what is in `question`, and gets the answer, which comes into the same memory. */
static OrbgateStatus ask(uint64_t gate, uint64_t *step, OrbgateQuestion *question, OrbgateMessage *answer)
{
    uint64_t same = gate;
    const OrbgateStatus status = orbgate_gate_send(&same, engine, step, question, answer);
    CHECK(same == gate && (answer->kind != 0) == (status == ORBGATE_STATUS_OK));
    return status;
}

static uint64_t new_handle(void)
{
    static char room[ROOM];
    OrbgateQuestion question = orbgate_question_in(room, sizeof room, room, sizeof room);
    OrbgateMessage answer;
    uint64_t gate = 0, step = 0;
    orbgate_make_begin(&question);
    orbgate_make_set_tokens(&question, TOKENS, strlen(TOKENS));
    orbgate_make_set_signatures_outside(&question, true);
    CHECK_OK(orbgate_gate_send(&gate, NULL, &step, &question, &answer));
    CHECK(gate != 0 && step == 0 && answer.kind == ORBGATE_MESSAGE_DONE);
    orbgate_warm_begin(&question);
    CHECK_OK(ask(gate, &step, &question, &answer));
    orbgate_next_call_begin(&question);
    CHECK_OK(ask(gate, &step, &question, &answer));
    while (answer.kind == ORBGATE_MESSAGE_CALL) {
        const bool is_keys = is(orbgate_call_get_url(&answer), ISSUER "/jwks");
        const OrbgateStr body = is_keys ? file("", FOLDER "jwks.json") : (OrbgateStr){ORBGATE_TEXT(DISCOVERY)};
        const uint64_t attempt = orbgate_call_get_attempt(&answer);
        CHECK(step != 0);
        orbgate_called_begin(&question);
        orbgate_called_set_attempt(&question, attempt);
        orbgate_called_set_status(&question, 200);
        orbgate_called_set_body(&question, body.data, body.len);
        CHECK_OK(ask(gate, &step, &question, &answer));
    }
    CHECK(answer.kind == ORBGATE_MESSAGE_DONE && step == 0);
    return gate;
}

/* A request whose signature is to be checked. */
static uint64_t asked(uint64_t gate)
{
    char room[ROOM];
    OrbgateQuestion question = orbgate_question_in(room, sizeof room, room, sizeof room);
    OrbgateMessage answer;
    uint64_t step = 0;
    orbgate_ask_begin(&question);
    orbgate_ask_set_method(&question, ORBGATE_TEXT("GET"));
    orbgate_ask_set_target(&question, ORBGATE_TEXT(ACCOUNT));
    orbgate_ask_add_authorization(&question, bearer, strlen(bearer));
    orbgate_ask_set_unix_ms(&question, TIME);
    CHECK_OK(ask(gate, &step, &question, &answer));
    CHECK(answer.kind == ORBGATE_MESSAGE_CHECK_SIGNATURE && step != 0 && step >> 53 == 0);
    return step;
}

static OrbgateStatus answered(uint64_t gate, uint64_t *step)
{
    char room[ROOM];
    OrbgateQuestion question = orbgate_question_in(room, sizeof room, room, sizeof room);
    OrbgateMessage answer;
    orbgate_checked_begin(&question);
    orbgate_checked_set_is_right(&question, true);
    orbgate_checked_set_unix_ms(&question, TIME);
    const OrbgateStatus status = ask(gate, step, &question, &answer);
    CHECK(status != ORBGATE_STATUS_OK || (orbgate_answer_is_allow(&answer) && *step == 0));
    return status;
}

/* A reader of a response, which stays until it is ended. */
static uint64_t reading(uint64_t gate)
{
    char room[ROOM];
    OrbgateQuestion question = orbgate_question_in(room, sizeof room, room, sizeof room);
    OrbgateMessage answer;
    uint64_t step = 0;
    orbgate_read_response_begin(&question);
    orbgate_read_response_set_mcp_id(&question, ORBGATE_TEXT("7"));
    CHECK_OK(ask(gate, &step, &question, &answer));
    CHECK(answer.kind == ORBGATE_MESSAGE_RESPONDED && step != 0);
    return step;
}

static OrbgateStatus reads(uint64_t gate, uint64_t *step)
{
    char room[ROOM];
    OrbgateQuestion question = orbgate_question_in(room, sizeof room, room, sizeof room);
    OrbgateMessage answer;
    orbgate_response_piece_begin(&question);
    orbgate_response_piece_set_piece(&question, ORBGATE_TEXT(" "));
    const OrbgateStatus status = ask(gate, step, &question, &answer);
    CHECK(status != ORBGATE_STATUS_OK || answer.kind == ORBGATE_MESSAGE_RESPONDED);
    return status;
}

static void one_after_another(void)
{
    const uint64_t gate = new_handle(), other = new_handle();
    uint64_t step = asked(gate);
    const uint64_t first = step;
    uint64_t stale = first;
    CHECK(answered(other, &step) == INVALID && step == first); /* another gate */
    CHECK_OK(answered(gate, &step));
    CHECK(step == 0);
    CHECK(answered(gate, &stale) == INVALID && stale == 0); /* used when it is over */
    /* In the slot of the first one, which its handle doesn't reach. */
    step = reading(gate);
    CHECK(step != first && (step & 0xfffff) == (first & 0xfffff));
    for (int at = 0; at < 3; at++) {
        stale = first;
        CHECK((at == 0 ? answered(gate, &stale) : reads(gate, &stale)) == INVALID);
        stale = first;
        orbgate_step_end(&stale);
        CHECK(stale == 0);
        CHECK_OK(reads(gate, &step));
    }
    /* Ended twice. */
    stale = step;
    orbgate_step_end(&step);
    orbgate_step_end(&step);
    orbgate_step_end(&stale);
    CHECK(step == 0 && stale == 0);
    orbgate_step_end(NULL);
    /* Steps whose gate is over. */
    uint64_t ended = gate, again = gate, left = asked(gate);
    step = asked(gate);
    uint64_t others = asked(other);
    CHECK(orbgate_step_count() == 3);
    orbgate_gate_end(&ended);
    orbgate_gate_end(&again);
    CHECK(ended == 0 && again == 0 && orbgate_step_count() == 1);
    CHECK_OK(answered(other, &others));
    orbgate_gate_end(NULL);
    CHECK(answered(gate, &step) == INVALID && step == 0);
    orbgate_step_end(&left);
    step = asked(other);
    CHECK_OK(answered(other, &step));
    ended = other;
    orbgate_gate_end(&ended);
}

/* Every bad pointer and length. */
static void arguments(void)
{
    uint64_t gate = new_handle(), none = 0, step = 0;
    size_t len;
    static const char status[] = "\x0d\0\0\0\0\0\0";
    char room[ROOM];
    REFUSED(len, orbgate_gate_ask(NULL, engine, &step, status, 8, room, sizeof room, &len));
    REFUSED(len, orbgate_gate_ask(&none, engine, &step, status, 8, room, sizeof room, &len));
    REFUSED(len, orbgate_gate_ask((uint64_t *)((char *)&gate + 1), engine, &step, status, 8, room, sizeof room, &len));
    REFUSED(len, orbgate_gate_ask(&gate, (const OrbgateEngine *)misaligned(engine), &step, status, 8, room, sizeof room, &len));
    REFUSED(len, orbgate_gate_ask(&gate, engine, NULL, status, 8, room, sizeof room, &len));
    REFUSED(len, orbgate_gate_ask(&gate, engine, (uint64_t *)((char *)&step + 1), status, 8, room, sizeof room, &len));
    REFUSED(len, orbgate_gate_ask(&gate, engine, &step, NULL, 8, room, sizeof room, &len));
    REFUSED(len, orbgate_gate_ask(&gate, engine, &step, NULL, 0, room, sizeof room, &len));
    REFUSED(len, orbgate_gate_ask(&gate, engine, &step, status, 7, room, sizeof room, &len));
    REFUSED(len, orbgate_gate_ask(&gate, engine, &step, status, HUGE_LEN, room, sizeof room, &len));
    REFUSED(len, orbgate_gate_ask(&gate, engine, &step, status, 8, NULL, sizeof room, &len));
    REFUSED(len, orbgate_gate_ask(&gate, engine, &step, status, 8, room, HUGE_LEN, &len));
    CHECK(orbgate_gate_ask(&gate, engine, &step, status, 8, room, sizeof room, NULL) == INVALID);
    CHECK(step == 0);
    /* No room: the answer waits. */
    memset(room, CANARY, sizeof room);
    CHECK(orbgate_gate_ask(&gate, engine, &step, status, 8, NULL, 0, &len) == ORBGATE_STATUS_TOO_SMALL);
    const size_t needed = len;
    CHECK(step != 0 && needed > 8);
    CHECK(orbgate_gate_ask(&gate, engine, &step, NULL, 0, room, needed - 1, &len) == ORBGATE_STATUS_TOO_SMALL);
    CHECK(len == needed && untouched(room, 0, sizeof room));
    CHECK_OK(orbgate_gate_ask(&gate, engine, &step, NULL, 0, room, needed, &len));
    CHECK(step == 0 && len == needed && untouched(room, needed, sizeof room));
    OrbgateMessage answer;
    CHECK(orbgate_message_read(&answer, room, needed) && answer.kind == ORBGATE_MESSAGE_KEY_STATUS);
    /* The inline function gets it by itself, if its memory grows. */
    OrbgateQuestion fixed = orbgate_question_in(room, sizeof room, room, 8), grown = orbgate_question_init();
    orbgate_status_begin(&fixed);
    memset(&answer, CANARY, sizeof answer);
    CHECK(orbgate_gate_send(&gate, engine, &step, &fixed, &answer) == ORBGATE_STATUS_TOO_SMALL && answer.kind == 0 && step != 0);
    orbgate_step_end(&step);
    orbgate_check_routes_begin(&grown);
    for (int at = 0; at < 500; at++) {
        orbgate_check_routes_add_route(&grown, ORBGATE_TEXT("GET"), ORBGATE_TEXT("/undeclared/path"));
    }
    CHECK_OK(orbgate_gate_send(NULL, engine, &step, &grown, &answer));
    CHECK(step == 0 && answer.kind == ORBGATE_MESSAGE_ROUTE_DIFFERENCES && grown.answer_room > 500 * sizeof "/undeclared/path");
    orbgate_question_free(&grown);
    orbgate_gate_end(&gate);
}

/* The handles that threads use, each at any time. */
static uint64_t shared[SHARED];
static uint64_t shared_gate;
static long requests;

static void *share(void *seed)
{
    uint64_t state = (uint64_t)(uintptr_t)seed;
    size_t *answers = (size_t *)seed;
    for (long at = 0; at < requests; at++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        uint64_t *place = &shared[state >> 62];
        uint64_t step = __atomic_load_n(place, __ATOMIC_ACQUIRE);
        OrbgateStatus status = ORBGATE_STATUS_OK;
        switch (state >> 58 & 7) {
        case 0:
            orbgate_step_end(&step);
            break;
        case 1:
        case 2:
            status = answered(shared_gate, &step);
            *answers += status == ORBGATE_STATUS_OK;
            break;
        case 3:
        case 4:
            status = reads(shared_gate, &step);
            break;
        default:
            step = state >> 57 & 1 ? asked(shared_gate) : reading(shared_gate);
            step = __atomic_exchange_n(place, step, __ATOMIC_ACQ_REL);
            orbgate_step_end(&step);
        }
        CHECK(status == ORBGATE_STATUS_OK || status == INVALID);
    }
    return NULL;
}

static void at_once(void)
{
    pthread_t threads[THREADS];
    size_t answers[THREADS] = {0};
    shared_gate = new_handle();
    for (int at = 0; at < THREADS; at++) {
        CHECK(pthread_create(&threads[at], NULL, share, &answers[at]) == 0);
    }
    size_t all = 0;
    for (int at = 0; at < THREADS; at++) {
        CHECK(pthread_join(threads[at], NULL) == 0);
        all += answers[at];
    }
    CHECK(all > 0);
    /* With the steps that are left. */
    orbgate_gate_end(&shared_gate);
    CHECK(orbgate_step_count() == 0);
    printf("%zu requests were answered\n", all);
}

int main(int count, char **given)
{
    requests = count > 1 ? atol(given[1]) : 1000;
    engine = external_engine();
    const OrbgateStr text = file("Bearer ", FOLDER "token.jwt");
    memcpy(bearer, text.data, text.len);
    one_after_another();
    arguments();
    at_once();
    orbgate_engine_free(engine);
    return 0;
}
