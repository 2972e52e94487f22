/*
 * Gates: every function × every null, bad length, bad number and wrong step: a status, outputs untouched, never a crash.
 */
#include "gate_structs.h"
#include "refused.h"

static OrbgateEngine *engine;
static OrbgateGate *gate;
static OrbgateStr bearer;

static OrbgateStep *a_step(const OrbgateGate *of, uint32_t kind)
{
    OrbgateGateRequest request = get(ACCOUNT, &bearer);
    OrbgateStep *step = NULL;
    CHECK_OK(orbgate_gate_ask(of, engine, &request, TIME, 0, &step));
    CHECK(info_of(step).kind == kind);
    return step;
}

static void makers(void)
{
    OrbgateVerifier *of = verifier(), *made;
    OrbgateGate *new;
    OrbgateError *error = NULL;
    REFUSED(made, orbgate_verifier_from_yaml(NULL, 4, &made, NULL));
    REFUSED(made, orbgate_verifier_from_yaml("x", HUGE_LEN, &made, NULL));
    CHECK(orbgate_verifier_from_yaml(TOKENS, strlen(TOKENS), NULL, &error) == INVALID);
    orbgate_error_free(error);
    REFUSED_WITH(ORBGATE_STATUS_INVALID_CONFIGURATION, made, orbgate_verifier_from_yaml(NULL, 0, &made, NULL));
    REFUSED_WITH(ORBGATE_STATUS_INVALID_CONFIGURATION, made, orbgate_verifier_from_yaml("\xff", 1, &made, NULL));
    REFUSED(new, orbgate_gate_new(NULL, NULL, &new, NULL));
    CHECK(orbgate_gate_new(of, NULL, NULL, NULL) == INVALID);
    const OrbgateGateOptions good = orbgate_gate_options_init();
    OrbgateGateOptions bad = good;
#define REFUSED_OPTION(field, value)                                   \
    do {                                                               \
        bad = good;                                                    \
        bad.field = value;                                             \
        REFUSED(new, orbgate_gate_new(of, &bad, &new, NULL));          \
    } while (0)
    REFUSED_OPTION(struct_size, 3);
    REFUSED_OPTION(flags, 32);
    REFUSED_OPTION(challenge, 3);
    REFUSED_OPTION(templates, 3);
    REFUSED_OPTION(ahead_percent, 256);
    REFUSED_OPTION(reserved, 1);
    REFUSED_OPTION(reserved2, 1);
    REFUSED_OPTION(cors_preflight, 2);
    REFUSED_OPTION(public_route_count, 1); /* of no list */
    REFUSED_OPTION(secret_count, 1);
    const OrbgateStr binary_route = {"\xff", 1}, no_route = {NULL, 3}, bad_route = {ORBGATE_TEXT("get /x")};
    const OrbgateStr *const bad_routes[] = {&binary_route, &no_route};
    for (size_t i = 0; i < 2; i++) {
        bad = good;
        bad.public_routes = bad_routes[i];
        bad.public_route_count = 1;
        REFUSED(new, orbgate_gate_new(of, &bad, &new, NULL));
    }
    bad = good;
    bad.secrets = &no_route;
    bad.secret_count = 1;
    REFUSED(new, orbgate_gate_new(of, &bad, &new, NULL));
    bad.secrets = &bad_route; /* a secret too many */
    REFUSED(new, orbgate_gate_new(of, &bad, &new, NULL));
    OrbgateSecretSource source;
    REFUSED_SIZED(INVALID, source, orbgate_verifier_secret(NULL, 0, &source));
    REFUSED_SIZED(ORBGATE_STATUS_NOT_FOUND, source, orbgate_verifier_secret(of, 0, &source));
    bad = good;
    bad.public_route_count = 1;
    bad.public_routes = &bad_route;
    REFUSED_WITH(ORBGATE_STATUS_INVALID_CONFIGURATION, new, orbgate_gate_new(of, &bad, &new, NULL));
    REFUSED_OPTION(realm.len, 5);
    REFUSED_OPTION(realm, ((OrbgateStr){"orbs", 4})); /* not of a full challenge */
    bad.challenge = ORBGATE_CHALLENGE_FULL;
    bad.realm = (OrbgateStr){"\"", 1};
    REFUSED_WITH(ORBGATE_STATUS_INVALID_CONFIGURATION, new, orbgate_gate_new(of, &bad, &new, NULL));
    bad.realm = (OrbgateStr){NULL, 0};
    bad.resource_metadata = (OrbgateStr){"http://x", 8};
    REFUSED_WITH(ORBGATE_STATUS_INVALID_CONFIGURATION, new, orbgate_gate_new(of, &bad, &new, NULL));
    bad = good;
    bad.flags = ORBGATE_GATE_NO_STALE_KEYS;
    bad.max_stale_ms = 1;
    REFUSED(new, orbgate_gate_new(of, &bad, &new, NULL));
    REFUSED(new, orbgate_gate_new(of, misaligned(&good), &new, NULL));
    orbgate_verifier_free(of);
}

static void questions(void)
{
    OrbgateStep *step;
    const OrbgateGateRequest good = get(ACCOUNT, &bearer);
    OrbgateGateRequest bad = good;
    REFUSED(step, orbgate_gate_ask(NULL, engine, &good, TIME, 0, &step));
    REFUSED(step, orbgate_gate_ask(gate, NULL, &good, TIME, 0, &step));
    REFUSED(step, orbgate_gate_ask(gate, engine, NULL, TIME, 0, &step));
    REFUSED(step, orbgate_gate_ask(gate, engine, misaligned(&good), TIME, 0, &step));
    CHECK(orbgate_gate_ask(gate, engine, &good, TIME, 0, NULL) == INVALID);
#define REFUSED_REQUEST(field, value)                                            \
    do {                                                                         \
        bad = good;                                                              \
        bad.field = value;                                                       \
        REFUSED(step, orbgate_gate_ask(gate, engine, &bad, TIME, 0, &step));     \
    } while (0)
    OrbgateStr no_text = {NULL, 3}, huge = {"x", HUGE_LEN}, binary = {"/\xff", 2};
    REFUSED_REQUEST(struct_size, 0);
    REFUSED_REQUEST(flags, 2);
    REFUSED_REQUEST(flags, 16);
    REFUSED_REQUEST(method, no_text);
    REFUSED_REQUEST(target, huge);
    REFUSED_REQUEST(authorization, NULL);
    REFUSED_REQUEST(authorization, &no_text);
    REFUSED_REQUEST(authorization, &huge);
    REFUSED_REQUEST(authorization, misaligned(&bearer));
    REFUSED_REQUEST(authorization_count, HUGE_LEN);
    REFUSED_REQUEST(header_name_count, 1);
#define REFUSED_LIST(list)                                                       \
    do {                                                                         \
        REFUSED_REQUEST(list##_count, 1);                                        \
        const OrbgateStr *wrong[] = {&no_text, &huge, misaligned(&bearer)};      \
        for (size_t at = 0; at < 3; at++) {                                      \
            bad.list = wrong[at];                                                \
            REFUSED(step, orbgate_gate_ask(gate, engine, &bad, TIME, 0, &step)); \
        }                                                                        \
    } while (0)
    REFUSED_LIST(upgrade);
    REFUSED_LIST(origin);
    REFUSED_LIST(access_control_request_method);
    REFUSED_REQUEST(matched, 3);
    REFUSED_REQUEST(path_template, ACCOUNT); /* of nothing that has matched */
    REFUSED_REQUEST(reserved, 1);
    bad = good;
    bad.matched = ORBGATE_MATCHED_TEMPLATE;
    bad.path_template = binary;
    REFUSED(step, orbgate_gate_ask(gate, engine, &bad, TIME, 0, &step));
    /* Any time is one. */
    CHECK_OK(orbgate_gate_ask(gate, engine, &good, UINT64_MAX, UINT64_MAX, &step));
    orbgate_step_free(step);
    CHECK_OK(orbgate_gate_ask(gate, engine, &good, 0, 0, &step));
    orbgate_step_free(step);
}

static void steps(void)
{
    OrbgateStepInfo info;
    OrbgateStep *out;
    uint8_t over;
    OrbgateGateOptions outside = orbgate_gate_options_init();
    outside.flags = ORBGATE_GATE_SIGNATURES_OUTSIDE;
    OrbgateGate *cold = new_gate(NULL), *asking = warm_gate(&outside);
    OrbgateStep *answer = a_step(gate, ORBGATE_STEP_ANSWER);
    REFUSED_SIZED(INVALID, info, orbgate_step_info(NULL, &info));
    CHECK(orbgate_step_info(answer, NULL) == INVALID);
    info.struct_size = 3;
    CHECK(orbgate_step_info(answer, &info) == INVALID);
    REFUSED(over, orbgate_gate_is_over(gate, NULL, 0, &over));
    REFUSED(over, orbgate_gate_is_over(gate, answer, 0, &over));
    /* Each of these takes its step. */
    REFUSED(out, orbgate_gate_resume(gate, engine, answer, TIME, 0, &out));
    REFUSED(out, orbgate_gate_resume(gate, engine, NULL, TIME, 0, &out));
    REFUSED(out, orbgate_gate_resume(NULL, engine, a_step(cold, ORBGATE_STEP_WAIT), TIME, 0, &out));
    REFUSED(out, orbgate_gate_resume(cold, NULL, a_step(cold, ORBGATE_STEP_WAIT), TIME, 0, &out));
    CHECK(orbgate_gate_resume(cold, engine, a_step(cold, ORBGATE_STEP_WAIT), TIME, 0, NULL) == INVALID);
    OrbgateStep *wait = a_step(cold, ORBGATE_STEP_WAIT);
    REFUSED(over, orbgate_gate_is_over(NULL, wait, 0, &over));
    CHECK(orbgate_gate_is_over(cold, wait, 0, NULL) == INVALID);
    REFUSED(out, orbgate_gate_checked(cold, engine, wait, 1, TIME, 0, &out));
    REFUSED(out, orbgate_gate_checked(asking, engine, NULL, 1, TIME, 0, &out));
    REFUSED(out, orbgate_gate_checked(asking, engine, a_step(gate, ORBGATE_STEP_ANSWER), 1, TIME, 0, &out));
    REFUSED(out, orbgate_gate_checked(NULL, engine, a_step(asking, ORBGATE_STEP_CHECK_SIGNATURE), 1, TIME, 0, &out));
    REFUSED(out, orbgate_gate_checked(asking, NULL, a_step(asking, ORBGATE_STEP_CHECK_SIGNATURE), 1, TIME, 0, &out));
    REFUSED(out, orbgate_gate_checked(asking, engine, a_step(asking, ORBGATE_STEP_CHECK_SIGNATURE), 2, TIME, 0, &out));
    CHECK(orbgate_gate_checked(asking, engine, a_step(asking, ORBGATE_STEP_CHECK_SIGNATURE), 1, TIME, 0, NULL) == INVALID);
    REFUSED(out, orbgate_gate_resume(asking, engine, a_step(asking, ORBGATE_STEP_CHECK_SIGNATURE), TIME, 0, &out));
    /* A step of another gate is harmless: it waits for an attempt that is over there. */
    wait = a_step(cold, ORBGATE_STEP_WAIT);
    CHECK_OK(orbgate_gate_is_over(asking, wait, 0, &over));
    CHECK_OK(orbgate_gate_resume(asking, engine, wait, TIME, 0, &wait));
    orbgate_step_free(wait);
    orbgate_gate_free(cold);
    orbgate_gate_free(asking);
}

static void fetches(void)
{
    OrbgateFetch *out;
    OrbgateFetchInfo info;
    OrbgateGate *cold = new_gate(NULL);
    REFUSED(out, orbgate_gate_next_fetch(NULL, 0, &out));
    CHECK(orbgate_gate_next_fetch(cold, 0, NULL) == INVALID);
    CHECK(orbgate_gate_warm(NULL, 0) == INVALID);
    CHECK_OK(orbgate_gate_warm(cold, 0));
    CHECK_OK(orbgate_gate_next_fetch(cold, 0, &out));
    OrbgateFetch *fetch = out;
    REFUSED_SIZED(INVALID, info, orbgate_fetch_info(NULL, &info));
    CHECK(orbgate_fetch_info(fetch, NULL) == INVALID);
    orbgate_fetch_free(fetch);
    REFUSED(out, orbgate_gate_fetched(NULL, 1, 200, NULL, 0, "{}", 2, 0, &out));
    REFUSED(out, orbgate_gate_fetched(cold, 1, 65536, NULL, 0, "{}", 2, 0, &out));
    REFUSED(out, orbgate_gate_fetched(cold, 1, 200, NULL, 1, "{}", 2, 0, &out));
    REFUSED(out, orbgate_gate_fetched(cold, 1, 200, NULL, 0, NULL, 2, 0, &out));
    REFUSED(out, orbgate_gate_fetched(cold, 1, 200, NULL, 0, "{}", HUGE_LEN, 0, &out));
    CHECK(orbgate_gate_fetched(cold, 1, 200, NULL, 0, "{}", 2, 0, NULL) == INVALID);
    CHECK(orbgate_gate_fetch_failed(NULL, 1, ORBGATE_FETCH_TIMEOUT, 0) == INVALID);
    CHECK(orbgate_gate_fetch_failed(cold, 1, 0, 0) == INVALID);
    CHECK(orbgate_gate_fetch_failed(cold, 1, 5, 0) == INVALID);
    /* A number that no attempt has changes nothing. */
    CHECK_OK(orbgate_gate_fetched(cold, UINT64_MAX, 200, "\xff", 1, "{}", 2, UINT64_MAX, &out));
    CHECK(out == NULL);
    CHECK_OK(orbgate_gate_fetch_failed(cold, 77, ORBGATE_FETCH_BAD_URL, 0));
    orbgate_gate_free(cold);
}

static void keys(void)
{
    OrbgateKeyStatus *status, *good;
    OrbgateIssuerStatus issuer;
    CHECK(orbgate_gate_revoke(NULL, "x", 1, "y", 1) == INVALID);
    CHECK(orbgate_gate_revoke(gate, NULL, 1, "y", 1) == INVALID);
    CHECK(orbgate_gate_revoke(gate, ORBGATE_TEXT(ISSUER), NULL, 1) == INVALID);
    CHECK(orbgate_gate_revoke(gate, ORBGATE_TEXT(ISSUER), "\xff", 1) == INVALID);
    CHECK(orbgate_gate_revoke(gate, "x", 1, "y", 1) == ORBGATE_STATUS_NOT_FOUND);
    CHECK(orbgate_gate_forget(NULL, "x", 1) == INVALID);
    CHECK(orbgate_gate_forget(gate, NULL, 1) == INVALID);
    CHECK(orbgate_gate_forget(gate, "\xff", 1) == ORBGATE_STATUS_NOT_FOUND);
    REFUSED(status, orbgate_gate_status(NULL, &status));
    CHECK(orbgate_gate_status(gate, NULL) == INVALID);
    CHECK_OK(orbgate_gate_status(gate, &good));
    REFUSED_SIZED(INVALID, issuer, orbgate_key_status_issuer(NULL, 0, &issuer));
    REFUSED_SIZED(ORBGATE_STATUS_NOT_FOUND, issuer, orbgate_key_status_issuer(good, SIZE_MAX, &issuer));
    CHECK(orbgate_key_status_issuer(good, 0, NULL) == INVALID);
    orbgate_key_status_free(good);
}

static void routes(void)
{
    OrbgateRouteDifferences *out, *good;
    OrbgateRouteDifference one;
    uint8_t allows;
    OrbgateStr get = {"GET", 3}, account = ACCOUNT, no_text = {NULL, 1};
    CHECK(orbgate_gate_read_secrets(NULL, NULL, 0, NULL) == INVALID);
    CHECK(orbgate_gate_read_secrets(gate, NULL, 1, NULL) == INVALID);
    CHECK(orbgate_gate_check_engine(NULL, engine, NULL) == INVALID);
    CHECK(orbgate_gate_check_engine(gate, NULL, NULL) == INVALID);
    CHECK(orbgate_gate_check_wider(NULL, engine, engine, NULL) == INVALID);
    CHECK(orbgate_gate_check_wider(gate, NULL, engine, NULL) == INVALID);
    CHECK(orbgate_gate_check_wider(gate, engine, NULL, NULL) == INVALID);
    REFUSED(out, orbgate_gate_check_routes(NULL, engine, &get, &account, 1, &out));
    REFUSED(out, orbgate_gate_check_routes(gate, NULL, &get, &account, 1, &out));
    REFUSED(out, orbgate_gate_check_routes(gate, engine, NULL, &account, 1, &out));
    REFUSED(out, orbgate_gate_check_routes(gate, engine, &get, NULL, 1, &out));
    REFUSED(out, orbgate_gate_check_routes(gate, engine, &get, &account, HUGE_LEN, &out));
    CHECK(orbgate_gate_check_routes(gate, engine, &get, &account, 1, NULL) == INVALID);
    REFUSED(out, orbgate_engine_check_routes(NULL, &get, &account, 1, 0, &out));
    REFUSED(out, orbgate_engine_check_routes(engine, NULL, &account, 1, 0, &out));
    REFUSED(out, orbgate_engine_check_routes(engine, &get, NULL, 1, 0, &out));
    REFUSED(out, orbgate_engine_check_routes(engine, &no_text, &account, 1, 0, &out));
    REFUSED(out, orbgate_engine_check_routes(engine, &get, &no_text, 1, 0, &out));
    REFUSED(out, orbgate_engine_check_routes(engine, &get, &account, HUGE_LEN, 0, &out));
    REFUSED(out, orbgate_engine_check_routes(engine, &get, &account, 1, 3, &out));
    CHECK(orbgate_engine_check_routes(engine, &get, &account, 1, 0, NULL) == INVALID);
    CHECK_OK(orbgate_engine_check_routes(engine, NULL, NULL, 0, 0, &good));
    REFUSED_SIZED(INVALID, one, orbgate_route_difference(NULL, 0, &one));
    REFUSED_SIZED(ORBGATE_STATUS_NOT_FOUND, one, orbgate_route_difference(good, SIZE_MAX, &one));
    CHECK(orbgate_route_difference(good, 0, NULL) == INVALID);
    orbgate_route_differences_free(good);
    REFUSED(allows, orbgate_allows_bonus_orbs(NULL, 1, &allows));
    REFUSED(allows, orbgate_allows_bonus_orbs("{}", HUGE_LEN, &allows));
    CHECK(orbgate_allows_bonus_orbs("{}", 2, NULL) == INVALID);
}

/* A question about the routes of no service, which needs no gate. */
#define ROUTES "\x0f\0\0\0\0\0\0"

static void messages(void)
{
    OrbgateStep *step = NULL, *held = NULL;
    OrbgateGate *made;
    OrbgateStr answer;
    CHECK(orbgate_step_new(NULL) == INVALID);
    CHECK_OK(orbgate_step_new(&step));
    REFUSED(answer, orbgate_gate_call(gate, engine, NULL, ROUTES, 8, &answer));
    REFUSED(answer, orbgate_gate_call(gate, engine, step, NULL, 8, &answer));
    REFUSED(answer, orbgate_gate_call(gate, engine, step, NULL, 0, &answer));
    REFUSED(answer, orbgate_gate_call(gate, engine, step, ROUTES, 7, &answer));
    REFUSED(answer, orbgate_gate_call(gate, engine, step, ROUTES, HUGE_LEN, &answer));
    REFUSED(answer, orbgate_gate_call(gate, NULL, step, ROUTES, 8, &answer));
    CHECK(orbgate_gate_call(gate, engine, step, ROUTES, 8, NULL) == INVALID);
    REFUSED(answer, orbgate_gate_call(NULL, engine, step, "\x0d\0\0\0\0\0\0", 8, &answer)); /* about a gate's keys */
    CHECK_OK(orbgate_gate_call(NULL, engine, step, ROUTES, 8, &answer));
    CHECK(answer.len > 8 && memcmp(answer.data, "\x49", 1) == 0);
    CHECK_OK(orbgate_gate_call(gate, engine, step, "\x0d\0\0\0\0\0\0", 8, &answer));
    CHECK(memcmp(answer.data, "\x48", 1) == 0);
    char copied[4096];
    CHECK_OK(orbgate_step_copy(step, copied, sizeof(copied)));
    CHECK(memcmp(copied, answer.data, answer.len) == 0);
    CHECK_OK(orbgate_step_copy(step, copied, answer.len));
    REFUSED(copied, orbgate_step_copy(step, copied, answer.len - 1));
    REFUSED(copied, orbgate_step_copy(step, copied, HUGE_LEN));
    REFUSED(copied, orbgate_step_copy(NULL, copied, sizeof(copied)));
    CHECK(orbgate_step_copy(step, NULL, sizeof(copied)) == INVALID);
    REFUSED(made, orbgate_step_gate(NULL, &made));
    CHECK(orbgate_step_gate(step, NULL) == INVALID);
    REFUSED_WITH(ORBGATE_STATUS_NOT_FOUND, made, orbgate_step_gate(step, &made));
    /* A step of the functions with structs has no request to resume, and takes another question. */
    held = a_step(gate, ORBGATE_STEP_ANSWER);
    REFUSED(answer, orbgate_gate_call(gate, engine, held, "\x04\0\0\0\0\0\0", 8, &answer));
    CHECK_OK(orbgate_gate_call(gate, engine, held, ROUTES, 8, &answer));
    orbgate_step_free(held);
    orbgate_step_free(step);
}

int main(void)
{
    engine = external_engine();
    gate = warm_gate(NULL);
    bearer = file("Bearer ", FOLDER "token.jwt");
    makers();
    questions();
    steps();
    fetches();
    keys();
    routes();
    messages();
    orbgate_verifier_free(NULL);
    orbgate_gate_free(NULL);
    orbgate_step_free(NULL);
    orbgate_fetch_free(NULL);
    orbgate_key_status_free(NULL);
    orbgate_route_differences_free(NULL);
    orbgate_gate_free(gate);
    orbgate_engine_free(engine);
    return 0;
}
