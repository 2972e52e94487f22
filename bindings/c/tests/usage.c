/* The C interface as its users use it: every function once at least, and what it answers. */
#define _POSIX_C_SOURCE 200809L

#include <sys/stat.h>
#include <unistd.h>

#include "test.h"

#if defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
_Static_assert(sizeof(OrbgateDecision) == 32, "a decision never grows");
_Static_assert(ORBGATE_VERSION_NUMBER >> 24 == ORBGATE_VERSION_MAJOR, "major");
_Static_assert((ORBGATE_VERSION_NUMBER >> 16 & 255) == ORBGATE_VERSION_MINOR, "minor");
_Static_assert((ORBGATE_VERSION_NUMBER >> 8 & 255) == ORBGATE_VERSION_PATCH, "patch");
_Static_assert((ORBGATE_VERSION_NUMBER & 255) == 0, "nothing else");
_Static_assert(ORBGATE_EFFECT_INVALID == 0 && ORBGATE_EFFECT_DENY == 1 && ORBGATE_EFFECT_ALLOW == 2, "frozen");
#endif

bool second_unit_sees_the_same(const OrbgateDecision *decision, uint64_t packed);

static void versions(void)
{
    CHECK(orbgate_check_abi());
    CHECK(orbgate_abi_version() == ORBGATE_ABI_VERSION);
    CHECK(is(orbgate_version(), ORBGATE_VERSION));
}

static void names(void)
{
    CHECK(is(orbgate_status_name(ORBGATE_STATUS_INVALID_POLICY), "invalid_policy"));
    CHECK(is(orbgate_reason_name(ORBGATE_REASON_SCOPE_MISSING), "scope_missing"));
    CHECK(is(orbgate_detail_name(ORBGATE_DETAIL_EMPTY_SEGMENT), "empty_segment"));
    CHECK(orbgate_explanation(ORBGATE_REASON_NO_TOKEN, 0).len > 0);
    CHECK(orbgate_explanation(ORBGATE_REASON_MALFORMED_REQUEST, ORBGATE_DETAIL_LENGTH).len > 0);
    CHECK(orbgate_reason_name(200).data == NULL);
    uint32_t kind = 99;
    CHECK_OK(orbgate_token_kind_from_name(ORBGATE_TEXT("organisation"), &kind));
    CHECK(kind == ORBGATE_TOKEN_KIND_ORGANISATION);
}

/* Zeros are a denial: of a decision, of a packed one, of a token. */
static void zeros(const OrbgateEngine *engine)
{
    OrbgateDecision decision;
    memset(&decision, 0, sizeof decision);
    CHECK(!orbgate_decision_is_allow(&decision));
    CHECK(!orbgate_decision_is_allow(NULL));
    CHECK(!orbgate_packed_is_allow(0));
    OrbgateToken token = orbgate_token_init();
    CHECK_OK(orbgate_engine_decide(engine, ORBGATE_TEXT("GET"), ORBGATE_TEXT("/api/v1/external/orbs"), &token, 0,
                                   &decision));
    CHECK(decision.reason == ORBGATE_REASON_INVALID_TOKEN && !orbgate_decision_is_allow(&decision));
}

static void decisions(const OrbgateEngine *engine)
{
    OrbgateToken token = user("read:orbs write:voxies");
    OrbgateDecision decision;
    CHECK_OK(orbgate_engine_decide(engine, ORBGATE_TEXT("POST"), ORBGATE_TEXT("/api/v1/external/voxies/prompt/run"),
                                   &token, ORBGATE_ALLOW_BONUS_ORBS, &decision));
    CHECK(orbgate_decision_is_allow(&decision));
    CHECK(decision.reason == ORBGATE_REASON_SCOPE_HELD && decision.http_status == 0);
    CHECK(decision.charge == (ORBGATE_CHARGE_STATED | ORBGATE_CHARGE_CONSUMES | ORBGATE_CHARGE_BONUS_ALLOWED));

    uint64_t packed = orbgate_engine_decide_packed(engine, ORBGATE_TEXT("POST"),
                                                   ORBGATE_TEXT("/api/v1/external/voxies/prompt/run"), token.kind,
                                                   token.scopes, token.scopes_len, NULL, ORBGATE_ALLOW_BONUS_ORBS);
    CHECK(packed < UINT64_C(1) << 53 && orbgate_packed_status(packed) == ORBGATE_STATUS_OK);
    CHECK(orbgate_packed_effect(packed) == decision.effect && orbgate_packed_reason(packed) == decision.reason);
    CHECK(orbgate_packed_detail(packed) == decision.detail && orbgate_packed_charge(packed) == decision.charge);
    CHECK(orbgate_packed_route(packed) == decision.route && orbgate_packed_scope(packed) == decision.scope);
    OrbgateDecision unpacked;
    CHECK_OK(orbgate_engine_unpack(engine, packed, &unpacked));
    CHECK(memcmp(&unpacked, &decision, sizeof decision) == 0);
    CHECK(second_unit_sees_the_same(&decision, packed));

    OrbgateDecisionStrings words = orbgate_decision_strings_init();
    CHECK_OK(orbgate_engine_decision_strings(engine, &decision, &words));
    CHECK(is(words.decision, "allow") && is(words.reason, "scope_held") && words.detail.data == NULL);
    CHECK(is(words.api, "external") && is(words.scope, "write:voxies"));
    CHECK(is(words.route, "POST /api/v1/external/voxies/prompt/run"));

    /* Bytes are bytes: NUL and invalid UTF-8 arrive, and are refused. */
    CHECK_OK(orbgate_engine_decide(engine, "GET\0", 4, "/api/v1/external/orbs", 21, &token, 0, &decision));
    CHECK(decision.detail == ORBGATE_DETAIL_METHOD && decision.http_status == 400);
    CHECK_OK(orbgate_engine_decide(engine, ORBGATE_TEXT("GET\0"), ORBGATE_TEXT("/api/v1/external/orbs"), &token, 0,
                                   &decision));
    CHECK(decision.detail == ORBGATE_DETAIL_METHOD);
    CHECK_OK(orbgate_engine_decide(engine, "GET", 3, "/api/v1/\0\xff", 10, &token, 0, &decision));
    CHECK(decision.detail == ORBGATE_DETAIL_BYTE);
    CHECK_OK(orbgate_engine_decide(engine, "GET", 3, NULL, 0, &token, 0, &decision));
    CHECK(decision.detail == ORBGATE_DETAIL_LENGTH);
    CHECK_OK(orbgate_engine_decide(engine, "GET", 3, "/api/v1/external/orbs", 21, NULL, 0, &decision));
    CHECK(decision.reason == ORBGATE_REASON_NO_TOKEN && decision.http_status == 401);
}

/* Only a 405 knows what `Allow` lists. */
static void declared_methods(const OrbgateEngine *engine)
{
    OrbgateToken token = user("read:orders");
    OrbgateDecision decision;
    OrbgateDecisionStrings words = orbgate_decision_strings_init();
    CHECK_OK(orbgate_engine_decide(engine, ORBGATE_TEXT("PATCH"), ORBGATE_TEXT("/v1/orders"), &token, 0, &decision));
    CHECK(decision.http_status == 405);
    CHECK_OK(orbgate_engine_decision_strings(engine, &decision, &words));
    CHECK(is(words.allow, "GET, PUT"));
    CHECK_OK(orbgate_engine_decide(engine, ORBGATE_TEXT("PUT"), ORBGATE_TEXT("/v1/orders"), &token, 0, &decision));
    CHECK(decision.http_status == 403);
    CHECK_OK(orbgate_engine_decision_strings(engine, &decision, &words));
    CHECK(words.allow.data == NULL && words.allow.len == 0);
    CHECK_OK(orbgate_engine_decide(engine, ORBGATE_TEXT("GET"), ORBGATE_TEXT("/v1/nowhere"), &token, 0, &decision));
    CHECK_OK(orbgate_engine_decision_strings(engine, &decision, &words));
    CHECK(words.allow.data == NULL);
}

static void by_route_and_scope(const OrbgateEngine *engine)
{
    OrbgateScopeSet *set = NULL, *list = NULL;
    OrbgateStr scopes[] = {{"read:orders", 11}, {"write:orders", 12}};
    CHECK_OK(orbgate_scope_set_from_string(engine, ORBGATE_TEXT("read:orders write:orders"), &set));
    CHECK_OK(orbgate_scope_set_from_list(engine, scopes, 2, &list));
    OrbgateToken token = orbgate_token_init();
    token.kind = ORBGATE_TOKEN_KIND_ORGANISATION;
    token.scope_set = set;
    OrbgateRouteId id = {0, 0};
    const OrbgateRouteId none = {0, 0};
    CHECK_OK(orbgate_engine_find_route(engine, ORBGATE_TEXT("PUT"), ORBGATE_TEXT("/v1/orders"), &id));
    CHECK(id.high != 0 && id.low != 0);
    OrbgateDecision decision;
    CHECK_OK(orbgate_engine_decide_route(engine, id, &token, 0, &decision));
    CHECK(orbgate_decision_is_allow(&decision) && decision.amount == 5);
    uint64_t packed = orbgate_engine_decide_route_packed(engine, id.high, id.low, token.kind, NULL, 0, list, 0);
    CHECK(orbgate_packed_is_allow(packed) && orbgate_packed_route(packed) == decision.route);
    CHECK_OK(orbgate_engine_decide_route(engine, none, &token, 0, &decision));
    CHECK(decision.reason == ORBGATE_REASON_NO_ROUTE);
    CHECK_OK(orbgate_engine_decide_scope(engine, ORBGATE_TEXT("read:orders"), &token, 0, &decision));
    CHECK(orbgate_decision_is_allow(&decision) && decision.route == 0);
    packed = orbgate_engine_decide_scope_packed(engine, ORBGATE_TEXT("read:nothing"), token.kind, NULL, 0, set, 0);
    CHECK(orbgate_packed_reason(packed) == ORBGATE_REASON_NO_ROUTE);
    OrbgateScopeSet *again = orbgate_scope_set_retain(set);
    orbgate_scope_set_free(set);
    orbgate_scope_set_free(again);
    orbgate_scope_set_free(list);
}

static void listings(const OrbgateEngine *engine)
{
    OrbgateEngineInfo info = orbgate_engine_info_init();
    CHECK_OK(orbgate_engine_info(engine, &info));
    CHECK(info.route_count == 2 && info.scope_count == 2 && info.has_end_marker == 0 && info.is_sealed == 0);
    CHECK(is(info.name, "shop") && info.digest.len == 71);
    OrbgateRoute route = orbgate_route_init();
    CHECK_OK(orbgate_engine_route(engine, 2, &route));
    CHECK(is(route.text, "PUT /v1/orders") && route.amount == 5 && is(route.scope, "write:orders"));
    CHECK(is(route.methods, "GET, PUT"));
    OrbgateStr alternative;
    CHECK_OK(orbgate_engine_route_alternative(engine, 2, 0, &alternative));
    CHECK(is(alternative, "write:orders"));
    CHECK(orbgate_engine_route_alternative(engine, 2, 1, &alternative) == ORBGATE_STATUS_NOT_FOUND);
    OrbgateScope scope = orbgate_scope_init();
    CHECK_OK(orbgate_engine_scope(engine, 1, &scope));
    CHECK(is(scope.name, "read:orders") && scope.permits.data == NULL);
    OrbgateAnswer *answer = NULL;
    OrbgateError *error = NULL;
    OrbgateStr json;
    CHECK_OK(orbgate_engine_ask(engine, ORBGATE_TEXT("table"), ORBGATE_TEXT("{}"), ORBGATE_ANSWER_JSON, &answer, &json, &error));
    CHECK(error == NULL);
    CHECK(json.len > 100 && memcmp(json.data, "{\"policy\":\"sha256:", 18) == 0);
    orbgate_answer_free(answer);
    CHECK(orbgate_engine_ask(engine, ORBGATE_TEXT("why"), ORBGATE_TEXT("{}"), ORBGATE_ANSWER_JSON, &answer, &json, &error) == ORBGATE_STATUS_NOT_FOUND);
    orbgate_error_free(error);
}

static void batches(const OrbgateEngine *engine)
{
    const uint32_t methods[] = {0, 3, 6, 9}, targets[] = {0, 10, 20, 27};
    const uint8_t kinds[] = {ORBGATE_TOKEN_KIND_USER, ORBGATE_TOKEN_KIND_NONE, ORBGATE_TOKEN_KIND_USER};
    const uint32_t scopes[] = {0, 11, 11, 11};
    const uint8_t valid[] = {3};
    OrbgateBatch batch = orbgate_batch_init();
    batch.len = 3;
    batch.method.data = "GETGETGET";
    batch.method.data_len = 9;
    batch.method.offsets = methods;
    batch.target.data = "/v1/orders/v1/orders/v1/x/y";
    batch.target.data_len = 27;
    batch.target.offsets = targets;
    batch.kinds = kinds;
    batch.scopes.data = "read:orders";
    batch.scopes.data_len = 11;
    batch.scopes.offsets = scopes;
    batch.validity = valid;
    OrbgateDecision decisions[3];
    uint64_t packed[3];
    CHECK_OK(orbgate_engine_decide_batch(engine, &batch, decisions, 3));
    CHECK_OK(orbgate_engine_decide_batch_packed(engine, &batch, packed, 3));
    CHECK(orbgate_decision_is_allow(&decisions[0]) && orbgate_packed_is_allow(packed[0]));
    CHECK(decisions[1].reason == ORBGATE_REASON_NO_TOKEN && !orbgate_packed_is_allow(packed[1]));
    CHECK(decisions[2].effect == ORBGATE_EFFECT_INVALID && packed[2] == 0);
}

static void handles(const OrbgateEngine *first, const OrbgateEngine *second)
{
    OrbgateHandle *handle = NULL;
    OrbgateEngine *engine = NULL;
    OrbgateToken token = user("read:orders");
    OrbgateDecision decision;
    CHECK_OK(orbgate_handle_new(first, &handle));
    OrbgateHandle *again = orbgate_handle_retain(handle);
    orbgate_handle_free(handle);
    CHECK_OK(orbgate_handle_decide(again, ORBGATE_TEXT("GET"), ORBGATE_TEXT("/v1/orders"), &token, 0, &decision));
    CHECK(decision.reason == ORBGATE_REASON_NO_ROUTE);
    CHECK_OK(orbgate_handle_store(again, second));
    CHECK_OK(orbgate_handle_decide(again, ORBGATE_TEXT("GET"), ORBGATE_TEXT("/v1/orders"), &token, 0, &decision));
    CHECK(orbgate_decision_is_allow(&decision));
    CHECK_OK(orbgate_handle_load(again, &engine));
    CHECK(engine == second);
    orbgate_engine_free(engine);
    orbgate_handle_free(again);
}

static void diagnostics(void)
{
    static const char BAD[] = "orbgate: 1\ncolour: red\napis: {}\n";
    OrbgateEngine *engine = NULL;
    OrbgateError *error = NULL;
    CHECK(orbgate_engine_from_yaml(BAD, strlen(BAD), &engine, &error) == ORBGATE_STATUS_INVALID_POLICY);
    CHECK(engine == NULL && error != NULL);
    OrbgateErrorInfo info = orbgate_error_info_init();
    CHECK_OK(orbgate_error_info(error, &info));
    CHECK(info.code == ORBGATE_STATUS_INVALID_POLICY && info.line == 2 && info.column == 1 && info.diagnostic_count > 0);
    CHECK(info.message.len > 5 && memcmp(info.message.data, "2:1: ", 5) == 0);
    OrbgateDiagnostic diagnostic = orbgate_diagnostic_init();
    CHECK_OK(orbgate_error_diagnostic(error, 0, &diagnostic));
    CHECK(diagnostic.line == 2 && diagnostic.message.len > 0);
    CHECK(orbgate_error_diagnostic(error, info.diagnostic_count, &diagnostic) == ORBGATE_STATUS_NOT_FOUND);
    orbgate_error_free(error);
    error = NULL;
    CHECK(orbgate_engine_from_file(ORBGATE_TEXT("no/such/file"), &engine, &error) == ORBGATE_STATUS_IO);
    CHECK_OK(orbgate_error_info(error, &info));
    CHECK(is(info.path, "no/such/file") && info.line == 0);
    orbgate_error_free(error);
}

/* A pipe would make its reader wait, and a device may have no end. */
static void only_regular_files(void)
{
    char folder[] = "/tmp/orbgate-XXXXXX", pipe[sizeof folder + 5];
    CHECK(mkdtemp(folder) != NULL);
    snprintf(pipe, sizeof pipe, "%s/pipe", folder);
    CHECK(mkfifo(pipe, S_IRUSR | S_IWUSR) == 0);
    const char *others[] = {pipe, folder, "/dev/zero"};
    for (size_t index = 0; index < sizeof others / sizeof *others; index++) {
        OrbgateEngine *engine = NULL;
        OrbgateError *error = NULL;
        OrbgateErrorInfo info = orbgate_error_info_init();
        CHECK(orbgate_engine_from_file(others[index], strlen(others[index]), &engine, &error) == ORBGATE_STATUS_IO);
        CHECK_OK(orbgate_error_info(error, &info));
        CHECK(engine == NULL && is(info.path, others[index]));
        orbgate_error_free(error);
    }
    CHECK(unlink(pipe) == 0 && rmdir(folder) == 0);
}

int main(void)
{
    OrbgateEngine *external = external_engine(), *shop = shop_engine();
    versions();
    names();
    zeros(external);
    decisions(external);
    declared_methods(shop);
    by_route_and_scope(shop);
    listings(shop);
    batches(shop);
    handles(external, shop);
    diagnostics();
    only_regular_files();
    OrbgateEngine *again = orbgate_engine_retain(external);
    orbgate_engine_free(external);
    orbgate_engine_free(again);
    orbgate_engine_free(shop);
    return 0;
}
