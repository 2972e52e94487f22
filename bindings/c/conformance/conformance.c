/*
 * Puts every row of policy/cases/ through the C interface: see policy/cases/README.md.
 *
 *   conformance CASES    prints every failed case, then `ran N cases`; exits 1 if a case failed
 */
#define _POSIX_C_SOURCE 200809L

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "orbgate.h"

enum { NAME, POLICY, METHOD, TARGET, BY_SCOPE, KIND, SCOPES, BONUS, FIRST_ANSWER, COLUMNS = 16 };

static const char HEADER[] = "name\tpolicy\tmethod\ttarget\tby_scope\tkind\tscopes\tbonus\t"
                             "decision\tstatus\treason\tdetail\tapi\troute\tscope\torbs";
static const char *const ANSWERS[] = {"decision", "status", "reason", "detail",
                                      "api",      "route",  "scope",  "orbs"};

/* A stretch of bytes; `data` is owned where a function says so. */
typedef struct {
    char *data;
    size_t len;
} Text;

static const char *cases;
static size_t ran, failed;

static void stop(const char *what, const char *which)
{
    fprintf(stderr, "conformance: %s: %s\n", what, which);
    exit(2);
}

static void *room(size_t bytes)
{
    void *memory = malloc(bytes + 1);
    if (memory == NULL) {
        stop("out of memory", cases);
    }
    return memory;
}

static char *path_of(const char *folder, const char *name, const char *end)
{
    size_t bytes = strlen(cases) + strlen(folder) + strlen(name) + strlen(end) + 1;
    char *path = room(bytes);
    snprintf(path, bytes, "%s%s%s%s", cases, folder, name, end);
    return path;
}

/* A whole file, owned by the caller. */
static Text read_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL || fseek(file, 0, SEEK_END) != 0) {
        stop("cannot read", path);
    }
    long size = ftell(file);
    Text text = {room((size_t)size), (size_t)size};
    rewind(file);
    if (fread(text.data, 1, text.len, file) != text.len) {
        stop("cannot read", path);
    }
    fclose(file);
    text.data[text.len] = '\0';
    return text;
}

/* The policies that rows have named so far, each loaded once. */
static struct {
    char *name;
    OrbgateEngine *engine;
} engines[64];

/* The name, which no file has, of the engine that is compiled into the library. */
static const char COMPILED_IN[] = "compiled in";

static OrbgateEngine *load(const char *name)
{
    OrbgateEngine *compiled_in = NULL;
    if (strcmp(name, COMPILED_IN) == 0) {
        if (orbgate_engine_external(&compiled_in) != ORBGATE_STATUS_OK) {
            stop("cannot load", name);
        }
        return compiled_in;
    }
    bool external = strcmp(name, "external") == 0;
    char *path = external ? path_of("/../external.yaml", "", "") : path_of("/policies/", name, ".yaml");
    OrbgateEngine *engine = NULL;
    OrbgateError *error = NULL;
    if (orbgate_engine_from_file(path, strlen(path), &engine, &error) != ORBGATE_STATUS_OK) {
        OrbgateErrorInfo info = orbgate_error_info_init();
        if (orbgate_error_info(error, &info) == ORBGATE_STATUS_OK) {
            fprintf(stderr, "%.*s\n", ORBGATE_STR_ARGS(info.message));
        }
        stop("cannot load", path);
    }
    free(path);
    return engine;
}

static const OrbgateEngine *engine_of(const char *name)
{
    for (size_t at = 0; at < sizeof engines / sizeof *engines; at++) {
        if (engines[at].name == NULL) {
            engines[at].name = strdup(name);
            engines[at].engine = load(name);
        }
        if (strcmp(engines[at].name, name) == 0) {
            return engines[at].engine;
        }
    }
    stop("too many policies", name);
    return NULL;
}

/* `\xNN` is a byte and `\\` a backslash. The result is owned by the caller. */
static Text unescape(const char *cell)
{
    Text text = {room(strlen(cell)), 0};
    while (*cell != '\0') {
        char byte = *cell++;
        if (byte == '\\') {
            unsigned value = 0;
            int length = 0;
            if (*cell == '\\') {
                cell++;
            } else if (sscanf(cell, "x%2x%n", &value, &length) == 1 && length == 3) {
                byte = (char)value;
                cell += 3;
            } else {
                stop("bad escape", cell);
            }
        }
        text.data[text.len++] = byte;
    }
    return text;
}

static char *owned(OrbgateStr text)
{
    char *copy = room(text.len);
    if (text.len > 0) {
        memcpy(copy, text.data, text.len);
    }
    copy[text.len] = '\0';
    return copy;
}

/* The charge in the words of the column `orbs`. */
static char *orbs(const OrbgateDecision *decision)
{
    char *text = room(40);
    bool bonus = (decision->charge & ORBGATE_CHARGE_BONUS_ALLOWED) != 0;
    if ((decision->charge & ORBGATE_CHARGE_STATED) == 0) {
        strcpy(text, decision->charge == 0 && decision->amount == 0 ? "" : "bits without a charge");
    } else if ((decision->charge & ORBGATE_CHARGE_CONSUMES) == 0) {
        bool free_of = (decision->charge & ORBGATE_CHARGE_AMOUNT_STATED) != 0 && decision->amount == 0 && !bonus;
        strcpy(text, free_of ? "free" : "free with an amount");
    } else if ((decision->charge & ORBGATE_CHARGE_AMOUNT_STATED) == 0) {
        strcpy(text, bonus ? "unstated bonus" : "unstated");
    } else {
        snprintf(text, 40, "%" PRIu64 "%s", decision->amount, bonus ? " bonus" : "");
    }
    return text;
}

/* The decision of a row, asked in the way that the row's number picks: out-parameter or packed, text or set. */
static OrbgateDecision ask(const OrbgateEngine *engine, char *const row[COLUMNS], size_t way)
{
    Text method = unescape(row[METHOD]), target = unescape(row[TARGET]);
    Text scope = unescape(row[BY_SCOPE]), scopes = unescape(row[SCOPES]);
    OrbgateToken token = orbgate_token_init();
    OrbgateScopeSet *set = NULL;
    token.kind = ORBGATE_TOKEN_KIND_NONE;
    OrbgateStatus status = ORBGATE_STATUS_OK;
    if (row[KIND][0] != '\0') {
        status = orbgate_token_kind_from_name(row[KIND], strlen(row[KIND]), &token.kind);
    }
    if (way % 2 == 0) {
        token.scopes = scopes.data;
        token.scopes_len = scopes.len;
    } else if (status == ORBGATE_STATUS_OK) {
        status = orbgate_scope_set_from_string(engine, scopes.data, scopes.len, &set);
        token.scope_set = set;
    }
    uint32_t flags = (strcmp(row[BONUS], "yes") == 0 ? ORBGATE_ALLOW_BONUS_ORBS : 0) | ORBGATE_PACK_ABOUT;
    OrbgateDecision decision;
    memset(&decision, 0, sizeof decision);
    if (status == ORBGATE_STATUS_OK) {
        if (way < 2) {
            status = scope.len > 0
                ? orbgate_engine_decide_scope(engine, scope.data, scope.len, &token, flags, &decision)
                : orbgate_engine_decide(engine, method.data, method.len, target.data, target.len, &token,
                                        flags, &decision);
        } else {
            uint64_t packed = scope.len > 0
                ? orbgate_engine_decide_scope_packed(engine, scope.data, scope.len, token.kind, token.scopes,
                                                     token.scopes_len, set, flags)
                : orbgate_engine_decide_packed(engine, method.data, method.len, target.data, target.len,
                                               token.kind, token.scopes, token.scopes_len, set, flags);
            status = orbgate_engine_unpack(engine, packed, &decision);
        }
    }
    if (status != ORBGATE_STATUS_OK) {
        stop("a call failed", row[NAME]);
    }
    orbgate_scope_set_free(set);
    free(method.data);
    free(target.data);
    free(scope.data);
    free(scopes.data);
    return decision;
}

/* The route that a request is about: the one that it is decided by when its token is some user's; 0 by scope. */
static uint32_t about(const OrbgateEngine *engine, char *const row[COLUMNS])
{
    Text method = unescape(row[METHOD]), target = unescape(row[TARGET]);
    OrbgateToken token = orbgate_token_init();
    token.kind = ORBGATE_TOKEN_KIND_USER;
    OrbgateDecision decision;
    memset(&decision, 0, sizeof decision);
    if (row[BY_SCOPE][0] == '\0' &&
        orbgate_engine_decide(engine, method.data, method.len, target.data, target.len, &token, 0, &decision) !=
            ORBGATE_STATUS_OK) {
        stop("a call failed", row[NAME]);
    }
    free(method.data);
    free(target.data);
    return decision.scope == 0 ? 0 : decision.route;
}

/* Compares a row with an engine's decision; every way to ask must give it. */
static void run(const char *file, size_t line, char *const row[COLUMNS], const OrbgateEngine *engine)
{
    bool wrong = false;
    for (size_t way = 0; way < 4; way++) {
        OrbgateDecision decision = ask(engine, row, way);
        OrbgateDecisionStrings words = orbgate_decision_strings_init();
        if (orbgate_engine_decision_strings(engine, &decision, &words) != ORBGATE_STATUS_OK) {
            stop("a decision has no words", row[NAME]);
        }
        if (decision.about != about(engine, row) || (decision.about == 0) != (words.about.data == NULL)) {
            printf("%s:%zu: %s: it is about route %u, not %u\n", file, line, row[NAME], (unsigned)decision.about,
                   (unsigned)about(engine, row));
            wrong = true;
        }
        char *status = room(8);
        snprintf(status, 8, "%u", (unsigned)decision.http_status);
        char *found[] = {owned(words.decision), decision.http_status == 0 ? strcpy(status, "") : status,
                         owned(words.reason),   owned(words.detail),
                         owned(words.api),      owned(words.route),
                         owned(words.scope),    orbs(&decision)};
        for (size_t at = 0; at < sizeof found / sizeof *found; at++) {
            if (strcmp(found[at], row[FIRST_ANSWER + at]) != 0) {
                printf("%s:%zu: %s: %s is `%s`, not `%s`\n", file, line, row[NAME], ANSWERS[at], found[at],
                       row[FIRST_ANSWER + at]);
                wrong = true;
            }
            free(found[at]);
        }
    }
    ran++;
    failed += wrong;
}

/* Cuts a line at its tabs, in place. */
static void cut(const char *file, char *line, char *row[COLUMNS])
{
    for (size_t at = 0; at < COLUMNS; at++) {
        row[at] = line;
        line = strchr(line, '\t');
        if ((line == NULL) != (at + 1 == COLUMNS)) {
            stop("a row has not 16 cells", file);
        }
        if (line != NULL) {
            *line++ = '\0';
        }
    }
}

static void run_file(const char *file)
{
    char *path = path_of("/", file, "");
    Text text = read_file(path);
    bool header = false;
    size_t number = 0;
    for (char *line = text.data, *end; line != NULL && *line != '\0'; line = end) {
        end = strchr(line, '\n');
        if (end != NULL) {
            *end++ = '\0';
        }
        number++;
        if (!header) {
            if (line[0] != '#') {
                if (strcmp(line, HEADER) != 0) {
                    stop("not the header row", path);
                }
                header = true;
            }
        } else if (line[0] != '\0') {
            char *row[COLUMNS];
            cut(path, line, row);
            run(file, number, row, engine_of(row[POLICY]));
            if (strcmp(row[POLICY], "external") == 0) {
                run(file, number, row, engine_of(COMPILED_IN));
            }
        }
    }
    free(text.data);
    free(path);
}

static int is_case_file(const struct dirent *entry)
{
    const char *end = strrchr(entry->d_name, '.');
    return end != NULL && strcmp(end, ".tsv") == 0;
}

int main(int count, char **arguments)
{
    if (count != 2) {
        fprintf(stderr, "usage: conformance CASES\n");
        return 2;
    }
    cases = arguments[1];
    if (!orbgate_check_abi()) {
        stop("the library is older than its header", ORBGATE_VERSION);
    }
    struct dirent **files;
    int found = scandir(cases, &files, is_case_file, alphasort);
    if (found <= 0) {
        stop("no case files", cases);
    }
    for (int at = 0; at < found; at++) {
        run_file(files[at]->d_name);
        free(files[at]);
    }
    free(files);
    for (size_t at = 0; at < sizeof engines / sizeof *engines && engines[at].name != NULL; at++) {
        orbgate_engine_free(engines[at].engine);
        free(engines[at].name);
    }
    if (failed > 0) {
        printf("%zu failed\n", failed);
    }
    printf("ran %zu cases\n", ran);
    return failed > 0 || ran == 0;
}
