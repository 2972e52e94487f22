/*
 * Gates from outside: from a header to the answer, and what is freed when. The messages are tested in Rust and from C++, and the rules of
 * a gate by the exchanges of policy/cases/gate.
 */
#include "gate.h"

static OrbgateEngine *engine;

static void keys_come_first(void)
{
    uint64_t gate = new_gate(false);
    Host asking = host(gate, engine), calling = host(gate, NULL);
    const OrbgateStr bearer = file("Bearer ", FOLDER "token.jwt");
    begin(&asking, "GET", ACCOUNT, bearer, 7);
    orbgate_ask_set_with_audit(&asking.question, true);
    CHECK(sent(&asking) == ORBGATE_MESSAGE_WAIT);
    CHECK(orbgate_wait_get_until_ms(&asking.answer) == 5007 && orbgate_wait_get_may_call(&asking.answer));
    CHECK(!orbgate_answer_is_allow(&asking.answer));
    CHECK(!is_over(&asking, 8) && is_over(&asking, 5007));
    CHECK(serve(&calling, 8) == 2 && is_over(&asking, 9));

    CHECK(resumed(&asking, 9) == ORBGATE_MESSAGE_ANSWER && orbgate_answer_is_allow(&asking.answer));
    OrbgateMessage token;
    CHECK(orbgate_answer_get_token(&asking.answer, &token));
    CHECK(orbgate_token_get_kind(&token) == ORBGATE_TOKEN_KIND_USER && is(orbgate_token_get_scopes(&token), "read:account write:voxies"));
    CHECK(is(orbgate_token_get_issuer(&token), ISSUER) && is(orbgate_token_get_subject(&token), "user-7"));
    CHECK(is(orbgate_token_get_client(&token), "app-1") && is(orbgate_token_get_id(&token), "token-1"));
    CHECK(orbgate_token_get_actor(&token).len == 0 && orbgate_token_get_fingerprint(&token).len == 16);
    CHECK(orbgate_token_get_expires_ms(&token) == TIME + 600000);
    CHECK(orbgate_answer_get_refused(&asking.answer).len == 0 && orbgate_answer_get_misrouted(&asking.answer).data == NULL);
    static const char line[] = "{\"time_ms\":1800000000000,\"decision\":\"allow\",\"status\":null,\"reason\":\"scope_held\"";
    const OrbgateStr audit = orbgate_answer_get_audit(&asking.answer);
    CHECK(audit.len > sizeof line && memcmp(audit.data, line, sizeof line - 1) == 0);

    /* The decision is that of an engine, and the token asks further questions. */
    OrbgateDecision decision;
    CHECK_OK(orbgate_engine_unpack(engine, orbgate_answer_get_packed(&asking.answer), &decision));
    CHECK(orbgate_decision_is_allow(&decision) && decision.reason == ORBGATE_REASON_SCOPE_HELD);
    OrbgateToken same = orbgate_token_init();
    same.kind = (uint32_t)orbgate_token_get_kind(&token);
    same.scopes = orbgate_token_get_scopes(&token).data;
    same.scopes_len = orbgate_token_get_scopes(&token).len;
    CHECK_OK(orbgate_engine_decide_scope(engine, ORBGATE_TEXT("write:voxies"), &same, 0, &decision));
    CHECK(orbgate_decision_is_allow(&decision));

    /* A request that is given up, and one whose gate is freed first. */
    orbgate_forget_begin(&calling.question);
    orbgate_forget_set_issuer(&calling.question, ORBGATE_TEXT(ISSUER));
    CHECK(sent(&calling) == ORBGATE_MESSAGE_DONE);
    begin(&asking, "GET", ACCOUNT, bearer, 10);
    CHECK(sent(&asking) == ORBGATE_MESSAGE_WAIT);
    orbgate_drop_begin(&asking.question);
    CHECK(sent(&asking) == ORBGATE_MESSAGE_DONE);
    orbgate_resume_begin(&asking.question);
    CHECK(send(&asking) == ORBGATE_STATUS_INVALID_ARGUMENT && asking.answer.kind == 0);
    begin(&asking, "GET", ACCOUNT, bearer, 11);
    CHECK(sent(&asking) == ORBGATE_MESSAGE_WAIT);
    end(&calling);
    orbgate_gate_end(&gate);
    end(&asking);
}

/* A request whose next question fails is over. One that wasn't sent, because it is wrong, leaves it to its host. */
static void a_failure_ends_the_request(void)
{
    uint64_t gate = new_gate(true), warm = warm_gate(true);
    Host asking = host(gate, engine);
    const OrbgateStr bearer = file("Bearer ", FOLDER "token.jwt");
    for (int at = 0; at < 3; at++) {
        asking.gate = at == 2 ? warm : gate;
        begin(&asking, "GET", ACCOUNT, bearer, 1);
        CHECK(sent(&asking) == (at == 2 ? ORBGATE_MESSAGE_CHECK_SIGNATURE : ORBGATE_MESSAGE_WAIT));
        orbgate_resume_begin(&asking.question);
        orbgate_resume_set_unix_ms(&asking.question, TIME);
        if (at == 0) {
            orbgate_ask_set_method(&asking.question, ORBGATE_TEXT("GET")); /* of another question */
        } else if (at == 1) {
            asking.engine = NULL;
        }
        const uint64_t step = asking.step;
        CHECK(step != 0 && send(&asking) == ORBGATE_STATUS_INVALID_ARGUMENT && asking.answer.kind == 0);
        CHECK(asking.step == (at == 0 ? step : 0));
        orbgate_step_end(&asking.step);
        asking.engine = engine;
        asking.step = step; /* which is over */
        orbgate_resume_begin(&asking.question);
        CHECK(send(&asking) == ORBGATE_STATUS_INVALID_ARGUMENT && asking.step == 0);
        orbgate_checked_begin(&asking.question);
        orbgate_checked_set_is_right(&asking.question, true);
        CHECK(send(&asking) == ORBGATE_STATUS_INVALID_ARGUMENT && !orbgate_answer_is_allow(&asking.answer));
    }
    end(&asking);
    orbgate_gate_end(&gate);
    orbgate_gate_end(&warm);
}

int main(void)
{
    engine = external_engine();
    keys_come_first();
    a_failure_ends_the_request();
    orbgate_engine_free(engine);
    return 0;
}
