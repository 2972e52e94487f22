/*
 * A client of the first header, which stands frozen beside it: it must compile against that header and work with
 * the newest library, as a program that was built in its day does. Neither file is ever changed.
 */
#include <stdio.h>
#include <string.h>

#include "orbgate.h"

#define CHECK(condition)                                       \
    do {                                                       \
        if (!(condition)) {                                    \
            fprintf(stderr, "not so: %s\n", #condition);       \
            return 1;                                          \
        }                                                      \
    } while (0)

int main(void)
{
    CHECK(ORBGATE_ABI_VERSION == 0x10000 && orbgate_check_abi());
    OrbgateEngine *engine = NULL;
    CHECK(orbgate_engine_external(&engine) == ORBGATE_STATUS_OK);

    /* Structs of the size that they had. */
    CHECK(sizeof(OrbgateToken) == 32 && sizeof(OrbgateDecision) == 32 && sizeof(OrbgateBatch) == 136);
    CHECK(sizeof(OrbgateDecisionText) == 120 && sizeof(OrbgateRoute) == 120 && sizeof(OrbgateScope) == 96);
    CHECK(sizeof(OrbgateErrorInfo) == 56 && sizeof(OrbgateFault) == 32);

    OrbgateToken token = orbgate_token_init();
    token.kind = ORBGATE_TOKEN_KIND_USER;
    token.scopes = "read:orbs";
    token.scopes_len = 9;
    OrbgateDecision decision;
    CHECK(orbgate_engine_decide(engine, ORBGATE_TEXT("GET"), ORBGATE_TEXT("/api/v1/external/orbs"), &token,
                                ORBGATE_ALLOW_BONUS_ORBS, &decision) == ORBGATE_STATUS_OK);
    CHECK(orbgate_decision_is_allow(&decision) && decision.reason == ORBGATE_REASON_SCOPE_HELD);
    CHECK(decision.charge == (ORBGATE_CHARGE_STATED | ORBGATE_CHARGE_CONSUMES | ORBGATE_CHARGE_BONUS_ALLOWED));

    uint64_t packed = orbgate_engine_decide_packed(engine, ORBGATE_TEXT("GET"), ORBGATE_TEXT("/api/v1/external/keys"),
                                                   ORBGATE_TOKEN_KIND_USER, "read:orbs", 9, NULL, 0);
    CHECK(orbgate_packed_effect(packed) == ORBGATE_EFFECT_DENY);
    CHECK(orbgate_packed_reason(packed) == ORBGATE_REASON_SCOPE_MISSING);

    OrbgateDecisionText words = orbgate_decision_text_init();
    CHECK(orbgate_engine_decision_text(engine, &decision, &words) == ORBGATE_STATUS_OK);
    CHECK(words.scope.len == 9 && memcmp(words.scope.data, "read:orbs", 9) == 0);
    OrbgateRoute route = orbgate_route_init();
    CHECK(orbgate_engine_route(engine, decision.route, &route) == ORBGATE_STATUS_OK);
    CHECK(orbgate_engine_decide_route(engine, route.id, &token, 0, &decision) == ORBGATE_STATUS_OK);
    CHECK(orbgate_decision_is_allow(&decision));

    const uint32_t methods[] = {0, 3, 6}, targets[] = {0, 21, 22};
    OrbgateBatch batch = orbgate_batch_init();
    batch.len = 2;
    batch.token = &token;
    batch.method.data = "GETGET";
    batch.method.data_len = 6;
    batch.method.offsets = methods;
    batch.target.data = "/api/v1/external/orbs/";
    batch.target.data_len = 22;
    batch.target.offsets = targets;
    OrbgateDecision decisions[2];
    CHECK(orbgate_engine_decide_batch(engine, &batch, decisions, 2) == ORBGATE_STATUS_OK);
    CHECK(decisions[0].effect == ORBGATE_EFFECT_ALLOW && decisions[1].effect == ORBGATE_EFFECT_DENY);
    orbgate_engine_free(engine);
    return 0;
}
