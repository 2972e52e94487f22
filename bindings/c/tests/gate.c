/*
 * Gates from outside: from a header to the answer, with what is called and checked in between. Each question is asked once, and each
 * answer is read; the exchanges of policy/cases/gate test the rules of a gate.
 */
#define _POSIX_C_SOURCE 200809L /* for setenv */
#include "gate.h"

static OrbgateEngine *engine;
static const OrbgateStr no_token = {NULL, 0};

static void keys_come_first(void)
{
    OrbgateGate *gate = new_gate(false);
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
    orbgate_gate_free(gate);
    end(&asking);
}

/* A request whose next question fails is over, and the step serves another one. */
static void a_failure_ends_the_request(void)
{
    OrbgateGate *gate = new_gate(true), *warm = warm_gate(true);
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
        CHECK(send(&asking) == ORBGATE_STATUS_INVALID_ARGUMENT && asking.answer.kind == 0);
        asking.engine = engine;
        orbgate_resume_begin(&asking.question);
        CHECK(send(&asking) == ORBGATE_STATUS_INVALID_ARGUMENT);
        orbgate_checked_begin(&asking.question);
        orbgate_checked_set_is_right(&asking.question, true);
        CHECK(send(&asking) == ORBGATE_STATUS_INVALID_ARGUMENT && !orbgate_answer_is_allow(&asking.answer));
    }
    end(&asking);
    orbgate_gate_free(gate);
    orbgate_gate_free(warm);
}

static void denials(void)
{
    OrbgateGate *gate = warm_gate(false);
    Host asking = host(gate, engine);
    const OrbgateStr bearer = file("Bearer ", FOLDER "token.jwt"), forged = {ORBGATE_TEXT("Bearer a.b.c")};
    const struct {
        const char *method, *target;
        OrbgateStr bearer;
        unsigned status;
        const char *challenge, *allow, *refused;
    } table[] = {
        {"GET", ACCOUNT, bearer, 0, "", "", ""},
        {"GET", ACCOUNT, no_token, 401, "Bearer", "", ""},
        {"GET", ACCOUNT, forged, 401, "Bearer", "", "bad_encoding"},
        {"GET", "/api/v1/external/orbs", bearer, 403, "Bearer", "", ""},
        {"GET", "/api/v1/external//orbs", bearer, 400, "", "", ""},
        {"GET", "/api/v1/external/voxies/prompt/run", bearer, 405, "", "POST", ""},
    };
    for (size_t at = 0; at < sizeof table / sizeof *table; at++) {
        begin(&asking, table[at].method, table[at].target, table[at].bearer, 1);
        CHECK(sent(&asking) == ORBGATE_MESSAGE_ANSWER && orbgate_answer_get_http_status(&asking.answer) == table[at].status);
        CHECK(orbgate_answer_is_allow(&asking.answer) == (table[at].status == 0));
        CHECK(is(orbgate_answer_get_www_authenticate(&asking.answer), table[at].challenge));
        CHECK(is(orbgate_answer_get_allow(&asking.answer), table[at].allow));
        CHECK(is(orbgate_answer_get_refused(&asking.answer), table[at].refused));
    }
    /* A router that took another route, and a header that names another method. */
    begin(&asking, "GET", ACCOUNT, bearer, 1);
    orbgate_ask_set_matched(&asking.question, ORBGATE_MATCHED_TEMPLATE);
    orbgate_ask_set_path_template(&asking.question, ORBGATE_TEXT("/api/v1/external/{rest...}"));
    CHECK(sent(&asking) == ORBGATE_MESSAGE_ANSWER && !orbgate_answer_is_allow(&asking.answer));
    CHECK(is(orbgate_answer_get_misrouted(&asking.answer), "/api/v1/external/{*}"));
    begin(&asking, "POST", "/api/v1/external/voxies/prompt/run", bearer, 1);
    orbgate_ask_add_header_name(&asking.question, ORBGATE_TEXT("X-HTTP-Method-Override"));
    CHECK(sent(&asking) == ORBGATE_MESSAGE_ANSWER && orbgate_answer_get_http_status(&asking.answer) == 400);
    orbgate_revoke_begin(&asking.question);
    orbgate_revoke_set_issuer(&asking.question, ORBGATE_TEXT(ISSUER));
    orbgate_revoke_set_kid(&asking.question, ORBGATE_TEXT("2026-11"));
    CHECK(sent(&asking) == ORBGATE_MESSAGE_DONE);
    begin(&asking, "GET", ACCOUNT, bearer, 1);
    CHECK(sent(&asking) == ORBGATE_MESSAGE_ANSWER && is(orbgate_answer_get_refused(&asking.answer), "key_revoked"));
    end(&asking);
    orbgate_gate_free(gate);
}

static void signatures_outside(void)
{
    OrbgateGate *gate = warm_gate(true);
    Host asking = host(gate, engine);
    const OrbgateStr bearer = file("Bearer ", FOLDER "token.jwt");
    for (int is_right = 0; is_right < 2; is_right++) {
        begin(&asking, "GET", ACCOUNT, bearer, 1);
        CHECK(sent(&asking) == ORBGATE_MESSAGE_CHECK_SIGNATURE);
        const OrbgateStr token = orbgate_check_signature_get_token(&asking.answer);
        CHECK(is(orbgate_check_signature_get_algorithm(&asking.answer), "ES256"));
        CHECK(has(orbgate_check_signature_get_key(&asking.answer), "{\"crv\":\"P-256\",\"kty\":\"EC\",\"x\":\""));
        CHECK(token.len == bearer.len - 7 && memcmp(token.data, bearer.data + 7, token.len) == 0);
        CHECK(token.data[orbgate_check_signature_get_signed(&asking.answer)] == '.');
        CHECK(orbgate_check_signature_get_signature(&asking.answer).len == 64);
        CHECK(checked(&asking, is_right == 1, 2) == ORBGATE_MESSAGE_ANSWER);
        CHECK(orbgate_answer_is_allow(&asking.answer) == (is_right == 1));
        CHECK(is(orbgate_answer_get_refused(&asking.answer), is_right == 1 ? "" : "signature"));
    }
    end(&asking);
    orbgate_gate_free(gate);
}

static OrbgateMessage first_issuer(Host *host)
{
    OrbgateMessage issuer = orbgate_message_init(), next;
    orbgate_status_begin(&host->question);
    CHECK(sent(host) == ORBGATE_MESSAGE_KEY_STATUS && orbgate_key_status_next_issuer(&host->answer, &issuer));
    next = issuer;
    CHECK(!orbgate_key_status_next_issuer(&host->answer, &next) && next.kind == 0);
    return issuer;
}

static void an_issuer_that_is_down(void)
{
    OrbgateGate *gate = new_gate(false);
    Host asking = host(gate, engine), calling = host(gate, NULL);
    begin(&asking, "GET", ACCOUNT, file("Bearer ", FOLDER "token.jwt"), 0);
    CHECK(sent(&asking) == ORBGATE_MESSAGE_WAIT);
    orbgate_next_call_begin(&calling.question);
    CHECK(sent(&calling) == ORBGATE_MESSAGE_CALL && is(orbgate_call_get_method(&calling.answer), "GET"));
    CHECK(orbgate_call_get_body(&calling.answer).data == NULL && orbgate_call_get_timeout_ms(&calling.answer) == 5000);
    CHECK(orbgate_call_get_max_bytes(&calling.answer) == 262144);
    const uint64_t attempt = orbgate_call_get_attempt(&calling.answer);
    orbgate_next_call_begin(&calling.question);
    CHECK(sent(&calling) == ORBGATE_MESSAGE_DONE); /* one attempt at a time */
    orbgate_called_begin(&calling.question);
    orbgate_called_set_attempt(&calling.question, attempt);
    orbgate_called_set_failure(&calling.question, ORBGATE_FETCH_UNREACHABLE);
    CHECK(sent(&calling) == ORBGATE_MESSAGE_DONE && sent(&calling) == ORBGATE_MESSAGE_DONE); /* the second time, it is over already */
    CHECK(resumed(&asking, 2) == ORBGATE_MESSAGE_ANSWER && is(orbgate_answer_get_refused(&asking.answer), "no_keys"));
    OrbgateMessage issuer = first_issuer(&calling);
    CHECK(is(orbgate_issuer_status_get_issuer(&issuer), ISSUER) && orbgate_issuer_status_get_key_count(&issuer) == 0);
    CHECK(has(orbgate_issuer_status_get_failure(&issuer), "reached") && !orbgate_issuer_status_get_opaque(&issuer));
    orbgate_warm_begin(&calling.question);
    orbgate_warm_set_monotonic_ms(&calling.question, 4000);
    CHECK(sent(&calling) == ORBGATE_MESSAGE_DONE && serve(&calling, 4000) == 2);
    issuer = first_issuer(&calling);
    CHECK(orbgate_issuer_status_get_key_count(&issuer) == 1 && orbgate_issuer_status_get_fetched_ms(&issuer) == 4000);
    CHECK(orbgate_issuer_status_get_failure(&issuer).len == 0 && orbgate_issuer_status_get_warnings(&issuer).len == 0);
    end(&asking);
    end(&calling);
    orbgate_gate_free(gate);
}

/* Opaque tokens: whom a gate asks about them, with which secret. */
static void an_opaque_token(void)
{
    static const char tokens[] = "orbgate_token: 1\n"
                                 "issuers:\n"
                                 "  - issuer: " ISSUER "\n"
                                 "    audience: https://api.example.com\n"
                                 "    kind: user\n"
                                 "    opaque: { endpoint: '" ISSUER "/introspect', client_id: c, client_secret_env: ORBGATE_TEST_SECRET }\n";
    static const char active[] = "{\"active\":true,\"aud\":\"https://api.example.com\",\"exp\":1800000600,\"sub\":\"user-7\",\"scope\":\"read:orbs\"}";
    Host asking = host(NULL, engine), maker = host(NULL, NULL);
    orbgate_sources_begin(&asking.question);
    orbgate_sources_set_tokens(&asking.question, tokens, strlen(tokens));
    OrbgateMessage source = orbgate_message_init();
    CHECK(sent(&asking) == ORBGATE_MESSAGE_SECRET_SOURCES && orbgate_secret_sources_next_source(&asking.answer, &source));
    CHECK(orbgate_secret_source_get_kind(&source) == ORBGATE_SECRET_ENV);
    CHECK(is(orbgate_secret_source_get_name(&source), "ORBGATE_TEST_SECRET"));
    CHECK(!orbgate_secret_sources_next_source(&asking.answer, &source));

    CHECK(setenv("ORBGATE_TEST_SECRET", "", 1) == 0);
    orbgate_make_begin(&maker.question);
    orbgate_make_set_tokens(&maker.question, tokens, strlen(tokens));
    orbgate_make_set_introspection(&maker.question, true);
    orbgate_make_add_secret(&maker.question, NULL, 0); /* the library reads it */
    CHECK(sent(&maker) == ORBGATE_MESSAGE_FAILED && has(orbgate_failed_get_message(&maker.answer), "ORBGATE_TEST_SECRET"));
    CHECK(setenv("ORBGATE_TEST_SECRET", "read", 1) == 0);
    OrbgateGate *gate = made(&maker);
    asking.gate = gate;
    const char *const credentials[] = {"Basic YzpyZWFk", "Basic YzpnaXZlbg=="}; /* c:read, c:given */
    for (int is_given = 0; is_given < 2; is_given++) {
        if (is_given) {
            orbgate_read_secrets_begin(&asking.question);
            orbgate_read_secrets_add_secret(&asking.question, ORBGATE_TEXT("given"));
            CHECK(sent(&asking) == ORBGATE_MESSAGE_DONE);
        }
        begin(&asking, "GET", "/api/v1/external/orbs", (OrbgateStr){ORBGATE_TEXT("Bearer a")}, 0);
        CHECK(sent(&asking) == ORBGATE_MESSAGE_WAIT);
        Host calling = host(gate, NULL);
        orbgate_next_call_begin(&calling.question);
        CHECK(sent(&calling) == ORBGATE_MESSAGE_CALL && is(orbgate_call_get_method(&calling.answer), "POST"));
        CHECK(is(orbgate_call_get_url(&calling.answer), ISSUER "/introspect"));
        CHECK(is(orbgate_call_get_body(&calling.answer), "token=a&token_type_hint=access_token"));
        const char *const headers[][2] = {
            {"Accept", "application/json"}, {"Content-Type", "application/x-www-form-urlencoded"}, {"Authorization", credentials[is_given]}};
        OrbgateMessage header = orbgate_message_init();
        for (int at = 0; at < 3; at++) {
            CHECK(orbgate_call_next_header(&calling.answer, &header));
            CHECK(is(orbgate_call_header_get_name(&header), headers[at][0]) && is(orbgate_call_header_get_value(&header), headers[at][1]));
        }
        CHECK(!orbgate_call_next_header(&calling.answer, &header));
        orbgate_called_begin(&calling.question);
        orbgate_called_set_attempt(&calling.question, orbgate_call_get_attempt(&calling.answer));
        orbgate_called_set_status(&calling.question, 200);
        orbgate_called_set_body(&calling.question, active, strlen(active));
        CHECK(sent(&calling) == ORBGATE_MESSAGE_DONE);
        end(&calling);
        CHECK(resumed(&asking, 0) == ORBGATE_MESSAGE_ANSWER && orbgate_answer_is_allow(&asking.answer));
    }
    end(&asking);
    orbgate_gate_free(gate);
}

static void public_routes(void)
{
    Host maker = host(NULL, NULL), asking = host(NULL, engine);
    orbgate_make_begin(&maker.question);
    orbgate_make_set_tokens(&maker.question, TOKENS, strlen(TOKENS));
    orbgate_make_set_cors_preflight(&maker.question, ORBGATE_CORS_PREFLIGHT_PASS);
    orbgate_make_set_templates(&maker.question, ORBGATE_TEMPLATES_COLONS);
    orbgate_make_add_public_route(&maker.question, ORBGATE_TEXT("GET /v1/{page}"));
    OrbgateGate *gate = made(&maker);
    asking.gate = gate;
    begin(&asking, "GET", "/v1/start", no_token, 0);
    CHECK(sent(&asking) == ORBGATE_MESSAGE_ANSWER && orbgate_answer_is_allow(&asking.answer));
    CHECK(orbgate_packed_reason(orbgate_answer_get_packed(&asking.answer)) == ORBGATE_REASON_PUBLIC_ROUTE);
    CHECK(is(orbgate_answer_get_public_template(&asking.answer), "/v1/{page}") && !orbgate_answer_get_preflight(&asking.answer));
    OrbgateMessage token;
    CHECK(!orbgate_answer_get_token(&asking.answer, &token) && token.kind == 0);
    begin(&asking, "OPTIONS", ACCOUNT, no_token, 0);
    orbgate_ask_add_origin(&asking.question, ORBGATE_TEXT("https://app.example"));
    orbgate_ask_add_access_control_request_method(&asking.question, ORBGATE_TEXT("GET"));
    CHECK(sent(&asking) == ORBGATE_MESSAGE_ANSWER && orbgate_answer_is_allow(&asking.answer));
    CHECK(orbgate_answer_get_preflight(&asking.answer));

    /* A policy with the same paths, and one that spells them in another way. */
    OrbgateEngine *shop = shop_engine(), *slashed = NULL;
    orbgate_check_engine_begin(&asking.question);
    CHECK(sent(&asking) == ORBGATE_MESSAGE_DONE);
    asking.engine = shop;
    CHECK(sent(&asking) == ORBGATE_MESSAGE_FAILED && has(orbgate_failed_get_message(&asking.answer), "/v1/orders"));
    CHECK_OK(orbgate_engine_from_yaml(ORBGATE_TEXT("orbgate: 1\ntrailing_slash: always\napis: { a: { scopes: {} } }\n"), &slashed, NULL));
    CHECK_OK(orbgate_gate_check_wider(gate, shop, shop, NULL));
    OrbgateError *error = NULL;
    OrbgateErrorInfo why = orbgate_error_info_init();
    CHECK(orbgate_gate_check_wider(gate, slashed, shop, NULL) == ORBGATE_STATUS_INVALID_CONFIGURATION);
    CHECK(orbgate_gate_check_wider(gate, shop, slashed, &error) == ORBGATE_STATUS_INVALID_CONFIGURATION);
    CHECK_OK(orbgate_error_info(error, &why));
    CHECK(has(why.message, "`GET /v1/{page}"));
    orbgate_error_free(error);

    /* The routes of a service. */
    for (int has_gate = 0; has_gate < 2; has_gate++) {
        asking.gate = has_gate ? gate : NULL;
        orbgate_check_routes_begin(&asking.question);
        orbgate_check_routes_set_templates(&asking.question, has_gate ? 0 : ORBGATE_TEMPLATES_COLONS);
        orbgate_check_routes_add_route(&asking.question, ORBGATE_TEXT("GET"), ORBGATE_TEXT("/v1/orders"));
        orbgate_check_routes_add_route(&asking.question, ORBGATE_TEXT("GET"), ORBGATE_TEXT("/v1/orders/:id"));
        CHECK(sent(&asking) == ORBGATE_MESSAGE_ROUTE_DIFFERENCES);
        OrbgateMessage one = orbgate_message_init();
        CHECK(orbgate_route_differences_next_difference(&asking.answer, &one));
        CHECK(orbgate_route_difference_get_kind(&one) == ORBGATE_DIFFERENCE_UNDECLARED);
        CHECK(is(orbgate_route_difference_get_route(&one), "GET /v1/orders/{id}") && orbgate_route_difference_get_decided_as(&one).len == 0);
        int unserved = 0;
        while (orbgate_route_differences_next_difference(&asking.answer, &one)) {
            unserved += orbgate_route_difference_get_kind(&one) == ORBGATE_DIFFERENCE_UNSERVED;
        }
        CHECK(unserved == 1 + has_gate);
    }
    end(&asking);
    orbgate_gate_free(gate);
    orbgate_engine_free(slashed);
    orbgate_engine_free(shop);
}

/* Every error of a configuration at once, each with its place. */
static void errors_of_a_configuration(void)
{
    static const char tokens[] = "orbgate_token: 1\nissuers:\n  - issuer: ''\n    audience: a\n    kind: user\n    colour: red\n";
    Host maker = host(NULL, NULL);
    OrbgateGate *none = NULL;
    orbgate_make_begin(&maker.question);
    orbgate_make_set_tokens(&maker.question, tokens, strlen(tokens));
    CHECK(sent(&maker) == ORBGATE_MESSAGE_FAILED);
    CHECK(orbgate_failed_get_status(&maker.answer) == ORBGATE_STATUS_INVALID_CONFIGURATION);
    OrbgateMessage one = orbgate_message_init();
    int count = 0;
    while (orbgate_failed_next_diagnostic(&maker.answer, &one)) {
        CHECK(orbgate_diagnostic_get_line(&one) > 0 && orbgate_diagnostic_get_column(&one) > 0);
        CHECK(orbgate_diagnostic_get_message(&one).len > 0);
        count++;
    }
    CHECK(count >= 2 && orbgate_step_gate(maker.step, &none) == ORBGATE_STATUS_NOT_FOUND && none == NULL);
    end(&maker);
}

/* A body allows bonus orbs, and then the charge says so. */
static void bonus_orbs(void)
{
    OrbgateGate *gate = warm_gate(false);
    Host asking = host(gate, engine);
    uint8_t allows = 9;
    CHECK_OK(orbgate_allows_bonus_orbs(NULL, 0, &allows));
    CHECK(allows == 0);
    CHECK_OK(orbgate_allows_bonus_orbs(ORBGATE_TEXT("{\"allowBonusOrbsUse\":true}"), &allows));
    CHECK(allows == 1);
    for (int allow = 0; allow < 2; allow++) {
        begin(&asking, "POST", "/api/v1/external/voxies/prompt/run", file("Bearer ", FOLDER "token.jwt"), 1);
        orbgate_ask_set_allow_bonus_orbs(&asking.question, allow == 1);
        CHECK(sent(&asking) == ORBGATE_MESSAGE_ANSWER && orbgate_answer_is_allow(&asking.answer));
        const uint8_t charge = orbgate_packed_charge(orbgate_answer_get_packed(&asking.answer));
        CHECK((charge & ORBGATE_CHARGE_CONSUMES) != 0 && ((charge & ORBGATE_CHARGE_BONUS_ALLOWED) != 0) == (allow == 1));
    }
    end(&asking);
    orbgate_gate_free(gate);
}

int main(void)
{
    engine = external_engine();
    keys_come_first();
    a_failure_ends_the_request();
    denials();
    signatures_outside();
    an_issuer_that_is_down();
    an_opaque_token();
    public_routes();
    errors_of_a_configuration();
    bonus_orbs();
    orbgate_engine_free(engine);
    return 0;
}
