/*
 * Gates: every function × every null, bad length and pointer that is misaligned: a status, outputs untouched, never a crash. The bytes of
 * questions are tested in Rust, and the setters and getters in gate_fields.h.
 */
#include "gate.h"
#include "refused.h"

static OrbgateEngine *engine;
static OrbgateGate *gate;

/* A question about the routes of no service, which needs no gate, and one about a gate's keys. */
#define ROUTES "\x0f\0\0\0\0\0\0"
#define STATUS "\x0d\0\0\0\0\0\0"

static void calls(void)
{
    OrbgateStep *step = NULL;
    OrbgateStr answer;
    CHECK(orbgate_step_new(NULL) == INVALID);
    CHECK_OK(orbgate_step_new(&step));
    REFUSED(answer, orbgate_gate_call(gate, engine, NULL, ROUTES, 8, &answer));
    REFUSED(answer, orbgate_gate_call(gate, engine, step, NULL, 8, &answer));
    REFUSED(answer, orbgate_gate_call(gate, engine, step, NULL, 0, &answer));
    REFUSED(answer, orbgate_gate_call(gate, engine, step, ROUTES, 7, &answer));
    REFUSED(answer, orbgate_gate_call(gate, engine, step, ROUTES, HUGE_LEN, &answer));
    REFUSED(answer, orbgate_gate_call(gate, NULL, step, ROUTES, 8, &answer));
    REFUSED(answer, orbgate_gate_call(NULL, engine, step, STATUS, 8, &answer));
    REFUSED(answer, orbgate_gate_call((const OrbgateGate *)misaligned(gate), engine, step, STATUS, 8, &answer));
    REFUSED(answer, orbgate_gate_call(gate, (const OrbgateEngine *)misaligned(engine), step, ROUTES, 8, &answer));
    REFUSED(answer, orbgate_gate_call(gate, engine, (OrbgateStep *)((char *)step + 1), ROUTES, 8, &answer));
    CHECK(orbgate_gate_call(gate, engine, step, ROUTES, 8, NULL) == INVALID);
    CHECK_OK(orbgate_gate_call(NULL, engine, step, ROUTES, 8, &answer));
    CHECK(answer.len > 8 && memcmp(answer.data, "\x49", 1) == 0);
    CHECK_OK(orbgate_gate_call(gate, NULL, step, STATUS, 8, &answer));
    CHECK(memcmp(answer.data, "\x48", 1) == 0);
    /* Any time is one. */
    Host asking = host(gate, engine);
    begin(&asking, "GET", ACCOUNT, (OrbgateStr){NULL, 0}, UINT64_MAX);
    orbgate_ask_set_unix_ms(&asking.question, 0);
    CHECK(sent(&asking) == ORBGATE_MESSAGE_ANSWER);
    end(&asking);
    orbgate_step_free(step);
}

static void copies(void)
{
    OrbgateStep *step = NULL;
    OrbgateStr answer;
    char copied[4096];
    CHECK_OK(orbgate_step_new(&step));
    CHECK_OK(orbgate_step_copy(step, copied, 0)); /* of no answer */
    CHECK_OK(orbgate_gate_call(gate, engine, step, STATUS, 8, &answer));
    CHECK_OK(orbgate_step_copy(step, copied, sizeof(copied)));
    CHECK(memcmp(copied, answer.data, answer.len) == 0);
    CHECK_OK(orbgate_step_copy(step, copied, answer.len));
    REFUSED(copied, orbgate_step_copy(step, copied, answer.len - 1));
    REFUSED(copied, orbgate_step_copy(step, copied, HUGE_LEN));
    REFUSED(copied, orbgate_step_copy(NULL, copied, sizeof(copied)));
    CHECK(orbgate_step_copy(step, NULL, sizeof(copied)) == INVALID);
    orbgate_step_free(step);
}

static void makers(void)
{
    OrbgateStep *step = NULL;
    OrbgateGate *made;
    CHECK_OK(orbgate_step_new(&step));
    REFUSED(made, orbgate_step_gate(NULL, &made));
    CHECK(orbgate_step_gate(step, NULL) == INVALID);
    REFUSED_WITH(ORBGATE_STATUS_NOT_FOUND, made, orbgate_step_gate(step, &made));
    orbgate_step_free(step);
}

/* The inline function refuses what the call refuses, and leaves no answer. */
static void questions(void)
{
    Host asking = host(gate, engine);
    orbgate_status_begin(&asking.question);
    CHECK(sent(&asking) == ORBGATE_MESSAGE_KEY_STATUS);
    const OrbgateQuestion none = orbgate_question_init();
    const struct {
        const OrbgateGate *gate;
        OrbgateStep *step;
        const OrbgateQuestion *question;
    } table[] = {{NULL, asking.step, &asking.question}, {gate, NULL, &asking.question}, {gate, asking.step, NULL}, {gate, asking.step, &none}};
    for (size_t at = 0; at < sizeof table / sizeof *table; at++) {
        OrbgateMessage answer;
        memset(&answer, CANARY, sizeof answer);
        CHECK(orbgate_gate_send(table[at].gate, engine, table[at].step, table[at].question, &answer) == INVALID);
        CHECK(answer.kind == 0 && answer.bytes.data == NULL);
        CHECK(!orbgate_answer_is_allow(&answer));
    }
    CHECK(orbgate_gate_send(gate, engine, asking.step, &asking.question, NULL) == INVALID);
    CHECK(sent(&asking) == ORBGATE_MESSAGE_KEY_STATUS);
    end(&asking);
}

static void others(void)
{
    uint8_t allows;
    REFUSED(allows, orbgate_allows_bonus_orbs(NULL, 1, &allows));
    REFUSED(allows, orbgate_allows_bonus_orbs("{}", HUGE_LEN, &allows));
    CHECK(orbgate_allows_bonus_orbs("{}", 2, NULL) == INVALID);
}

int main(void)
{
    engine = external_engine();
    gate = warm_gate(false);
    calls();
    copies();
    makers();
    questions();
    others();
    orbgate_gate_free(NULL);
    orbgate_step_free(NULL);
    orbgate_gate_free(gate);
    orbgate_engine_free(engine);
    return 0;
}
