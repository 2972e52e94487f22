/* What the tests of gates share: a gate whose issuer is in files, a token that is valid at a time, and one who asks. */
#ifndef ORBGATE_TEST_GATE_H
#define ORBGATE_TEST_GATE_H

#include "orbgate_gate.h"
#include "test.h"

/* When the token is valid. */
#define TIME UINT64_C(1800000000000)
#define FOLDER "crates/orbgate-token/testdata/"
#define ISSUER "https://id.example.com"
#define DISCOVERY "{\"issuer\":\"" ISSUER "\",\"jwks_uri\":\"" ISSUER "/jwks\"}"
#define ACCOUNT "/api/v1/external/account"

static const char TOKENS[] = "orbgate_token: 1\n"
                             "issuers:\n"
                             "  - issuer: " ISSUER "\n"
                             "    audience: https://api.example.com\n"
                             "    algorithms: [ES256]\n"
                             "    kind: { user: [{ claim: token_kind, equals: user }] }\n";

/* One who asks a gate: what a thread needs for it. */
typedef struct Host {
    uint64_t gate; /* A copy of the handle, which belongs to this thread. */
    const OrbgateEngine *engine;
    uint64_t step;
    OrbgateQuestion question;
    OrbgateMessage answer;
} Host;

static inline Host host(uint64_t gate, const OrbgateEngine *engine)
{
    return (Host){gate, engine, 0, orbgate_question_init(), orbgate_message_init()};
}

static inline void end(Host *host)
{
    orbgate_step_end(&host->step);
    orbgate_question_free(&host->question);
}

static inline OrbgateStatus send(Host *host)
{
    return orbgate_gate_send(&host->gate, host->engine, &host->step, &host->question, &host->answer);
}

/* Sends a question, and returns which answer it has. */
static inline uint32_t sent(Host *host)
{
    CHECK_OK(send(host));
    return host->answer.kind;
}

/* The gate of a `Make`, which is ended. */
static inline uint64_t made(Host *host)
{
    CHECK(sent(host) == ORBGATE_MESSAGE_DONE && host->gate != 0);
    end(host);
    return host->gate;
}

static inline uint64_t new_gate(bool signatures_outside)
{
    Host maker = host(0, NULL);
    orbgate_make_begin(&maker.question);
    orbgate_make_set_tokens(&maker.question, TOKENS, strlen(TOKENS));
    orbgate_make_set_signatures_outside(&maker.question, signatures_outside);
    return made(&maker);
}

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

/* The issuer answers the call that was asked for, and each one after it; returns how many those were. */
static inline int serve(Host *host, uint64_t now)
{
    int count = 0;
    for (;;) {
        orbgate_next_call_begin(&host->question);
        orbgate_next_call_set_monotonic_ms(&host->question, now);
        if (sent(host) == ORBGATE_MESSAGE_DONE) {
            return count;
        }
        while (host->answer.kind == ORBGATE_MESSAGE_CALL) {
            const OrbgateStr url = orbgate_call_get_url(&host->answer);
            const bool is_keys = is(url, ISSUER "/jwks");
            const OrbgateStr body = is_keys ? file("", FOLDER "jwks.json") : (OrbgateStr){ORBGATE_TEXT(DISCOVERY)};
            CHECK(is_keys || is(url, ISSUER "/.well-known/openid-configuration"));
            orbgate_called_begin(&host->question);
            orbgate_called_set_attempt(&host->question, orbgate_call_get_attempt(&host->answer));
            orbgate_called_set_status(&host->question, 200);
            orbgate_called_add_header(&host->question, ORBGATE_TEXT("Cache-Control"), ORBGATE_TEXT("max-age=900"));
            orbgate_called_set_body(&host->question, body.data, body.len);
            orbgate_called_set_monotonic_ms(&host->question, now);
            CHECK_OK(send(host));
            count++;
        }
        CHECK(host->answer.kind == ORBGATE_MESSAGE_DONE);
    }
}

/* A gate with keys. */
static inline uint64_t warm_gate(bool signatures_outside)
{
    const uint64_t gate = new_gate(signatures_outside);
    Host caller = host(gate, NULL);
    orbgate_warm_begin(&caller.question);
    CHECK(sent(&caller) == ORBGATE_MESSAGE_DONE && serve(&caller, 0) == 2);
    end(&caller);
    return gate;
}

/* Begins a request; what it needs beyond these is set afterwards. */
static inline void begin(Host *host, const char *method, const char *target, OrbgateStr bearer, uint64_t now)
{
    orbgate_ask_begin(&host->question);
    orbgate_ask_set_method(&host->question, method, strlen(method));
    orbgate_ask_set_target(&host->question, target, strlen(target));
    if (bearer.data != NULL) {
        orbgate_ask_add_authorization(&host->question, bearer.data, bearer.len);
    }
    orbgate_ask_set_unix_ms(&host->question, TIME);
    orbgate_ask_set_monotonic_ms(&host->question, now);
}

static inline uint32_t resumed(Host *host, uint64_t now)
{
    orbgate_resume_begin(&host->question);
    orbgate_resume_set_unix_ms(&host->question, TIME);
    orbgate_resume_set_monotonic_ms(&host->question, now);
    return sent(host);
}

static inline uint32_t checked(Host *host, bool is_right, uint64_t now)
{
    orbgate_checked_begin(&host->question);
    orbgate_checked_set_is_right(&host->question, is_right);
    orbgate_checked_set_unix_ms(&host->question, TIME);
    orbgate_checked_set_monotonic_ms(&host->question, now);
    return sent(host);
}

static inline bool is_over(Host *host, uint64_t now)
{
    orbgate_is_over_begin(&host->question);
    orbgate_is_over_set_monotonic_ms(&host->question, now);
    CHECK(sent(host) == ORBGATE_MESSAGE_OVER);
    return orbgate_over_get_is_over(&host->answer);
}

#endif
