/* Answers the requests of policy/cases/run.py with the C interface. */
#define _POSIX_C_SOURCE 200809L

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "orbgate.h"

enum { METHOD, TARGET, BY_SCOPE, SCOPES, KIND, BONUS, VERB, TEMPLATE, CELLS };

typedef struct {
    char *cells[CELLS];
    size_t lens[CELLS];
    size_t number;
    OrbgateToken token; /* without scopes if the row's kind is empty */
    OrbgateScopeSet *set;
    uint32_t flags;
} Row;

/* The requests of a group that ask by target, as columns. */
typedef struct {
    OrbgateColumn columns[CELLS];
    uint32_t *offsets[CELLS];
    const Row **rows;
    uint8_t *kinds, *bonus;
    const OrbgateScopeSet **sets;
    size_t len;
} Columns;

static void check(bool holds, const char *what)
{
    if (!holds) {
        fprintf(stderr, "conformance: %s\n", what);
        exit(2);
    }
}

static void *room(size_t count, size_t size)
{
    void *memory = calloc(count + 1, size);
    check(memory != NULL, "out of memory");
    return memory;
}

/* The next line without its end, owned by the caller; null at the end. */
static char *next_line(void)
{
    char *line = NULL;
    size_t size = 0;
    ssize_t len = getline(&line, &size, stdin);
    if (len < 0) {
        free(line);
        return NULL;
    }
    line[strcspn(line, "\n")] = '\0';
    return line;
}

static size_t unhex(char *cell)
{
    size_t len = strlen(cell) / 2;
    for (size_t at = 0; at < len; at++) {
        char digits[] = {cell[2 * at], cell[2 * at + 1], '\0'};
        cell[at] = (char)strtoul(digits, NULL, 16);
    }
    return len;
}

static void read_row(const OrbgateEngine *engine, Row *row)
{
    char *line = next_line();
    for (size_t at = 0; at < CELLS; at++) {
        check(line != NULL, "a row has not all cells");
        row->cells[at] = line;
        line = strchr(line, '\t');
        if (line != NULL) {
            *line++ = '\0';
        }
        row->lens[at] = at < KIND ? unhex(row->cells[at]) : strlen(row->cells[at]);
    }
    row->token = orbgate_token_init();
    row->token.kind = ORBGATE_TOKEN_KIND_NONE;
    row->flags = (strcmp(row->cells[BONUS], "yes") == 0 ? ORBGATE_ALLOW_BONUS_ORBS : 0) | ORBGATE_PACK_ABOUT;
    if (row->lens[KIND] > 0) {
        check(orbgate_token_kind_from_name(row->cells[KIND], row->lens[KIND], &row->token.kind) == ORBGATE_STATUS_OK &&
                  orbgate_scope_set_from_string(engine, row->cells[SCOPES], row->lens[SCOPES], &row->set) == ORBGATE_STATUS_OK,
              "no token");
    }
}

static void say(const OrbgateEngine *engine, size_t number, const char *form, bool by_set, const OrbgateDecision *decision)
{
    OrbgateDecisionStrings words = orbgate_decision_strings_init();
    check(orbgate_engine_decision_strings(engine, decision, &words) == ORBGATE_STATUS_OK &&
              (decision->about == 0) == (words.about.data == NULL),
          "a decision has no words");
    char status[8] = "", orbs[48] = "", amount[24] = "null";
    if (decision->http_status != 0) {
        snprintf(status, sizeof status, "%u", (unsigned)decision->http_status);
    }
    if ((decision->charge & ORBGATE_CHARGE_AMOUNT_STATED) != 0 || decision->amount != 0) {
        snprintf(amount, sizeof amount, "%" PRIu64, decision->amount);
    }
    if ((decision->charge & ORBGATE_CHARGE_STATED) != 0 || decision->charge != 0 || decision->amount != 0) {
        snprintf(orbs, sizeof orbs, "%s %s %s", (decision->charge & ORBGATE_CHARGE_CONSUMES) != 0 ? "true" : "false", amount,
                 (decision->charge & ORBGATE_CHARGE_BONUS_ALLOWED) != 0 ? "true" : "false");
    }
    printf("%zu\t%s%s\t%.*s\t%s\t%.*s\t%.*s\t%.*s\t%.*s\t%.*s\t%s\t%.*s\n", number, form, by_set ? " set" : "",
           ORBGATE_STR_ARGS(words.decision), status, ORBGATE_STR_ARGS(words.reason), ORBGATE_STR_ARGS(words.detail),
           ORBGATE_STR_ARGS(words.api), ORBGATE_STR_ARGS(words.route), ORBGATE_STR_ARGS(words.scope), orbs,
           ORBGATE_STR_ARGS(words.about));
}

static void say_packed(const OrbgateEngine *engine, size_t number, const char *form, bool by_set, uint64_t packed)
{
    OrbgateDecision decision;
    check(orbgate_engine_unpack(engine, packed, &decision) == ORBGATE_STATUS_OK, "a packed decision is none");
    say(engine, number, form, by_set, &decision);
}

static void put(Columns *of, size_t cell, const Row *row)
{
    OrbgateColumn *column = &of->columns[cell];
    char *data = realloc((char *)column->data, column->data_len + row->lens[cell] + 1);
    check(data != NULL, "out of memory");
    memcpy(data + column->data_len, row->cells[cell], row->lens[cell]);
    column->data = data;
    column->data_len += row->lens[cell];
    of->offsets[cell][of->len + 1] = (uint32_t)column->data_len;
}

/* A row in every way but a batch, with its scopes as text or interned. */
static void answer(const OrbgateEngine *engine, const Row *row, const OrbgateToken *token, bool by_set)
{
    const char *method = row->cells[METHOD], *target = row->cells[TARGET], *scope = row->cells[BY_SCOPE];
    size_t method_len = row->lens[METHOD], target_len = row->lens[TARGET], scope_len = row->lens[BY_SCOPE];
    OrbgateDecision decision;
    uint64_t packed;
    OrbgateStatus status = scope_len > 0
        ? orbgate_engine_decide_scope(engine, scope, scope_len, token, row->flags, &decision)
        : orbgate_engine_decide(engine, method, method_len, target, target_len, token, row->flags, &decision);
    check(status == ORBGATE_STATUS_OK, "a call failed");
    say(engine, row->number, "single", by_set, &decision);
    packed = scope_len > 0
        ? orbgate_engine_decide_scope_packed(engine, scope, scope_len, token->kind, token->scopes, token->scopes_len,
                                             token->scope_set, row->flags)
        : orbgate_engine_decide_packed(engine, method, method_len, target, target_len, token->kind, token->scopes,
                                       token->scopes_len, token->scope_set, row->flags);
    say_packed(engine, row->number, "packed", by_set, packed);
    if (row->lens[VERB] > 0) {
        OrbgateRouteId id;
        check(orbgate_engine_find_route(engine, row->cells[VERB], row->lens[VERB], row->cells[TEMPLATE], row->lens[TEMPLATE],
                                        &id) == ORBGATE_STATUS_OK &&
                  orbgate_engine_decide_route(engine, id, token, row->flags, &decision) == ORBGATE_STATUS_OK,
              "no decision by route");
        say(engine, row->number, "route", by_set, &decision);
        packed = orbgate_engine_decide_route_packed(engine, id.high, id.low, token->kind, token->scopes, token->scopes_len,
                                                    token->scope_set, row->flags);
        say_packed(engine, row->number, "route_packed", by_set, packed);
    }
}

static void answer_batch(const OrbgateEngine *engine, const Columns *of, bool by_set)
{
    OrbgateBatch batch = orbgate_batch_init();
    batch.len = of->len;
    batch.flags = ORBGATE_PACK_ABOUT;
    batch.method = of->columns[METHOD];
    batch.target = of->columns[TARGET];
    batch.kinds = of->kinds;
    batch.allow_bonus_orbs = of->bonus;
    if (by_set) {
        batch.scope_sets = of->sets;
    } else {
        batch.scopes = of->columns[SCOPES];
    }
    OrbgateDecision *decisions = room(of->len, sizeof *decisions);
    uint64_t *packed = room(of->len, sizeof *packed);
    check(orbgate_engine_decide_batch(engine, &batch, decisions, of->len) == ORBGATE_STATUS_OK &&
              orbgate_engine_decide_batch_packed(engine, &batch, packed, of->len) == ORBGATE_STATUS_OK,
          "a batch failed");
    for (size_t at = 0; at < of->len; at++) {
        say(engine, of->rows[at]->number, "batch", by_set, &decisions[at]);
        say_packed(engine, of->rows[at]->number, "batch_packed", by_set, packed[at]);
    }
    free(decisions);
    free(packed);
}

static void run(const OrbgateEngine *engine, size_t count, size_t first)
{
    static const size_t cells[] = {METHOD, TARGET, SCOPES};
    Row *rows = room(count, sizeof *rows);
    Columns of = {.rows = room(count, sizeof *of.rows),
                  .kinds = room(count, 1),
                  .bonus = room(count, 1),
                  .sets = room(count, sizeof *of.sets)};
    for (size_t at = 0; at < 3; at++) {
        of.columns[cells[at]].offsets = of.offsets[cells[at]] = room(count, sizeof(uint32_t));
    }
    for (size_t at = 0; at < count; at++) {
        Row *row = &rows[at];
        row->number = first + at;
        read_row(engine, row);
        OrbgateToken by_text = row->token, by_set = row->token;
        by_text.scopes = row->cells[SCOPES];
        by_text.scopes_len = row->lens[SCOPES];
        by_set.scope_set = row->set;
        answer(engine, row, &by_text, false);
        answer(engine, row, &by_set, true);
        if (row->lens[BY_SCOPE] == 0) {
            for (size_t cell = 0; cell < 3; cell++) {
                put(&of, cells[cell], row);
            }
            of.kinds[of.len] = (uint8_t)row->token.kind;
            of.bonus[of.len] = (row->flags & ORBGATE_ALLOW_BONUS_ORBS) != 0;
            of.sets[of.len] = row->set;
            of.rows[of.len++] = row;
        }
    }
    answer_batch(engine, &of, false);
    answer_batch(engine, &of, true);
    for (size_t at = 0; at < count; at++) {
        free(rows[at].cells[0]);
        orbgate_scope_set_free(rows[at].set);
    }
    for (size_t at = 0; at < 3; at++) {
        free((char *)of.columns[cells[at]].data);
        free(of.offsets[cells[at]]);
    }
    free(of.rows);
    free(of.kinds);
    free(of.bonus);
    free(of.sets);
    free(rows);
}

int main(void)
{
    check(orbgate_check_abi(), "the library is older than its header");
    size_t first = 0;
    for (char *line; (line = next_line()) != NULL; free(line)) {
        char *file = NULL;
        size_t count = strtoul(line, &file, 10);
        file += *file == '\t';
        OrbgateEngine *engine = NULL;
        OrbgateStatus status = *file == '\0' ? orbgate_engine_external(&engine)
                                             : orbgate_engine_from_file(file, strlen(file), &engine, NULL);
        check(status == ORBGATE_STATUS_OK, file);
        run(engine, count, first);
        orbgate_engine_free(engine);
        first += count;
    }
    return 0;
}
