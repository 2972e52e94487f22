/*
 * Opaque tokens through the C interface: what a gate asks an endpoint, with which secret, and what it makes of the answers.
 */
#define _POSIX_C_SOURCE 200809L /* for setenv */
#include "gate.h"

#define ENDPOINT "https://id.example.com/introspect"

static const char OPAQUE[] = "orbgate_token: 1\n"
                             "issuers:\n"
                             "  - issuer: " ISSUER "\n"
                             "    audience: https://api.example.com\n"
                             "    kind: user\n"
                             "    opaque: { endpoint: '" ENDPOINT "', client_id: c, client_secret_env: ORBGATE_TEST_SECRET }\n";

static OrbgateEngine *engine;

static OrbgateGate *made(uint32_t flags, const OrbgateStr *secret, OrbgateStatus expected)
{
    OrbgateVerifier *of = NULL;
    OrbgateGate *gate = NULL;
    OrbgateError *error = NULL;
    CHECK_OK(orbgate_verifier_from_yaml(OPAQUE, strlen(OPAQUE), &of, NULL));
    OrbgateSecretSource source = orbgate_secret_source_init();
    CHECK_OK(orbgate_verifier_secret(of, 0, &source));
    CHECK(source.kind == ORBGATE_SECRET_ENV && is(source.name, "ORBGATE_TEST_SECRET"));
    CHECK(orbgate_verifier_secret(of, 1, &source) == ORBGATE_STATUS_NOT_FOUND);
    OrbgateGateOptions options = orbgate_gate_options_init();
    options.flags = flags;
    options.secrets = secret;
    options.secret_count = secret != NULL;
    CHECK(orbgate_gate_new(of, &options, &gate, &error) == expected);
    CHECK((error != NULL) == (expected != ORBGATE_STATUS_OK));
    orbgate_error_free(error);
    orbgate_verifier_free(of);
    return gate;
}

/* The endpoint answers the one question that there is; returns how the request ends. */
static uint32_t asked(OrbgateGate *gate, const char *token, const char *credentials, uint32_t status, OrbgateStr answer)
{
    char header[64], question[64];
    snprintf(header, sizeof header, "Bearer %s", token);
    snprintf(question, sizeof question, "token=%s&token_type_hint=access_token", token);
    OrbgateStr bearer = {header, strlen(header)};
    OrbgateGateRequest request = get((OrbgateStr){ORBGATE_TEXT("/api/v1/external/orbs")}, &bearer);
    OrbgateStep *step = NULL;
    OrbgateFetch *fetch = NULL;
    OrbgateFetchInfo info = orbgate_fetch_info_init();
    CHECK_OK(orbgate_gate_ask(gate, engine, &request, TIME, 0, &step));
    CHECK(info_of(step).kind == ORBGATE_STEP_WAIT);
    CHECK_OK(orbgate_gate_next_fetch(gate, 0, &fetch));
    CHECK_OK(orbgate_fetch_info(fetch, &info));
    CHECK(is(info.url, ENDPOINT) && is(info.body, question) && is(info.authorization, credentials));
    orbgate_fetch_free(fetch);
    CHECK_OK(orbgate_gate_fetched(gate, info.attempt, status, NULL, 0, answer.data, answer.len, 0, &fetch));
    CHECK(fetch == NULL);
    CHECK_OK(orbgate_gate_resume(gate, engine, step, TIME, 0, &step));
    uint32_t result = info_of(step).http_status;
    CHECK(info_of(step).kind == ORBGATE_STEP_ANSWER);
    orbgate_step_free(step);
    return result;
}

int main(void)
{
    const OrbgateStr active = {ORBGATE_TEXT("{\"active\":true,\"aud\":\"https://api.example.com\",\"exp\":1800000600,"
                                            "\"sub\":\"user-7\",\"scope\":\"read:orbs\"}")};
    const OrbgateStr inactive = {ORBGATE_TEXT("{\"active\":false}")}, empty = {ORBGATE_TEXT("")}, given = {ORBGATE_TEXT("given")};
    engine = external_engine();
    CHECK(setenv("ORBGATE_TEST_SECRET", "read", 1) == 0);
    /* c:read */
    OrbgateGate *gate = made(ORBGATE_GATE_INTROSPECTION, NULL, ORBGATE_STATUS_OK);
    CHECK(asked(gate, "a", "Basic YzpyZWFk", 200, active) == 0);
    CHECK(asked(gate, "b", "Basic YzpyZWFk", 200, inactive) == 401);
    CHECK(asked(gate, "c", "Basic YzpyZWFk", 500, active) == 401);
    CHECK(asked(gate, "d", "Basic YzpyZWFk", 401, empty) == 401);
    orbgate_gate_free(gate);
    /* c:given */
    gate = made(ORBGATE_GATE_INTROSPECTION, &given, ORBGATE_STATUS_OK);
    CHECK(asked(gate, "a", "Basic YzpnaXZlbg==", 200, active) == 0);
    orbgate_gate_free(gate);
    CHECK(made(0, &given, ORBGATE_STATUS_INVALID_CONFIGURATION) == NULL);
    CHECK(made(ORBGATE_GATE_INTROSPECTION, &empty, ORBGATE_STATUS_INVALID_CONFIGURATION) == NULL);
    CHECK(setenv("ORBGATE_TEST_SECRET", "", 1) == 0);
    CHECK(made(ORBGATE_GATE_INTROSPECTION, NULL, ORBGATE_STATUS_INVALID_CONFIGURATION) == NULL);
    orbgate_engine_free(engine);
    return 0;
}
