/* A table over the Arrow C data interface, laid out by hand as any Arrow library would: its decisions are those of
   single calls. */
#include "test.h"

enum { ROWS = 5, START = 2, CHILDREN = 5 };

/* Two rows more at the start, which the table's offset leaves out. */
static const char *const METHODS[] = {"X", "X", "POST", "GET", "GET", "get", NULL};
static const char *const TARGETS[] = {"X", "X", "/api/v1/external/voxies", "/api/v1/external/orbs",
                                      "/api/v1/external/store", "/nowhere", "/"};
static const char *const KINDS[] = {"user", "user", "user", "organisation", NULL, "user", "user"};
static const char *const SCOPES[] = {"x", "x", "read:orbs write:voxies", "read:orbs", "read:store", NULL, ""};
static const bool BONUS[] = {true, true, true, false, true, true, true};

/* What is left of a released schema's texts. */
static const char *const gone = (const char *)8;

static int released;

static void release_schema(struct ArrowSchema *schema)
{
    schema->release = NULL;
    released++;
}

static void release_array(struct ArrowArray *array)
{
    array->release = NULL;
    released++;
}

/* A column's memory. */
typedef struct {
    struct ArrowSchema schema;
    struct ArrowArray array;
    const void *buffers[3];
    uint8_t validity[1], bits[1];
    uint32_t offsets[START + ROWS + 1];
    uint64_t long_offsets[START + ROWS + 1];
    char data[256];
} Column;

static void begin(Column *column, const char *name, const char *format, int64_t buffers)
{
    memset(column, 0, sizeof *column);
    column->schema.name = name;
    column->schema.format = format;
    column->schema.release = release_schema;
    column->array.length = START + ROWS;
    column->array.n_buffers = buffers;
    column->array.buffers = column->buffers;
    column->array.release = release_array;
}

static void texts(Column *column, const char *name, const char *const *rows, bool large)
{
    begin(column, name, large ? "U" : "u", 3);
    size_t end = 0;
    for (int row = 0; row < START + ROWS; row++) {
        const char *text = rows[row];
        column->array.null_count += text == NULL;
        column->validity[0] |= (uint8_t)((text != NULL) << row);
        size_t len = text == NULL ? 0 : strlen(text);
        if (len > 0) {
            memcpy(column->data + end, text, len);
        }
        end += len;
        column->offsets[row + 1] = (uint32_t)end;
        column->long_offsets[row + 1] = end;
    }
    column->buffers[0] = column->array.null_count > 0 ? column->validity : NULL;
    column->buffers[1] = large ? (const void *)column->long_offsets : column->offsets;
    column->buffers[2] = column->data;
}

static void booleans(Column *column, const char *name, const bool *rows)
{
    begin(column, name, "b", 2);
    for (int row = 0; row < START + ROWS; row++) {
        column->bits[0] |= (uint8_t)(rows[row] << row);
    }
    column->buffers[1] = column->bits;
}

/* What the row would be answered alone; all zeros where it is null. */
static OrbgateDecision alone(const OrbgateEngine *engine, int row)
{
    OrbgateDecision decision;
    memset(&decision, 0, sizeof decision);
    if (METHODS[row] != NULL && TARGETS[row] != NULL) {
        OrbgateToken token = user(SCOPES[row] == NULL ? "" : SCOPES[row]);
        if (KINDS[row] != NULL) {
            CHECK_OK(orbgate_token_kind_from_name(KINDS[row], strlen(KINDS[row]), &token.kind));
        }
        uint32_t flags = BONUS[row] ? ORBGATE_ALLOW_BONUS_ORBS : 0;
        CHECK_OK(orbgate_engine_decide(engine, METHODS[row], strlen(METHODS[row]), TARGETS[row], strlen(TARGETS[row]),
                                       KINDS[row] == NULL ? NULL : &token, flags, &decision));
    }
    return decision;
}

static void table(const OrbgateEngine *engine, bool large)
{
    Column columns[CHILDREN];
    texts(&columns[0], "scopes", SCOPES, large);
    texts(&columns[1], "target", TARGETS, large);
    texts(&columns[2], "method", METHODS, false);
    booleans(&columns[3], "allow_bonus_orbs", BONUS);
    texts(&columns[4], "kind", KINDS, large);
    struct ArrowSchema *schemas[CHILDREN];
    struct ArrowArray *arrays[CHILDREN];
    for (int at = 0; at < CHILDREN; at++) {
        schemas[at] = &columns[at].schema;
        arrays[at] = &columns[at].array;
    }
    const void *none[1] = {NULL};
    Column all;
    begin(&all, "", "+s", 1);
    all.array.buffers = none;
    all.schema.n_children = all.array.n_children = CHILDREN;
    all.schema.children = schemas;
    all.array.children = arrays;
    all.array.offset = START;
    all.array.length = ROWS;

    OrbgateDecision decisions[ROWS];
    CHECK_OK(orbgate_engine_decide_arrow(engine, &all.array, &all.schema, NULL, 0, decisions, ROWS));
    for (int row = 0; row < ROWS; row++) {
        OrbgateDecision expected = alone(engine, START + row);
        CHECK(memcmp(&decisions[row], &expected, sizeof expected) == 0);
    }
    CHECK(decisions[0].effect == ORBGATE_EFFECT_ALLOW && decisions[4].effect == ORBGATE_EFFECT_INVALID);
    CHECK(decisions[0].charge & ORBGATE_CHARGE_BONUS_ALLOWED);
    CHECK(!(decisions[1].charge & ORBGATE_CHARGE_BONUS_ALLOWED));
    CHECK(decisions[2].reason == ORBGATE_REASON_NO_TOKEN);

    /* One token for all, without the columns that say otherwise. */
    all.schema.n_children = all.array.n_children = 2;
    all.schema.children = schemas + 1;
    all.array.children = arrays + 1;
    OrbgateToken token = user("read:orbs");
    CHECK_OK(orbgate_engine_decide_arrow(engine, &all.array, &all.schema, &token, 0, decisions, ROWS));
    CHECK(decisions[0].reason == ORBGATE_REASON_SCOPE_MISSING && decisions[1].effect == ORBGATE_EFFECT_ALLOW);

    /* A table that is already released, or whose texts are in a dictionary, is refused. */
    for (int at = 0; at < 2; at++) {
        struct ArrowSchema *schema = at == 0 ? &all.schema : &columns[1].schema, whole = *schema;
        schema->release = NULL;
        schema->format = schema->name = gone;
        CHECK(orbgate_engine_decide_arrow(engine, &all.array, &all.schema, &token, 0, decisions, ROWS) ==
              ORBGATE_STATUS_INVALID_ARGUMENT);
        *schema = whole;
        schema->dictionary = &columns[0].schema;
        CHECK(orbgate_engine_decide_arrow(engine, &all.array, &all.schema, &token, 0, decisions, ROWS) ==
              ORBGATE_STATUS_INVALID_ARGUMENT);
        *schema = whole;
    }
    for (int bits = 54; bits < 63; bits++) {
        all.array.length = columns[1].array.length = columns[2].array.length = INT64_C(1) << bits;
        CHECK(orbgate_engine_decide_arrow(engine, &all.array, &all.schema, &token, 0, decisions, SIZE_MAX) ==
              ORBGATE_STATUS_INVALID_ARGUMENT);
    }
    all.array.length = ROWS;
    columns[1].array.length = columns[2].array.length = START + ROWS;

    /* It was only read: its owner releases it. */
    CHECK(all.array.release != NULL && columns[1].array.release != NULL && released == 0);
    all.array.release(&all.array);
    CHECK(orbgate_engine_decide_arrow(engine, &all.array, &all.schema, &token, 0, decisions, ROWS) ==
          ORBGATE_STATUS_INVALID_ARGUMENT);
    released = 0;
}

int main(void)
{
    OrbgateEngine *engine = external_engine();
    table(engine, false);
    table(engine, true);
    orbgate_engine_free(engine);
    return 0;
}
