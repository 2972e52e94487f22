/*
 * Gates: every function × every null, bad length and pointer that is misaligned: a status, outputs untouched, never a crash. The bytes of
 * questions are tested in Rust, and the setters and getters in gate_fields.h.
 */
#include "gate.h"
#include "refused.h"

static OrbgateEngine *engine;
static uint64_t gate;

/* Any time is one. */
static void times(void)
{
    Host asking = host(gate, engine);
    begin(&asking, "GET", ACCOUNT, (OrbgateStr){NULL, 0}, UINT64_MAX);
    orbgate_ask_set_unix_ms(&asking.question, 0);
    CHECK(sent(&asking) == ORBGATE_MESSAGE_ANSWER);
    end(&asking);
}

/* The inline function refuses what the call refuses, and leaves no answer. */
static void questions(void)
{
    Host asking = host(gate, engine);
    orbgate_status_begin(&asking.question);
    CHECK(sent(&asking) == ORBGATE_MESSAGE_KEY_STATUS);
    OrbgateQuestion none = orbgate_question_init();
    const struct {
        uint64_t *gate, *step;
        OrbgateQuestion *question;
    } table[] = {{NULL, &asking.step, &asking.question},
                 {&gate, NULL, &asking.question},
                 {&gate, &asking.step, NULL},
                 {&gate, &asking.step, &none}};
    for (size_t at = 0; at < sizeof table / sizeof *table; at++) {
        OrbgateMessage answer;
        memset(&answer, CANARY, sizeof answer);
        CHECK(orbgate_gate_send(table[at].gate, engine, table[at].step, table[at].question, &answer) == INVALID);
        CHECK(answer.kind == 0 && answer.bytes.data == NULL);
        CHECK(!orbgate_answer_is_allow(&answer));
    }
    CHECK(orbgate_gate_send(&gate, engine, &asking.step, &asking.question, NULL) == INVALID);
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
    times();
    questions();
    others();
    orbgate_gate_end(&gate);
    orbgate_engine_free(engine);
    return 0;
}
