/*
 * Every function × every null, bad length, bad number and bad offset: a status, outputs untouched, never a crash.
 */
#include "refused.h"

#define GET "GET", 3
#define ORBS "/api/v1/external/orbs", 21
#define SCOPE "read:orbs", 9

static const OrbgateEngine *engine;
static const OrbgateScopeSet *set;

static void names(void)
{
    uint32_t kind;
    REFUSED(kind, orbgate_token_kind_from_name(NULL, 4, &kind));
    REFUSED(kind, orbgate_token_kind_from_name("user", HUGE_LEN, &kind));
    CHECK(orbgate_token_kind_from_name("user", 4, NULL) == INVALID);
}

static void makers(void)
{
    OrbgateEngine *made;
    OrbgateError *error = NULL;
    CHECK(orbgate_engine_external(NULL) == INVALID);
    REFUSED(made, orbgate_engine_from_yaml(NULL, 4, &made, NULL));
    REFUSED(made, orbgate_engine_from_yaml(SHOP, HUGE_LEN, &made, NULL));
    CHECK(orbgate_engine_from_yaml(SHOP, strlen(SHOP), NULL, NULL) == INVALID);
    REFUSED_WITH(ORBGATE_STATUS_INVALID_POLICY, made, orbgate_engine_from_yaml(NULL, 0, &made, NULL));
    REFUSED_WITH(ORBGATE_STATUS_INVALID_POLICY, made, orbgate_engine_from_yaml("\xff\0", 2, &made, NULL));
    REFUSED(made, orbgate_engine_from_file(NULL, 4, &made, NULL));
    REFUSED(made, orbgate_engine_from_file("x", HUGE_LEN, &made, NULL));
    CHECK(orbgate_engine_from_file("x", 1, NULL, NULL) == INVALID);
    REFUSED_WITH(ORBGATE_STATUS_IO, made, orbgate_engine_from_file("no\0file", 7, &made, NULL));
    REFUSED_WITH(ORBGATE_STATUS_IO, made, orbgate_engine_from_file(NULL, 0, &made, NULL));

    /* A bad argument is told in words, too. */
    REFUSED(made, orbgate_engine_from_yaml(NULL, 4, &made, &error));
    OrbgateErrorInfo info = orbgate_error_info_init();
    CHECK_OK(orbgate_error_info(error, &info));
    CHECK(info.code == INVALID && info.message.len > 0 && info.diagnostic_count == 0);
    OrbgateDiagnostic diagnostic;
    REFUSED_SIZED(INVALID, info, orbgate_error_info(NULL, &info));
    CHECK(orbgate_error_info(error, NULL) == INVALID);
    REFUSED_SIZED(INVALID, diagnostic, orbgate_error_diagnostic(NULL, 0, &diagnostic));
    REFUSED_SIZED(ORBGATE_STATUS_NOT_FOUND, diagnostic, orbgate_error_diagnostic(error, 0, &diagnostic));
    orbgate_error_free(error);
    CHECK(orbgate_engine_from_yaml("x", 1, &made, &error) == ORBGATE_STATUS_INVALID_POLICY);
    CHECK(orbgate_error_diagnostic(error, 0, NULL) == INVALID);
    diagnostic.struct_size = 3;
    CHECK(orbgate_error_diagnostic(error, 0, &diagnostic) == INVALID);
    orbgate_error_free(error);

    OrbgateScopeSet *scopes;
    OrbgateStr list[] = {{SCOPE}, {NULL, 9}}, huge[] = {{"x", HUGE_LEN}};
    REFUSED(scopes, orbgate_scope_set_from_string(NULL, SCOPE, &scopes));
    REFUSED(scopes, orbgate_scope_set_from_string(engine, NULL, 9, &scopes));
    REFUSED(scopes, orbgate_scope_set_from_string(engine, "x", HUGE_LEN, &scopes));
    CHECK(orbgate_scope_set_from_string(engine, SCOPE, NULL) == INVALID);
    REFUSED(scopes, orbgate_scope_set_from_list(NULL, list, 1, &scopes));
    REFUSED(scopes, orbgate_scope_set_from_list(engine, NULL, 1, &scopes));
    REFUSED(scopes, orbgate_scope_set_from_list(engine, list, 2, &scopes));
    REFUSED(scopes, orbgate_scope_set_from_list(engine, huge, 1, &scopes));
    REFUSED(scopes, orbgate_scope_set_from_list(engine, list, SIZE_MAX / 8, &scopes));
    REFUSED(scopes, orbgate_scope_set_from_list(engine, list, HUGE_LEN / sizeof *list, &scopes));
    CHECK(orbgate_scope_set_from_list(engine, list, 1, NULL) == INVALID);
}

/* Freeing and retaining nothing is nothing. */
static void owners(void)
{
    orbgate_engine_free(NULL);
    orbgate_error_free(NULL);
    orbgate_handle_free(NULL);
    orbgate_scope_set_free(NULL);
    CHECK(orbgate_engine_retain(NULL) == NULL);
    CHECK(orbgate_handle_retain(NULL) == NULL);
    CHECK(orbgate_scope_set_retain(NULL) == NULL);
}

static void readers(void)
{
    OrbgateStr text;
    OrbgateRouteId id;
    OrbgateEngineInfo info;
    REFUSED_SIZED(INVALID, info, orbgate_engine_info(NULL, &info));
    CHECK(orbgate_engine_info(engine, NULL) == INVALID);
    info.struct_size = 0;
    CHECK(orbgate_engine_info(engine, &info) == INVALID);
    OrbgateAnswer *answer;
    REFUSED(answer, orbgate_engine_ask(NULL, ORBGATE_TEXT("table"), ORBGATE_TEXT("{}"), ORBGATE_ANSWER_JSON, &answer, &text, NULL));
    REFUSED(answer, orbgate_engine_ask(engine, NULL, 5, ORBGATE_TEXT("{}"), ORBGATE_ANSWER_JSON, &answer, &text, NULL));
    REFUSED(answer, orbgate_engine_ask(engine, "table", HUGE_LEN, ORBGATE_TEXT("{}"), ORBGATE_ANSWER_JSON, &answer, &text, NULL));
    REFUSED(answer, orbgate_engine_ask(engine, ORBGATE_TEXT("table"), NULL, 2, ORBGATE_ANSWER_JSON, &answer, &text, NULL));
    REFUSED(answer, orbgate_engine_ask(engine, ORBGATE_TEXT("table"), "{}", HUGE_LEN, ORBGATE_ANSWER_JSON, &answer, &text, NULL));
    REFUSED(answer, orbgate_engine_ask(engine, ORBGATE_TEXT("table"), NULL, 0, ORBGATE_ANSWER_JSON, &answer, &text, NULL));
    CHECK(orbgate_engine_ask(engine, ORBGATE_TEXT("table"), ORBGATE_TEXT("{}"), ORBGATE_ANSWER_JSON, NULL, &text, NULL) == INVALID);
    REFUSED(answer, orbgate_engine_ask(engine, ORBGATE_TEXT("table"), ORBGATE_TEXT("{}"), ORBGATE_ANSWER_JSON, &answer, NULL, NULL));
    REFUSED(answer, orbgate_engine_ask(engine, ORBGATE_TEXT("table"), ORBGATE_TEXT("{}"), 2, &answer, &text, NULL));
    CHECK_OK(orbgate_engine_ask(engine, ORBGATE_TEXT("table"), ORBGATE_TEXT("{}"), ORBGATE_ANSWER_JSON, &answer, &text, NULL));
    orbgate_answer_free(answer);
    orbgate_answer_free(NULL);

    OrbgateRoute route;
    REFUSED_SIZED(INVALID, route, orbgate_engine_route(NULL, 1, &route));
    REFUSED_SIZED(ORBGATE_STATUS_NOT_FOUND, route, orbgate_engine_route(engine, 0, &route));
    REFUSED_SIZED(ORBGATE_STATUS_NOT_FOUND, route, orbgate_engine_route(engine, UINT32_MAX, &route));
    CHECK(orbgate_engine_route(engine, 1, NULL) == INVALID);
    route.struct_size = 0;
    CHECK(orbgate_engine_route(engine, 1, &route) == INVALID);
    REFUSED(text, orbgate_engine_route_alternative(NULL, 1, 0, &text));
    REFUSED_WITH(ORBGATE_STATUS_NOT_FOUND, text, orbgate_engine_route_alternative(engine, 0, 0, &text));
    REFUSED_WITH(ORBGATE_STATUS_NOT_FOUND, text, orbgate_engine_route_alternative(engine, 1, 1, &text));
    REFUSED_WITH(ORBGATE_STATUS_NOT_FOUND, text, orbgate_engine_route_alternative(engine, 1, SIZE_MAX, &text));
    CHECK(orbgate_engine_route_alternative(engine, 1, 0, NULL) == INVALID);
    OrbgateScope scope;
    REFUSED_SIZED(INVALID, scope, orbgate_engine_scope(NULL, 1, &scope));
    REFUSED_SIZED(ORBGATE_STATUS_NOT_FOUND, scope, orbgate_engine_scope(engine, 0, &scope));
    REFUSED_SIZED(ORBGATE_STATUS_NOT_FOUND, scope, orbgate_engine_scope(engine, 65537, &scope));
    CHECK(orbgate_engine_scope(engine, 1, NULL) == INVALID);
    scope.struct_size = UINT32_MAX;
    CHECK(orbgate_engine_scope(engine, 1, &scope) == INVALID);

    REFUSED(id, orbgate_engine_find_route(NULL, GET, ORBS, &id));
    REFUSED(id, orbgate_engine_find_route(engine, NULL, 3, ORBS, &id));
    REFUSED(id, orbgate_engine_find_route(engine, GET, NULL, 3, &id));
    REFUSED(id, orbgate_engine_find_route(engine, "GET", HUGE_LEN, ORBS, &id));
    REFUSED(id, orbgate_engine_find_route(engine, GET, "/", HUGE_LEN, &id));
    REFUSED_WITH(ORBGATE_STATUS_NOT_FOUND, id, orbgate_engine_find_route(engine, GET, NULL, 0, &id));
    CHECK(orbgate_engine_find_route(engine, GET, ORBS, NULL) == INVALID);
}

static void decisions(void)
{
    OrbgateDecision out, decision;
    OrbgateDecisionStrings words;
    OrbgateRouteId id;
    OrbgateToken good = user("read:orbs");
    CHECK_OK(orbgate_engine_find_route(engine, GET, ORBS, &id));
    CHECK_OK(orbgate_engine_decide(engine, GET, ORBS, &good, 0, &decision));

    OrbgateToken bad[7];
    for (size_t at = 0; at < 7; at++) {
        bad[at] = good;
    }
    bad[0].struct_size = 0;
    bad[1].struct_size = sizeof(OrbgateToken) - 1;
    bad[2].struct_size = UINT32_MAX;
    bad[3].kind = 3;
    bad[4].scopes = NULL;
    bad[5].scopes_len = HUGE_LEN;
    bad[6].scope_set = set; /* and text as well */
    for (size_t at = 0; at < 8; at++) {
        const OrbgateToken *token = at < 7 ? &bad[at] : misaligned(&good);
        REFUSED(out, orbgate_engine_decide(engine, GET, ORBS, token, 0, &out));
        REFUSED(out, orbgate_engine_decide_route(engine, id, token, 0, &out));
        REFUSED(out, orbgate_engine_decide_scope(engine, SCOPE, token, 0, &out));
    }

    REFUSED(out, orbgate_engine_decide(NULL, GET, ORBS, &good, 0, &out));
    REFUSED(out, orbgate_engine_decide(engine, NULL, 3, ORBS, &good, 0, &out));
    REFUSED(out, orbgate_engine_decide(engine, "GET", HUGE_LEN, ORBS, &good, 0, &out));
    REFUSED(out, orbgate_engine_decide(engine, GET, NULL, 3, &good, 0, &out));
    REFUSED(out, orbgate_engine_decide(engine, GET, "/", HUGE_LEN, &good, 0, &out));
    REFUSED(out, orbgate_engine_decide(engine, GET, ORBS, &good, 4, &out));
    CHECK(orbgate_engine_decide(engine, GET, ORBS, &good, 0, NULL) == INVALID);
    REFUSED(out, orbgate_engine_decide_route(NULL, id, &good, 0, &out));
    REFUSED(out, orbgate_engine_decide_route(engine, id, &good, UINT32_MAX, &out));
    CHECK(orbgate_engine_decide_route(engine, id, &good, 0, NULL) == INVALID);
    REFUSED(out, orbgate_engine_decide_scope(NULL, SCOPE, &good, 0, &out));
    REFUSED(out, orbgate_engine_decide_scope(engine, NULL, 9, &good, 0, &out));
    REFUSED(out, orbgate_engine_decide_scope(engine, "x", HUGE_LEN, &good, 0, &out));
    REFUSED(out, orbgate_engine_decide_scope(engine, SCOPE, &good, 4, &out));
    CHECK(orbgate_engine_decide_scope(engine, SCOPE, &good, 0, NULL) == INVALID);

    REFUSED_PACKED(orbgate_engine_decide_packed(NULL, GET, ORBS, 1, SCOPE, NULL, 0));
    REFUSED_PACKED(orbgate_engine_decide_packed(engine, NULL, 3, ORBS, 1, SCOPE, NULL, 0));
    REFUSED_PACKED(orbgate_engine_decide_packed(engine, "GET", HUGE_LEN, ORBS, 1, SCOPE, NULL, 0));
    REFUSED_PACKED(orbgate_engine_decide_packed(engine, GET, NULL, 3, 1, SCOPE, NULL, 0));
    REFUSED_PACKED(orbgate_engine_decide_packed(engine, GET, "/", HUGE_LEN, 1, SCOPE, NULL, 0));
    REFUSED_PACKED(orbgate_engine_decide_packed(engine, GET, ORBS, 3, SCOPE, NULL, 0));
    REFUSED_PACKED(orbgate_engine_decide_packed(engine, GET, ORBS, 1, NULL, 9, NULL, 0));
    REFUSED_PACKED(orbgate_engine_decide_packed(engine, GET, ORBS, 1, "x", HUGE_LEN, NULL, 0));
    REFUSED_PACKED(orbgate_engine_decide_packed(engine, GET, ORBS, 1, SCOPE, set, 0));
    REFUSED_PACKED(orbgate_engine_decide_packed(engine, GET, ORBS, 1, SCOPE, NULL, 4));
    REFUSED_PACKED(orbgate_engine_decide_route_packed(NULL, id.high, id.low, 1, SCOPE, NULL, 0));
    REFUSED_PACKED(orbgate_engine_decide_route_packed(engine, id.high, id.low, 254, SCOPE, NULL, 0));
    REFUSED_PACKED(orbgate_engine_decide_route_packed(engine, id.high, id.low, 1, NULL, 9, NULL, 0));
    REFUSED_PACKED(orbgate_engine_decide_route_packed(engine, id.high, id.low, 1, SCOPE, set, 0));
    REFUSED_PACKED(orbgate_engine_decide_route_packed(engine, id.high, id.low, 1, SCOPE, NULL, 4));
    REFUSED_PACKED(orbgate_engine_decide_scope_packed(NULL, SCOPE, 1, SCOPE, NULL, 0));
    REFUSED_PACKED(orbgate_engine_decide_scope_packed(engine, NULL, 9, 1, SCOPE, NULL, 0));
    REFUSED_PACKED(orbgate_engine_decide_scope_packed(engine, SCOPE, 256, SCOPE, NULL, 0));
    REFUSED_PACKED(orbgate_engine_decide_scope_packed(engine, SCOPE, 1, NULL, 9, NULL, 0));
    REFUSED_PACKED(orbgate_engine_decide_scope_packed(engine, SCOPE, 1, SCOPE, set, 0));
    REFUSED_PACKED(orbgate_engine_decide_scope_packed(engine, SCOPE, 1, SCOPE, NULL, 4));

    REFUSED(out, orbgate_engine_unpack(NULL, 1, &out));
    REFUSED(out, orbgate_engine_unpack(engine, 0, &out));
    REFUSED(out, orbgate_engine_unpack(engine, UINT64_MAX, &out));
    CHECK(orbgate_engine_unpack(engine, 1, NULL) == INVALID);
    REFUSED_SIZED(INVALID, words, orbgate_engine_decision_strings(NULL, &decision, &words));
    REFUSED_SIZED(INVALID, words, orbgate_engine_decision_strings(engine, NULL, &words));
    CHECK(orbgate_engine_decision_strings(engine, &decision, NULL) == INVALID);
    words.struct_size = 1;
    CHECK(orbgate_engine_decision_strings(engine, &decision, &words) == INVALID);
    OrbgateDecision wrong[8];
    for (size_t at = 0; at < 8; at++) {
        wrong[at] = decision;
    }
    wrong[0].effect = 0;
    wrong[1].reason = 0;
    wrong[2].detail = 255;
    wrong[3].route = UINT32_MAX;
    wrong[4].scope = UINT16_MAX;
    wrong[5].policy++;
    wrong[6].reason = ORBGATE_REASON_SCOPE_MISSING; /* allowed, and the scope is missing */
    wrong[7].charge = 0;
    for (size_t at = 0; at < 8; at++) {
        REFUSED_SIZED(INVALID, words, orbgate_engine_decision_strings(engine, &wrong[at], &words));
    }
    REFUSED_SIZED(INVALID, words, orbgate_engine_decision_strings(engine, misaligned(&decision), &words));
}

static void batches(void)
{
    const uint32_t offsets[] = {0, 3, 6}, falling[] = {0, 3, 2}, beyond[] = {0, 3, 7};
    const uint8_t kinds[] = {1, 2}, bad_kinds[] = {1, 77}, ones[] = {1, 0}, twos[] = {2, 0};
    const OrbgateColumn column = {"GETGET", 6, offsets};
    OrbgateToken token = user("read:orbs");
    OrbgateBatch good = orbgate_batch_init();
    good.len = 2;
    good.method = column;
    good.target = column;
    good.kinds = kinds;
    OrbgateBatch bad[22];
    const size_t count = sizeof bad / sizeof *bad;
    for (size_t at = 0; at < count; at++) {
        bad[at] = good;
    }
    bad[0].struct_size = 0;
    bad[1].struct_size = UINT32_MAX;
    bad[2].flags = 4;
    bad[3].len = SIZE_MAX;
    bad[4].method.data = NULL;
    bad[5].method.offsets = NULL;
    bad[6].method.offsets = falling;
    bad[7].method.offsets = beyond;
    bad[8].method.data_len = HUGE_LEN;
    bad[9].target.data = NULL;
    bad[10].target.offsets = NULL;
    bad[11].target.offsets = falling;
    bad[12].target.data_len = 5;
    bad[13].target.offsets = misaligned(offsets);
    bad[14].kinds = bad_kinds;
    bad[15].token = &token;
    bad[16].scopes = column;
    bad[16].scopes.offsets = beyond;
    bad[17].kinds = NULL;
    bad[17].scopes = column;
    bad[18].allow_bonus_orbs = twos;
    bad[19].allow_bonus_orbs = ones;
    bad[19].flags = ORBGATE_ALLOW_BONUS_ORBS;
    bad[20].validity = ones;
    bad[20].validity_offset = SIZE_MAX;
    bad[21].kinds = NULL;
    token.kind = 99;
    bad[21].token = &token;
    OrbgateDecision out[2];
    uint64_t packed[2];
    for (size_t at = 0; at < count; at++) {
        REFUSED(out, orbgate_engine_decide_batch(engine, &bad[at], out, 2));
        REFUSED(packed, orbgate_engine_decide_batch_packed(engine, &bad[at], packed, 2));
    }
    /* More than any machine addresses, however much room is said to be there. */
    for (int bits = 54; bits < 64 && SIZE_MAX > UINT32_MAX; bits++) {
        const size_t len = (size_t)(UINT64_C(1) << bits);
        OrbgateBatch many = good;
        many.len = len;
        REFUSED(out, orbgate_engine_decide_batch(engine, &many, out, len));
        REFUSED(packed, orbgate_engine_decide_batch_packed(engine, &many, packed, len));
        many.kinds = NULL;
        REFUSED(packed, orbgate_engine_decide_batch_packed(engine, &many, packed, SIZE_MAX));
        many = good;
        many.validity = ones;
        many.validity_offset = len > SIZE_MAX / 32 ? len : len * 32;
        REFUSED(out, orbgate_engine_decide_batch(engine, &many, out, 2));
        REFUSED(out, orbgate_engine_decide_batch(engine, &good, out, len * 4));
    }
    REFUSED(out, orbgate_engine_decide_batch(NULL, &good, out, 2));
    REFUSED(out, orbgate_engine_decide_batch(engine, NULL, out, 2));
    REFUSED(out, orbgate_engine_decide_batch(engine, &good, out, 1));
    CHECK(orbgate_engine_decide_batch(engine, &good, NULL, 2) == INVALID);
    REFUSED(packed, orbgate_engine_decide_batch_packed(NULL, &good, packed, 2));
    REFUSED(packed, orbgate_engine_decide_batch_packed(engine, NULL, packed, 2));
    REFUSED(packed, orbgate_engine_decide_batch_packed(engine, &good, packed, 0));
    CHECK(orbgate_engine_decide_batch_packed(engine, &good, NULL, 2) == INVALID);
    OrbgateBatch none = orbgate_batch_init();
    CHECK_OK(orbgate_engine_decide_batch(engine, &none, NULL, 0));
    CHECK_OK(orbgate_engine_decide_batch(engine, &good, out, 2));
}

static void arrow(void)
{
    struct ArrowArray array;
    struct ArrowSchema schema;
    OrbgateDecision out;
    memset(&array, 0, sizeof array);
    memset(&schema, 0, sizeof schema);
    /* Released, and without a format. */
    REFUSED(out, orbgate_engine_decide_arrow(engine, &array, &schema, NULL, 0, &out, 1));
    schema.format = "+s";
    REFUSED(out, orbgate_engine_decide_arrow(engine, &array, &schema, NULL, 0, &out, 1));
    REFUSED(out, orbgate_engine_decide_arrow(NULL, &array, &schema, NULL, 0, &out, 1));
    REFUSED(out, orbgate_engine_decide_arrow(engine, NULL, &schema, NULL, 0, &out, 1));
    REFUSED(out, orbgate_engine_decide_arrow(engine, &array, NULL, NULL, 0, &out, 1));
    CHECK(orbgate_engine_decide_arrow(engine, &array, &schema, NULL, 0, NULL, 1) == INVALID);
}

static void handles(void)
{
    OrbgateHandle *handle, *made;
    OrbgateEngine *loaded;
    OrbgateDecision out;
    OrbgateToken good = user("read:orbs");
    CHECK_OK(orbgate_handle_new(engine, &handle));
    REFUSED(made, orbgate_handle_new(NULL, &made));
    CHECK(orbgate_handle_new(engine, NULL) == INVALID);
    CHECK(orbgate_handle_store(NULL, engine) == INVALID);
    CHECK(orbgate_handle_store(handle, NULL) == INVALID);
    REFUSED(loaded, orbgate_handle_load(NULL, &loaded));
    CHECK(orbgate_handle_load(handle, NULL) == INVALID);
    REFUSED(out, orbgate_handle_decide(NULL, GET, ORBS, &good, 0, &out));
    REFUSED(out, orbgate_handle_decide(handle, NULL, 3, ORBS, &good, 0, &out));
    REFUSED(out, orbgate_handle_decide(handle, "GET", HUGE_LEN, ORBS, &good, 0, &out));
    REFUSED(out, orbgate_handle_decide(handle, GET, NULL, 3, &good, 0, &out));
    REFUSED(out, orbgate_handle_decide(handle, GET, ORBS, &good, 4, &out));
    REFUSED(out, orbgate_handle_decide(handle, GET, ORBS, misaligned(&good), 0, &out));
    CHECK(orbgate_handle_decide(handle, GET, ORBS, &good, 0, NULL) == INVALID);
    orbgate_handle_free(handle);
}

/* Every number that a byte or a status can be has a name or none. */
static void every_number(void)
{
    for (unsigned number = 0; number < 256; number++) {
        CHECK((orbgate_reason_name((uint8_t)number).data == NULL) == (orbgate_explanation((uint8_t)number, 0).data == NULL));
        CHECK(number == 0 ||
              (orbgate_detail_name((uint8_t)number).data == NULL) == (orbgate_explanation(1, (uint8_t)number).data == NULL));
    }
    CHECK(orbgate_status_name(INT32_MIN).data == NULL && orbgate_status_name(INT32_MAX).data == NULL);
}

int main(void)
{
    OrbgateEngine *own = external_engine();
    OrbgateScopeSet *own_set = NULL;
    CHECK_OK(orbgate_scope_set_from_string(own, SCOPE, &own_set));
    engine = own;
    set = own_set;
    names();
    makers();
    owners();
    readers();
    decisions();
    batches();
    arrow();
    handles();
    every_number();
    orbgate_scope_set_free(own_set);
    orbgate_engine_free(own);
    return 0;
}
