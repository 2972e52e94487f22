/*
 * Every setter and getter of orbgate_gate.h: the bytes that it writes or reads, null, and a message of another kind.
 *
 * Made of crates/orbgate-capi/src/tests/questions/shapes.txt by `cargo xtask codes`; not to be edited.
 */
#include "gate_fields.h"

static void ask_sources(void)
{
    static const unsigned char bytes[] = {
        1,0,0,0,14,0,0,0,1,0,0,0,6,0,0,0,116,111,107,101,110,115,
    };
    OrbgateQuestion question = orbgate_question_init();
    orbgate_sources_begin(NULL);
    orbgate_sources_begin(&question);
    orbgate_sources_set_tokens(&question, ORBGATE_TEXT("tokens"));
    CHECK(is_written(&question, bytes, sizeof bytes));
    SETS_STRING(orbgate_sources_begin, orbgate_drop_begin, orbgate_sources_set_tokens, "tokens");
    orbgate_question_free(&question);
}

static void ask_make(void)
{
    static const unsigned char bytes[] = {
        2,0,0,0,233,1,0,0,1,0,0,0,6,0,0,0,116,111,107,101,110,115,2,0,0,0,0,0,0,0,3,0,0,0,0,0,0,0,4,0,0,0,0,0,0,0,5,0,
        0,0,0,0,0,0,6,0,0,0,0,0,0,0,7,0,0,0,8,0,0,0,8,2,3,4,5,6,7,128,8,0,0,0,8,0,0,0,9,2,3,4,5,6,7,128,9,0,
        0,0,8,0,0,0,10,2,3,4,5,6,7,128,10,0,0,0,5,0,0,0,114,101,97,108,109,11,0,0,0,17,0,0,0,114,101,115,111,117,114,99,101,95,109,101,116,97,
        100,97,116,97,12,0,0,0,8,0,0,0,13,2,3,4,5,6,7,128,13,0,0,0,8,0,0,0,14,2,3,4,5,6,7,128,14,0,0,0,8,0,0,0,15,2,3,4,
        5,6,7,128,15,0,0,0,8,0,0,0,16,2,3,4,5,6,7,128,16,0,0,0,8,0,0,0,17,2,3,4,5,6,7,128,17,0,0,0,8,0,0,0,18,2,3,4,
        5,6,7,128,18,0,0,0,8,0,0,0,19,2,3,4,5,6,7,128,19,0,0,0,8,0,0,0,20,2,3,4,5,6,7,128,20,0,0,0,8,0,0,0,21,2,3,4,
        5,6,7,128,21,0,0,0,13,0,0,0,112,117,98,108,105,99,95,114,111,117,116,101,115,21,0,0,0,15,0,0,0,112,117,98,108,105,99,95,114,111,117,116,101,115,32,50,
        22,0,0,0,13,0,0,0,1,0,0,0,5,0,0,0,118,97,108,117,101,22,0,0,0,15,0,0,0,1,0,0,0,7,0,0,0,118,97,108,117,101,32,50,23,0,0,0,
        3,0,0,0,109,99,112,24,0,0,0,18,0,0,0,109,99,112,95,105,110,105,116,105,97,108,95,115,99,111,112,101,115,25,0,0,0,8,0,0,0,26,2,3,4,5,6,7,
        128,26,0,0,0,0,0,0,0,27,0,0,0,8,0,0,0,109,101,116,97,100,97,116,97,28,0,0,0,11,0,0,0,109,99,112,95,111,114,105,103,105,110,115,28,0,0,0,
        13,0,0,0,109,99,112,95,111,114,105,103,105,110,115,32,50,
    };
    OrbgateQuestion question = orbgate_question_init();
    orbgate_make_begin(NULL);
    orbgate_make_begin(&question);
    orbgate_make_set_tokens(&question, ORBGATE_TEXT("tokens"));
    orbgate_make_set_flat_403(&question, true);
    orbgate_make_set_ignore_method_override(&question, true);
    orbgate_make_set_signatures_outside(&question, true);
    orbgate_make_set_no_stale_keys(&question, true);
    orbgate_make_set_introspection(&question, true);
    orbgate_make_set_challenge(&question, UINT64_C(0x8007060504030208));
    orbgate_make_set_templates(&question, UINT64_C(0x8007060504030209));
    orbgate_make_set_cors_preflight(&question, UINT64_C(0x800706050403020a));
    orbgate_make_set_realm(&question, ORBGATE_TEXT("realm"));
    orbgate_make_set_resource_metadata(&question, ORBGATE_TEXT("resource_metadata"));
    orbgate_make_set_ttl_ms(&question, UINT64_C(0x800706050403020d));
    orbgate_make_set_ttl_min_ms(&question, UINT64_C(0x800706050403020e));
    orbgate_make_set_ttl_max_ms(&question, UINT64_C(0x800706050403020f));
    orbgate_make_set_ahead_percent(&question, UINT64_C(0x8007060504030210));
    orbgate_make_set_max_stale_ms(&question, UINT64_C(0x8007060504030211));
    orbgate_make_set_cooldown_ms(&question, UINT64_C(0x8007060504030212));
    orbgate_make_set_burst(&question, UINT64_C(0x8007060504030213));
    orbgate_make_set_retry_ms(&question, UINT64_C(0x8007060504030214));
    orbgate_make_set_timeout_ms(&question, UINT64_C(0x8007060504030215));
    orbgate_make_add_public_route(&question, ORBGATE_TEXT("public_routes"));
    orbgate_make_add_public_route(&question, ORBGATE_TEXT("public_routes 2"));
    orbgate_make_add_secret(&question, ORBGATE_TEXT("value"));
    orbgate_make_add_secret(&question, ORBGATE_TEXT("value 2"));
    orbgate_make_set_mcp(&question, ORBGATE_TEXT("mcp"));
    orbgate_make_set_mcp_initial_scopes(&question, ORBGATE_TEXT("mcp_initial_scopes"));
    orbgate_make_set_mcp_most_bytes(&question, UINT64_C(0x800706050403021a));
    orbgate_make_set_mcp_deny_legacy(&question, true);
    orbgate_make_set_metadata(&question, ORBGATE_TEXT("metadata"));
    orbgate_make_add_mcp_origin(&question, ORBGATE_TEXT("mcp_origins"));
    orbgate_make_add_mcp_origin(&question, ORBGATE_TEXT("mcp_origins 2"));
    CHECK(is_written(&question, bytes, sizeof bytes));
    SETS_STRING(orbgate_make_begin, orbgate_drop_begin, orbgate_make_set_tokens, "tokens");
    SETS(orbgate_make_begin, orbgate_drop_begin, orbgate_make_set_flat_403, true);
    SETS(orbgate_make_begin, orbgate_drop_begin, orbgate_make_set_ignore_method_override, true);
    SETS(orbgate_make_begin, orbgate_drop_begin, orbgate_make_set_signatures_outside, true);
    SETS(orbgate_make_begin, orbgate_drop_begin, orbgate_make_set_no_stale_keys, true);
    SETS(orbgate_make_begin, orbgate_drop_begin, orbgate_make_set_introspection, true);
    SETS(orbgate_make_begin, orbgate_drop_begin, orbgate_make_set_challenge, UINT64_C(0x8007060504030208));
    SETS(orbgate_make_begin, orbgate_drop_begin, orbgate_make_set_templates, UINT64_C(0x8007060504030209));
    SETS(orbgate_make_begin, orbgate_drop_begin, orbgate_make_set_cors_preflight, UINT64_C(0x800706050403020a));
    SETS_STRING(orbgate_make_begin, orbgate_drop_begin, orbgate_make_set_realm, "realm");
    SETS_STRING(orbgate_make_begin, orbgate_drop_begin, orbgate_make_set_resource_metadata, "resource_metadata");
    SETS(orbgate_make_begin, orbgate_drop_begin, orbgate_make_set_ttl_ms, UINT64_C(0x800706050403020d));
    SETS(orbgate_make_begin, orbgate_drop_begin, orbgate_make_set_ttl_min_ms, UINT64_C(0x800706050403020e));
    SETS(orbgate_make_begin, orbgate_drop_begin, orbgate_make_set_ttl_max_ms, UINT64_C(0x800706050403020f));
    SETS(orbgate_make_begin, orbgate_drop_begin, orbgate_make_set_ahead_percent, UINT64_C(0x8007060504030210));
    SETS(orbgate_make_begin, orbgate_drop_begin, orbgate_make_set_max_stale_ms, UINT64_C(0x8007060504030211));
    SETS(orbgate_make_begin, orbgate_drop_begin, orbgate_make_set_cooldown_ms, UINT64_C(0x8007060504030212));
    SETS(orbgate_make_begin, orbgate_drop_begin, orbgate_make_set_burst, UINT64_C(0x8007060504030213));
    SETS(orbgate_make_begin, orbgate_drop_begin, orbgate_make_set_retry_ms, UINT64_C(0x8007060504030214));
    SETS(orbgate_make_begin, orbgate_drop_begin, orbgate_make_set_timeout_ms, UINT64_C(0x8007060504030215));
    ADDS_STRING(orbgate_make_begin, orbgate_drop_begin, orbgate_make_add_public_route, "public_routes");
    ADDS(orbgate_drop_begin, orbgate_make_add_secret, ORBGATE_TEXT("value"));
    WRONG(orbgate_make_begin, orbgate_make_add_secret(&question, NULL, 1));
    WRONG(orbgate_drop_begin, orbgate_make_add_secret(&question, NULL, 0));
    SETS_STRING(orbgate_make_begin, orbgate_drop_begin, orbgate_make_set_mcp, "mcp");
    SETS_STRING(orbgate_make_begin, orbgate_drop_begin, orbgate_make_set_mcp_initial_scopes, "mcp_initial_scopes");
    SETS(orbgate_make_begin, orbgate_drop_begin, orbgate_make_set_mcp_most_bytes, UINT64_C(0x800706050403021a));
    SETS(orbgate_make_begin, orbgate_drop_begin, orbgate_make_set_mcp_deny_legacy, true);
    SETS_STRING(orbgate_make_begin, orbgate_drop_begin, orbgate_make_set_metadata, "metadata");
    ADDS_STRING(orbgate_make_begin, orbgate_drop_begin, orbgate_make_add_mcp_origin, "mcp_origins");
    orbgate_question_free(&question);
}

static void ask_ask(void)
{
    static const unsigned char bytes[] = {
        3,0,0,0,185,1,0,0,1,0,0,0,6,0,0,0,109,101,116,104,111,100,2,0,0,0,6,0,0,0,116,97,114,103,101,116,3,0,0,0,13,0,0,0,97,117,116,104,
        111,114,105,122,97,116,105,111,110,3,0,0,0,15,0,0,0,97,117,116,104,111,114,105,122,97,116,105,111,110,32,50,4,0,0,0,12,0,0,0,104,101,97,100,101,114,95,110,
        97,109,101,115,4,0,0,0,14,0,0,0,104,101,97,100,101,114,95,110,97,109,101,115,32,50,5,0,0,0,7,0,0,0,117,112,103,114,97,100,101,5,0,0,0,9,0,0,
        0,117,112,103,114,97,100,101,32,50,6,0,0,0,6,0,0,0,111,114,105,103,105,110,6,0,0,0,8,0,0,0,111,114,105,103,105,110,32,50,7,0,0,0,29,0,0,0,
        97,99,99,101,115,115,95,99,111,110,116,114,111,108,95,114,101,113,117,101,115,116,95,109,101,116,104,111,100,7,0,0,0,31,0,0,0,97,99,99,101,115,115,95,99,111,110,116,
        114,111,108,95,114,101,113,117,101,115,116,95,109,101,116,104,111,100,32,50,8,0,0,0,8,0,0,0,9,2,3,4,5,6,7,128,9,0,0,0,13,0,0,0,112,97,116,104,
        95,116,101,109,112,108,97,116,101,10,0,0,0,0,0,0,0,11,0,0,0,0,0,0,0,12,0,0,0,0,0,0,0,13,0,0,0,8,0,0,0,14,2,3,4,5,6,7,
        128,14,0,0,0,8,0,0,0,15,2,3,4,5,6,7,128,15,0,0,0,0,0,0,0,20,0,0,0,0,0,0,0,21,0,0,0,0,0,0,0,22,0,0,0,8,0,0,
        0,23,2,3,4,5,6,7,128,23,0,0,0,8,0,0,0,24,2,3,4,5,6,7,128,24,0,0,0,8,0,0,0,25,2,3,4,5,6,7,128,25,0,0,0,0,0,0,
        0,26,0,0,0,0,0,0,0,27,0,0,0,0,0,0,0,
    };
    OrbgateQuestion question = orbgate_question_init();
    orbgate_ask_begin(NULL);
    orbgate_ask_begin(&question);
    orbgate_ask_set_method(&question, ORBGATE_TEXT("method"));
    orbgate_ask_set_target(&question, ORBGATE_TEXT("target"));
    orbgate_ask_add_authorization(&question, ORBGATE_TEXT("authorization"));
    orbgate_ask_add_authorization(&question, ORBGATE_TEXT("authorization 2"));
    orbgate_ask_add_header_name(&question, ORBGATE_TEXT("header_names"));
    orbgate_ask_add_header_name(&question, ORBGATE_TEXT("header_names 2"));
    orbgate_ask_add_upgrade(&question, ORBGATE_TEXT("upgrade"));
    orbgate_ask_add_upgrade(&question, ORBGATE_TEXT("upgrade 2"));
    orbgate_ask_add_origin(&question, ORBGATE_TEXT("origin"));
    orbgate_ask_add_origin(&question, ORBGATE_TEXT("origin 2"));
    orbgate_ask_add_access_control_request_method(&question, ORBGATE_TEXT("access_control_request_method"));
    orbgate_ask_add_access_control_request_method(&question, ORBGATE_TEXT("access_control_request_method 2"));
    orbgate_ask_set_matched(&question, UINT64_C(0x8007060504030209));
    orbgate_ask_set_path_template(&question, ORBGATE_TEXT("path_template"));
    orbgate_ask_set_allow_bonus_orbs(&question, true);
    orbgate_ask_set_with_audit(&question, true);
    orbgate_ask_set_holds_thread(&question, true);
    orbgate_ask_set_unix_ms(&question, UINT64_C(0x800706050403020e));
    orbgate_ask_set_monotonic_ms(&question, UINT64_C(0x800706050403020f));
    orbgate_ask_set_reads_bonus_orbs(&question, true);
    orbgate_ask_set_charges(&question, true);
    orbgate_ask_set_has_amount(&question, true);
    orbgate_ask_set_amount(&question, UINT64_C(0x8007060504030217));
    orbgate_ask_set_unpaid(&question, UINT64_C(0x8007060504030218));
    orbgate_ask_set_retry_after_ms(&question, UINT64_C(0x8007060504030219));
    orbgate_ask_set_amount_failed(&question, true);
    orbgate_ask_set_keeps(&question, true);
    orbgate_ask_set_again(&question, true);
    CHECK(is_written(&question, bytes, sizeof bytes));
    SETS_STRING(orbgate_ask_begin, orbgate_drop_begin, orbgate_ask_set_method, "method");
    SETS_STRING(orbgate_ask_begin, orbgate_drop_begin, orbgate_ask_set_target, "target");
    ADDS_STRING(orbgate_ask_begin, orbgate_drop_begin, orbgate_ask_add_authorization, "authorization");
    ADDS_STRING(orbgate_ask_begin, orbgate_drop_begin, orbgate_ask_add_header_name, "header_names");
    ADDS_STRING(orbgate_ask_begin, orbgate_drop_begin, orbgate_ask_add_upgrade, "upgrade");
    ADDS_STRING(orbgate_ask_begin, orbgate_drop_begin, orbgate_ask_add_origin, "origin");
    ADDS_STRING(orbgate_ask_begin, orbgate_drop_begin, orbgate_ask_add_access_control_request_method, "access_control_request_method");
    SETS(orbgate_ask_begin, orbgate_drop_begin, orbgate_ask_set_matched, UINT64_C(0x8007060504030209));
    SETS_STRING(orbgate_ask_begin, orbgate_drop_begin, orbgate_ask_set_path_template, "path_template");
    SETS(orbgate_ask_begin, orbgate_drop_begin, orbgate_ask_set_allow_bonus_orbs, true);
    SETS(orbgate_ask_begin, orbgate_drop_begin, orbgate_ask_set_with_audit, true);
    SETS(orbgate_ask_begin, orbgate_drop_begin, orbgate_ask_set_holds_thread, true);
    SETS(orbgate_ask_begin, orbgate_drop_begin, orbgate_ask_set_unix_ms, UINT64_C(0x800706050403020e));
    SETS(orbgate_ask_begin, orbgate_drop_begin, orbgate_ask_set_monotonic_ms, UINT64_C(0x800706050403020f));
    SETS(orbgate_ask_begin, orbgate_drop_begin, orbgate_ask_set_reads_bonus_orbs, true);
    SETS(orbgate_ask_begin, orbgate_drop_begin, orbgate_ask_set_charges, true);
    SETS(orbgate_ask_begin, orbgate_drop_begin, orbgate_ask_set_has_amount, true);
    SETS(orbgate_ask_begin, orbgate_drop_begin, orbgate_ask_set_amount, UINT64_C(0x8007060504030217));
    SETS(orbgate_ask_begin, orbgate_drop_begin, orbgate_ask_set_unpaid, UINT64_C(0x8007060504030218));
    SETS(orbgate_ask_begin, orbgate_drop_begin, orbgate_ask_set_retry_after_ms, UINT64_C(0x8007060504030219));
    SETS(orbgate_ask_begin, orbgate_drop_begin, orbgate_ask_set_amount_failed, true);
    SETS(orbgate_ask_begin, orbgate_drop_begin, orbgate_ask_set_keeps, true);
    SETS(orbgate_ask_begin, orbgate_drop_begin, orbgate_ask_set_again, true);
    orbgate_question_free(&question);
}

static void ask_resume(void)
{
    static const unsigned char bytes[] = {
        4,0,0,0,32,0,0,0,1,0,0,0,8,0,0,0,2,2,3,4,5,6,7,128,2,0,0,0,8,0,0,0,3,2,3,4,5,6,7,128,
    };
    OrbgateQuestion question = orbgate_question_init();
    orbgate_resume_begin(NULL);
    orbgate_resume_begin(&question);
    orbgate_resume_set_unix_ms(&question, UINT64_C(0x8007060504030202));
    orbgate_resume_set_monotonic_ms(&question, UINT64_C(0x8007060504030203));
    CHECK(is_written(&question, bytes, sizeof bytes));
    SETS(orbgate_resume_begin, orbgate_drop_begin, orbgate_resume_set_unix_ms, UINT64_C(0x8007060504030202));
    SETS(orbgate_resume_begin, orbgate_drop_begin, orbgate_resume_set_monotonic_ms, UINT64_C(0x8007060504030203));
    orbgate_question_free(&question);
}

static void ask_checked(void)
{
    static const unsigned char bytes[] = {
        5,0,0,0,56,0,0,0,1,0,0,0,0,0,0,0,2,0,0,0,8,0,0,0,3,2,3,4,5,6,7,128,3,0,0,0,8,0,0,0,4,2,3,4,5,6,7,128,
        4,0,0,0,8,0,0,0,5,2,3,4,5,6,7,128,
    };
    OrbgateQuestion question = orbgate_question_init();
    orbgate_checked_begin(NULL);
    orbgate_checked_begin(&question);
    orbgate_checked_set_is_right(&question, true);
    orbgate_checked_set_token_hash(&question, UINT64_C(0x8007060504030203));
    orbgate_checked_set_unix_ms(&question, UINT64_C(0x8007060504030204));
    orbgate_checked_set_monotonic_ms(&question, UINT64_C(0x8007060504030205));
    CHECK(is_written(&question, bytes, sizeof bytes));
    SETS(orbgate_checked_begin, orbgate_drop_begin, orbgate_checked_set_is_right, true);
    SETS(orbgate_checked_begin, orbgate_drop_begin, orbgate_checked_set_token_hash, UINT64_C(0x8007060504030203));
    SETS(orbgate_checked_begin, orbgate_drop_begin, orbgate_checked_set_unix_ms, UINT64_C(0x8007060504030204));
    SETS(orbgate_checked_begin, orbgate_drop_begin, orbgate_checked_set_monotonic_ms, UINT64_C(0x8007060504030205));
    orbgate_question_free(&question);
}

static void ask_is_over(void)
{
    static const unsigned char bytes[] = {
        6,0,0,0,16,0,0,0,1,0,0,0,8,0,0,0,2,2,3,4,5,6,7,128,
    };
    OrbgateQuestion question = orbgate_question_init();
    orbgate_is_over_begin(NULL);
    orbgate_is_over_begin(&question);
    orbgate_is_over_set_monotonic_ms(&question, UINT64_C(0x8007060504030202));
    CHECK(is_written(&question, bytes, sizeof bytes));
    SETS(orbgate_is_over_begin, orbgate_drop_begin, orbgate_is_over_set_monotonic_ms, UINT64_C(0x8007060504030202));
    orbgate_question_free(&question);
}

static void ask_next_call(void)
{
    static const unsigned char bytes[] = {
        7,0,0,0,16,0,0,0,1,0,0,0,8,0,0,0,2,2,3,4,5,6,7,128,
    };
    OrbgateQuestion question = orbgate_question_init();
    orbgate_next_call_begin(NULL);
    orbgate_next_call_begin(&question);
    orbgate_next_call_set_monotonic_ms(&question, UINT64_C(0x8007060504030202));
    CHECK(is_written(&question, bytes, sizeof bytes));
    SETS(orbgate_next_call_begin, orbgate_drop_begin, orbgate_next_call_set_monotonic_ms, UINT64_C(0x8007060504030202));
    orbgate_question_free(&question);
}

static void ask_called(void)
{
    static const unsigned char bytes[] = {
        8,0,0,0,146,0,0,0,1,0,0,0,8,0,0,0,2,2,3,4,5,6,7,128,2,0,0,0,8,0,0,0,3,2,3,4,5,6,7,128,3,0,0,0,8,0,0,0,
        4,2,3,4,5,6,7,128,4,0,0,0,25,0,0,0,1,0,0,0,4,0,0,0,110,97,109,101,2,0,0,0,5,0,0,0,118,97,108,117,101,4,0,0,0,29,0,0,
        0,1,0,0,0,6,0,0,0,110,97,109,101,32,50,2,0,0,0,7,0,0,0,118,97,108,117,101,32,50,5,0,0,0,4,0,0,0,98,111,100,121,6,0,0,0,8,0,
        0,0,7,2,3,4,5,6,7,128,
    };
    OrbgateQuestion question = orbgate_question_init();
    orbgate_called_begin(NULL);
    orbgate_called_begin(&question);
    orbgate_called_set_attempt(&question, UINT64_C(0x8007060504030202));
    orbgate_called_set_failure(&question, UINT64_C(0x8007060504030203));
    orbgate_called_set_status(&question, UINT64_C(0x8007060504030204));
    orbgate_called_add_header(&question, ORBGATE_TEXT("name"), ORBGATE_TEXT("value"));
    orbgate_called_add_header(&question, ORBGATE_TEXT("name 2"), ORBGATE_TEXT("value 2"));
    orbgate_called_set_body(&question, ORBGATE_TEXT("body"));
    orbgate_called_set_monotonic_ms(&question, UINT64_C(0x8007060504030207));
    CHECK(is_written(&question, bytes, sizeof bytes));
    SETS(orbgate_called_begin, orbgate_drop_begin, orbgate_called_set_attempt, UINT64_C(0x8007060504030202));
    SETS(orbgate_called_begin, orbgate_drop_begin, orbgate_called_set_failure, UINT64_C(0x8007060504030203));
    SETS(orbgate_called_begin, orbgate_drop_begin, orbgate_called_set_status, UINT64_C(0x8007060504030204));
    ADDS(orbgate_drop_begin, orbgate_called_add_header, ORBGATE_TEXT("name"), ORBGATE_TEXT("value"));
    WRONG(orbgate_called_begin, orbgate_called_add_header(&question, NULL, 1, ORBGATE_TEXT("value")));
    WRONG(orbgate_called_begin, orbgate_called_add_header(&question, ORBGATE_TEXT("name"), NULL, 1));
    WRONG(orbgate_drop_begin, orbgate_called_add_header(&question, NULL, 0, NULL, 0));
    SETS_STRING(orbgate_called_begin, orbgate_drop_begin, orbgate_called_set_body, "body");
    SETS(orbgate_called_begin, orbgate_drop_begin, orbgate_called_set_monotonic_ms, UINT64_C(0x8007060504030207));
    orbgate_question_free(&question);
}

static void ask_warm(void)
{
    static const unsigned char bytes[] = {
        9,0,0,0,16,0,0,0,1,0,0,0,8,0,0,0,2,2,3,4,5,6,7,128,
    };
    OrbgateQuestion question = orbgate_question_init();
    orbgate_warm_begin(NULL);
    orbgate_warm_begin(&question);
    orbgate_warm_set_monotonic_ms(&question, UINT64_C(0x8007060504030202));
    CHECK(is_written(&question, bytes, sizeof bytes));
    SETS(orbgate_warm_begin, orbgate_drop_begin, orbgate_warm_set_monotonic_ms, UINT64_C(0x8007060504030202));
    orbgate_question_free(&question);
}

static void ask_revoke(void)
{
    static const unsigned char bytes[] = {
        10,0,0,0,25,0,0,0,1,0,0,0,6,0,0,0,105,115,115,117,101,114,2,0,0,0,3,0,0,0,107,105,100,
    };
    OrbgateQuestion question = orbgate_question_init();
    orbgate_revoke_begin(NULL);
    orbgate_revoke_begin(&question);
    orbgate_revoke_set_issuer(&question, ORBGATE_TEXT("issuer"));
    orbgate_revoke_set_kid(&question, ORBGATE_TEXT("kid"));
    CHECK(is_written(&question, bytes, sizeof bytes));
    SETS_STRING(orbgate_revoke_begin, orbgate_drop_begin, orbgate_revoke_set_issuer, "issuer");
    SETS_STRING(orbgate_revoke_begin, orbgate_drop_begin, orbgate_revoke_set_kid, "kid");
    orbgate_question_free(&question);
}

static void ask_forget(void)
{
    static const unsigned char bytes[] = {
        11,0,0,0,14,0,0,0,1,0,0,0,6,0,0,0,105,115,115,117,101,114,
    };
    OrbgateQuestion question = orbgate_question_init();
    orbgate_forget_begin(NULL);
    orbgate_forget_begin(&question);
    orbgate_forget_set_issuer(&question, ORBGATE_TEXT("issuer"));
    CHECK(is_written(&question, bytes, sizeof bytes));
    SETS_STRING(orbgate_forget_begin, orbgate_drop_begin, orbgate_forget_set_issuer, "issuer");
    orbgate_question_free(&question);
}

static void ask_read_secrets(void)
{
    static const unsigned char bytes[] = {
        12,0,0,0,44,0,0,0,1,0,0,0,13,0,0,0,1,0,0,0,5,0,0,0,118,97,108,117,101,1,0,0,0,15,0,0,0,1,0,0,0,7,0,0,0,118,97,108,
        117,101,32,50,
    };
    OrbgateQuestion question = orbgate_question_init();
    orbgate_read_secrets_begin(NULL);
    orbgate_read_secrets_begin(&question);
    orbgate_read_secrets_add_secret(&question, ORBGATE_TEXT("value"));
    orbgate_read_secrets_add_secret(&question, ORBGATE_TEXT("value 2"));
    CHECK(is_written(&question, bytes, sizeof bytes));
    ADDS(orbgate_drop_begin, orbgate_read_secrets_add_secret, ORBGATE_TEXT("value"));
    WRONG(orbgate_read_secrets_begin, orbgate_read_secrets_add_secret(&question, NULL, 1));
    WRONG(orbgate_drop_begin, orbgate_read_secrets_add_secret(&question, NULL, 0));
    orbgate_question_free(&question);
}

static void ask_status(void)
{
    static const unsigned char bytes[] = {
        13,0,0,0,0,0,0,0,
    };
    OrbgateQuestion question = orbgate_question_init();
    orbgate_status_begin(NULL);
    orbgate_status_begin(&question);
    CHECK(is_written(&question, bytes, sizeof bytes));
    orbgate_question_free(&question);
}

static void ask_check_engine(void)
{
    static const unsigned char bytes[] = {
        14,0,0,0,0,0,0,0,
    };
    OrbgateQuestion question = orbgate_question_init();
    orbgate_check_engine_begin(NULL);
    orbgate_check_engine_begin(&question);
    CHECK(is_written(&question, bytes, sizeof bytes));
    orbgate_question_free(&question);
}

static void ask_check_routes(void)
{
    static const unsigned char bytes[] = {
        15,0,0,0,106,0,0,0,1,0,0,0,35,0,0,0,1,0,0,0,6,0,0,0,109,101,116,104,111,100,2,0,0,0,13,0,0,0,112,97,116,104,95,116,101,109,112,108,
        97,116,101,1,0,0,0,39,0,0,0,1,0,0,0,8,0,0,0,109,101,116,104,111,100,32,50,2,0,0,0,15,0,0,0,112,97,116,104,95,116,101,109,112,108,97,116,101,
        32,50,2,0,0,0,8,0,0,0,3,2,3,4,5,6,7,128,
    };
    OrbgateQuestion question = orbgate_question_init();
    orbgate_check_routes_begin(NULL);
    orbgate_check_routes_begin(&question);
    orbgate_check_routes_add_route(&question, ORBGATE_TEXT("method"), ORBGATE_TEXT("path_template"));
    orbgate_check_routes_add_route(&question, ORBGATE_TEXT("method 2"), ORBGATE_TEXT("path_template 2"));
    orbgate_check_routes_set_templates(&question, UINT64_C(0x8007060504030203));
    CHECK(is_written(&question, bytes, sizeof bytes));
    ADDS(orbgate_drop_begin, orbgate_check_routes_add_route, ORBGATE_TEXT("method"), ORBGATE_TEXT("path_template"));
    WRONG(orbgate_check_routes_begin, orbgate_check_routes_add_route(&question, NULL, 1, ORBGATE_TEXT("path_template")));
    WRONG(orbgate_check_routes_begin, orbgate_check_routes_add_route(&question, ORBGATE_TEXT("method"), NULL, 1));
    WRONG(orbgate_drop_begin, orbgate_check_routes_add_route(&question, NULL, 0, NULL, 0));
    SETS(orbgate_check_routes_begin, orbgate_drop_begin, orbgate_check_routes_set_templates, UINT64_C(0x8007060504030203));
    orbgate_question_free(&question);
}

static void ask_drop(void)
{
    static const unsigned char bytes[] = {
        16,0,0,0,0,0,0,0,
    };
    OrbgateQuestion question = orbgate_question_init();
    orbgate_drop_begin(NULL);
    orbgate_drop_begin(&question);
    CHECK(is_written(&question, bytes, sizeof bytes));
    orbgate_question_free(&question);
}

static void ask_body(void)
{
    static const unsigned char bytes[] = {
        17,0,0,0,122,0,0,0,1,0,0,0,4,0,0,0,98,111,100,121,2,0,0,0,0,0,0,0,3,0,0,0,25,0,0,0,1,0,0,0,4,0,0,0,110,97,109,101,
        2,0,0,0,5,0,0,0,118,97,108,117,101,3,0,0,0,29,0,0,0,1,0,0,0,6,0,0,0,110,97,109,101,32,50,2,0,0,0,7,0,0,0,118,97,108,117,101,
        32,50,4,0,0,0,8,0,0,0,5,2,3,4,5,6,7,128,5,0,0,0,0,0,0,0,6,0,0,0,0,0,0,0,
    };
    OrbgateQuestion question = orbgate_question_init();
    orbgate_body_begin(NULL);
    orbgate_body_begin(&question);
    orbgate_body_set_body(&question, ORBGATE_TEXT("body"));
    orbgate_body_set_too_large(&question, true);
    orbgate_body_add_header(&question, ORBGATE_TEXT("name"), ORBGATE_TEXT("value"));
    orbgate_body_add_header(&question, ORBGATE_TEXT("name 2"), ORBGATE_TEXT("value 2"));
    orbgate_body_set_unix_ms(&question, UINT64_C(0x8007060504030205));
    orbgate_body_set_busy(&question, true);
    orbgate_body_set_unreadable(&question, true);
    CHECK(is_written(&question, bytes, sizeof bytes));
    SETS_STRING(orbgate_body_begin, orbgate_drop_begin, orbgate_body_set_body, "body");
    SETS(orbgate_body_begin, orbgate_drop_begin, orbgate_body_set_too_large, true);
    ADDS(orbgate_drop_begin, orbgate_body_add_header, ORBGATE_TEXT("name"), ORBGATE_TEXT("value"));
    WRONG(orbgate_body_begin, orbgate_body_add_header(&question, NULL, 1, ORBGATE_TEXT("value")));
    WRONG(orbgate_body_begin, orbgate_body_add_header(&question, ORBGATE_TEXT("name"), NULL, 1));
    WRONG(orbgate_drop_begin, orbgate_body_add_header(&question, NULL, 0, NULL, 0));
    SETS(orbgate_body_begin, orbgate_drop_begin, orbgate_body_set_unix_ms, UINT64_C(0x8007060504030205));
    SETS(orbgate_body_begin, orbgate_drop_begin, orbgate_body_set_busy, true);
    SETS(orbgate_body_begin, orbgate_drop_begin, orbgate_body_set_unreadable, true);
    orbgate_question_free(&question);
}

static void ask_reload(void)
{
    static const unsigned char bytes[] = {
        24,0,0,0,204,0,0,0,1,0,0,0,6,0,0,0,112,111,108,105,99,121,2,0,0,0,7,0,0,0,102,97,105,108,117,114,101,3,0,0,0,0,0,0,0,4,0,0,
        0,0,0,0,0,5,0,0,0,13,0,0,0,1,0,0,0,5,0,0,0,118,97,108,117,101,5,0,0,0,15,0,0,0,1,0,0,0,7,0,0,0,118,97,108,117,101,32,
        50,6,0,0,0,8,0,0,0,7,2,3,4,5,6,7,128,7,0,0,0,0,0,0,0,8,0,0,0,8,0,0,0,9,2,3,4,5,6,7,128,9,0,0,0,4,0,0,
        0,102,105,108,101,10,0,0,0,15,0,0,0,115,101,99,114,101,116,115,95,102,97,105,108,117,114,101,11,0,0,0,0,0,0,0,12,0,0,0,7,0,0,0,97,109,111,117,
        110,116,115,12,0,0,0,9,0,0,0,97,109,111,117,110,116,115,32,50,
    };
    OrbgateQuestion question = orbgate_question_init();
    orbgate_reload_begin(NULL);
    orbgate_reload_begin(&question);
    orbgate_reload_set_policy(&question, ORBGATE_TEXT("policy"));
    orbgate_reload_set_failure(&question, ORBGATE_TEXT("failure"));
    orbgate_reload_set_require_seal(&question, true);
    orbgate_reload_set_refuse_wider(&question, true);
    orbgate_reload_add_secret(&question, ORBGATE_TEXT("value"));
    orbgate_reload_add_secret(&question, ORBGATE_TEXT("value 2"));
    orbgate_reload_set_interval_ms(&question, UINT64_C(0x8007060504030207));
    orbgate_reload_set_is_told(&question, true);
    orbgate_reload_set_monotonic_ms(&question, UINT64_C(0x8007060504030209));
    orbgate_reload_set_file(&question, ORBGATE_TEXT("file"));
    orbgate_reload_set_secrets_failure(&question, ORBGATE_TEXT("secrets_failure"));
    orbgate_reload_set_has_ledger(&question, true);
    orbgate_reload_add_amount(&question, ORBGATE_TEXT("amounts"));
    orbgate_reload_add_amount(&question, ORBGATE_TEXT("amounts 2"));
    CHECK(is_written(&question, bytes, sizeof bytes));
    SETS_STRING(orbgate_reload_begin, orbgate_drop_begin, orbgate_reload_set_policy, "policy");
    SETS_STRING(orbgate_reload_begin, orbgate_drop_begin, orbgate_reload_set_failure, "failure");
    SETS(orbgate_reload_begin, orbgate_drop_begin, orbgate_reload_set_require_seal, true);
    SETS(orbgate_reload_begin, orbgate_drop_begin, orbgate_reload_set_refuse_wider, true);
    ADDS(orbgate_drop_begin, orbgate_reload_add_secret, ORBGATE_TEXT("value"));
    WRONG(orbgate_reload_begin, orbgate_reload_add_secret(&question, NULL, 1));
    WRONG(orbgate_drop_begin, orbgate_reload_add_secret(&question, NULL, 0));
    SETS(orbgate_reload_begin, orbgate_drop_begin, orbgate_reload_set_interval_ms, UINT64_C(0x8007060504030207));
    SETS(orbgate_reload_begin, orbgate_drop_begin, orbgate_reload_set_is_told, true);
    SETS(orbgate_reload_begin, orbgate_drop_begin, orbgate_reload_set_monotonic_ms, UINT64_C(0x8007060504030209));
    SETS_STRING(orbgate_reload_begin, orbgate_drop_begin, orbgate_reload_set_file, "file");
    SETS_STRING(orbgate_reload_begin, orbgate_drop_begin, orbgate_reload_set_secrets_failure, "secrets_failure");
    SETS(orbgate_reload_begin, orbgate_drop_begin, orbgate_reload_set_has_ledger, true);
    ADDS_STRING(orbgate_reload_begin, orbgate_drop_begin, orbgate_reload_add_amount, "amounts");
    orbgate_question_free(&question);
}

static void ask_use_ledger(void)
{
    static const unsigned char bytes[] = {
        30,0,0,0,96,0,0,0,1,0,0,0,0,0,0,0,2,0,0,0,8,0,0,0,3,2,3,4,5,6,7,128,3,0,0,0,8,0,0,0,4,2,3,4,5,6,7,128,
        4,0,0,0,8,0,0,0,5,2,3,4,5,6,7,128,5,0,0,0,0,0,0,0,6,0,0,0,0,0,0,0,7,0,0,0,0,0,0,0,8,0,0,0,0,0,0,0,
        9,0,0,0,0,0,0,0,
    };
    OrbgateQuestion question = orbgate_question_init();
    orbgate_use_ledger_begin(NULL);
    orbgate_use_ledger_begin(&question);
    orbgate_use_ledger_set_captures_cancelled(&question, true);
    orbgate_use_ledger_set_ttl_ms(&question, UINT64_C(0x8007060504030203));
    orbgate_use_ledger_set_timeout_ms(&question, UINT64_C(0x8007060504030204));
    orbgate_use_ledger_set_queue(&question, UINT64_C(0x8007060504030205));
    orbgate_use_ledger_set_voids_cancelled(&question, true);
    orbgate_use_ledger_set_captures_tool_errors(&question, true);
    orbgate_use_ledger_set_voids_tool_errors(&question, true);
    orbgate_use_ledger_set_captures_input_required(&question, true);
    orbgate_use_ledger_set_voids_input_required(&question, true);
    CHECK(is_written(&question, bytes, sizeof bytes));
    SETS(orbgate_use_ledger_begin, orbgate_drop_begin, orbgate_use_ledger_set_captures_cancelled, true);
    SETS(orbgate_use_ledger_begin, orbgate_drop_begin, orbgate_use_ledger_set_ttl_ms, UINT64_C(0x8007060504030203));
    SETS(orbgate_use_ledger_begin, orbgate_drop_begin, orbgate_use_ledger_set_timeout_ms, UINT64_C(0x8007060504030204));
    SETS(orbgate_use_ledger_begin, orbgate_drop_begin, orbgate_use_ledger_set_queue, UINT64_C(0x8007060504030205));
    SETS(orbgate_use_ledger_begin, orbgate_drop_begin, orbgate_use_ledger_set_voids_cancelled, true);
    SETS(orbgate_use_ledger_begin, orbgate_drop_begin, orbgate_use_ledger_set_captures_tool_errors, true);
    SETS(orbgate_use_ledger_begin, orbgate_drop_begin, orbgate_use_ledger_set_voids_tool_errors, true);
    SETS(orbgate_use_ledger_begin, orbgate_drop_begin, orbgate_use_ledger_set_captures_input_required, true);
    SETS(orbgate_use_ledger_begin, orbgate_drop_begin, orbgate_use_ledger_set_voids_input_required, true);
    orbgate_question_free(&question);
}

static void ask_hold(void)
{
    static const unsigned char bytes[] = {
        31,0,0,0,77,0,0,0,1,0,0,0,2,0,0,0,105,100,2,0,0,0,7,0,0,0,97,99,99,111,117,110,116,3,0,0,0,8,0,0,0,4,2,3,4,5,6,7,
        128,4,0,0,0,0,0,0,0,5,0,0,0,4,0,0,0,110,111,116,101,6,0,0,0,8,0,0,0,7,2,3,4,5,6,7,128,
    };
    OrbgateQuestion question = orbgate_question_init();
    orbgate_hold_begin(NULL);
    orbgate_hold_begin(&question);
    orbgate_hold_set_id(&question, ORBGATE_TEXT("id"));
    orbgate_hold_set_account(&question, ORBGATE_TEXT("account"));
    orbgate_hold_set_amount(&question, UINT64_C(0x8007060504030204));
    orbgate_hold_set_bonus(&question, true);
    orbgate_hold_set_note(&question, ORBGATE_TEXT("note"));
    orbgate_hold_set_monotonic_ms(&question, UINT64_C(0x8007060504030207));
    CHECK(is_written(&question, bytes, sizeof bytes));
    SETS_STRING(orbgate_hold_begin, orbgate_drop_begin, orbgate_hold_set_id, "id");
    SETS_STRING(orbgate_hold_begin, orbgate_drop_begin, orbgate_hold_set_account, "account");
    SETS(orbgate_hold_begin, orbgate_drop_begin, orbgate_hold_set_amount, UINT64_C(0x8007060504030204));
    SETS(orbgate_hold_begin, orbgate_drop_begin, orbgate_hold_set_bonus, true);
    SETS_STRING(orbgate_hold_begin, orbgate_drop_begin, orbgate_hold_set_note, "note");
    SETS(orbgate_hold_begin, orbgate_drop_begin, orbgate_hold_set_monotonic_ms, UINT64_C(0x8007060504030207));
    orbgate_question_free(&question);
}

static void ask_held(void)
{
    static const unsigned char bytes[] = {
        32,0,0,0,70,0,0,0,1,0,0,0,2,0,0,0,105,100,2,0,0,0,8,0,0,0,3,2,3,4,5,6,7,128,3,0,0,0,4,0,0,0,98,111,100,121,4,0,
        0,0,8,0,0,0,5,2,3,4,5,6,7,128,5,0,0,0,8,0,0,0,6,2,3,4,5,6,7,128,
    };
    OrbgateQuestion question = orbgate_question_init();
    orbgate_held_begin(NULL);
    orbgate_held_begin(&question);
    orbgate_held_set_id(&question, ORBGATE_TEXT("id"));
    orbgate_held_set_status(&question, UINT64_C(0x8007060504030203));
    orbgate_held_set_body(&question, ORBGATE_TEXT("body"));
    orbgate_held_set_unix_ms(&question, UINT64_C(0x8007060504030205));
    orbgate_held_set_monotonic_ms(&question, UINT64_C(0x8007060504030206));
    CHECK(is_written(&question, bytes, sizeof bytes));
    SETS_STRING(orbgate_held_begin, orbgate_drop_begin, orbgate_held_set_id, "id");
    SETS(orbgate_held_begin, orbgate_drop_begin, orbgate_held_set_status, UINT64_C(0x8007060504030203));
    SETS_STRING(orbgate_held_begin, orbgate_drop_begin, orbgate_held_set_body, "body");
    SETS(orbgate_held_begin, orbgate_drop_begin, orbgate_held_set_unix_ms, UINT64_C(0x8007060504030205));
    SETS(orbgate_held_begin, orbgate_drop_begin, orbgate_held_set_monotonic_ms, UINT64_C(0x8007060504030206));
    orbgate_question_free(&question);
}

static void ask_waited(void)
{
    static const unsigned char bytes[] = {
        33,0,0,0,26,0,0,0,1,0,0,0,2,0,0,0,105,100,2,0,0,0,8,0,0,0,3,2,3,4,5,6,7,128,
    };
    OrbgateQuestion question = orbgate_question_init();
    orbgate_waited_begin(NULL);
    orbgate_waited_begin(&question);
    orbgate_waited_set_id(&question, ORBGATE_TEXT("id"));
    orbgate_waited_set_monotonic_ms(&question, UINT64_C(0x8007060504030203));
    CHECK(is_written(&question, bytes, sizeof bytes));
    SETS_STRING(orbgate_waited_begin, orbgate_drop_begin, orbgate_waited_set_id, "id");
    SETS(orbgate_waited_begin, orbgate_drop_begin, orbgate_waited_set_monotonic_ms, UINT64_C(0x8007060504030203));
    orbgate_question_free(&question);
}

static void ask_ended(void)
{
    static const unsigned char bytes[] = {
        34,0,0,0,98,0,0,0,1,0,0,0,2,0,0,0,105,100,2,0,0,0,0,0,0,0,3,0,0,0,8,0,0,0,4,2,3,4,5,6,7,128,4,0,0,0,0,0,
        0,0,5,0,0,0,8,0,0,0,6,2,3,4,5,6,7,128,6,0,0,0,8,0,0,0,7,2,3,4,5,6,7,128,7,0,0,0,0,0,0,0,8,0,0,0,8,0,
        0,0,9,2,3,4,5,6,7,128,
    };
    OrbgateQuestion question = orbgate_question_init();
    orbgate_ended_begin(NULL);
    orbgate_ended_begin(&question);
    orbgate_ended_set_id(&question, ORBGATE_TEXT("id"));
    orbgate_ended_set_cancelled(&question, true);
    orbgate_ended_set_status(&question, UINT64_C(0x8007060504030204));
    orbgate_ended_set_is_stated(&question, true);
    orbgate_ended_set_stated(&question, UINT64_C(0x8007060504030206));
    orbgate_ended_set_monotonic_ms(&question, UINT64_C(0x8007060504030207));
    orbgate_ended_set_never_ran(&question, true);
    orbgate_ended_set_response(&question, UINT64_C(0x8007060504030209));
    CHECK(is_written(&question, bytes, sizeof bytes));
    SETS_STRING(orbgate_ended_begin, orbgate_drop_begin, orbgate_ended_set_id, "id");
    SETS(orbgate_ended_begin, orbgate_drop_begin, orbgate_ended_set_cancelled, true);
    SETS(orbgate_ended_begin, orbgate_drop_begin, orbgate_ended_set_status, UINT64_C(0x8007060504030204));
    SETS(orbgate_ended_begin, orbgate_drop_begin, orbgate_ended_set_is_stated, true);
    SETS(orbgate_ended_begin, orbgate_drop_begin, orbgate_ended_set_stated, UINT64_C(0x8007060504030206));
    SETS(orbgate_ended_begin, orbgate_drop_begin, orbgate_ended_set_monotonic_ms, UINT64_C(0x8007060504030207));
    SETS(orbgate_ended_begin, orbgate_drop_begin, orbgate_ended_set_never_ran, true);
    SETS(orbgate_ended_begin, orbgate_drop_begin, orbgate_ended_set_response, UINT64_C(0x8007060504030209));
    orbgate_question_free(&question);
}

static void ask_next_ledger_call(void)
{
    static const unsigned char bytes[] = {
        35,0,0,0,16,0,0,0,1,0,0,0,8,0,0,0,2,2,3,4,5,6,7,128,
    };
    OrbgateQuestion question = orbgate_question_init();
    orbgate_next_ledger_call_begin(NULL);
    orbgate_next_ledger_call_begin(&question);
    orbgate_next_ledger_call_set_monotonic_ms(&question, UINT64_C(0x8007060504030202));
    CHECK(is_written(&question, bytes, sizeof bytes));
    SETS(orbgate_next_ledger_call_begin, orbgate_drop_begin, orbgate_next_ledger_call_set_monotonic_ms, UINT64_C(0x8007060504030202));
    orbgate_question_free(&question);
}

static void ask_ledger_called(void)
{
    static const unsigned char bytes[] = {
        36,0,0,0,60,0,0,0,1,0,0,0,8,0,0,0,2,2,3,4,5,6,7,128,2,0,0,0,8,0,0,0,3,2,3,4,5,6,7,128,3,0,0,0,4,0,0,0,
        98,111,100,121,4,0,0,0,8,0,0,0,5,2,3,4,5,6,7,128,
    };
    OrbgateQuestion question = orbgate_question_init();
    orbgate_ledger_called_begin(NULL);
    orbgate_ledger_called_begin(&question);
    orbgate_ledger_called_set_call(&question, UINT64_C(0x8007060504030202));
    orbgate_ledger_called_set_status(&question, UINT64_C(0x8007060504030203));
    orbgate_ledger_called_set_body(&question, ORBGATE_TEXT("body"));
    orbgate_ledger_called_set_monotonic_ms(&question, UINT64_C(0x8007060504030205));
    CHECK(is_written(&question, bytes, sizeof bytes));
    SETS(orbgate_ledger_called_begin, orbgate_drop_begin, orbgate_ledger_called_set_call, UINT64_C(0x8007060504030202));
    SETS(orbgate_ledger_called_begin, orbgate_drop_begin, orbgate_ledger_called_set_status, UINT64_C(0x8007060504030203));
    SETS_STRING(orbgate_ledger_called_begin, orbgate_drop_begin, orbgate_ledger_called_set_body, "body");
    SETS(orbgate_ledger_called_begin, orbgate_drop_begin, orbgate_ledger_called_set_monotonic_ms, UINT64_C(0x8007060504030205));
    orbgate_question_free(&question);
}

static void ask_check_amounts(void)
{
    static const unsigned char bytes[] = {
        37,0,0,0,36,0,0,0,1,0,0,0,9,0,0,0,102,117,110,99,116,105,111,110,115,1,0,0,0,11,0,0,0,102,117,110,99,116,105,111,110,115,32,50,
    };
    OrbgateQuestion question = orbgate_question_init();
    orbgate_check_amounts_begin(NULL);
    orbgate_check_amounts_begin(&question);
    orbgate_check_amounts_add_function(&question, ORBGATE_TEXT("functions"));
    orbgate_check_amounts_add_function(&question, ORBGATE_TEXT("functions 2"));
    CHECK(is_written(&question, bytes, sizeof bytes));
    ADDS_STRING(orbgate_check_amounts_begin, orbgate_drop_begin, orbgate_check_amounts_add_function, "functions");
    orbgate_question_free(&question);
}

static void ask_read_response(void)
{
    static const unsigned char bytes[] = {
        38,0,0,0,22,0,0,0,1,0,0,0,6,0,0,0,109,99,112,95,105,100,2,0,0,0,0,0,0,0,
    };
    OrbgateQuestion question = orbgate_question_init();
    orbgate_read_response_begin(NULL);
    orbgate_read_response_begin(&question);
    orbgate_read_response_set_mcp_id(&question, ORBGATE_TEXT("mcp_id"));
    orbgate_read_response_set_mcp_legacy(&question, true);
    CHECK(is_written(&question, bytes, sizeof bytes));
    SETS_STRING(orbgate_read_response_begin, orbgate_drop_begin, orbgate_read_response_set_mcp_id, "mcp_id");
    SETS(orbgate_read_response_begin, orbgate_drop_begin, orbgate_read_response_set_mcp_legacy, true);
    orbgate_question_free(&question);
}

static void ask_response_begins(void)
{
    static const unsigned char bytes[] = {
        39,0,0,0,70,0,0,0,1,0,0,0,25,0,0,0,1,0,0,0,4,0,0,0,110,97,109,101,2,0,0,0,5,0,0,0,118,97,108,117,101,1,0,0,0,29,0,0,
        0,1,0,0,0,6,0,0,0,110,97,109,101,32,50,2,0,0,0,7,0,0,0,118,97,108,117,101,32,50,
    };
    OrbgateQuestion question = orbgate_question_init();
    orbgate_response_begins_begin(NULL);
    orbgate_response_begins_begin(&question);
    orbgate_response_begins_add_header(&question, ORBGATE_TEXT("name"), ORBGATE_TEXT("value"));
    orbgate_response_begins_add_header(&question, ORBGATE_TEXT("name 2"), ORBGATE_TEXT("value 2"));
    CHECK(is_written(&question, bytes, sizeof bytes));
    ADDS(orbgate_drop_begin, orbgate_response_begins_add_header, ORBGATE_TEXT("name"), ORBGATE_TEXT("value"));
    WRONG(orbgate_response_begins_begin, orbgate_response_begins_add_header(&question, NULL, 1, ORBGATE_TEXT("value")));
    WRONG(orbgate_response_begins_begin, orbgate_response_begins_add_header(&question, ORBGATE_TEXT("name"), NULL, 1));
    WRONG(orbgate_drop_begin, orbgate_response_begins_add_header(&question, NULL, 0, NULL, 0));
    orbgate_question_free(&question);
}

static void ask_response_piece(void)
{
    static const unsigned char bytes[] = {
        40,0,0,0,13,0,0,0,1,0,0,0,5,0,0,0,112,105,101,99,101,
    };
    OrbgateQuestion question = orbgate_question_init();
    orbgate_response_piece_begin(NULL);
    orbgate_response_piece_begin(&question);
    orbgate_response_piece_set_piece(&question, ORBGATE_TEXT("piece"));
    CHECK(is_written(&question, bytes, sizeof bytes));
    SETS_STRING(orbgate_response_piece_begin, orbgate_drop_begin, orbgate_response_piece_set_piece, "piece");
    orbgate_question_free(&question);
}

static void ask_visible(void)
{
    static const unsigned char bytes[] = {
        44,0,0,0,72,0,0,0,1,0,0,0,8,0,0,0,2,2,3,4,5,6,7,128,2,0,0,0,6,0,0,0,115,99,111,112,101,115,3,0,0,0,6,0,0,0,109,101,
        116,104,111,100,4,0,0,0,5,0,0,0,110,97,109,101,115,4,0,0,0,7,0,0,0,110,97,109,101,115,32,50,
    };
    OrbgateQuestion question = orbgate_question_init();
    orbgate_visible_begin(NULL);
    orbgate_visible_begin(&question);
    orbgate_visible_set_kind(&question, UINT64_C(0x8007060504030202));
    orbgate_visible_set_scopes(&question, ORBGATE_TEXT("scopes"));
    orbgate_visible_set_method(&question, ORBGATE_TEXT("method"));
    orbgate_visible_add_name(&question, ORBGATE_TEXT("names"));
    orbgate_visible_add_name(&question, ORBGATE_TEXT("names 2"));
    CHECK(is_written(&question, bytes, sizeof bytes));
    SETS(orbgate_visible_begin, orbgate_drop_begin, orbgate_visible_set_kind, UINT64_C(0x8007060504030202));
    SETS_STRING(orbgate_visible_begin, orbgate_drop_begin, orbgate_visible_set_scopes, "scopes");
    SETS_STRING(orbgate_visible_begin, orbgate_drop_begin, orbgate_visible_set_method, "method");
    ADDS_STRING(orbgate_visible_begin, orbgate_drop_begin, orbgate_visible_add_name, "names");
    orbgate_question_free(&question);
}

static void read_done(void)
{
    static const unsigned char bytes[] = {
        64,0,0,0,29,0,0,0,1,0,0,0,7,0,0,0,110,111,116,105,99,101,115,2,0,0,0,6,0,0,0,108,101,118,101,108,115,
    };
    OrbgateMessage message = whole(bytes, sizeof bytes);
    CHECK(message.kind == ORBGATE_MESSAGE_DONE);
    STRING(orbgate_done_get_notices, message, "notices");
    STRING(orbgate_done_get_levels, message, "levels");
}

static void read_failed(void)
{
    static const unsigned char bytes[] = {
        65,0,0,0,143,0,0,0,1,0,0,128,8,0,0,0,2,2,3,4,5,6,7,128,2,0,0,0,7,0,0,0,109,101,115,115,97,103,101,3,0,0,0,47,0,0,0,1,
        0,0,0,8,0,0,0,2,2,3,4,5,6,7,128,2,0,0,0,8,0,0,0,3,2,3,4,5,6,7,128,3,0,0,0,7,0,0,0,109,101,115,115,97,103,101,3,0,
        0,0,49,0,0,0,1,0,0,0,8,0,0,0,2,2,3,4,5,6,7,128,2,0,0,0,8,0,0,0,3,2,3,4,5,6,7,128,3,0,0,0,9,0,0,0,109,101,
        115,115,97,103,101,32,50,
    };
    OrbgateMessage message = whole(bytes, sizeof bytes);
    CHECK(message.kind == ORBGATE_MESSAGE_FAILED);
    INTEGER(orbgate_failed_get_status, message, UINT64_C(0x8007060504030202));
    STRING(orbgate_failed_get_message, message, "message");
    OrbgateMessage part0_3 = orbgate_message_init();
    PART(orbgate_failed_next_diagnostic, message, part0_3);
    INTEGER(orbgate_diagnostic_get_line, part0_3, UINT64_C(0x8007060504030202));
    INTEGER(orbgate_diagnostic_get_column, part0_3, UINT64_C(0x8007060504030203));
    STRING(orbgate_diagnostic_get_message, part0_3, "message");
    CHECK(orbgate_failed_next_diagnostic(&message, &part0_3));
    INTEGER(orbgate_diagnostic_get_line, part0_3, UINT64_C(0x8007060504030202));
    INTEGER(orbgate_diagnostic_get_column, part0_3, UINT64_C(0x8007060504030203));
    STRING(orbgate_diagnostic_get_message, part0_3, "message 2");
    CHECK(!orbgate_failed_next_diagnostic(&message, &part0_3) && is_none(&part0_3));
}

static void read_answer(void)
{
    static const unsigned char bytes[] = {
        66,0,0,0,134,1,0,0,1,0,0,128,8,0,0,0,2,2,3,4,5,6,7,128,2,0,0,128,8,0,0,0,3,2,3,4,5,6,7,128,3,0,0,128,0,0,0,0,
        4,0,0,0,16,0,0,0,119,119,119,95,97,117,116,104,101,110,116,105,99,97,116,101,5,0,0,0,5,0,0,0,97,108,108,111,119,6,0,0,0,7,0,0,0,114,101,102,
        117,115,101,100,7,0,0,0,9,0,0,0,109,105,115,114,111,117,116,101,100,8,0,0,0,15,0,0,0,112,117,98,108,105,99,95,116,101,109,112,108,97,116,101,9,0,0,0,
        5,0,0,0,97,117,100,105,116,10,0,0,0,131,0,0,0,1,0,0,0,8,0,0,0,2,2,3,4,5,6,7,128,2,0,0,0,6,0,0,0,115,99,111,112,101,115,3,
        0,0,0,6,0,0,0,105,115,115,117,101,114,4,0,0,0,7,0,0,0,115,117,98,106,101,99,116,5,0,0,0,6,0,0,0,99,108,105,101,110,116,6,0,0,0,5,0,
        0,0,97,99,116,111,114,7,0,0,0,2,0,0,0,105,100,8,0,0,0,11,0,0,0,102,105,110,103,101,114,112,114,105,110,116,9,0,0,0,8,0,0,0,10,2,3,4,
        5,6,7,128,11,0,0,0,0,0,0,0,12,0,0,128,4,0,0,0,98,111,100,121,13,0,0,0,25,0,0,0,1,0,0,128,4,0,0,0,110,97,109,101,2,0,0,128,
        5,0,0,0,118,97,108,117,101,13,0,0,0,29,0,0,0,1,0,0,128,6,0,0,0,110,97,109,101,32,50,2,0,0,128,7,0,0,0,118,97,108,117,101,32,50,14,0,
        0,0,8,0,0,0,15,2,3,4,5,6,7,128,
    };
    OrbgateMessage message = whole(bytes, sizeof bytes);
    CHECK(message.kind == ORBGATE_MESSAGE_ANSWER);
    INTEGER(orbgate_answer_get_packed, message, UINT64_C(0x8007060504030202));
    INTEGER(orbgate_answer_get_http_status, message, UINT64_C(0x8007060504030203));
    BOOLEAN(orbgate_answer_get_preflight, message);
    STRING(orbgate_answer_get_www_authenticate, message, "www_authenticate");
    STRING(orbgate_answer_get_allow, message, "allow");
    STRING(orbgate_answer_get_refused, message, "refused");
    STRING(orbgate_answer_get_misrouted, message, "misrouted");
    STRING(orbgate_answer_get_public_template, message, "public_template");
    STRING(orbgate_answer_get_audit, message, "audit");
    OrbgateMessage part0_10 = orbgate_message_init();
    PART(orbgate_answer_get_token, message, part0_10);
    INTEGER(orbgate_token_get_kind, part0_10, UINT64_C(0x8007060504030202));
    STRING(orbgate_token_get_scopes, part0_10, "scopes");
    STRING(orbgate_token_get_issuer, part0_10, "issuer");
    STRING(orbgate_token_get_subject, part0_10, "subject");
    STRING(orbgate_token_get_client, part0_10, "client");
    STRING(orbgate_token_get_actor, part0_10, "actor");
    STRING(orbgate_token_get_id, part0_10, "id");
    STRING(orbgate_token_get_fingerprint, part0_10, "fingerprint");
    INTEGER(orbgate_token_get_expires_ms, part0_10, UINT64_C(0x800706050403020a));
    BOOLEAN(orbgate_answer_get_may_call, message);
    STRING(orbgate_answer_get_body, message, "body");
    OrbgateMessage part0_13 = orbgate_message_init();
    PART(orbgate_answer_next_header, message, part0_13);
    STRING(orbgate_call_header_get_name, part0_13, "name");
    STRING(orbgate_call_header_get_value, part0_13, "value");
    CHECK(orbgate_answer_next_header(&message, &part0_13));
    STRING(orbgate_call_header_get_name, part0_13, "name 2");
    STRING(orbgate_call_header_get_value, part0_13, "value 2");
    CHECK(!orbgate_answer_next_header(&message, &part0_13) && is_none(&part0_13));
    INTEGER(orbgate_answer_get_retry_after, message, UINT64_C(0x800706050403020f));
}

static void read_wait(void)
{
    static const unsigned char bytes[] = {
        67,0,0,0,24,0,0,0,1,0,0,128,8,0,0,0,2,2,3,4,5,6,7,128,2,0,0,0,0,0,0,0,
    };
    OrbgateMessage message = whole(bytes, sizeof bytes);
    CHECK(message.kind == ORBGATE_MESSAGE_WAIT);
    INTEGER(orbgate_wait_get_until_ms, message, UINT64_C(0x8007060504030202));
    BOOLEAN(orbgate_wait_get_may_call, message);
}

static void read_check_signature(void)
{
    static const unsigned char bytes[] = {
        68,0,0,0,82,0,0,0,1,0,0,128,9,0,0,0,97,108,103,111,114,105,116,104,109,2,0,0,128,3,0,0,0,107,101,121,3,0,0,128,5,0,0,0,116,111,107,101,
        110,4,0,0,128,8,0,0,0,5,2,3,4,5,6,7,128,5,0,0,128,9,0,0,0,115,105,103,110,97,116,117,114,101,6,0,0,0,0,0,0,0,
    };
    OrbgateMessage message = whole(bytes, sizeof bytes);
    CHECK(message.kind == ORBGATE_MESSAGE_CHECK_SIGNATURE);
    STRING(orbgate_check_signature_get_algorithm, message, "algorithm");
    STRING(orbgate_check_signature_get_key, message, "key");
    STRING(orbgate_check_signature_get_token, message, "token");
    INTEGER(orbgate_check_signature_get_signed, message, UINT64_C(0x8007060504030205));
    STRING(orbgate_check_signature_get_signature, message, "signature");
    BOOLEAN(orbgate_check_signature_get_may_call, message);
}

static void read_call(void)
{
    static const unsigned char bytes[] = {
        69,0,0,0,155,0,0,0,1,0,0,128,8,0,0,0,2,2,3,4,5,6,7,128,2,0,0,128,6,0,0,0,109,101,116,104,111,100,3,0,0,128,3,0,0,0,117,114,
        108,4,0,0,128,25,0,0,0,1,0,0,128,4,0,0,0,110,97,109,101,2,0,0,128,5,0,0,0,118,97,108,117,101,4,0,0,128,29,0,0,0,1,0,0,128,6,0,
        0,0,110,97,109,101,32,50,2,0,0,128,7,0,0,0,118,97,108,117,101,32,50,5,0,0,128,4,0,0,0,98,111,100,121,6,0,0,128,8,0,0,0,7,2,3,4,5,
        6,7,128,7,0,0,128,8,0,0,0,8,2,3,4,5,6,7,128,
    };
    OrbgateMessage message = whole(bytes, sizeof bytes);
    CHECK(message.kind == ORBGATE_MESSAGE_CALL);
    INTEGER(orbgate_call_get_attempt, message, UINT64_C(0x8007060504030202));
    STRING(orbgate_call_get_method, message, "method");
    STRING(orbgate_call_get_url, message, "url");
    OrbgateMessage part0_4 = orbgate_message_init();
    PART(orbgate_call_next_header, message, part0_4);
    STRING(orbgate_call_header_get_name, part0_4, "name");
    STRING(orbgate_call_header_get_value, part0_4, "value");
    CHECK(orbgate_call_next_header(&message, &part0_4));
    STRING(orbgate_call_header_get_name, part0_4, "name 2");
    STRING(orbgate_call_header_get_value, part0_4, "value 2");
    CHECK(!orbgate_call_next_header(&message, &part0_4) && is_none(&part0_4));
    STRING(orbgate_call_get_body, message, "body");
    INTEGER(orbgate_call_get_timeout_ms, message, UINT64_C(0x8007060504030207));
    INTEGER(orbgate_call_get_max_bytes, message, UINT64_C(0x8007060504030208));
}

static void read_over(void)
{
    static const unsigned char bytes[] = {
        70,0,0,0,8,0,0,0,1,0,0,128,0,0,0,0,
    };
    OrbgateMessage message = whole(bytes, sizeof bytes);
    CHECK(message.kind == ORBGATE_MESSAGE_OVER);
    BOOLEAN(orbgate_over_get_is_over, message);
}

static void read_secret_sources(void)
{
    static const unsigned char bytes[] = {
        71,0,0,0,74,0,0,0,1,0,0,128,28,0,0,0,1,0,0,128,8,0,0,0,2,2,3,4,5,6,7,128,2,0,0,128,4,0,0,0,110,97,109,101,1,0,0,128,
        30,0,0,0,1,0,0,128,8,0,0,0,2,2,3,4,5,6,7,128,2,0,0,128,6,0,0,0,110,97,109,101,32,50,
    };
    OrbgateMessage message = whole(bytes, sizeof bytes);
    CHECK(message.kind == ORBGATE_MESSAGE_SECRET_SOURCES);
    OrbgateMessage part0_1 = orbgate_message_init();
    PART(orbgate_secret_sources_next_source, message, part0_1);
    INTEGER(orbgate_secret_source_get_kind, part0_1, UINT64_C(0x8007060504030202));
    STRING(orbgate_secret_source_get_name, part0_1, "name");
    CHECK(orbgate_secret_sources_next_source(&message, &part0_1));
    INTEGER(orbgate_secret_source_get_kind, part0_1, UINT64_C(0x8007060504030202));
    STRING(orbgate_secret_source_get_name, part0_1, "name 2");
    CHECK(!orbgate_secret_sources_next_source(&message, &part0_1) && is_none(&part0_1));
}

static void read_key_status(void)
{
    static const unsigned char bytes[] = {
        72,0,0,0,192,0,0,0,1,0,0,0,85,0,0,0,1,0,0,0,6,0,0,0,105,115,115,117,101,114,2,0,0,0,8,0,0,0,3,2,3,4,5,6,7,128,3,0,
        0,0,8,0,0,0,4,2,3,4,5,6,7,128,4,0,0,0,7,0,0,0,102,97,105,108,117,114,101,5,0,0,0,8,0,0,0,119,97,114,110,105,110,103,115,6,0,0,
        0,0,0,0,0,1,0,0,0,91,0,0,0,1,0,0,0,8,0,0,0,105,115,115,117,101,114,32,50,2,0,0,0,8,0,0,0,3,2,3,4,5,6,7,128,3,0,0,
        0,8,0,0,0,4,2,3,4,5,6,7,128,4,0,0,0,9,0,0,0,102,97,105,108,117,114,101,32,50,5,0,0,0,10,0,0,0,119,97,114,110,105,110,103,115,32,50,
        6,0,0,0,0,0,0,0,
    };
    OrbgateMessage message = whole(bytes, sizeof bytes);
    CHECK(message.kind == ORBGATE_MESSAGE_KEY_STATUS);
    OrbgateMessage part0_1 = orbgate_message_init();
    PART(orbgate_key_status_next_issuer, message, part0_1);
    STRING(orbgate_issuer_status_get_issuer, part0_1, "issuer");
    INTEGER(orbgate_issuer_status_get_key_count, part0_1, UINT64_C(0x8007060504030203));
    INTEGER(orbgate_issuer_status_get_fetched_ms, part0_1, UINT64_C(0x8007060504030204));
    STRING(orbgate_issuer_status_get_failure, part0_1, "failure");
    STRING(orbgate_issuer_status_get_warnings, part0_1, "warnings");
    BOOLEAN(orbgate_issuer_status_get_opaque, part0_1);
    CHECK(orbgate_key_status_next_issuer(&message, &part0_1));
    STRING(orbgate_issuer_status_get_issuer, part0_1, "issuer 2");
    INTEGER(orbgate_issuer_status_get_key_count, part0_1, UINT64_C(0x8007060504030203));
    INTEGER(orbgate_issuer_status_get_fetched_ms, part0_1, UINT64_C(0x8007060504030204));
    STRING(orbgate_issuer_status_get_failure, part0_1, "failure 2");
    STRING(orbgate_issuer_status_get_warnings, part0_1, "warnings 2");
    BOOLEAN(orbgate_issuer_status_get_opaque, part0_1);
    CHECK(!orbgate_key_status_next_issuer(&message, &part0_1) && is_none(&part0_1));
}

static void read_route_differences(void)
{
    static const unsigned char bytes[] = {
        73,0,0,0,114,0,0,0,1,0,0,128,47,0,0,0,1,0,0,128,8,0,0,0,2,2,3,4,5,6,7,128,2,0,0,128,5,0,0,0,114,111,117,116,101,3,0,0,
        0,10,0,0,0,100,101,99,105,100,101,100,95,97,115,1,0,0,128,51,0,0,0,1,0,0,128,8,0,0,0,2,2,3,4,5,6,7,128,2,0,0,128,7,0,0,0,114,
        111,117,116,101,32,50,3,0,0,0,12,0,0,0,100,101,99,105,100,101,100,95,97,115,32,50,
    };
    OrbgateMessage message = whole(bytes, sizeof bytes);
    CHECK(message.kind == ORBGATE_MESSAGE_ROUTE_DIFFERENCES);
    OrbgateMessage part0_1 = orbgate_message_init();
    PART(orbgate_route_differences_next_difference, message, part0_1);
    INTEGER(orbgate_route_difference_get_kind, part0_1, UINT64_C(0x8007060504030202));
    STRING(orbgate_route_difference_get_route, part0_1, "route");
    STRING(orbgate_route_difference_get_decided_as, part0_1, "decided_as");
    CHECK(orbgate_route_differences_next_difference(&message, &part0_1));
    INTEGER(orbgate_route_difference_get_kind, part0_1, UINT64_C(0x8007060504030202));
    STRING(orbgate_route_difference_get_route, part0_1, "route 2");
    STRING(orbgate_route_difference_get_decided_as, part0_1, "decided_as 2");
    CHECK(!orbgate_route_differences_next_difference(&message, &part0_1) && is_none(&part0_1));
}

static void read_read_body(void)
{
    static const unsigned char bytes[] = {
        74,0,0,0,40,0,0,0,1,0,0,128,8,0,0,0,2,2,3,4,5,6,7,128,2,0,0,0,0,0,0,0,3,0,0,128,8,0,0,0,4,2,3,4,5,6,7,128,
    };
    OrbgateMessage message = whole(bytes, sizeof bytes);
    CHECK(message.kind == ORBGATE_MESSAGE_READ_BODY);
    INTEGER(orbgate_read_body_get_most_bytes, message, UINT64_C(0x8007060504030202));
    BOOLEAN(orbgate_read_body_get_may_call, message);
    INTEGER(orbgate_read_body_get_most_held, message, UINT64_C(0x8007060504030204));
}

static void read_loaded(void)
{
    static const unsigned char bytes[] = {
        84,0,0,0,210,0,0,0,1,0,0,128,0,0,0,0,2,0,0,0,6,0,0,0,114,101,115,117,108,116,3,0,0,0,7,0,0,0,109,101,115,115,97,103,101,4,0,0,
        0,7,0,0,0,119,97,114,110,105,110,103,5,0,0,0,8,0,0,0,6,2,3,4,5,6,7,128,6,0,0,0,47,0,0,0,1,0,0,0,8,0,0,0,2,2,3,4,
        5,6,7,128,2,0,0,0,8,0,0,0,3,2,3,4,5,6,7,128,3,0,0,0,7,0,0,0,109,101,115,115,97,103,101,6,0,0,0,49,0,0,0,1,0,0,0,8,
        0,0,0,2,2,3,4,5,6,7,128,2,0,0,0,8,0,0,0,3,2,3,4,5,6,7,128,3,0,0,0,9,0,0,0,109,101,115,115,97,103,101,32,50,7,0,0,0,
        8,0,0,0,8,2,3,4,5,6,7,128,8,0,0,0,6,0,0,0,114,101,97,115,111,110,
    };
    OrbgateMessage message = whole(bytes, sizeof bytes);
    CHECK(message.kind == ORBGATE_MESSAGE_LOADED);
    BOOLEAN(orbgate_loaded_get_is_loaded, message);
    STRING(orbgate_loaded_get_result, message, "result");
    STRING(orbgate_loaded_get_message, message, "message");
    STRING(orbgate_loaded_get_warning, message, "warning");
    INTEGER(orbgate_loaded_get_status, message, UINT64_C(0x8007060504030206));
    OrbgateMessage part0_6 = orbgate_message_init();
    PART(orbgate_loaded_next_diagnostic, message, part0_6);
    INTEGER(orbgate_diagnostic_get_line, part0_6, UINT64_C(0x8007060504030202));
    INTEGER(orbgate_diagnostic_get_column, part0_6, UINT64_C(0x8007060504030203));
    STRING(orbgate_diagnostic_get_message, part0_6, "message");
    CHECK(orbgate_loaded_next_diagnostic(&message, &part0_6));
    INTEGER(orbgate_diagnostic_get_line, part0_6, UINT64_C(0x8007060504030202));
    INTEGER(orbgate_diagnostic_get_column, part0_6, UINT64_C(0x8007060504030203));
    STRING(orbgate_diagnostic_get_message, part0_6, "message 2");
    CHECK(!orbgate_loaded_next_diagnostic(&message, &part0_6) && is_none(&part0_6));
    INTEGER(orbgate_loaded_get_pause_ms, message, UINT64_C(0x8007060504030208));
    STRING(orbgate_loaded_get_reason, message, "reason");
}

static void read_charge(void)
{
    static const unsigned char bytes[] = {
        90,0,0,0,73,0,0,0,1,0,0,128,7,0,0,0,97,99,99,111,117,110,116,2,0,0,128,8,0,0,0,3,2,3,4,5,6,7,128,3,0,0,128,0,0,0,0,4,
        0,0,128,4,0,0,0,110,111,116,101,5,0,0,128,6,0,0,0,109,99,112,95,105,100,6,0,0,128,0,0,0,0,
    };
    OrbgateMessage message = whole(bytes, sizeof bytes);
    CHECK(message.kind == ORBGATE_MESSAGE_CHARGE);
    STRING(orbgate_charge_get_account, message, "account");
    INTEGER(orbgate_charge_get_amount, message, UINT64_C(0x8007060504030203));
    BOOLEAN(orbgate_charge_get_bonus, message);
    STRING(orbgate_charge_get_note, message, "note");
    STRING(orbgate_charge_get_mcp_id, message, "mcp_id");
    BOOLEAN(orbgate_charge_get_mcp_legacy, message);
}

static void read_hold_step(void)
{
    static const unsigned char bytes[] = {
        91,0,0,0,110,0,0,0,1,0,0,128,0,0,0,0,2,0,0,128,4,0,0,0,112,97,116,104,3,0,0,128,4,0,0,0,98,111,100,121,4,0,0,128,8,0,0,0,
        5,2,3,4,5,6,7,128,5,0,0,128,8,0,0,0,6,2,3,4,5,6,7,128,6,0,0,0,8,0,0,0,7,2,3,4,5,6,7,128,7,0,0,0,8,0,0,0,
        8,2,3,4,5,6,7,128,8,0,0,0,6,0,0,0,114,101,115,117,108,116,
    };
    OrbgateMessage message = whole(bytes, sizeof bytes);
    CHECK(message.kind == ORBGATE_MESSAGE_HOLD_STEP);
    BOOLEAN(orbgate_hold_step_get_may_run, message);
    STRING(orbgate_hold_step_get_path, message, "path");
    STRING(orbgate_hold_step_get_body, message, "body");
    INTEGER(orbgate_hold_step_get_timeout_ms, message, UINT64_C(0x8007060504030205));
    INTEGER(orbgate_hold_step_get_until_ms, message, UINT64_C(0x8007060504030206));
    INTEGER(orbgate_hold_step_get_unpaid, message, UINT64_C(0x8007060504030207));
    INTEGER(orbgate_hold_step_get_retry_after_ms, message, UINT64_C(0x8007060504030208));
    STRING(orbgate_hold_step_get_result, message, "result");
}

static void read_ledger_call(void)
{
    static const unsigned char bytes[] = {
        92,0,0,0,56,0,0,0,1,0,0,128,8,0,0,0,2,2,3,4,5,6,7,128,2,0,0,128,4,0,0,0,112,97,116,104,3,0,0,128,4,0,0,0,98,111,100,121,
        4,0,0,128,8,0,0,0,5,2,3,4,5,6,7,128,
    };
    OrbgateMessage message = whole(bytes, sizeof bytes);
    CHECK(message.kind == ORBGATE_MESSAGE_LEDGER_CALL);
    INTEGER(orbgate_ledger_call_get_call, message, UINT64_C(0x8007060504030202));
    STRING(orbgate_ledger_call_get_path, message, "path");
    STRING(orbgate_ledger_call_get_body, message, "body");
    INTEGER(orbgate_ledger_call_get_timeout_ms, message, UINT64_C(0x8007060504030205));
}

static void read_ledgered(void)
{
    static const unsigned char bytes[] = {
        93,0,0,0,88,0,0,0,1,0,0,128,0,0,0,0,2,0,0,128,8,0,0,0,3,2,3,4,5,6,7,128,3,0,0,0,8,0,0,0,4,2,3,4,5,6,7,128,
        4,0,0,0,8,0,0,0,5,2,3,4,5,6,7,128,5,0,0,0,8,0,0,0,6,2,3,4,5,6,7,128,6,0,0,0,8,0,0,0,7,2,3,4,5,6,7,128,
    };
    OrbgateMessage message = whole(bytes, sizeof bytes);
    CHECK(message.kind == ORBGATE_MESSAGE_LEDGERED);
    BOOLEAN(orbgate_ledgered_get_wakes, message);
    INTEGER(orbgate_ledgered_get_wake_ms, message, UINT64_C(0x8007060504030203));
    INTEGER(orbgate_ledgered_get_waiting, message, UINT64_C(0x8007060504030204));
    INTEGER(orbgate_ledgered_get_captured, message, UINT64_C(0x8007060504030205));
    INTEGER(orbgate_ledgered_get_voided, message, UINT64_C(0x8007060504030206));
    INTEGER(orbgate_ledgered_get_lost, message, UINT64_C(0x8007060504030207));
}

static void read_responded(void)
{
    static const unsigned char bytes[] = {
        94,0,0,0,24,0,0,0,1,0,0,128,0,0,0,0,2,0,0,128,8,0,0,0,3,2,3,4,5,6,7,128,
    };
    OrbgateMessage message = whole(bytes, sizeof bytes);
    CHECK(message.kind == ORBGATE_MESSAGE_RESPONDED);
    BOOLEAN(orbgate_responded_get_reads, message);
    INTEGER(orbgate_responded_get_end, message, UINT64_C(0x8007060504030203));
}

static void read_visible_names(void)
{
    static const unsigned char bytes[] = {
        98,0,0,0,13,0,0,0,1,0,0,128,5,0,0,0,110,97,109,101,115,
    };
    OrbgateMessage message = whole(bytes, sizeof bytes);
    CHECK(message.kind == ORBGATE_MESSAGE_VISIBLE_NAMES);
    STRING(orbgate_visible_names_get_names, message, "names");
}

int main(void)
{
    ask_sources();
    ask_make();
    ask_ask();
    ask_resume();
    ask_checked();
    ask_is_over();
    ask_next_call();
    ask_called();
    ask_warm();
    ask_revoke();
    ask_forget();
    ask_read_secrets();
    ask_status();
    ask_check_engine();
    ask_check_routes();
    ask_drop();
    ask_body();
    ask_reload();
    ask_use_ledger();
    ask_hold();
    ask_held();
    ask_waited();
    ask_ended();
    ask_next_ledger_call();
    ask_ledger_called();
    ask_check_amounts();
    ask_read_response();
    ask_response_begins();
    ask_response_piece();
    ask_visible();
    read_done();
    read_failed();
    read_answer();
    read_wait();
    read_check_signature();
    read_call();
    read_over();
    read_secret_sources();
    read_key_status();
    read_route_differences();
    read_read_body();
    read_loaded();
    read_charge();
    read_hold_step();
    read_ledger_call();
    read_ledgered();
    read_responded();
    read_visible_names();
    return 0;
}
