/* What the tests of gates share: a verifier, a token that is right at a time, and a host that fetches from files. */
#ifndef ORBGATE_TEST_GATE_STRUCTS_H
#define ORBGATE_TEST_GATE_STRUCTS_H

#include "test.h"

/* When the token is valid. */
#define TIME UINT64_C(1800000000000)
#define FOLDER "crates/orbgate-token/testdata/"
#define ISSUER "https://id.example.com"
#define DISCOVERY "{\"issuer\":\"" ISSUER "\",\"jwks_uri\":\"" ISSUER "/jwks\"}"
#define ACCOUNT ((OrbgateStr){ORBGATE_TEXT("/api/v1/external/account")})

static const char TOKENS[] = "orbgate_token: 1\n"
                             "issuers:\n"
                             "  - issuer: " ISSUER "\n"
                             "    audience: https://api.example.com\n"
                             "    algorithms: [ES256]\n"
                             "    kind: { user: [{ claim: token_kind, equals: user }] }\n";

/* A small file; `head` goes before it. */
static inline OrbgateStr file(const char *head, const char *path)
{
    static _Thread_local char room[4][4096];
    static _Thread_local int next;
    char *text = room[next++ % 4];
    FILE *stream = fopen(path, "rb");
    CHECK(stream != NULL);
    size_t len = strlen(head);
    memcpy(text, head, len);
    len += fread(text + len, 1, sizeof room[0] - len, stream);
    fclose(stream);
    while (text[len - 1] == '\n') {
        len--;
    }
    return (OrbgateStr){text, len};
}

static inline OrbgateVerifier *verifier(void)
{
    OrbgateVerifier *verifier = NULL;
    CHECK_OK(orbgate_verifier_from_yaml(TOKENS, strlen(TOKENS), &verifier, NULL));
    return verifier;
}

static inline OrbgateGate *new_gate(const OrbgateGateOptions *options)
{
    OrbgateVerifier *of = verifier();
    OrbgateGate *gate = NULL;
    CHECK_OK(orbgate_gate_new(of, options, &gate, NULL));
    orbgate_verifier_free(of);
    return gate;
}

static inline OrbgateGateRequest get(OrbgateStr target, const OrbgateStr *bearer)
{
    OrbgateGateRequest request = orbgate_gate_request_init();
    request.method = (OrbgateStr){ORBGATE_TEXT("GET")};
    request.target = target;
    request.authorization = bearer;
    request.authorization_count = bearer != NULL;
    return request;
}

/* The issuer answers everything that is to be fetched; returns how many documents those were. */
static inline int serve(const OrbgateGate *gate, uint64_t now)
{
    int count = 0;
    OrbgateFetch *fetch = NULL;
    CHECK_OK(orbgate_gate_next_fetch(gate, now, &fetch));
    while (fetch != NULL) {
        OrbgateFetchInfo info = orbgate_fetch_info_init();
        CHECK_OK(orbgate_fetch_info(fetch, &info));
        OrbgateStr body = {ORBGATE_TEXT(DISCOVERY)};
        if (is(info.url, ISSUER "/jwks")) {
            body = file("", FOLDER "jwks.json");
        } else {
            CHECK(is(info.url, ISSUER "/.well-known/openid-configuration"));
        }
        CHECK(info.max_bytes == 262144 && info.timeout_ms > 0 && info.timeout_ms <= 5000);
        orbgate_fetch_free(fetch);
        CHECK_OK(orbgate_gate_fetched(gate, info.attempt, 200, ORBGATE_TEXT("max-age=900"), body.data, body.len, now,
                                      &fetch));
        count++;
        if (fetch == NULL) {
            CHECK_OK(orbgate_gate_next_fetch(gate, now, &fetch));
        }
    }
    return count;
}

/* A gate with keys. */
static inline OrbgateGate *warm_gate(const OrbgateGateOptions *options)
{
    OrbgateGate *gate = new_gate(options);
    CHECK_OK(orbgate_gate_warm(gate, 0));
    CHECK(serve(gate, 0) == 2);
    return gate;
}

static inline OrbgateStepInfo info_of(const OrbgateStep *step)
{
    OrbgateStepInfo info = orbgate_step_info_init();
    CHECK_OK(orbgate_step_info(step, &info));
    return info;
}

#endif
