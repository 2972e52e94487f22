/*
 * Gates from outside: from a header to the answer, with what is fetched and checked in between.
 */
#include <pthread.h>

#include "gate.h"

static const OrbgateEngine *engine;

static OrbgateStep *ask(const OrbgateGate *gate, const OrbgateGateRequest *request, uint64_t now)
{
    OrbgateStep *step = NULL;
    CHECK_OK(orbgate_gate_ask(gate, engine, request, TIME, now, &step));
    return step;
}

static int contains(OrbgateStr text, const char *part)
{
    size_t len = strlen(part), at = 0;
    while (at + len <= text.len && memcmp(text.data + at, part, len) != 0) {
        at++;
    }
    return at + len <= text.len;
}

static void keys_come_first(void)
{
    OrbgateGate *gate = new_gate(NULL);
    OrbgateStr bearer = file("Bearer ", FOLDER "token.jwt");
    OrbgateGateRequest request = get(ACCOUNT, &bearer);
    request.flags = ORBGATE_WITH_AUDIT;
    OrbgateStep *step = ask(gate, &request, 7);
    OrbgateStepInfo info = info_of(step);
    CHECK(info.kind == ORBGATE_STEP_WAIT && info.attempt == 1 && info.until_ms == 5007);
    CHECK(info.decision.effect == 0 && info.token_kind == ORBGATE_TOKEN_KIND_NONE);
    uint8_t over = 9;
    CHECK_OK(orbgate_gate_is_over(gate, step, 8, &over));
    CHECK(over == 0);
    CHECK_OK(orbgate_gate_is_over(gate, step, 5007, &over));
    CHECK(over == 1);
    CHECK(serve(gate, 8) == 2);
    CHECK_OK(orbgate_gate_is_over(gate, step, 9, &over));
    CHECK(over == 1);

    CHECK_OK(orbgate_gate_resume(gate, engine, step, TIME, 9, &step));
    info = info_of(step);
    CHECK(info.kind == ORBGATE_STEP_ANSWER && orbgate_decision_is_allow(&info.decision) && info.http_status == 0);
    CHECK(orbgate_packed_is_allow(info.packed) && orbgate_packed_route(info.packed) == info.decision.route);
    CHECK(info.token_kind == ORBGATE_TOKEN_KIND_USER && is(info.scopes, "read:account write:voxies"));
    CHECK(is(info.issuer, ISSUER) && is(info.subject, "user-7") && is(info.client, "app-1") && is(info.id, "token-1"));
    CHECK(info.actor.data == NULL && info.fingerprint.len == 16 && info.expires_ms == TIME + 600000);
    CHECK(info.refused.data == NULL && info.misrouted.data == NULL && info.www_authenticate.data == NULL);
    static const char line[] = "{\"time_ms\":1800000000000,\"decision\":\"allow\",\"status\":null,\"reason\":\"scope_held\"";
    CHECK(info.audit.len > sizeof line && memcmp(info.audit.data, line, sizeof line - 1) == 0);
    CHECK(contains(info.audit, "\"token_kind\":\"user\"") && contains(info.audit, "\"token_refused\":null"));

    /* The interned scopes ask further questions, and outlive the step. */
    OrbgateScopeSet *scopes = orbgate_scope_set_retain(info.scope_set);
    orbgate_step_free(step);
    OrbgateToken token = orbgate_token_init();
    token.kind = ORBGATE_TOKEN_KIND_USER;
    token.scope_set = scopes;
    OrbgateDecision decision;
    CHECK_OK(orbgate_engine_decide_scope(engine, ORBGATE_TEXT("write:voxies"), &token, 0, &decision));
    CHECK(orbgate_decision_is_allow(&decision));
    orbgate_scope_set_free(scopes);

    /* A step may be dropped at any time, and its gate before it. */
    CHECK_OK(orbgate_gate_forget(gate, ORBGATE_TEXT(ISSUER)));
    step = ask(gate, &request, 10);
    CHECK(info_of(step).kind == ORBGATE_STEP_WAIT);
    orbgate_gate_free(gate);
    orbgate_step_free(step);
}

/* What a request is answered: status, challenge, methods, and why its token is refused. */
static void answered(const OrbgateGate *gate, const OrbgateGateRequest *request, unsigned status, const char *challenge,
                     const char *allow, const char *refused)
{
    OrbgateStep *step = ask(gate, request, 1);
    OrbgateStepInfo info = info_of(step);
    CHECK(info.kind == ORBGATE_STEP_ANSWER && info.http_status == status);
    CHECK(orbgate_decision_is_allow(&info.decision) == (status == 0));
    CHECK(is(info.www_authenticate, challenge) && is(info.allow, allow) && is(info.refused, refused));
    CHECK(info.audit.data == NULL);
    orbgate_step_free(step);
}

/* Whether the charge of an allowed request allows bonus orbs. */
static int allows_bonus(const OrbgateGate *gate, const OrbgateGateRequest *request)
{
    OrbgateStep *step = ask(gate, request, 1);
    OrbgateStepInfo info = info_of(step);
    CHECK(orbgate_decision_is_allow(&info.decision) && (info.decision.charge & ORBGATE_CHARGE_CONSUMES) != 0);
    orbgate_step_free(step);
    return (info.decision.charge & ORBGATE_CHARGE_BONUS_ALLOWED) != 0;
}

static void denials(void)
{
    OrbgateGate *gate = warm_gate(NULL);
    OrbgateStr bearer = file("Bearer ", FOLDER "token.jwt"), forged = {ORBGATE_TEXT("Bearer a.b.c")};
    OrbgateStr twice[] = {bearer, bearer}, override = {ORBGATE_TEXT("X-HTTP-Method-Override")};
    OrbgateGateRequest request = get(ACCOUNT, &bearer);
    answered(gate, &request, 0, "", "", "");
    request.authorization = NULL;
    request.authorization_count = 0;
    answered(gate, &request, 401, "Bearer", "", "");
    request = get(ACCOUNT, &forged);
    answered(gate, &request, 401, "Bearer", "", "bad_encoding");
    request = get(ACCOUNT, twice);
    request.authorization_count = 2;
    answered(gate, &request, 401, "Bearer", "", "authorization_header");
    request = get((OrbgateStr){ORBGATE_TEXT("/api/v1/external/orbs")}, &bearer);
    answered(gate, &request, 403, "Bearer", "", "");
    request = get((OrbgateStr){ORBGATE_TEXT("/api/v1/external//orbs")}, &bearer);
    answered(gate, &request, 400, "", "", "");
    request = get((OrbgateStr){ORBGATE_TEXT("/api/v1/external/voxies/prompt/run")}, &bearer);
    answered(gate, &request, 405, "", "POST", "");
    request.method = (OrbgateStr){ORBGATE_TEXT("POST")};
    answered(gate, &request, 0, "", "", "");
    CHECK(!allows_bonus(gate, &request));
    request.flags = ORBGATE_ALLOW_BONUS_ORBS;
    CHECK(allows_bonus(gate, &request));
    request.flags = 0;
    request.header_names = &override;
    request.header_name_count = 1;
    answered(gate, &request, 400, "", "", "");

    OrbgateStr upgrades[] = {{ORBGATE_TEXT("websocket")}, {ORBGATE_TEXT("foo, h2c")}};
    request = get(ACCOUNT, &bearer);
    request.upgrade = request.origin = request.access_control_request_method = upgrades;
    request.upgrade_count = 1;
    request.origin_count = request.access_control_request_method_count = 2;
    answered(gate, &request, 0, "", "", "");
    request.upgrade_count = 2;
    answered(gate, &request, 400, "", "", "");
    request.struct_size = offsetof(OrbgateGateRequest, upgrade); /* of a client that doesn't know the field */
    answered(gate, &request, 0, "", "", "");

    /* The router's template. */
    request = get(ACCOUNT, &bearer);
    request.matched = ORBGATE_MATCHED_UNKNOWN;
    answered(gate, &request, 404, "", "", "");
    request.matched = ORBGATE_MATCHED_TEMPLATE;
    request.path_template = (OrbgateStr){ORBGATE_TEXT("/api/v1/external/{rest...}")};
    OrbgateStep *step = ask(gate, &request, 1);
    CHECK(is(info_of(step).misrouted, "/api/v1/external/{*}"));
    orbgate_step_free(step);
    request.path_template = ACCOUNT;
    answered(gate, &request, 0, "", "", "");
    CHECK_OK(orbgate_gate_revoke(gate, ORBGATE_TEXT(ISSUER), ORBGATE_TEXT("2026-11")));
    answered(gate, &request, 401, "Bearer", "", "key_revoked");
    orbgate_gate_free(gate);

    OrbgateGateOptions options = orbgate_gate_options_init();
    options.flags = ORBGATE_GATE_FLAT_403 | ORBGATE_GATE_IGNORE_METHOD_OVERRIDE | ORBGATE_GATE_NO_STALE_KEYS;
    options.challenge = ORBGATE_CHALLENGE_FULL;
    options.templates = ORBGATE_TEMPLATES_COLONS;
    options.realm = (OrbgateStr){ORBGATE_TEXT("orbs")};
    options.ttl_ms = 1000 * 60 * 60;
    gate = warm_gate(&options);
    request = get((OrbgateStr){ORBGATE_TEXT("/api/v1/external/orbs")}, &bearer);
    answered(gate, &request, 403, "Bearer realm=\"orbs\", error=\"insufficient_scope\", scope=\"read:orbs\"", "", "");
    request.target = (OrbgateStr){ORBGATE_TEXT("/nowhere")};
    answered(gate, &request, 403, "Bearer realm=\"orbs\"", "", "");
    request = get((OrbgateStr){ORBGATE_TEXT("/api/v1/external/voxies/7/run")}, &bearer);
    request.method = (OrbgateStr){ORBGATE_TEXT("POST")};
    request.header_names = &override;
    request.header_name_count = 1;
    request.matched = ORBGATE_MATCHED_TEMPLATE;
    request.path_template = (OrbgateStr){ORBGATE_TEXT("/api/v1/external/voxies/:voxie/run")};
    answered(gate, &request, 0, "", "", "");
    orbgate_gate_free(gate);
}

static void signatures_outside(void)
{
    OrbgateGateOptions options = orbgate_gate_options_init();
    options.flags = ORBGATE_GATE_SIGNATURES_OUTSIDE;
    OrbgateGate *gate = warm_gate(&options);
    OrbgateStr bearer = file("Bearer ", FOLDER "token.jwt");
    OrbgateGateRequest request = get(ACCOUNT, &bearer);
    for (uint8_t is_right = 0; is_right < 2; is_right++) {
        OrbgateStep *step = ask(gate, &request, 1);
        OrbgateStepInfo info = info_of(step);
        CHECK(info.kind == ORBGATE_STEP_CHECK_SIGNATURE && is(info.algorithm, "ES256") && info.signature.len == 64);
        static const char jwk[] = "{\"crv\":\"P-256\",\"kty\":\"EC\",\"x\":\"";
        CHECK(info.key.len > sizeof jwk && memcmp(info.key.data, jwk, sizeof jwk - 1) == 0);
        CHECK(memcmp(info.message.data, bearer.data + 7, info.message.len) == 0);
        CHECK_OK(orbgate_gate_checked(gate, engine, step, is_right, TIME, 2, &step));
        info = info_of(step);
        CHECK(info.http_status == (is_right ? 0u : 401u) && is(info.refused, is_right ? "" : "signature"));
        orbgate_step_free(step);
    }
    orbgate_gate_free(gate);
}

/* The row of an audit has the reason of a refused token. */
static void a_refused_token_in_the_audit(void)
{
    OrbgateGate *gate = warm_gate(NULL);
    OrbgateStr forged = {ORBGATE_TEXT("Bearer a.b.c")};
    OrbgateGateRequest request = get(ACCOUNT, &forged);
    request.flags = ORBGATE_WITH_AUDIT;
    OrbgateStep *step = ask(gate, &request, 1);
    CHECK(contains(info_of(step).audit, "\"token_refused\":\"bad_encoding\""));
    orbgate_step_free(step);
    orbgate_gate_free(gate);
}

/* A token of a service that acts for a user. Nobody has signed it: the host says that its signature is right. */
static void an_actor(void)
{
    /* The payload of token.jwt with `"act":{"sub":"app-2"}`. */
    static const char payload[] =
        "eyJhY3QiOnsic3ViIjoiYXBwLTIifSwiYXVkIjoiaHR0cHM6Ly9hcGkuZXhhbXBsZS5jb20iLCJjbGllbnRfaWQiOiJhcHAtMSIsImV4cCI6MT"
        "gwMDAwMDYwMCwiaWF0IjoxODAwMDAwMDAwLCJpc3MiOiJodHRwczovL2lkLmV4YW1wbGUuY29tIiwianRpIjoidG9rZW4tMSIsInNjb3BlIjoi"
        "cmVhZDphY2NvdW50IHdyaXRlOnZveGllcyIsInN1YiI6InVzZXItNyIsInRva2VuX2tpbmQiOiJ1c2VyIn0";
    OrbgateGateOptions options = orbgate_gate_options_init();
    options.flags = ORBGATE_GATE_SIGNATURES_OUTSIDE;
    OrbgateGate *gate = warm_gate(&options);
    OrbgateStr right = file("Bearer ", FOLDER "token.jwt");
    const char *first = memchr(right.data, '.', right.len), *last = right.data + right.len - 87;
    CHECK(first != NULL && *last == '.');
    char text[2048];
    int len = snprintf(text, sizeof text, "%.*s%s%.*s", (int)(first + 1 - right.data), right.data, payload, 87, last);
    OrbgateStr bearer = {text, (size_t)len};
    OrbgateGateRequest request = get(ACCOUNT, &bearer);
    OrbgateStep *step = ask(gate, &request, 1);
    CHECK(info_of(step).kind == ORBGATE_STEP_CHECK_SIGNATURE);
    CHECK_OK(orbgate_gate_checked(gate, engine, step, 1, TIME, 2, &step));
    CHECK(is(info_of(step).subject, "user-7") && is(info_of(step).actor, "app-2"));
    orbgate_step_free(step);
    orbgate_gate_free(gate);
}

static void an_issuer_that_is_down(void)
{
    OrbgateGate *gate = new_gate(NULL);
    OrbgateStr bearer = file("Bearer ", FOLDER "token.jwt");
    OrbgateGateRequest request = get(ACCOUNT, &bearer);
    OrbgateStep *step = ask(gate, &request, 0);
    OrbgateFetch *fetch = NULL, *none = NULL;
    CHECK_OK(orbgate_gate_next_fetch(gate, 0, &fetch));
    CHECK_OK(orbgate_gate_next_fetch(gate, 0, &none));
    CHECK(fetch != NULL && none == NULL);
    OrbgateFetchInfo info = orbgate_fetch_info_init();
    CHECK_OK(orbgate_fetch_info(fetch, &info));
    orbgate_fetch_free(fetch);
    CHECK_OK(orbgate_gate_fetch_failed(gate, info.attempt, ORBGATE_FETCH_UNREACHABLE, 1));
    CHECK_OK(orbgate_gate_fetch_failed(gate, info.attempt, ORBGATE_FETCH_TIMEOUT, 1)); /* it is over already */
    CHECK_OK(orbgate_gate_resume(gate, engine, step, TIME, 2, &step));
    CHECK(info_of(step).http_status == 401 && is(info_of(step).refused, "no_keys"));
    orbgate_step_free(step);
    OrbgateKeyStatus *status = NULL;
    OrbgateIssuerStatus issuer = orbgate_issuer_status_init();
    CHECK_OK(orbgate_gate_status(gate, &status));
    CHECK_OK(orbgate_key_status_issuer(status, 0, &issuer));
    CHECK(is(issuer.issuer, ISSUER) && issuer.key_count == 0 && issuer.fetched_ms == 0);
    CHECK(has(issuer.failure, "reached"));
    CHECK(orbgate_key_status_issuer(status, 1, &issuer) == ORBGATE_STATUS_NOT_FOUND);
    orbgate_key_status_free(status);

    /* Its answer is no answer. */
    CHECK_OK(orbgate_gate_warm(gate, 2000));
    CHECK_OK(orbgate_gate_next_fetch(gate, 2000, &fetch));
    CHECK_OK(orbgate_fetch_info(fetch, &info));
    orbgate_fetch_free(fetch);
    CHECK_OK(orbgate_gate_fetched(gate, info.attempt, 302, NULL, 0, NULL, 0, 2001, &fetch));
    CHECK(fetch == NULL);
    CHECK_OK(orbgate_gate_warm(gate, 4000));
    CHECK(serve(gate, 4000) == 2);
    CHECK_OK(orbgate_gate_status(gate, &status));
    CHECK_OK(orbgate_key_status_issuer(status, 0, &issuer));
    CHECK(issuer.key_count == 1 && issuer.fetched_ms == 4000 && issuer.failure.data == NULL);
    orbgate_key_status_free(status);
    orbgate_gate_free(gate);
}

/* Keys of a set that cannot be used have a warning each. */
static void warnings(void)
{
    OrbgateGate *gate = new_gate(NULL);
    OrbgateStr keys = file("", FOLDER "jwks.json");
    const char *list = memchr(keys.data, '[', keys.len);
    CHECK(list != NULL);
    char body[4096];
    int len = snprintf(body, sizeof body, "{\"keys\":[{},{\"kty\":1},%.*s", (int)(keys.data + keys.len - list - 1), list + 1);
    OrbgateFetch *fetch = NULL;
    OrbgateFetchInfo info = orbgate_fetch_info_init();
    CHECK_OK(orbgate_gate_warm(gate, 0));
    CHECK_OK(orbgate_gate_next_fetch(gate, 0, &fetch));
    CHECK_OK(orbgate_fetch_info(fetch, &info));
    orbgate_fetch_free(fetch);
    CHECK_OK(orbgate_gate_fetched(gate, info.attempt, 200, NULL, 0, ORBGATE_TEXT(DISCOVERY), 0, &fetch));
    orbgate_fetch_free(fetch);
    CHECK_OK(orbgate_gate_fetched(gate, info.attempt, 200, NULL, 0, body, (size_t)len, 0, &fetch));
    OrbgateKeyStatus *status = NULL;
    OrbgateIssuerStatus issuer = orbgate_issuer_status_init();
    CHECK_OK(orbgate_gate_status(gate, &status));
    CHECK_OK(orbgate_key_status_issuer(status, 0, &issuer));
    const char *end = memchr(issuer.warnings.data, '\n', issuer.warnings.len);
    CHECK(issuer.key_count == 1 && issuer.warnings.len > 0 && end != NULL);
    orbgate_key_status_free(status);
    orbgate_gate_free(gate);
}

/* Each setting of the options is one of the gate: a value that it can't have is refused under its name. */
static void settings(void)
{
    OrbgateVerifier *of = verifier();
    OrbgateGateOptions options = orbgate_gate_options_init();
    const struct {
        uint32_t *option, value;
        const char *name;
    } table[] = {
        {&options.ttl_ms, 86400001, "`ttl` is "},
        {&options.ttl_min_ms, 3600001, "`ttl_min` is "},
        {&options.ttl_max_ms, 86400001, "`ttl_max` is "},
        {&options.max_stale_ms, 86400001, "`max_stale` is "},
        {&options.cooldown_ms, 86400001, "`cooldown` is "},
        {&options.retry_ms, 30001, "`retry` is "},
        {&options.timeout_ms, 86400001, "`timeout` is "},
        {&options.ahead_percent, 101, "`ahead_percent` is "},
        {&options.burst, 101, "`burst` is "},
    };
    OrbgateGate *gate = NULL;
    for (size_t at = 0; at < sizeof table / sizeof *table; at++) {
        OrbgateError *error = NULL;
        OrbgateErrorInfo info = orbgate_error_info_init();
        *table[at].option = table[at].value;
        CHECK(orbgate_gate_new(of, &options, &gate, &error) == ORBGATE_STATUS_INVALID_CONFIGURATION);
        CHECK_OK(orbgate_error_info(error, &info));
        CHECK(has(info.message, table[at].name));
        orbgate_error_free(error);
        *table[at].option = 0;
    }
    orbgate_verifier_free(of);

    options.timeout_ms = 1234;
    gate = new_gate(&options);
    OrbgateStr bearer = file("Bearer ", FOLDER "token.jwt");
    OrbgateGateRequest request = get(ACCOUNT, &bearer);
    OrbgateStep *step = ask(gate, &request, 1);
    CHECK(info_of(step).until_ms == 1235);
    OrbgateFetch *fetch = NULL;
    OrbgateFetchInfo info = orbgate_fetch_info_init();
    CHECK_OK(orbgate_gate_next_fetch(gate, 1, &fetch));
    CHECK_OK(orbgate_fetch_info(fetch, &info));
    CHECK(info.timeout_ms == 1234);
    orbgate_fetch_free(fetch);
    orbgate_step_free(step);
    orbgate_gate_free(gate);
}

/* Past their time, keys are used while their issuer is down, unless an option forbids it. */
static void keys_past_their_time(void)
{
    OrbgateStr bearer = file("Bearer ", FOLDER "token.jwt");
    OrbgateGateRequest request = get(ACCOUNT, &bearer);
    for (int is_strict = 0; is_strict < 2; is_strict++) {
        OrbgateGateOptions options = orbgate_gate_options_init();
        options.flags = is_strict ? ORBGATE_GATE_NO_STALE_KEYS : 0;
        OrbgateGate *gate = warm_gate(&options);
        OrbgateStep *step = ask(gate, &request, 1000000);
        OrbgateStepInfo info = info_of(step);
        while (info.kind == ORBGATE_STEP_WAIT) {
            OrbgateFetch *fetch = NULL;
            CHECK_OK(orbgate_gate_next_fetch(gate, 1000000, &fetch));
            orbgate_fetch_free(fetch);
            CHECK_OK(orbgate_gate_fetch_failed(gate, info.attempt, ORBGATE_FETCH_UNREACHABLE, 1000001));
            CHECK_OK(orbgate_gate_resume(gate, engine, step, TIME, 1000002, &step));
            info = info_of(step);
        }
        CHECK(info.http_status == (is_strict ? 401u : 0u) && is(info.refused, is_strict ? "no_keys" : ""));
        orbgate_step_free(step);
        orbgate_gate_free(gate);
    }
}

static void routes(void)
{
    OrbgateEngine *shop = shop_engine();
    OrbgateStr methods[] = {{ORBGATE_TEXT("GET")}, {ORBGATE_TEXT("GET")}};
    OrbgateStr templates[] = {{ORBGATE_TEXT("/v1/orders")}, {ORBGATE_TEXT("/v1/orders/:id")}};
    OrbgateRouteDifferences *differences = NULL;
    CHECK_OK(orbgate_engine_check_routes(shop, methods, templates, 2, ORBGATE_TEMPLATES_COLONS, &differences));
    OrbgateRouteDifference one = orbgate_route_difference_init();
    CHECK_OK(orbgate_route_difference(differences, 0, &one));
    CHECK(one.kind == ORBGATE_DIFFERENCE_UNDECLARED && is(one.route, "GET /v1/orders/{id}") && one.decided_as.data == NULL);
    CHECK_OK(orbgate_route_difference(differences, 1, &one));
    CHECK(one.kind == ORBGATE_DIFFERENCE_UNSERVED && is(one.route, "PUT /v1/orders"));
    CHECK(orbgate_route_difference(differences, 2, &one) == ORBGATE_STATUS_NOT_FOUND);
    orbgate_route_differences_free(differences);
    methods[1] = (OrbgateStr){ORBGATE_TEXT("PUT")};
    templates[1] = templates[0];
    CHECK_OK(orbgate_engine_check_routes(shop, methods, templates, 2, ORBGATE_TEMPLATES_ANGLES, &differences));
    CHECK(differences == NULL);
    templates[1] = (OrbgateStr){ORBGATE_TEXT("/v1/orders/<int:id>")};
    CHECK_OK(orbgate_engine_check_routes(shop, methods, templates, 2, ORBGATE_TEMPLATES_ANGLES, &differences));
    CHECK_OK(orbgate_route_difference(differences, 0, &one));
    CHECK(is(one.route, "PUT /v1/orders/{id}") && one.decided_as.data == NULL);
    orbgate_route_differences_free(differences);
    orbgate_engine_free(shop);
    /* A route that another one of the policy would decide. */
    templates[0] = (OrbgateStr){ORBGATE_TEXT("/api/v1/external/voxies/export")};
    CHECK_OK(orbgate_engine_check_routes(engine, methods, templates, 1, ORBGATE_TEMPLATES_BRACES, &differences));
    CHECK_OK(orbgate_route_difference(differences, 0, &one));
    CHECK(is(one.decided_as, "GET /api/v1/external/voxies/{voxieId}"));
    orbgate_route_differences_free(differences);
    uint8_t allows = 9;
    CHECK_OK(orbgate_allows_bonus_orbs(ORBGATE_TEXT("{\"allowBonusOrbsUse\":true}"), &allows));
    CHECK(allows == 1);
    CHECK_OK(orbgate_allows_bonus_orbs(NULL, 0, &allows));
    CHECK(allows == 0);
}

static void public_routes(void)
{
    const OrbgateStr routes[] = {{ORBGATE_TEXT("GET /healthz")}, {ORBGATE_TEXT("GET /docs/{page}")}};
    OrbgateGateOptions options = orbgate_gate_options_init();
    options.public_routes = routes;
    options.public_route_count = 2;
    options.templates = ORBGATE_TEMPLATES_COLONS;
    OrbgateGate *gate = new_gate(&options);
    CHECK_OK(orbgate_gate_check_engine(gate, engine, NULL));
    OrbgateGateRequest request = get((OrbgateStr){ORBGATE_TEXT("/docs/start")}, NULL);
    request.authorization_count = 0;
    request.flags = ORBGATE_WITH_AUDIT;
    OrbgateStep *step = NULL;
    CHECK_OK(orbgate_gate_ask(gate, engine, &request, TIME, 0, &step));
    OrbgateStepInfo info = info_of(step);
    CHECK(info.kind == ORBGATE_STEP_ANSWER && info.decision.effect == ORBGATE_EFFECT_ALLOW);
    CHECK(info.decision.reason == ORBGATE_REASON_PUBLIC_ROUTE && info.decision.route == 0 && info.decision.scope == 0);
    CHECK(info.decision.charge == 0 && info.token_kind == ORBGATE_TOKEN_KIND_NONE && info.refused.data == NULL);
    CHECK(is(info.public_template, "/docs/{page}"));
    CHECK(has(info.audit, "\"reason\":\"public_route\""));
    orbgate_step_free(step);
    /* The router has taken another route. */
    request.matched = ORBGATE_MATCHED_TEMPLATE;
    request.path_template = (OrbgateStr){ORBGATE_TEXT("/docs/start")};
    CHECK_OK(orbgate_gate_ask(gate, engine, &request, TIME, 0, &step));
    info = info_of(step);
    CHECK(info.http_status == 404 && is(info.misrouted, "/docs/start") && info.public_template.data == NULL);
    orbgate_step_free(step);
    /* A browser's question, which only another gate answers. */
    const OrbgateStr origin = {ORBGATE_TEXT("https://app.example")}, asked = {ORBGATE_TEXT("GET")};
    request = get(ACCOUNT, NULL);
    request.authorization_count = 0;
    request.method = (OrbgateStr){ORBGATE_TEXT("OPTIONS")};
    request.origin = &origin;
    request.access_control_request_method = &asked;
    request.origin_count = request.access_control_request_method_count = 1;
    options.cors_preflight = ORBGATE_CORS_PREFLIGHT_PASS;
    OrbgateGate *gates[] = {gate, new_gate(&options)};
    for (size_t i = 0; i < 2; i++) {
        CHECK_OK(orbgate_gate_ask(gates[i], engine, &request, TIME, 0, &step));
        info = info_of(step);
        CHECK(info.decision.reason == (i == 0 ? ORBGATE_REASON_NO_TOKEN : ORBGATE_REASON_PUBLIC_ROUTE));
        orbgate_step_free(step);
    }
    orbgate_gate_free(gates[1]);
    /* The routes of a service. */
    OrbgateEngine *shop = shop_engine();
    OrbgateStr methods[] = {{ORBGATE_TEXT("GET")}, {ORBGATE_TEXT("PUT")}, {ORBGATE_TEXT("GET")}};
    OrbgateStr templates[] = {{ORBGATE_TEXT("/v1/orders")}, {ORBGATE_TEXT("/v1/orders")}, {ORBGATE_TEXT("/docs/:name")}};
    OrbgateRouteDifferences *differences = NULL;
    CHECK_OK(orbgate_gate_check_routes(gate, shop, methods, templates, 3, &differences));
    OrbgateRouteDifference one = orbgate_route_difference_init();
    CHECK_OK(orbgate_route_difference(differences, 0, &one));
    CHECK(one.kind == ORBGATE_DIFFERENCE_UNSERVED && is(one.route, "GET /healthz"));
    CHECK(orbgate_route_difference(differences, 1, &one) == ORBGATE_STATUS_NOT_FOUND);
    orbgate_route_differences_free(differences);
    orbgate_gate_free(gate);
    /* A policy that overlaps. */
    const OrbgateStr orders = {ORBGATE_TEXT("GET /v1/{any}")};
    options.public_routes = &orders;
    options.public_route_count = 1;
    gate = new_gate(&options);
    OrbgateError *error = NULL;
    CHECK(orbgate_gate_check_engine(gate, shop, &error) == ORBGATE_STATUS_INVALID_CONFIGURATION);
    OrbgateErrorInfo why = orbgate_error_info_init();
    CHECK_OK(orbgate_error_info(error, &why));
    CHECK(has(why.message, "/v1/orders"));
    orbgate_error_free(error);
    /* A policy that spells the public path otherwise. */
    static const char slashed[] = "orbgate: 1\ntrailing_slash: always\napis: { a: { scopes: {} } }\n";
    OrbgateEngine *other = NULL;
    CHECK_OK(orbgate_engine_from_yaml(slashed, strlen(slashed), &other, NULL));
    CHECK_OK(orbgate_gate_check_wider(gate, shop, shop, NULL));
    CHECK(orbgate_gate_check_wider(gate, shop, other, NULL) == ORBGATE_STATUS_INVALID_CONFIGURATION);
    error = NULL;
    CHECK(orbgate_gate_check_wider(gate, other, shop, &error) == ORBGATE_STATUS_INVALID_CONFIGURATION);
    CHECK_OK(orbgate_error_info(error, &why));
    CHECK(has(why.message, "`GET /v1/{any}`"));
    orbgate_error_free(error);
    orbgate_engine_free(other);
    orbgate_gate_free(gate);
    orbgate_engine_free(shop);
}

static void diagnostics(void)
{
    OrbgateVerifier *none = NULL;
    OrbgateError *error = NULL;
    static const char yaml[] = "orbgate_token: 1\nissuers:\n  - issuer: ''\n    audience: a\n    kind: user\n    colour: red\n";
    CHECK(orbgate_verifier_from_yaml(yaml, strlen(yaml), &none, &error) == ORBGATE_STATUS_INVALID_CONFIGURATION);
    OrbgateErrorInfo info = orbgate_error_info_init();
    CHECK_OK(orbgate_error_info(error, &info));
    CHECK(info.code == ORBGATE_STATUS_INVALID_CONFIGURATION && info.diagnostic_count >= 1 && info.line > 0 && none == NULL);
    orbgate_error_free(error);

    OrbgateVerifier *of = verifier();
    OrbgateGate *gate = NULL;
    OrbgateGateOptions options = orbgate_gate_options_init();
    options.retry_ms = 60000; /* every error at once */
    options.burst = 101;
    CHECK(orbgate_gate_new(of, &options, &gate, &error) == ORBGATE_STATUS_INVALID_CONFIGURATION);
    CHECK_OK(orbgate_error_info(error, &info));
    CHECK(has(info.message, "`retry`") && has(info.message, "`burst`") && gate == NULL);
    orbgate_error_free(error);
    orbgate_verifier_free(of);
}

static void *ask_often(void *gate)
{
    OrbgateStr bearer = file("Bearer ", FOLDER "token.jwt");
    OrbgateGateRequest request = get(ACCOUNT, &bearer);
    for (int at = 0; at < 20; at++) {
        answered(gate, &request, 0, "", "", "");
    }
    return NULL;
}

static void threads(void)
{
    OrbgateGate *gate = warm_gate(NULL);
    pthread_t asking[4];
    for (int at = 0; at < 4; at++) {
        CHECK(pthread_create(&asking[at], NULL, ask_often, gate) == 0);
        CHECK_OK(orbgate_gate_warm(gate, 31000));
        serve(gate, 31000);
    }
    for (int at = 0; at < 4; at++) {
        CHECK(pthread_join(asking[at], NULL) == 0);
    }
    orbgate_gate_free(gate);
}

int main(void)
{
    OrbgateEngine *own = external_engine();
    engine = own;
    keys_come_first();
    denials();
    signatures_outside();
    a_refused_token_in_the_audit();
    an_actor();
    an_issuer_that_is_down();
    keys_past_their_time();
    warnings();
    settings();
    routes();
    public_routes();
    diagnostics();
    threads();
    orbgate_engine_free(own);
    return 0;
}
