/*
 * Every setter and getter of orbgate_gate.h: the bytes that it writes or reads, null, and a message of another kind.
 *
 * Made of crates/orbgate-capi/src/tests/questions/shapes.txt by `cargo xtask codes`; not to be edited.
 */
#include "gate_fields.h"

static void ask_sources(void)
{
    static const unsigned char bytes[] = {
        0x1, 0x0, 0x0, 0x0, 0xe, 0x0, 0x0, 0x0, 0x1, 0x0, 0x0, 0x0, 0x6, 0x0, 0x0, 0x0, 0x74, 0x6f, 0x6b, 0x65, 0x6e, 0x73,
    };
    OrbgateQuestion question = orbgate_question_init();
    orbgate_sources_begin(NULL);
    orbgate_sources_begin(&question);
    orbgate_sources_set_tokens(&question, ORBGATE_TEXT("tokens"));
    CHECK(is_written(&question, bytes, sizeof bytes));
    orbgate_sources_set_tokens(NULL, ORBGATE_TEXT("tokens"));
    WRONG(orbgate_drop_begin, orbgate_sources_set_tokens(&question, ORBGATE_TEXT("tokens")));
    WRONG(orbgate_sources_begin, orbgate_sources_set_tokens(&question, NULL, 1));
    WRONG(orbgate_drop_begin, orbgate_sources_set_tokens(&question, NULL, 0));
    EMPTY(orbgate_sources_begin, orbgate_sources_set_tokens(&question, NULL, 0));
    orbgate_question_free(&question);
}

static void ask_make(void)
{
    static const unsigned char bytes[] = {
        0x2, 0x0, 0x0, 0x0, 0x74, 0x1, 0x0, 0x0, 0x1, 0x0, 0x0, 0x0, 0x6, 0x0, 0x0, 0x0, 0x74, 0x6f, 0x6b, 0x65, 0x6e, 0x73, 0x2, 0x0,
        0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0x3, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0x4, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0x5, 0x0,
        0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0x6, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0x7, 0x0, 0x0, 0x0, 0x8, 0x0, 0x0, 0x0, 0x8, 0x2,
        0x3, 0x4, 0x5, 0x6, 0x7, 0x80, 0x8, 0x0, 0x0, 0x0, 0x8, 0x0, 0x0, 0x0, 0x9, 0x2, 0x3, 0x4, 0x5, 0x6, 0x7, 0x80, 0x9, 0x0,
        0x0, 0x0, 0x8, 0x0, 0x0, 0x0, 0xa, 0x2, 0x3, 0x4, 0x5, 0x6, 0x7, 0x80, 0xa, 0x0, 0x0, 0x0, 0x5, 0x0, 0x0, 0x0, 0x72, 0x65,
        0x61, 0x6c, 0x6d, 0xb, 0x0, 0x0, 0x0, 0x11, 0x0, 0x0, 0x0, 0x72, 0x65, 0x73, 0x6f, 0x75, 0x72, 0x63, 0x65, 0x5f, 0x6d, 0x65, 0x74, 0x61,
        0x64, 0x61, 0x74, 0x61, 0xc, 0x0, 0x0, 0x0, 0x8, 0x0, 0x0, 0x0, 0xd, 0x2, 0x3, 0x4, 0x5, 0x6, 0x7, 0x80, 0xd, 0x0, 0x0, 0x0,
        0x8, 0x0, 0x0, 0x0, 0xe, 0x2, 0x3, 0x4, 0x5, 0x6, 0x7, 0x80, 0xe, 0x0, 0x0, 0x0, 0x8, 0x0, 0x0, 0x0, 0xf, 0x2, 0x3, 0x4,
        0x5, 0x6, 0x7, 0x80, 0xf, 0x0, 0x0, 0x0, 0x8, 0x0, 0x0, 0x0, 0x10, 0x2, 0x3, 0x4, 0x5, 0x6, 0x7, 0x80, 0x10, 0x0, 0x0, 0x0,
        0x8, 0x0, 0x0, 0x0, 0x11, 0x2, 0x3, 0x4, 0x5, 0x6, 0x7, 0x80, 0x11, 0x0, 0x0, 0x0, 0x8, 0x0, 0x0, 0x0, 0x12, 0x2, 0x3, 0x4,
        0x5, 0x6, 0x7, 0x80, 0x12, 0x0, 0x0, 0x0, 0x8, 0x0, 0x0, 0x0, 0x13, 0x2, 0x3, 0x4, 0x5, 0x6, 0x7, 0x80, 0x13, 0x0, 0x0, 0x0,
        0x8, 0x0, 0x0, 0x0, 0x14, 0x2, 0x3, 0x4, 0x5, 0x6, 0x7, 0x80, 0x14, 0x0, 0x0, 0x0, 0x8, 0x0, 0x0, 0x0, 0x15, 0x2, 0x3, 0x4,
        0x5, 0x6, 0x7, 0x80, 0x15, 0x0, 0x0, 0x0, 0xd, 0x0, 0x0, 0x0, 0x70, 0x75, 0x62, 0x6c, 0x69, 0x63, 0x5f, 0x72, 0x6f, 0x75, 0x74, 0x65,
        0x73, 0x15, 0x0, 0x0, 0x0, 0xf, 0x0, 0x0, 0x0, 0x70, 0x75, 0x62, 0x6c, 0x69, 0x63, 0x5f, 0x72, 0x6f, 0x75, 0x74, 0x65, 0x73, 0x20, 0x32,
        0x16, 0x0, 0x0, 0x0, 0xd, 0x0, 0x0, 0x0, 0x1, 0x0, 0x0, 0x0, 0x5, 0x0, 0x0, 0x0, 0x76, 0x61, 0x6c, 0x75, 0x65, 0x16, 0x0, 0x0,
        0x0, 0xf, 0x0, 0x0, 0x0, 0x1, 0x0, 0x0, 0x0, 0x7, 0x0, 0x0, 0x0, 0x76, 0x61, 0x6c, 0x75, 0x65, 0x20, 0x32,
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
    CHECK(is_written(&question, bytes, sizeof bytes));
    orbgate_make_set_tokens(NULL, ORBGATE_TEXT("tokens"));
    WRONG(orbgate_drop_begin, orbgate_make_set_tokens(&question, ORBGATE_TEXT("tokens")));
    WRONG(orbgate_make_begin, orbgate_make_set_tokens(&question, NULL, 1));
    WRONG(orbgate_drop_begin, orbgate_make_set_tokens(&question, NULL, 0));
    EMPTY(orbgate_make_begin, orbgate_make_set_tokens(&question, NULL, 0));
    orbgate_make_set_flat_403(NULL, true);
    WRONG(orbgate_drop_begin, orbgate_make_set_flat_403(&question, true));
    WRONG(orbgate_drop_begin, orbgate_make_set_flat_403(&question, false));
    EMPTY(orbgate_make_begin, orbgate_make_set_flat_403(&question, false));
    orbgate_make_set_ignore_method_override(NULL, true);
    WRONG(orbgate_drop_begin, orbgate_make_set_ignore_method_override(&question, true));
    WRONG(orbgate_drop_begin, orbgate_make_set_ignore_method_override(&question, false));
    EMPTY(orbgate_make_begin, orbgate_make_set_ignore_method_override(&question, false));
    orbgate_make_set_signatures_outside(NULL, true);
    WRONG(orbgate_drop_begin, orbgate_make_set_signatures_outside(&question, true));
    WRONG(orbgate_drop_begin, orbgate_make_set_signatures_outside(&question, false));
    EMPTY(orbgate_make_begin, orbgate_make_set_signatures_outside(&question, false));
    orbgate_make_set_no_stale_keys(NULL, true);
    WRONG(orbgate_drop_begin, orbgate_make_set_no_stale_keys(&question, true));
    WRONG(orbgate_drop_begin, orbgate_make_set_no_stale_keys(&question, false));
    EMPTY(orbgate_make_begin, orbgate_make_set_no_stale_keys(&question, false));
    orbgate_make_set_introspection(NULL, true);
    WRONG(orbgate_drop_begin, orbgate_make_set_introspection(&question, true));
    WRONG(orbgate_drop_begin, orbgate_make_set_introspection(&question, false));
    EMPTY(orbgate_make_begin, orbgate_make_set_introspection(&question, false));
    orbgate_make_set_challenge(NULL, UINT64_C(0x8007060504030208));
    WRONG(orbgate_drop_begin, orbgate_make_set_challenge(&question, UINT64_C(0x8007060504030208)));
    WRONG(orbgate_drop_begin, orbgate_make_set_challenge(&question, 0));
    EMPTY(orbgate_make_begin, orbgate_make_set_challenge(&question, 0));
    orbgate_make_set_templates(NULL, UINT64_C(0x8007060504030209));
    WRONG(orbgate_drop_begin, orbgate_make_set_templates(&question, UINT64_C(0x8007060504030209)));
    WRONG(orbgate_drop_begin, orbgate_make_set_templates(&question, 0));
    EMPTY(orbgate_make_begin, orbgate_make_set_templates(&question, 0));
    orbgate_make_set_cors_preflight(NULL, UINT64_C(0x800706050403020a));
    WRONG(orbgate_drop_begin, orbgate_make_set_cors_preflight(&question, UINT64_C(0x800706050403020a)));
    WRONG(orbgate_drop_begin, orbgate_make_set_cors_preflight(&question, 0));
    EMPTY(orbgate_make_begin, orbgate_make_set_cors_preflight(&question, 0));
    orbgate_make_set_realm(NULL, ORBGATE_TEXT("realm"));
    WRONG(orbgate_drop_begin, orbgate_make_set_realm(&question, ORBGATE_TEXT("realm")));
    WRONG(orbgate_make_begin, orbgate_make_set_realm(&question, NULL, 1));
    WRONG(orbgate_drop_begin, orbgate_make_set_realm(&question, NULL, 0));
    EMPTY(orbgate_make_begin, orbgate_make_set_realm(&question, NULL, 0));
    orbgate_make_set_resource_metadata(NULL, ORBGATE_TEXT("resource_metadata"));
    WRONG(orbgate_drop_begin, orbgate_make_set_resource_metadata(&question, ORBGATE_TEXT("resource_metadata")));
    WRONG(orbgate_make_begin, orbgate_make_set_resource_metadata(&question, NULL, 1));
    WRONG(orbgate_drop_begin, orbgate_make_set_resource_metadata(&question, NULL, 0));
    EMPTY(orbgate_make_begin, orbgate_make_set_resource_metadata(&question, NULL, 0));
    orbgate_make_set_ttl_ms(NULL, UINT64_C(0x800706050403020d));
    WRONG(orbgate_drop_begin, orbgate_make_set_ttl_ms(&question, UINT64_C(0x800706050403020d)));
    WRONG(orbgate_drop_begin, orbgate_make_set_ttl_ms(&question, 0));
    EMPTY(orbgate_make_begin, orbgate_make_set_ttl_ms(&question, 0));
    orbgate_make_set_ttl_min_ms(NULL, UINT64_C(0x800706050403020e));
    WRONG(orbgate_drop_begin, orbgate_make_set_ttl_min_ms(&question, UINT64_C(0x800706050403020e)));
    WRONG(orbgate_drop_begin, orbgate_make_set_ttl_min_ms(&question, 0));
    EMPTY(orbgate_make_begin, orbgate_make_set_ttl_min_ms(&question, 0));
    orbgate_make_set_ttl_max_ms(NULL, UINT64_C(0x800706050403020f));
    WRONG(orbgate_drop_begin, orbgate_make_set_ttl_max_ms(&question, UINT64_C(0x800706050403020f)));
    WRONG(orbgate_drop_begin, orbgate_make_set_ttl_max_ms(&question, 0));
    EMPTY(orbgate_make_begin, orbgate_make_set_ttl_max_ms(&question, 0));
    orbgate_make_set_ahead_percent(NULL, UINT64_C(0x8007060504030210));
    WRONG(orbgate_drop_begin, orbgate_make_set_ahead_percent(&question, UINT64_C(0x8007060504030210)));
    WRONG(orbgate_drop_begin, orbgate_make_set_ahead_percent(&question, 0));
    EMPTY(orbgate_make_begin, orbgate_make_set_ahead_percent(&question, 0));
    orbgate_make_set_max_stale_ms(NULL, UINT64_C(0x8007060504030211));
    WRONG(orbgate_drop_begin, orbgate_make_set_max_stale_ms(&question, UINT64_C(0x8007060504030211)));
    WRONG(orbgate_drop_begin, orbgate_make_set_max_stale_ms(&question, 0));
    EMPTY(orbgate_make_begin, orbgate_make_set_max_stale_ms(&question, 0));
    orbgate_make_set_cooldown_ms(NULL, UINT64_C(0x8007060504030212));
    WRONG(orbgate_drop_begin, orbgate_make_set_cooldown_ms(&question, UINT64_C(0x8007060504030212)));
    WRONG(orbgate_drop_begin, orbgate_make_set_cooldown_ms(&question, 0));
    EMPTY(orbgate_make_begin, orbgate_make_set_cooldown_ms(&question, 0));
    orbgate_make_set_burst(NULL, UINT64_C(0x8007060504030213));
    WRONG(orbgate_drop_begin, orbgate_make_set_burst(&question, UINT64_C(0x8007060504030213)));
    WRONG(orbgate_drop_begin, orbgate_make_set_burst(&question, 0));
    EMPTY(orbgate_make_begin, orbgate_make_set_burst(&question, 0));
    orbgate_make_set_retry_ms(NULL, UINT64_C(0x8007060504030214));
    WRONG(orbgate_drop_begin, orbgate_make_set_retry_ms(&question, UINT64_C(0x8007060504030214)));
    WRONG(orbgate_drop_begin, orbgate_make_set_retry_ms(&question, 0));
    EMPTY(orbgate_make_begin, orbgate_make_set_retry_ms(&question, 0));
    orbgate_make_set_timeout_ms(NULL, UINT64_C(0x8007060504030215));
    WRONG(orbgate_drop_begin, orbgate_make_set_timeout_ms(&question, UINT64_C(0x8007060504030215)));
    WRONG(orbgate_drop_begin, orbgate_make_set_timeout_ms(&question, 0));
    EMPTY(orbgate_make_begin, orbgate_make_set_timeout_ms(&question, 0));
    orbgate_make_add_public_route(NULL, ORBGATE_TEXT("public_routes"));
    WRONG(orbgate_drop_begin, orbgate_make_add_public_route(&question, ORBGATE_TEXT("public_routes")));
    WRONG(orbgate_make_begin, orbgate_make_add_public_route(&question, NULL, 1));
    WRONG(orbgate_drop_begin, orbgate_make_add_public_route(&question, NULL, 0));
    orbgate_make_add_secret(NULL, ORBGATE_TEXT("value"));
    WRONG(orbgate_drop_begin, orbgate_make_add_secret(&question, ORBGATE_TEXT("value")));
    WRONG(orbgate_make_begin, orbgate_make_add_secret(&question, NULL, 1));
    WRONG(orbgate_drop_begin, orbgate_make_add_secret(&question, NULL, 0));
    orbgate_question_free(&question);
}

static void ask_ask(void)
{
    static const unsigned char bytes[] = {
        0x3, 0x0, 0x0, 0x0, 0x59, 0x1, 0x0, 0x0, 0x1, 0x0, 0x0, 0x0, 0x6, 0x0, 0x0, 0x0, 0x6d, 0x65, 0x74, 0x68, 0x6f, 0x64, 0x2, 0x0,
        0x0, 0x0, 0x6, 0x0, 0x0, 0x0, 0x74, 0x61, 0x72, 0x67, 0x65, 0x74, 0x3, 0x0, 0x0, 0x0, 0xd, 0x0, 0x0, 0x0, 0x61, 0x75, 0x74, 0x68,
        0x6f, 0x72, 0x69, 0x7a, 0x61, 0x74, 0x69, 0x6f, 0x6e, 0x3, 0x0, 0x0, 0x0, 0xf, 0x0, 0x0, 0x0, 0x61, 0x75, 0x74, 0x68, 0x6f, 0x72, 0x69,
        0x7a, 0x61, 0x74, 0x69, 0x6f, 0x6e, 0x20, 0x32, 0x4, 0x0, 0x0, 0x0, 0xc, 0x0, 0x0, 0x0, 0x68, 0x65, 0x61, 0x64, 0x65, 0x72, 0x5f, 0x6e,
        0x61, 0x6d, 0x65, 0x73, 0x4, 0x0, 0x0, 0x0, 0xe, 0x0, 0x0, 0x0, 0x68, 0x65, 0x61, 0x64, 0x65, 0x72, 0x5f, 0x6e, 0x61, 0x6d, 0x65, 0x73,
        0x20, 0x32, 0x5, 0x0, 0x0, 0x0, 0x7, 0x0, 0x0, 0x0, 0x75, 0x70, 0x67, 0x72, 0x61, 0x64, 0x65, 0x5, 0x0, 0x0, 0x0, 0x9, 0x0, 0x0,
        0x0, 0x75, 0x70, 0x67, 0x72, 0x61, 0x64, 0x65, 0x20, 0x32, 0x6, 0x0, 0x0, 0x0, 0x6, 0x0, 0x0, 0x0, 0x6f, 0x72, 0x69, 0x67, 0x69, 0x6e,
        0x6, 0x0, 0x0, 0x0, 0x8, 0x0, 0x0, 0x0, 0x6f, 0x72, 0x69, 0x67, 0x69, 0x6e, 0x20, 0x32, 0x7, 0x0, 0x0, 0x0, 0x1d, 0x0, 0x0, 0x0,
        0x61, 0x63, 0x63, 0x65, 0x73, 0x73, 0x5f, 0x63, 0x6f, 0x6e, 0x74, 0x72, 0x6f, 0x6c, 0x5f, 0x72, 0x65, 0x71, 0x75, 0x65, 0x73, 0x74, 0x5f, 0x6d,
        0x65, 0x74, 0x68, 0x6f, 0x64, 0x7, 0x0, 0x0, 0x0, 0x1f, 0x0, 0x0, 0x0, 0x61, 0x63, 0x63, 0x65, 0x73, 0x73, 0x5f, 0x63, 0x6f, 0x6e, 0x74,
        0x72, 0x6f, 0x6c, 0x5f, 0x72, 0x65, 0x71, 0x75, 0x65, 0x73, 0x74, 0x5f, 0x6d, 0x65, 0x74, 0x68, 0x6f, 0x64, 0x20, 0x32, 0x8, 0x0, 0x0, 0x0,
        0x8, 0x0, 0x0, 0x0, 0x9, 0x2, 0x3, 0x4, 0x5, 0x6, 0x7, 0x80, 0x9, 0x0, 0x0, 0x0, 0xd, 0x0, 0x0, 0x0, 0x70, 0x61, 0x74, 0x68,
        0x5f, 0x74, 0x65, 0x6d, 0x70, 0x6c, 0x61, 0x74, 0x65, 0xa, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0xb, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0,
        0x0, 0xc, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0xd, 0x0, 0x0, 0x0, 0x8, 0x0, 0x0, 0x0, 0xe, 0x2, 0x3, 0x4, 0x5, 0x6, 0x7,
        0x80, 0xe, 0x0, 0x0, 0x0, 0x8, 0x0, 0x0, 0x0, 0xf, 0x2, 0x3, 0x4, 0x5, 0x6, 0x7, 0x80,
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
    CHECK(is_written(&question, bytes, sizeof bytes));
    orbgate_ask_set_method(NULL, ORBGATE_TEXT("method"));
    WRONG(orbgate_drop_begin, orbgate_ask_set_method(&question, ORBGATE_TEXT("method")));
    WRONG(orbgate_ask_begin, orbgate_ask_set_method(&question, NULL, 1));
    WRONG(orbgate_drop_begin, orbgate_ask_set_method(&question, NULL, 0));
    EMPTY(orbgate_ask_begin, orbgate_ask_set_method(&question, NULL, 0));
    orbgate_ask_set_target(NULL, ORBGATE_TEXT("target"));
    WRONG(orbgate_drop_begin, orbgate_ask_set_target(&question, ORBGATE_TEXT("target")));
    WRONG(orbgate_ask_begin, orbgate_ask_set_target(&question, NULL, 1));
    WRONG(orbgate_drop_begin, orbgate_ask_set_target(&question, NULL, 0));
    EMPTY(orbgate_ask_begin, orbgate_ask_set_target(&question, NULL, 0));
    orbgate_ask_add_authorization(NULL, ORBGATE_TEXT("authorization"));
    WRONG(orbgate_drop_begin, orbgate_ask_add_authorization(&question, ORBGATE_TEXT("authorization")));
    WRONG(orbgate_ask_begin, orbgate_ask_add_authorization(&question, NULL, 1));
    WRONG(orbgate_drop_begin, orbgate_ask_add_authorization(&question, NULL, 0));
    orbgate_ask_add_header_name(NULL, ORBGATE_TEXT("header_names"));
    WRONG(orbgate_drop_begin, orbgate_ask_add_header_name(&question, ORBGATE_TEXT("header_names")));
    WRONG(orbgate_ask_begin, orbgate_ask_add_header_name(&question, NULL, 1));
    WRONG(orbgate_drop_begin, orbgate_ask_add_header_name(&question, NULL, 0));
    orbgate_ask_add_upgrade(NULL, ORBGATE_TEXT("upgrade"));
    WRONG(orbgate_drop_begin, orbgate_ask_add_upgrade(&question, ORBGATE_TEXT("upgrade")));
    WRONG(orbgate_ask_begin, orbgate_ask_add_upgrade(&question, NULL, 1));
    WRONG(orbgate_drop_begin, orbgate_ask_add_upgrade(&question, NULL, 0));
    orbgate_ask_add_origin(NULL, ORBGATE_TEXT("origin"));
    WRONG(orbgate_drop_begin, orbgate_ask_add_origin(&question, ORBGATE_TEXT("origin")));
    WRONG(orbgate_ask_begin, orbgate_ask_add_origin(&question, NULL, 1));
    WRONG(orbgate_drop_begin, orbgate_ask_add_origin(&question, NULL, 0));
    orbgate_ask_add_access_control_request_method(NULL, ORBGATE_TEXT("access_control_request_method"));
    WRONG(orbgate_drop_begin, orbgate_ask_add_access_control_request_method(&question, ORBGATE_TEXT("access_control_request_method")));
    WRONG(orbgate_ask_begin, orbgate_ask_add_access_control_request_method(&question, NULL, 1));
    WRONG(orbgate_drop_begin, orbgate_ask_add_access_control_request_method(&question, NULL, 0));
    orbgate_ask_set_matched(NULL, UINT64_C(0x8007060504030209));
    WRONG(orbgate_drop_begin, orbgate_ask_set_matched(&question, UINT64_C(0x8007060504030209)));
    WRONG(orbgate_drop_begin, orbgate_ask_set_matched(&question, 0));
    EMPTY(orbgate_ask_begin, orbgate_ask_set_matched(&question, 0));
    orbgate_ask_set_path_template(NULL, ORBGATE_TEXT("path_template"));
    WRONG(orbgate_drop_begin, orbgate_ask_set_path_template(&question, ORBGATE_TEXT("path_template")));
    WRONG(orbgate_ask_begin, orbgate_ask_set_path_template(&question, NULL, 1));
    WRONG(orbgate_drop_begin, orbgate_ask_set_path_template(&question, NULL, 0));
    EMPTY(orbgate_ask_begin, orbgate_ask_set_path_template(&question, NULL, 0));
    orbgate_ask_set_allow_bonus_orbs(NULL, true);
    WRONG(orbgate_drop_begin, orbgate_ask_set_allow_bonus_orbs(&question, true));
    WRONG(orbgate_drop_begin, orbgate_ask_set_allow_bonus_orbs(&question, false));
    EMPTY(orbgate_ask_begin, orbgate_ask_set_allow_bonus_orbs(&question, false));
    orbgate_ask_set_with_audit(NULL, true);
    WRONG(orbgate_drop_begin, orbgate_ask_set_with_audit(&question, true));
    WRONG(orbgate_drop_begin, orbgate_ask_set_with_audit(&question, false));
    EMPTY(orbgate_ask_begin, orbgate_ask_set_with_audit(&question, false));
    orbgate_ask_set_holds_thread(NULL, true);
    WRONG(orbgate_drop_begin, orbgate_ask_set_holds_thread(&question, true));
    WRONG(orbgate_drop_begin, orbgate_ask_set_holds_thread(&question, false));
    EMPTY(orbgate_ask_begin, orbgate_ask_set_holds_thread(&question, false));
    orbgate_ask_set_unix_ms(NULL, UINT64_C(0x800706050403020e));
    WRONG(orbgate_drop_begin, orbgate_ask_set_unix_ms(&question, UINT64_C(0x800706050403020e)));
    WRONG(orbgate_drop_begin, orbgate_ask_set_unix_ms(&question, 0));
    EMPTY(orbgate_ask_begin, orbgate_ask_set_unix_ms(&question, 0));
    orbgate_ask_set_monotonic_ms(NULL, UINT64_C(0x800706050403020f));
    WRONG(orbgate_drop_begin, orbgate_ask_set_monotonic_ms(&question, UINT64_C(0x800706050403020f)));
    WRONG(orbgate_drop_begin, orbgate_ask_set_monotonic_ms(&question, 0));
    EMPTY(orbgate_ask_begin, orbgate_ask_set_monotonic_ms(&question, 0));
    orbgate_question_free(&question);
}

static void ask_resume(void)
{
    static const unsigned char bytes[] = {
        0x4, 0x0, 0x0, 0x0, 0x20, 0x0, 0x0, 0x0, 0x1, 0x0, 0x0, 0x0, 0x8, 0x0, 0x0, 0x0, 0x2, 0x2, 0x3, 0x4, 0x5, 0x6, 0x7, 0x80,
        0x2, 0x0, 0x0, 0x0, 0x8, 0x0, 0x0, 0x0, 0x3, 0x2, 0x3, 0x4, 0x5, 0x6, 0x7, 0x80,
    };
    OrbgateQuestion question = orbgate_question_init();
    orbgate_resume_begin(NULL);
    orbgate_resume_begin(&question);
    orbgate_resume_set_unix_ms(&question, UINT64_C(0x8007060504030202));
    orbgate_resume_set_monotonic_ms(&question, UINT64_C(0x8007060504030203));
    CHECK(is_written(&question, bytes, sizeof bytes));
    orbgate_resume_set_unix_ms(NULL, UINT64_C(0x8007060504030202));
    WRONG(orbgate_drop_begin, orbgate_resume_set_unix_ms(&question, UINT64_C(0x8007060504030202)));
    WRONG(orbgate_drop_begin, orbgate_resume_set_unix_ms(&question, 0));
    EMPTY(orbgate_resume_begin, orbgate_resume_set_unix_ms(&question, 0));
    orbgate_resume_set_monotonic_ms(NULL, UINT64_C(0x8007060504030203));
    WRONG(orbgate_drop_begin, orbgate_resume_set_monotonic_ms(&question, UINT64_C(0x8007060504030203)));
    WRONG(orbgate_drop_begin, orbgate_resume_set_monotonic_ms(&question, 0));
    EMPTY(orbgate_resume_begin, orbgate_resume_set_monotonic_ms(&question, 0));
    orbgate_question_free(&question);
}

static void ask_checked(void)
{
    static const unsigned char bytes[] = {
        0x5, 0x0, 0x0, 0x0, 0x38, 0x0, 0x0, 0x0, 0x1, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0x2, 0x0, 0x0, 0x0, 0x8, 0x0, 0x0, 0x0,
        0x3, 0x2, 0x3, 0x4, 0x5, 0x6, 0x7, 0x80, 0x3, 0x0, 0x0, 0x0, 0x8, 0x0, 0x0, 0x0, 0x4, 0x2, 0x3, 0x4, 0x5, 0x6, 0x7, 0x80,
        0x4, 0x0, 0x0, 0x0, 0x8, 0x0, 0x0, 0x0, 0x5, 0x2, 0x3, 0x4, 0x5, 0x6, 0x7, 0x80,
    };
    OrbgateQuestion question = orbgate_question_init();
    orbgate_checked_begin(NULL);
    orbgate_checked_begin(&question);
    orbgate_checked_set_is_right(&question, true);
    orbgate_checked_set_token_hash(&question, UINT64_C(0x8007060504030203));
    orbgate_checked_set_unix_ms(&question, UINT64_C(0x8007060504030204));
    orbgate_checked_set_monotonic_ms(&question, UINT64_C(0x8007060504030205));
    CHECK(is_written(&question, bytes, sizeof bytes));
    orbgate_checked_set_is_right(NULL, true);
    WRONG(orbgate_drop_begin, orbgate_checked_set_is_right(&question, true));
    WRONG(orbgate_drop_begin, orbgate_checked_set_is_right(&question, false));
    EMPTY(orbgate_checked_begin, orbgate_checked_set_is_right(&question, false));
    orbgate_checked_set_token_hash(NULL, UINT64_C(0x8007060504030203));
    WRONG(orbgate_drop_begin, orbgate_checked_set_token_hash(&question, UINT64_C(0x8007060504030203)));
    WRONG(orbgate_drop_begin, orbgate_checked_set_token_hash(&question, 0));
    EMPTY(orbgate_checked_begin, orbgate_checked_set_token_hash(&question, 0));
    orbgate_checked_set_unix_ms(NULL, UINT64_C(0x8007060504030204));
    WRONG(orbgate_drop_begin, orbgate_checked_set_unix_ms(&question, UINT64_C(0x8007060504030204)));
    WRONG(orbgate_drop_begin, orbgate_checked_set_unix_ms(&question, 0));
    EMPTY(orbgate_checked_begin, orbgate_checked_set_unix_ms(&question, 0));
    orbgate_checked_set_monotonic_ms(NULL, UINT64_C(0x8007060504030205));
    WRONG(orbgate_drop_begin, orbgate_checked_set_monotonic_ms(&question, UINT64_C(0x8007060504030205)));
    WRONG(orbgate_drop_begin, orbgate_checked_set_monotonic_ms(&question, 0));
    EMPTY(orbgate_checked_begin, orbgate_checked_set_monotonic_ms(&question, 0));
    orbgate_question_free(&question);
}

static void ask_is_over(void)
{
    static const unsigned char bytes[] = {
        0x6, 0x0, 0x0, 0x0, 0x10, 0x0, 0x0, 0x0, 0x1, 0x0, 0x0, 0x0, 0x8, 0x0, 0x0, 0x0, 0x2, 0x2, 0x3, 0x4, 0x5, 0x6, 0x7, 0x80,
    };
    OrbgateQuestion question = orbgate_question_init();
    orbgate_is_over_begin(NULL);
    orbgate_is_over_begin(&question);
    orbgate_is_over_set_monotonic_ms(&question, UINT64_C(0x8007060504030202));
    CHECK(is_written(&question, bytes, sizeof bytes));
    orbgate_is_over_set_monotonic_ms(NULL, UINT64_C(0x8007060504030202));
    WRONG(orbgate_drop_begin, orbgate_is_over_set_monotonic_ms(&question, UINT64_C(0x8007060504030202)));
    WRONG(orbgate_drop_begin, orbgate_is_over_set_monotonic_ms(&question, 0));
    EMPTY(orbgate_is_over_begin, orbgate_is_over_set_monotonic_ms(&question, 0));
    orbgate_question_free(&question);
}

static void ask_next_call(void)
{
    static const unsigned char bytes[] = {
        0x7, 0x0, 0x0, 0x0, 0x10, 0x0, 0x0, 0x0, 0x1, 0x0, 0x0, 0x0, 0x8, 0x0, 0x0, 0x0, 0x2, 0x2, 0x3, 0x4, 0x5, 0x6, 0x7, 0x80,
    };
    OrbgateQuestion question = orbgate_question_init();
    orbgate_next_call_begin(NULL);
    orbgate_next_call_begin(&question);
    orbgate_next_call_set_monotonic_ms(&question, UINT64_C(0x8007060504030202));
    CHECK(is_written(&question, bytes, sizeof bytes));
    orbgate_next_call_set_monotonic_ms(NULL, UINT64_C(0x8007060504030202));
    WRONG(orbgate_drop_begin, orbgate_next_call_set_monotonic_ms(&question, UINT64_C(0x8007060504030202)));
    WRONG(orbgate_drop_begin, orbgate_next_call_set_monotonic_ms(&question, 0));
    EMPTY(orbgate_next_call_begin, orbgate_next_call_set_monotonic_ms(&question, 0));
    orbgate_question_free(&question);
}

static void ask_called(void)
{
    static const unsigned char bytes[] = {
        0x8, 0x0, 0x0, 0x0, 0x92, 0x0, 0x0, 0x0, 0x1, 0x0, 0x0, 0x0, 0x8, 0x0, 0x0, 0x0, 0x2, 0x2, 0x3, 0x4, 0x5, 0x6, 0x7, 0x80,
        0x2, 0x0, 0x0, 0x0, 0x8, 0x0, 0x0, 0x0, 0x3, 0x2, 0x3, 0x4, 0x5, 0x6, 0x7, 0x80, 0x3, 0x0, 0x0, 0x0, 0x8, 0x0, 0x0, 0x0,
        0x4, 0x2, 0x3, 0x4, 0x5, 0x6, 0x7, 0x80, 0x4, 0x0, 0x0, 0x0, 0x19, 0x0, 0x0, 0x0, 0x1, 0x0, 0x0, 0x0, 0x4, 0x0, 0x0, 0x0,
        0x6e, 0x61, 0x6d, 0x65, 0x2, 0x0, 0x0, 0x0, 0x5, 0x0, 0x0, 0x0, 0x76, 0x61, 0x6c, 0x75, 0x65, 0x4, 0x0, 0x0, 0x0, 0x1d, 0x0, 0x0,
        0x0, 0x1, 0x0, 0x0, 0x0, 0x6, 0x0, 0x0, 0x0, 0x6e, 0x61, 0x6d, 0x65, 0x20, 0x32, 0x2, 0x0, 0x0, 0x0, 0x7, 0x0, 0x0, 0x0, 0x76,
        0x61, 0x6c, 0x75, 0x65, 0x20, 0x32, 0x5, 0x0, 0x0, 0x0, 0x4, 0x0, 0x0, 0x0, 0x62, 0x6f, 0x64, 0x79, 0x6, 0x0, 0x0, 0x0, 0x8, 0x0,
        0x0, 0x0, 0x7, 0x2, 0x3, 0x4, 0x5, 0x6, 0x7, 0x80,
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
    orbgate_called_set_attempt(NULL, UINT64_C(0x8007060504030202));
    WRONG(orbgate_drop_begin, orbgate_called_set_attempt(&question, UINT64_C(0x8007060504030202)));
    WRONG(orbgate_drop_begin, orbgate_called_set_attempt(&question, 0));
    EMPTY(orbgate_called_begin, orbgate_called_set_attempt(&question, 0));
    orbgate_called_set_failure(NULL, UINT64_C(0x8007060504030203));
    WRONG(orbgate_drop_begin, orbgate_called_set_failure(&question, UINT64_C(0x8007060504030203)));
    WRONG(orbgate_drop_begin, orbgate_called_set_failure(&question, 0));
    EMPTY(orbgate_called_begin, orbgate_called_set_failure(&question, 0));
    orbgate_called_set_status(NULL, UINT64_C(0x8007060504030204));
    WRONG(orbgate_drop_begin, orbgate_called_set_status(&question, UINT64_C(0x8007060504030204)));
    WRONG(orbgate_drop_begin, orbgate_called_set_status(&question, 0));
    EMPTY(orbgate_called_begin, orbgate_called_set_status(&question, 0));
    orbgate_called_add_header(NULL, ORBGATE_TEXT("name"), ORBGATE_TEXT("value"));
    WRONG(orbgate_drop_begin, orbgate_called_add_header(&question, ORBGATE_TEXT("name"), ORBGATE_TEXT("value")));
    WRONG(orbgate_called_begin, orbgate_called_add_header(&question, NULL, 1, ORBGATE_TEXT("value")));
    WRONG(orbgate_called_begin, orbgate_called_add_header(&question, ORBGATE_TEXT("name"), NULL, 1));
    WRONG(orbgate_drop_begin, orbgate_called_add_header(&question, NULL, 0, NULL, 0));
    orbgate_called_set_body(NULL, ORBGATE_TEXT("body"));
    WRONG(orbgate_drop_begin, orbgate_called_set_body(&question, ORBGATE_TEXT("body")));
    WRONG(orbgate_called_begin, orbgate_called_set_body(&question, NULL, 1));
    WRONG(orbgate_drop_begin, orbgate_called_set_body(&question, NULL, 0));
    EMPTY(orbgate_called_begin, orbgate_called_set_body(&question, NULL, 0));
    orbgate_called_set_monotonic_ms(NULL, UINT64_C(0x8007060504030207));
    WRONG(orbgate_drop_begin, orbgate_called_set_monotonic_ms(&question, UINT64_C(0x8007060504030207)));
    WRONG(orbgate_drop_begin, orbgate_called_set_monotonic_ms(&question, 0));
    EMPTY(orbgate_called_begin, orbgate_called_set_monotonic_ms(&question, 0));
    orbgate_question_free(&question);
}

static void ask_warm(void)
{
    static const unsigned char bytes[] = {
        0x9, 0x0, 0x0, 0x0, 0x10, 0x0, 0x0, 0x0, 0x1, 0x0, 0x0, 0x0, 0x8, 0x0, 0x0, 0x0, 0x2, 0x2, 0x3, 0x4, 0x5, 0x6, 0x7, 0x80,
    };
    OrbgateQuestion question = orbgate_question_init();
    orbgate_warm_begin(NULL);
    orbgate_warm_begin(&question);
    orbgate_warm_set_monotonic_ms(&question, UINT64_C(0x8007060504030202));
    CHECK(is_written(&question, bytes, sizeof bytes));
    orbgate_warm_set_monotonic_ms(NULL, UINT64_C(0x8007060504030202));
    WRONG(orbgate_drop_begin, orbgate_warm_set_monotonic_ms(&question, UINT64_C(0x8007060504030202)));
    WRONG(orbgate_drop_begin, orbgate_warm_set_monotonic_ms(&question, 0));
    EMPTY(orbgate_warm_begin, orbgate_warm_set_monotonic_ms(&question, 0));
    orbgate_question_free(&question);
}

static void ask_revoke(void)
{
    static const unsigned char bytes[] = {
        0xa, 0x0, 0x0, 0x0, 0x19, 0x0, 0x0, 0x0, 0x1, 0x0, 0x0, 0x0, 0x6, 0x0, 0x0, 0x0, 0x69, 0x73, 0x73, 0x75, 0x65, 0x72, 0x2, 0x0,
        0x0, 0x0, 0x3, 0x0, 0x0, 0x0, 0x6b, 0x69, 0x64,
    };
    OrbgateQuestion question = orbgate_question_init();
    orbgate_revoke_begin(NULL);
    orbgate_revoke_begin(&question);
    orbgate_revoke_set_issuer(&question, ORBGATE_TEXT("issuer"));
    orbgate_revoke_set_kid(&question, ORBGATE_TEXT("kid"));
    CHECK(is_written(&question, bytes, sizeof bytes));
    orbgate_revoke_set_issuer(NULL, ORBGATE_TEXT("issuer"));
    WRONG(orbgate_drop_begin, orbgate_revoke_set_issuer(&question, ORBGATE_TEXT("issuer")));
    WRONG(orbgate_revoke_begin, orbgate_revoke_set_issuer(&question, NULL, 1));
    WRONG(orbgate_drop_begin, orbgate_revoke_set_issuer(&question, NULL, 0));
    EMPTY(orbgate_revoke_begin, orbgate_revoke_set_issuer(&question, NULL, 0));
    orbgate_revoke_set_kid(NULL, ORBGATE_TEXT("kid"));
    WRONG(orbgate_drop_begin, orbgate_revoke_set_kid(&question, ORBGATE_TEXT("kid")));
    WRONG(orbgate_revoke_begin, orbgate_revoke_set_kid(&question, NULL, 1));
    WRONG(orbgate_drop_begin, orbgate_revoke_set_kid(&question, NULL, 0));
    EMPTY(orbgate_revoke_begin, orbgate_revoke_set_kid(&question, NULL, 0));
    orbgate_question_free(&question);
}

static void ask_forget(void)
{
    static const unsigned char bytes[] = {
        0xb, 0x0, 0x0, 0x0, 0xe, 0x0, 0x0, 0x0, 0x1, 0x0, 0x0, 0x0, 0x6, 0x0, 0x0, 0x0, 0x69, 0x73, 0x73, 0x75, 0x65, 0x72,
    };
    OrbgateQuestion question = orbgate_question_init();
    orbgate_forget_begin(NULL);
    orbgate_forget_begin(&question);
    orbgate_forget_set_issuer(&question, ORBGATE_TEXT("issuer"));
    CHECK(is_written(&question, bytes, sizeof bytes));
    orbgate_forget_set_issuer(NULL, ORBGATE_TEXT("issuer"));
    WRONG(orbgate_drop_begin, orbgate_forget_set_issuer(&question, ORBGATE_TEXT("issuer")));
    WRONG(orbgate_forget_begin, orbgate_forget_set_issuer(&question, NULL, 1));
    WRONG(orbgate_drop_begin, orbgate_forget_set_issuer(&question, NULL, 0));
    EMPTY(orbgate_forget_begin, orbgate_forget_set_issuer(&question, NULL, 0));
    orbgate_question_free(&question);
}

static void ask_read_secrets(void)
{
    static const unsigned char bytes[] = {
        0xc, 0x0, 0x0, 0x0, 0x2c, 0x0, 0x0, 0x0, 0x1, 0x0, 0x0, 0x0, 0xd, 0x0, 0x0, 0x0, 0x1, 0x0, 0x0, 0x0, 0x5, 0x0, 0x0, 0x0,
        0x76, 0x61, 0x6c, 0x75, 0x65, 0x1, 0x0, 0x0, 0x0, 0xf, 0x0, 0x0, 0x0, 0x1, 0x0, 0x0, 0x0, 0x7, 0x0, 0x0, 0x0, 0x76, 0x61, 0x6c,
        0x75, 0x65, 0x20, 0x32,
    };
    OrbgateQuestion question = orbgate_question_init();
    orbgate_read_secrets_begin(NULL);
    orbgate_read_secrets_begin(&question);
    orbgate_read_secrets_add_secret(&question, ORBGATE_TEXT("value"));
    orbgate_read_secrets_add_secret(&question, ORBGATE_TEXT("value 2"));
    CHECK(is_written(&question, bytes, sizeof bytes));
    orbgate_read_secrets_add_secret(NULL, ORBGATE_TEXT("value"));
    WRONG(orbgate_drop_begin, orbgate_read_secrets_add_secret(&question, ORBGATE_TEXT("value")));
    WRONG(orbgate_read_secrets_begin, orbgate_read_secrets_add_secret(&question, NULL, 1));
    WRONG(orbgate_drop_begin, orbgate_read_secrets_add_secret(&question, NULL, 0));
    orbgate_question_free(&question);
}

static void ask_status(void)
{
    static const unsigned char bytes[] = {
        0xd, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0,
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
        0xe, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0,
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
        0xf, 0x0, 0x0, 0x0, 0x6a, 0x0, 0x0, 0x0, 0x1, 0x0, 0x0, 0x0, 0x23, 0x0, 0x0, 0x0, 0x1, 0x0, 0x0, 0x0, 0x6, 0x0, 0x0, 0x0,
        0x6d, 0x65, 0x74, 0x68, 0x6f, 0x64, 0x2, 0x0, 0x0, 0x0, 0xd, 0x0, 0x0, 0x0, 0x70, 0x61, 0x74, 0x68, 0x5f, 0x74, 0x65, 0x6d, 0x70, 0x6c,
        0x61, 0x74, 0x65, 0x1, 0x0, 0x0, 0x0, 0x27, 0x0, 0x0, 0x0, 0x1, 0x0, 0x0, 0x0, 0x8, 0x0, 0x0, 0x0, 0x6d, 0x65, 0x74, 0x68, 0x6f,
        0x64, 0x20, 0x32, 0x2, 0x0, 0x0, 0x0, 0xf, 0x0, 0x0, 0x0, 0x70, 0x61, 0x74, 0x68, 0x5f, 0x74, 0x65, 0x6d, 0x70, 0x6c, 0x61, 0x74, 0x65,
        0x20, 0x32, 0x2, 0x0, 0x0, 0x0, 0x8, 0x0, 0x0, 0x0, 0x3, 0x2, 0x3, 0x4, 0x5, 0x6, 0x7, 0x80,
    };
    OrbgateQuestion question = orbgate_question_init();
    orbgate_check_routes_begin(NULL);
    orbgate_check_routes_begin(&question);
    orbgate_check_routes_add_route(&question, ORBGATE_TEXT("method"), ORBGATE_TEXT("path_template"));
    orbgate_check_routes_add_route(&question, ORBGATE_TEXT("method 2"), ORBGATE_TEXT("path_template 2"));
    orbgate_check_routes_set_templates(&question, UINT64_C(0x8007060504030203));
    CHECK(is_written(&question, bytes, sizeof bytes));
    orbgate_check_routes_add_route(NULL, ORBGATE_TEXT("method"), ORBGATE_TEXT("path_template"));
    WRONG(orbgate_drop_begin, orbgate_check_routes_add_route(&question, ORBGATE_TEXT("method"), ORBGATE_TEXT("path_template")));
    WRONG(orbgate_check_routes_begin, orbgate_check_routes_add_route(&question, NULL, 1, ORBGATE_TEXT("path_template")));
    WRONG(orbgate_check_routes_begin, orbgate_check_routes_add_route(&question, ORBGATE_TEXT("method"), NULL, 1));
    WRONG(orbgate_drop_begin, orbgate_check_routes_add_route(&question, NULL, 0, NULL, 0));
    orbgate_check_routes_set_templates(NULL, UINT64_C(0x8007060504030203));
    WRONG(orbgate_drop_begin, orbgate_check_routes_set_templates(&question, UINT64_C(0x8007060504030203)));
    WRONG(orbgate_drop_begin, orbgate_check_routes_set_templates(&question, 0));
    EMPTY(orbgate_check_routes_begin, orbgate_check_routes_set_templates(&question, 0));
    orbgate_question_free(&question);
}

static void ask_drop(void)
{
    static const unsigned char bytes[] = {
        0x10, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0,
    };
    OrbgateQuestion question = orbgate_question_init();
    orbgate_drop_begin(NULL);
    orbgate_drop_begin(&question);
    CHECK(is_written(&question, bytes, sizeof bytes));
    orbgate_question_free(&question);
}

static void ask_reload(void)
{
    static const unsigned char bytes[] = {
        0x18, 0x0, 0x0, 0x0, 0xa4, 0x0, 0x0, 0x0, 0x1, 0x0, 0x0, 0x0, 0x6, 0x0, 0x0, 0x0, 0x70, 0x6f, 0x6c, 0x69, 0x63, 0x79, 0x2, 0x0,
        0x0, 0x0, 0x7, 0x0, 0x0, 0x0, 0x66, 0x61, 0x69, 0x6c, 0x75, 0x72, 0x65, 0x3, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0x4, 0x0, 0x0,
        0x0, 0x0, 0x0, 0x0, 0x0, 0x5, 0x0, 0x0, 0x0, 0xd, 0x0, 0x0, 0x0, 0x1, 0x0, 0x0, 0x0, 0x5, 0x0, 0x0, 0x0, 0x76, 0x61, 0x6c,
        0x75, 0x65, 0x5, 0x0, 0x0, 0x0, 0xf, 0x0, 0x0, 0x0, 0x1, 0x0, 0x0, 0x0, 0x7, 0x0, 0x0, 0x0, 0x76, 0x61, 0x6c, 0x75, 0x65, 0x20,
        0x32, 0x6, 0x0, 0x0, 0x0, 0x8, 0x0, 0x0, 0x0, 0x7, 0x2, 0x3, 0x4, 0x5, 0x6, 0x7, 0x80, 0x7, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0,
        0x0, 0x8, 0x0, 0x0, 0x0, 0x8, 0x0, 0x0, 0x0, 0x9, 0x2, 0x3, 0x4, 0x5, 0x6, 0x7, 0x80, 0x9, 0x0, 0x0, 0x0, 0x4, 0x0, 0x0,
        0x0, 0x66, 0x69, 0x6c, 0x65, 0xa, 0x0, 0x0, 0x0, 0xf, 0x0, 0x0, 0x0, 0x73, 0x65, 0x63, 0x72, 0x65, 0x74, 0x73, 0x5f, 0x66, 0x61, 0x69,
        0x6c, 0x75, 0x72, 0x65,
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
    CHECK(is_written(&question, bytes, sizeof bytes));
    orbgate_reload_set_policy(NULL, ORBGATE_TEXT("policy"));
    WRONG(orbgate_drop_begin, orbgate_reload_set_policy(&question, ORBGATE_TEXT("policy")));
    WRONG(orbgate_reload_begin, orbgate_reload_set_policy(&question, NULL, 1));
    WRONG(orbgate_drop_begin, orbgate_reload_set_policy(&question, NULL, 0));
    EMPTY(orbgate_reload_begin, orbgate_reload_set_policy(&question, NULL, 0));
    orbgate_reload_set_failure(NULL, ORBGATE_TEXT("failure"));
    WRONG(orbgate_drop_begin, orbgate_reload_set_failure(&question, ORBGATE_TEXT("failure")));
    WRONG(orbgate_reload_begin, orbgate_reload_set_failure(&question, NULL, 1));
    WRONG(orbgate_drop_begin, orbgate_reload_set_failure(&question, NULL, 0));
    EMPTY(orbgate_reload_begin, orbgate_reload_set_failure(&question, NULL, 0));
    orbgate_reload_set_require_seal(NULL, true);
    WRONG(orbgate_drop_begin, orbgate_reload_set_require_seal(&question, true));
    WRONG(orbgate_drop_begin, orbgate_reload_set_require_seal(&question, false));
    EMPTY(orbgate_reload_begin, orbgate_reload_set_require_seal(&question, false));
    orbgate_reload_set_refuse_wider(NULL, true);
    WRONG(orbgate_drop_begin, orbgate_reload_set_refuse_wider(&question, true));
    WRONG(orbgate_drop_begin, orbgate_reload_set_refuse_wider(&question, false));
    EMPTY(orbgate_reload_begin, orbgate_reload_set_refuse_wider(&question, false));
    orbgate_reload_add_secret(NULL, ORBGATE_TEXT("value"));
    WRONG(orbgate_drop_begin, orbgate_reload_add_secret(&question, ORBGATE_TEXT("value")));
    WRONG(orbgate_reload_begin, orbgate_reload_add_secret(&question, NULL, 1));
    WRONG(orbgate_drop_begin, orbgate_reload_add_secret(&question, NULL, 0));
    orbgate_reload_set_interval_ms(NULL, UINT64_C(0x8007060504030207));
    WRONG(orbgate_drop_begin, orbgate_reload_set_interval_ms(&question, UINT64_C(0x8007060504030207)));
    WRONG(orbgate_drop_begin, orbgate_reload_set_interval_ms(&question, 0));
    EMPTY(orbgate_reload_begin, orbgate_reload_set_interval_ms(&question, 0));
    orbgate_reload_set_is_told(NULL, true);
    WRONG(orbgate_drop_begin, orbgate_reload_set_is_told(&question, true));
    WRONG(orbgate_drop_begin, orbgate_reload_set_is_told(&question, false));
    EMPTY(orbgate_reload_begin, orbgate_reload_set_is_told(&question, false));
    orbgate_reload_set_monotonic_ms(NULL, UINT64_C(0x8007060504030209));
    WRONG(orbgate_drop_begin, orbgate_reload_set_monotonic_ms(&question, UINT64_C(0x8007060504030209)));
    WRONG(orbgate_drop_begin, orbgate_reload_set_monotonic_ms(&question, 0));
    EMPTY(orbgate_reload_begin, orbgate_reload_set_monotonic_ms(&question, 0));
    orbgate_reload_set_file(NULL, ORBGATE_TEXT("file"));
    WRONG(orbgate_drop_begin, orbgate_reload_set_file(&question, ORBGATE_TEXT("file")));
    WRONG(orbgate_reload_begin, orbgate_reload_set_file(&question, NULL, 1));
    WRONG(orbgate_drop_begin, orbgate_reload_set_file(&question, NULL, 0));
    EMPTY(orbgate_reload_begin, orbgate_reload_set_file(&question, NULL, 0));
    orbgate_reload_set_secrets_failure(NULL, ORBGATE_TEXT("secrets_failure"));
    WRONG(orbgate_drop_begin, orbgate_reload_set_secrets_failure(&question, ORBGATE_TEXT("secrets_failure")));
    WRONG(orbgate_reload_begin, orbgate_reload_set_secrets_failure(&question, NULL, 1));
    WRONG(orbgate_drop_begin, orbgate_reload_set_secrets_failure(&question, NULL, 0));
    EMPTY(orbgate_reload_begin, orbgate_reload_set_secrets_failure(&question, NULL, 0));
    orbgate_question_free(&question);
}

static void read_done(void)
{
    static const unsigned char bytes[] = {
        0x40, 0x0, 0x0, 0x0, 0xf, 0x0, 0x0, 0x0, 0x1, 0x0, 0x0, 0x0, 0x7, 0x0, 0x0, 0x0, 0x6e, 0x6f, 0x74, 0x69, 0x63, 0x65, 0x73,
    };
    OrbgateMessage message = whole(bytes, sizeof bytes);
    CHECK(message.kind == ORBGATE_MESSAGE_DONE);
    STRING(orbgate_done_get_notices, message, "notices");
}

static void read_failed(void)
{
    static const unsigned char bytes[] = {
        0x41, 0x0, 0x0, 0x0, 0x8f, 0x0, 0x0, 0x0, 0x1, 0x0, 0x0, 0x80, 0x8, 0x0, 0x0, 0x0, 0x2, 0x2, 0x3, 0x4, 0x5, 0x6, 0x7, 0x80,
        0x2, 0x0, 0x0, 0x0, 0x7, 0x0, 0x0, 0x0, 0x6d, 0x65, 0x73, 0x73, 0x61, 0x67, 0x65, 0x3, 0x0, 0x0, 0x0, 0x2f, 0x0, 0x0, 0x0, 0x1,
        0x0, 0x0, 0x0, 0x8, 0x0, 0x0, 0x0, 0x2, 0x2, 0x3, 0x4, 0x5, 0x6, 0x7, 0x80, 0x2, 0x0, 0x0, 0x0, 0x8, 0x0, 0x0, 0x0, 0x3,
        0x2, 0x3, 0x4, 0x5, 0x6, 0x7, 0x80, 0x3, 0x0, 0x0, 0x0, 0x7, 0x0, 0x0, 0x0, 0x6d, 0x65, 0x73, 0x73, 0x61, 0x67, 0x65, 0x3, 0x0,
        0x0, 0x0, 0x31, 0x0, 0x0, 0x0, 0x1, 0x0, 0x0, 0x0, 0x8, 0x0, 0x0, 0x0, 0x2, 0x2, 0x3, 0x4, 0x5, 0x6, 0x7, 0x80, 0x2, 0x0,
        0x0, 0x0, 0x8, 0x0, 0x0, 0x0, 0x3, 0x2, 0x3, 0x4, 0x5, 0x6, 0x7, 0x80, 0x3, 0x0, 0x0, 0x0, 0x9, 0x0, 0x0, 0x0, 0x6d, 0x65,
        0x73, 0x73, 0x61, 0x67, 0x65, 0x20, 0x32,
    };
    OrbgateMessage message = whole(bytes, sizeof bytes);
    CHECK(message.kind == ORBGATE_MESSAGE_FAILED);
    INTEGER(orbgate_failed_get_status, message, UINT64_C(0x8007060504030202));
    STRING(orbgate_failed_get_message, message, "message");
    OrbgateMessage part0 = orbgate_message_init();
    PART(orbgate_failed_next_diagnostic, message, part0);
    INTEGER(orbgate_diagnostic_get_line, part0, UINT64_C(0x8007060504030202));
    INTEGER(orbgate_diagnostic_get_column, part0, UINT64_C(0x8007060504030203));
    STRING(orbgate_diagnostic_get_message, part0, "message");
    CHECK(orbgate_failed_next_diagnostic(&message, &part0));
    INTEGER(orbgate_diagnostic_get_line, part0, UINT64_C(0x8007060504030202));
    INTEGER(orbgate_diagnostic_get_column, part0, UINT64_C(0x8007060504030203));
    STRING(orbgate_diagnostic_get_message, part0, "message 2");
    CHECK(!orbgate_failed_next_diagnostic(&message, &part0) && is_none(&part0));
}

static void read_answer(void)
{
    static const unsigned char bytes[] = {
        0x42, 0x0, 0x0, 0x0, 0x24, 0x1, 0x0, 0x0, 0x1, 0x0, 0x0, 0x80, 0x8, 0x0, 0x0, 0x0, 0x2, 0x2, 0x3, 0x4, 0x5, 0x6, 0x7, 0x80,
        0x2, 0x0, 0x0, 0x80, 0x8, 0x0, 0x0, 0x0, 0x3, 0x2, 0x3, 0x4, 0x5, 0x6, 0x7, 0x80, 0x3, 0x0, 0x0, 0x80, 0x0, 0x0, 0x0, 0x0,
        0x4, 0x0, 0x0, 0x0, 0x10, 0x0, 0x0, 0x0, 0x77, 0x77, 0x77, 0x5f, 0x61, 0x75, 0x74, 0x68, 0x65, 0x6e, 0x74, 0x69, 0x63, 0x61, 0x74, 0x65,
        0x5, 0x0, 0x0, 0x0, 0x5, 0x0, 0x0, 0x0, 0x61, 0x6c, 0x6c, 0x6f, 0x77, 0x6, 0x0, 0x0, 0x0, 0x7, 0x0, 0x0, 0x0, 0x72, 0x65, 0x66,
        0x75, 0x73, 0x65, 0x64, 0x7, 0x0, 0x0, 0x0, 0x9, 0x0, 0x0, 0x0, 0x6d, 0x69, 0x73, 0x72, 0x6f, 0x75, 0x74, 0x65, 0x64, 0x8, 0x0, 0x0,
        0x0, 0xf, 0x0, 0x0, 0x0, 0x70, 0x75, 0x62, 0x6c, 0x69, 0x63, 0x5f, 0x74, 0x65, 0x6d, 0x70, 0x6c, 0x61, 0x74, 0x65, 0x9, 0x0, 0x0, 0x0,
        0x5, 0x0, 0x0, 0x0, 0x61, 0x75, 0x64, 0x69, 0x74, 0xa, 0x0, 0x0, 0x0, 0x83, 0x0, 0x0, 0x0, 0x1, 0x0, 0x0, 0x0, 0x8, 0x0, 0x0,
        0x0, 0x2, 0x2, 0x3, 0x4, 0x5, 0x6, 0x7, 0x80, 0x2, 0x0, 0x0, 0x0, 0x6, 0x0, 0x0, 0x0, 0x73, 0x63, 0x6f, 0x70, 0x65, 0x73, 0x3,
        0x0, 0x0, 0x0, 0x6, 0x0, 0x0, 0x0, 0x69, 0x73, 0x73, 0x75, 0x65, 0x72, 0x4, 0x0, 0x0, 0x0, 0x7, 0x0, 0x0, 0x0, 0x73, 0x75, 0x62,
        0x6a, 0x65, 0x63, 0x74, 0x5, 0x0, 0x0, 0x0, 0x6, 0x0, 0x0, 0x0, 0x63, 0x6c, 0x69, 0x65, 0x6e, 0x74, 0x6, 0x0, 0x0, 0x0, 0x5, 0x0,
        0x0, 0x0, 0x61, 0x63, 0x74, 0x6f, 0x72, 0x7, 0x0, 0x0, 0x0, 0x2, 0x0, 0x0, 0x0, 0x69, 0x64, 0x8, 0x0, 0x0, 0x0, 0xb, 0x0, 0x0,
        0x0, 0x66, 0x69, 0x6e, 0x67, 0x65, 0x72, 0x70, 0x72, 0x69, 0x6e, 0x74, 0x9, 0x0, 0x0, 0x0, 0x8, 0x0, 0x0, 0x0, 0xa, 0x2, 0x3, 0x4,
        0x5, 0x6, 0x7, 0x80, 0xb, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0,
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
    OrbgateMessage part0 = orbgate_message_init();
    PART(orbgate_answer_get_token, message, part0);
    INTEGER(orbgate_token_get_kind, part0, UINT64_C(0x8007060504030202));
    STRING(orbgate_token_get_scopes, part0, "scopes");
    STRING(orbgate_token_get_issuer, part0, "issuer");
    STRING(orbgate_token_get_subject, part0, "subject");
    STRING(orbgate_token_get_client, part0, "client");
    STRING(orbgate_token_get_actor, part0, "actor");
    STRING(orbgate_token_get_id, part0, "id");
    STRING(orbgate_token_get_fingerprint, part0, "fingerprint");
    INTEGER(orbgate_token_get_expires_ms, part0, UINT64_C(0x800706050403020a));
    BOOLEAN(orbgate_answer_get_may_call, message);
}

static void read_wait(void)
{
    static const unsigned char bytes[] = {
        0x43, 0x0, 0x0, 0x0, 0x18, 0x0, 0x0, 0x0, 0x1, 0x0, 0x0, 0x80, 0x8, 0x0, 0x0, 0x0, 0x2, 0x2, 0x3, 0x4, 0x5, 0x6, 0x7, 0x80,
        0x2, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0,
    };
    OrbgateMessage message = whole(bytes, sizeof bytes);
    CHECK(message.kind == ORBGATE_MESSAGE_WAIT);
    INTEGER(orbgate_wait_get_until_ms, message, UINT64_C(0x8007060504030202));
    BOOLEAN(orbgate_wait_get_may_call, message);
}

static void read_check_signature(void)
{
    static const unsigned char bytes[] = {
        0x44, 0x0, 0x0, 0x0, 0x52, 0x0, 0x0, 0x0, 0x1, 0x0, 0x0, 0x80, 0x9, 0x0, 0x0, 0x0, 0x61, 0x6c, 0x67, 0x6f, 0x72, 0x69, 0x74, 0x68,
        0x6d, 0x2, 0x0, 0x0, 0x80, 0x3, 0x0, 0x0, 0x0, 0x6b, 0x65, 0x79, 0x3, 0x0, 0x0, 0x80, 0x5, 0x0, 0x0, 0x0, 0x74, 0x6f, 0x6b, 0x65,
        0x6e, 0x4, 0x0, 0x0, 0x80, 0x8, 0x0, 0x0, 0x0, 0x5, 0x2, 0x3, 0x4, 0x5, 0x6, 0x7, 0x80, 0x5, 0x0, 0x0, 0x80, 0x9, 0x0, 0x0,
        0x0, 0x73, 0x69, 0x67, 0x6e, 0x61, 0x74, 0x75, 0x72, 0x65, 0x6, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0,
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
        0x45, 0x0, 0x0, 0x0, 0x9b, 0x0, 0x0, 0x0, 0x1, 0x0, 0x0, 0x80, 0x8, 0x0, 0x0, 0x0, 0x2, 0x2, 0x3, 0x4, 0x5, 0x6, 0x7, 0x80,
        0x2, 0x0, 0x0, 0x80, 0x6, 0x0, 0x0, 0x0, 0x6d, 0x65, 0x74, 0x68, 0x6f, 0x64, 0x3, 0x0, 0x0, 0x80, 0x3, 0x0, 0x0, 0x0, 0x75, 0x72,
        0x6c, 0x4, 0x0, 0x0, 0x80, 0x19, 0x0, 0x0, 0x0, 0x1, 0x0, 0x0, 0x80, 0x4, 0x0, 0x0, 0x0, 0x6e, 0x61, 0x6d, 0x65, 0x2, 0x0, 0x0,
        0x80, 0x5, 0x0, 0x0, 0x0, 0x76, 0x61, 0x6c, 0x75, 0x65, 0x4, 0x0, 0x0, 0x80, 0x1d, 0x0, 0x0, 0x0, 0x1, 0x0, 0x0, 0x80, 0x6, 0x0,
        0x0, 0x0, 0x6e, 0x61, 0x6d, 0x65, 0x20, 0x32, 0x2, 0x0, 0x0, 0x80, 0x7, 0x0, 0x0, 0x0, 0x76, 0x61, 0x6c, 0x75, 0x65, 0x20, 0x32, 0x5,
        0x0, 0x0, 0x80, 0x4, 0x0, 0x0, 0x0, 0x62, 0x6f, 0x64, 0x79, 0x6, 0x0, 0x0, 0x80, 0x8, 0x0, 0x0, 0x0, 0x7, 0x2, 0x3, 0x4, 0x5,
        0x6, 0x7, 0x80, 0x7, 0x0, 0x0, 0x80, 0x8, 0x0, 0x0, 0x0, 0x8, 0x2, 0x3, 0x4, 0x5, 0x6, 0x7, 0x80,
    };
    OrbgateMessage message = whole(bytes, sizeof bytes);
    CHECK(message.kind == ORBGATE_MESSAGE_CALL);
    INTEGER(orbgate_call_get_attempt, message, UINT64_C(0x8007060504030202));
    STRING(orbgate_call_get_method, message, "method");
    STRING(orbgate_call_get_url, message, "url");
    OrbgateMessage part0 = orbgate_message_init();
    PART(orbgate_call_next_header, message, part0);
    STRING(orbgate_call_header_get_name, part0, "name");
    STRING(orbgate_call_header_get_value, part0, "value");
    CHECK(orbgate_call_next_header(&message, &part0));
    STRING(orbgate_call_header_get_name, part0, "name 2");
    STRING(orbgate_call_header_get_value, part0, "value 2");
    CHECK(!orbgate_call_next_header(&message, &part0) && is_none(&part0));
    STRING(orbgate_call_get_body, message, "body");
    INTEGER(orbgate_call_get_timeout_ms, message, UINT64_C(0x8007060504030207));
    INTEGER(orbgate_call_get_max_bytes, message, UINT64_C(0x8007060504030208));
}

static void read_over(void)
{
    static const unsigned char bytes[] = {
        0x46, 0x0, 0x0, 0x0, 0x8, 0x0, 0x0, 0x0, 0x1, 0x0, 0x0, 0x80, 0x0, 0x0, 0x0, 0x0,
    };
    OrbgateMessage message = whole(bytes, sizeof bytes);
    CHECK(message.kind == ORBGATE_MESSAGE_OVER);
    BOOLEAN(orbgate_over_get_is_over, message);
}

static void read_secret_sources(void)
{
    static const unsigned char bytes[] = {
        0x47, 0x0, 0x0, 0x0, 0x4a, 0x0, 0x0, 0x0, 0x1, 0x0, 0x0, 0x80, 0x1c, 0x0, 0x0, 0x0, 0x1, 0x0, 0x0, 0x80, 0x8, 0x0, 0x0, 0x0,
        0x2, 0x2, 0x3, 0x4, 0x5, 0x6, 0x7, 0x80, 0x2, 0x0, 0x0, 0x80, 0x4, 0x0, 0x0, 0x0, 0x6e, 0x61, 0x6d, 0x65, 0x1, 0x0, 0x0, 0x80,
        0x1e, 0x0, 0x0, 0x0, 0x1, 0x0, 0x0, 0x80, 0x8, 0x0, 0x0, 0x0, 0x2, 0x2, 0x3, 0x4, 0x5, 0x6, 0x7, 0x80, 0x2, 0x0, 0x0, 0x80,
        0x6, 0x0, 0x0, 0x0, 0x6e, 0x61, 0x6d, 0x65, 0x20, 0x32,
    };
    OrbgateMessage message = whole(bytes, sizeof bytes);
    CHECK(message.kind == ORBGATE_MESSAGE_SECRET_SOURCES);
    OrbgateMessage part0 = orbgate_message_init();
    PART(orbgate_secret_sources_next_source, message, part0);
    INTEGER(orbgate_secret_source_get_kind, part0, UINT64_C(0x8007060504030202));
    STRING(orbgate_secret_source_get_name, part0, "name");
    CHECK(orbgate_secret_sources_next_source(&message, &part0));
    INTEGER(orbgate_secret_source_get_kind, part0, UINT64_C(0x8007060504030202));
    STRING(orbgate_secret_source_get_name, part0, "name 2");
    CHECK(!orbgate_secret_sources_next_source(&message, &part0) && is_none(&part0));
}

static void read_key_status(void)
{
    static const unsigned char bytes[] = {
        0x48, 0x0, 0x0, 0x0, 0xc0, 0x0, 0x0, 0x0, 0x1, 0x0, 0x0, 0x0, 0x55, 0x0, 0x0, 0x0, 0x1, 0x0, 0x0, 0x0, 0x6, 0x0, 0x0, 0x0,
        0x69, 0x73, 0x73, 0x75, 0x65, 0x72, 0x2, 0x0, 0x0, 0x0, 0x8, 0x0, 0x0, 0x0, 0x3, 0x2, 0x3, 0x4, 0x5, 0x6, 0x7, 0x80, 0x3, 0x0,
        0x0, 0x0, 0x8, 0x0, 0x0, 0x0, 0x4, 0x2, 0x3, 0x4, 0x5, 0x6, 0x7, 0x80, 0x4, 0x0, 0x0, 0x0, 0x7, 0x0, 0x0, 0x0, 0x66, 0x61,
        0x69, 0x6c, 0x75, 0x72, 0x65, 0x5, 0x0, 0x0, 0x0, 0x8, 0x0, 0x0, 0x0, 0x77, 0x61, 0x72, 0x6e, 0x69, 0x6e, 0x67, 0x73, 0x6, 0x0, 0x0,
        0x0, 0x0, 0x0, 0x0, 0x0, 0x1, 0x0, 0x0, 0x0, 0x5b, 0x0, 0x0, 0x0, 0x1, 0x0, 0x0, 0x0, 0x8, 0x0, 0x0, 0x0, 0x69, 0x73, 0x73,
        0x75, 0x65, 0x72, 0x20, 0x32, 0x2, 0x0, 0x0, 0x0, 0x8, 0x0, 0x0, 0x0, 0x3, 0x2, 0x3, 0x4, 0x5, 0x6, 0x7, 0x80, 0x3, 0x0, 0x0,
        0x0, 0x8, 0x0, 0x0, 0x0, 0x4, 0x2, 0x3, 0x4, 0x5, 0x6, 0x7, 0x80, 0x4, 0x0, 0x0, 0x0, 0x9, 0x0, 0x0, 0x0, 0x66, 0x61, 0x69,
        0x6c, 0x75, 0x72, 0x65, 0x20, 0x32, 0x5, 0x0, 0x0, 0x0, 0xa, 0x0, 0x0, 0x0, 0x77, 0x61, 0x72, 0x6e, 0x69, 0x6e, 0x67, 0x73, 0x20, 0x32,
        0x6, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0,
    };
    OrbgateMessage message = whole(bytes, sizeof bytes);
    CHECK(message.kind == ORBGATE_MESSAGE_KEY_STATUS);
    OrbgateMessage part0 = orbgate_message_init();
    PART(orbgate_key_status_next_issuer, message, part0);
    STRING(orbgate_issuer_status_get_issuer, part0, "issuer");
    INTEGER(orbgate_issuer_status_get_key_count, part0, UINT64_C(0x8007060504030203));
    INTEGER(orbgate_issuer_status_get_fetched_ms, part0, UINT64_C(0x8007060504030204));
    STRING(orbgate_issuer_status_get_failure, part0, "failure");
    STRING(orbgate_issuer_status_get_warnings, part0, "warnings");
    BOOLEAN(orbgate_issuer_status_get_opaque, part0);
    CHECK(orbgate_key_status_next_issuer(&message, &part0));
    STRING(orbgate_issuer_status_get_issuer, part0, "issuer 2");
    INTEGER(orbgate_issuer_status_get_key_count, part0, UINT64_C(0x8007060504030203));
    INTEGER(orbgate_issuer_status_get_fetched_ms, part0, UINT64_C(0x8007060504030204));
    STRING(orbgate_issuer_status_get_failure, part0, "failure 2");
    STRING(orbgate_issuer_status_get_warnings, part0, "warnings 2");
    BOOLEAN(orbgate_issuer_status_get_opaque, part0);
    CHECK(!orbgate_key_status_next_issuer(&message, &part0) && is_none(&part0));
}

static void read_route_differences(void)
{
    static const unsigned char bytes[] = {
        0x49, 0x0, 0x0, 0x0, 0x72, 0x0, 0x0, 0x0, 0x1, 0x0, 0x0, 0x80, 0x2f, 0x0, 0x0, 0x0, 0x1, 0x0, 0x0, 0x80, 0x8, 0x0, 0x0, 0x0,
        0x2, 0x2, 0x3, 0x4, 0x5, 0x6, 0x7, 0x80, 0x2, 0x0, 0x0, 0x80, 0x5, 0x0, 0x0, 0x0, 0x72, 0x6f, 0x75, 0x74, 0x65, 0x3, 0x0, 0x0,
        0x0, 0xa, 0x0, 0x0, 0x0, 0x64, 0x65, 0x63, 0x69, 0x64, 0x65, 0x64, 0x5f, 0x61, 0x73, 0x1, 0x0, 0x0, 0x80, 0x33, 0x0, 0x0, 0x0, 0x1,
        0x0, 0x0, 0x80, 0x8, 0x0, 0x0, 0x0, 0x2, 0x2, 0x3, 0x4, 0x5, 0x6, 0x7, 0x80, 0x2, 0x0, 0x0, 0x80, 0x7, 0x0, 0x0, 0x0, 0x72,
        0x6f, 0x75, 0x74, 0x65, 0x20, 0x32, 0x3, 0x0, 0x0, 0x0, 0xc, 0x0, 0x0, 0x0, 0x64, 0x65, 0x63, 0x69, 0x64, 0x65, 0x64, 0x5f, 0x61, 0x73,
        0x20, 0x32,
    };
    OrbgateMessage message = whole(bytes, sizeof bytes);
    CHECK(message.kind == ORBGATE_MESSAGE_ROUTE_DIFFERENCES);
    OrbgateMessage part0 = orbgate_message_init();
    PART(orbgate_route_differences_next_difference, message, part0);
    INTEGER(orbgate_route_difference_get_kind, part0, UINT64_C(0x8007060504030202));
    STRING(orbgate_route_difference_get_route, part0, "route");
    STRING(orbgate_route_difference_get_decided_as, part0, "decided_as");
    CHECK(orbgate_route_differences_next_difference(&message, &part0));
    INTEGER(orbgate_route_difference_get_kind, part0, UINT64_C(0x8007060504030202));
    STRING(orbgate_route_difference_get_route, part0, "route 2");
    STRING(orbgate_route_difference_get_decided_as, part0, "decided_as 2");
    CHECK(!orbgate_route_differences_next_difference(&message, &part0) && is_none(&part0));
}

static void read_loaded(void)
{
    static const unsigned char bytes[] = {
        0x54, 0x0, 0x0, 0x0, 0xd2, 0x0, 0x0, 0x0, 0x1, 0x0, 0x0, 0x80, 0x0, 0x0, 0x0, 0x0, 0x2, 0x0, 0x0, 0x0, 0x6, 0x0, 0x0, 0x0,
        0x72, 0x65, 0x73, 0x75, 0x6c, 0x74, 0x3, 0x0, 0x0, 0x0, 0x7, 0x0, 0x0, 0x0, 0x6d, 0x65, 0x73, 0x73, 0x61, 0x67, 0x65, 0x4, 0x0, 0x0,
        0x0, 0x7, 0x0, 0x0, 0x0, 0x77, 0x61, 0x72, 0x6e, 0x69, 0x6e, 0x67, 0x5, 0x0, 0x0, 0x0, 0x8, 0x0, 0x0, 0x0, 0x6, 0x2, 0x3, 0x4,
        0x5, 0x6, 0x7, 0x80, 0x6, 0x0, 0x0, 0x0, 0x2f, 0x0, 0x0, 0x0, 0x1, 0x0, 0x0, 0x0, 0x8, 0x0, 0x0, 0x0, 0x2, 0x2, 0x3, 0x4,
        0x5, 0x6, 0x7, 0x80, 0x2, 0x0, 0x0, 0x0, 0x8, 0x0, 0x0, 0x0, 0x3, 0x2, 0x3, 0x4, 0x5, 0x6, 0x7, 0x80, 0x3, 0x0, 0x0, 0x0,
        0x7, 0x0, 0x0, 0x0, 0x6d, 0x65, 0x73, 0x73, 0x61, 0x67, 0x65, 0x6, 0x0, 0x0, 0x0, 0x31, 0x0, 0x0, 0x0, 0x1, 0x0, 0x0, 0x0, 0x8,
        0x0, 0x0, 0x0, 0x2, 0x2, 0x3, 0x4, 0x5, 0x6, 0x7, 0x80, 0x2, 0x0, 0x0, 0x0, 0x8, 0x0, 0x0, 0x0, 0x3, 0x2, 0x3, 0x4, 0x5,
        0x6, 0x7, 0x80, 0x3, 0x0, 0x0, 0x0, 0x9, 0x0, 0x0, 0x0, 0x6d, 0x65, 0x73, 0x73, 0x61, 0x67, 0x65, 0x20, 0x32, 0x7, 0x0, 0x0, 0x0,
        0x8, 0x0, 0x0, 0x0, 0x8, 0x2, 0x3, 0x4, 0x5, 0x6, 0x7, 0x80, 0x8, 0x0, 0x0, 0x0, 0x6, 0x0, 0x0, 0x0, 0x72, 0x65, 0x61, 0x73,
        0x6f, 0x6e,
    };
    OrbgateMessage message = whole(bytes, sizeof bytes);
    CHECK(message.kind == ORBGATE_MESSAGE_LOADED);
    BOOLEAN(orbgate_loaded_get_is_loaded, message);
    STRING(orbgate_loaded_get_result, message, "result");
    STRING(orbgate_loaded_get_message, message, "message");
    STRING(orbgate_loaded_get_warning, message, "warning");
    INTEGER(orbgate_loaded_get_status, message, UINT64_C(0x8007060504030206));
    OrbgateMessage part0 = orbgate_message_init();
    PART(orbgate_loaded_next_diagnostic, message, part0);
    INTEGER(orbgate_diagnostic_get_line, part0, UINT64_C(0x8007060504030202));
    INTEGER(orbgate_diagnostic_get_column, part0, UINT64_C(0x8007060504030203));
    STRING(orbgate_diagnostic_get_message, part0, "message");
    CHECK(orbgate_loaded_next_diagnostic(&message, &part0));
    INTEGER(orbgate_diagnostic_get_line, part0, UINT64_C(0x8007060504030202));
    INTEGER(orbgate_diagnostic_get_column, part0, UINT64_C(0x8007060504030203));
    STRING(orbgate_diagnostic_get_message, part0, "message 2");
    CHECK(!orbgate_loaded_next_diagnostic(&message, &part0) && is_none(&part0));
    INTEGER(orbgate_loaded_get_pause_ms, message, UINT64_C(0x8007060504030208));
    STRING(orbgate_loaded_get_reason, message, "reason");
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
    ask_reload();
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
    read_loaded();
    return 0;
}
