/*
 * What a decision takes from C: see `cargo xtask bench --bindings`.
 *
 *   bench FILE FOLDER    answers the requests of the file, METHOD TAB TARGET TAB SCOPES, all of which must be allowed, and the
 *                        questions of the folder; prints the nanoseconds of a call, of a decision in batches of 256, of an
 *                        empty call, and of `explain` and `reach`
 */
#define _POSIX_C_SOURCE 200809L

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "orbgate.h"

enum { ROUNDS = 25, BATCH = 256, ASKED = 200, MOST = 1 << 20 };

typedef struct {
    const char *method, *target, *scopes;
    size_t method_len, target_len, scopes_len;
    OrbgateToken token;
} Request;

static Request *requests;
static size_t count;
static OrbgateEngine *engine;

static void stop(const char *why)
{
    fprintf(stderr, "bench: %s\n", why);
    exit(1);
}

static void must(OrbgateStatus status)
{
    if (status != ORBGATE_STATUS_OK) {
        stop("a call failed");
    }
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static void *room(size_t bytes)
{
    void *memory = malloc(bytes);
    if (memory == NULL) {
        stop("out of memory");
    }
    return memory;
}

static char *read_file(const char *path, size_t *len)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL || fseek(file, 0, SEEK_END) != 0) {
        stop("cannot read the requests");
    }
    *len = (size_t)ftell(file);
    rewind(file);
    char *text = room(*len);
    if (fread(text, 1, *len, file) != *len) {
        stop("cannot read the requests");
    }
    fclose(file);
    return text;
}

/* One set for each different text, as a server interns a token's scopes when it first sees it. */
static const OrbgateScopeSet *interned(const Request *request)
{
    for (const Request *other = requests; other < request; other++) {
        if (other->scopes_len == request->scopes_len &&
            memcmp(other->scopes, request->scopes, request->scopes_len) == 0) {
            return other->token.scope_set;
        }
    }
    OrbgateScopeSet *set = NULL;
    must(orbgate_scope_set_from_string(engine, request->scopes, request->scopes_len, &set));
    return set;
}

static const char *cell(const char *start, const char *end, char at, size_t *len)
{
    const char *stop_at = memchr(start, at, (size_t)(end - start));
    if (stop_at == NULL) {
        stop("a line has not three cells");
    }
    *len = (size_t)(stop_at - start);
    return stop_at + 1;
}

static void read_requests(const char *text, size_t len)
{
    const char *end = text + len;
    requests = room(MOST * sizeof *requests);
    while (text < end && count < MOST) {
        Request *request = &requests[count];
        request->method = text;
        request->target = cell(request->method, end, '\t', &request->method_len);
        request->scopes = cell(request->target, end, '\t', &request->target_len);
        text = cell(request->scopes, end, '\n', &request->scopes_len);
        request->token = orbgate_token_init();
        request->token.kind = ORBGATE_TOKEN_KIND_USER;
        request->token.scope_set = interned(request);
        count++;
    }
}

static size_t single(void)
{
    size_t allowed = 0;
    for (size_t at = 0; at < count; at++) {
        const Request *request = &requests[at];
        OrbgateDecision decision;
        must(orbgate_engine_decide(engine, request->method, request->method_len, request->target,
                                   request->target_len, &request->token, 0, &decision));
        allowed += decision.effect == ORBGATE_EFFECT_ALLOW;
    }
    return allowed;
}

/* The columns of all requests, as a log has them. */
static OrbgateColumn methods, targets;
static const OrbgateScopeSet **sets;
static uint8_t *kinds;

static OrbgateColumn column(bool of_targets)
{
    size_t bytes = 0;
    uint32_t *offsets = room((count + 1) * sizeof *offsets);
    for (size_t at = 0; at < count; at++) {
        bytes += of_targets ? requests[at].target_len : requests[at].method_len;
    }
    char *data = room(bytes);
    size_t end = 0;
    for (size_t at = 0; at < count; at++) {
        const Request *request = &requests[at];
        size_t len = of_targets ? request->target_len : request->method_len;
        offsets[at] = (uint32_t)end;
        memcpy(data + end, of_targets ? request->target : request->method, len);
        end += len;
    }
    offsets[count] = (uint32_t)end;
    OrbgateColumn column = {data, bytes, offsets};
    return column;
}

static void make_columns(void)
{
    methods = column(false);
    targets = column(true);
    sets = room(count * sizeof *sets);
    kinds = room(count);
    for (size_t at = 0; at < count; at++) {
        sets[at] = requests[at].token.scope_set;
        kinds[at] = ORBGATE_TOKEN_KIND_USER;
    }
}

static size_t batches(void)
{
    OrbgateDecision decisions[BATCH];
    size_t allowed = 0;
    for (size_t at = 0; at < count; at += BATCH) {
        OrbgateBatch batch = orbgate_batch_init();
        batch.len = count - at < BATCH ? count - at : BATCH;
        batch.method = methods;
        batch.method.offsets += at;
        batch.target = targets;
        batch.target.offsets += at;
        batch.kinds = kinds + at;
        batch.scope_sets = sets + at;
        must(orbgate_engine_decide_batch(engine, &batch, decisions, BATCH));
        for (size_t row = 0; row < batch.len; row++) {
            allowed += decisions[row].effect == ORBGATE_EFFECT_ALLOW;
        }
    }
    return allowed;
}

static size_t empty(void)
{
    size_t right = 0;
    for (size_t at = 0; at < count; at++) {
        right += orbgate_abi_version() == ORBGATE_ABI_VERSION;
    }
    return right;
}

static void measure(const char *name, size_t (*pass)(void))
{
    double best = 1e300;
    for (int round = 0; round < ROUNDS; round++) {
        double start = now();
        size_t right = pass();
        double each = (now() - start) / (double)count;
        best = each < best ? each : best;
        if (right != count) {
            stop("a request was not allowed");
        }
    }
    printf("%s %.2f\n", name, best);
}

/* Asks a question of the folder, and compares each answer. C has no type for an answer: it is JSON. */
static void ask(OrbgateEngine *of, const char *folder, const char *question)
{
    char path[4096];
    size_t len, expected_len;
    snprintf(path, sizeof path, "%s/%s.json", folder, question);
    const char *given = read_file(path, &len);
    snprintf(path, sizeof path, "%s/%s.answer.json", folder, question);
    const char *expected = read_file(path, &expected_len);
    double best = 1e300;
    for (int times = 0; times < ASKED; times++) {
        double start = now();
        OrbgateAnswer *answer = NULL;
        OrbgateStr json = {NULL, 0};
        must(orbgate_engine_ask(of, question, strlen(question), given, len, ORBGATE_ANSWER_JSON, &answer, &json, NULL));
        bool is_right = json.len == expected_len && memcmp(json.data, expected, expected_len) == 0;
        orbgate_answer_free(answer);
        double taken = now() - start;
        best = taken < best ? taken : best;
        if (!is_right) {
            stop("another answer");
        }
    }
    printf("%s-json %.0f\n", question, best);
}

static void questions(const char *folder)
{
    char path[4096];
    OrbgateEngine *of = NULL;
    snprintf(path, sizeof path, "%s/policy.yaml", folder);
    must(orbgate_engine_from_file(path, strlen(path), &of, NULL));
    ask(of, folder, "explain");
    ask(of, folder, "reach");
    orbgate_engine_free(of);
}

int main(int argument_count, char **arguments)
{
    if (argument_count != 3) {
        stop("usage: bench FILE FOLDER");
    }
    size_t len;
    char *text = read_file(arguments[1], &len);
    must(orbgate_engine_external(&engine));
    read_requests(text, len);
    make_columns();
    measure("single", single);
    measure("batch", batches);
    measure("empty", empty);
    questions(arguments[2]);
    return 0;
}
