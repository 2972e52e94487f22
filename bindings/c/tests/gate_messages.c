/*
 * Messages: answers of the library of any release, right and wrong ones, and questions that find no room. No gate is asked. It is also
 * compiled as C++.
 */
#include "gate_fields.h"

/* The digits of a cell as bytes in memory of their own, so that a read behind their end is found. */
static char *bytes_of(const char *digits, size_t count)
{
    char *bytes = (char *)malloc(count / 2 + 1);
    CHECK(bytes != NULL);
    for (size_t at = 0; at < count / 2; at++) {
        unsigned byte = 0;
        CHECK(sscanf(digits + 2 * at, "%2x", &byte) == 1);
        bytes[at] = (char)(unsigned char)byte;
    }
    return (char *)realloc(bytes, count / 2 + (count == 0));
}

/* Every row of a file of bytes, with the answer that they are. */
static void answers_are_read_or_refused(void)
{
    FILE *file = fopen("crates/orbgate-capi/testdata/answers.tsv", "rb");
    char line[4096];
    int rows = 0;
    CHECK(file != NULL);
    while (fgets(line, sizeof line, file) != NULL) {
        if (line[0] == '#') {
            continue;
        }
        char *digits = strchr(line, '\t');
        CHECK(digits != NULL);
        const size_t count = strcspn(++digits, "\t");
        char *data = bytes_of(digits, count), *expected = digits + count + 1;
        unsigned kind = 0, http_status = 0;
        const bool is_right = sscanf(expected, "%u\t%u", &kind, &http_status) == 2;
        CHECK(is_right || strcmp(expected, "refused\t0\n") == 0);
        OrbgateMessage answer;
        memset(&answer, 0xa5, sizeof answer);
        if (orbgate_message_read(&answer, data, count / 2) != is_right || answer.kind != kind
            || orbgate_answer_get_http_status(&answer) != http_status || (!is_right && !is_none(&answer))) {
            fprintf(stderr, "%s", line);
            exit(1);
        }
        free(data);
        rows++;
    }
    CHECK(rows >= 50);
    fclose(file);
    OrbgateMessage answer;
    for (unsigned number = 0; number < 128; number++) {
        const char whole[] = {(char)number, 0, 0, 0, 0, 0, 0, 0};
        const bool is_known = (number >= ORBGATE_MESSAGE_DONE && number <= ORBGATE_MESSAGE_READ_BODY)
            || number == ORBGATE_MESSAGE_LOADED
            || (number >= ORBGATE_MESSAGE_CHARGE && number <= ORBGATE_MESSAGE_RESPONDED)
            || number == ORBGATE_MESSAGE_VISIBLE_NAMES || number == ORBGATE_MESSAGE_LEDGER_AT;
        CHECK(orbgate_message_read(&answer, whole, sizeof whole) == is_known && !orbgate_answer_is_allow(&answer));
    }
    CHECK(!orbgate_message_read(NULL, "", 0));
    CHECK(!orbgate_message_read(&answer, NULL, 0) && is_none(&answer) && !orbgate_message_read(&answer, NULL, 8));
}

/* Only a whole answer permits anything. */
static void only_an_allow_is_one(void)
{
    static const char allow[] = "\x42\0\0\0\x10\0\0\0\x01\0\0\x80\x08\0\0\0\x02\0\0\0\0\0\0";
    static const char with_status[] = "\x42\0\0\0\x20\0\0\0\x01\0\0\x80\x08\0\0\0\x02\0\0\0\0\0\0\0\x02\0\0\x80\x08\0\0\0\x93\x01\0\0\0\0\0";
    OrbgateMessage answer;
    CHECK(orbgate_message_read(&answer, allow, sizeof allow) && orbgate_answer_is_allow(&answer));
    answer.kind = ORBGATE_MESSAGE_WAIT;
    CHECK(!orbgate_answer_is_allow(&answer) && !orbgate_answer_is_allow(NULL));
    CHECK(orbgate_message_read(&answer, with_status, sizeof with_status) && !orbgate_answer_is_allow(&answer));
    CHECK(!orbgate_message_read(&answer, allow, sizeof allow - 1) && !orbgate_answer_is_allow(&answer));
}

static void ask(OrbgateQuestion *to)
{
    orbgate_ask_begin(to);
    orbgate_ask_set_method(to, ORBGATE_TEXT("GET"));
    orbgate_ask_add_authorization(to, NULL, 0); /* an item of a list, even if it is empty */
    orbgate_ask_set_holds_thread(to, true);
    orbgate_ask_set_unix_ms(to, UINT64_MAX);
}

/* A room of any size: what doesn't fit isn't written. */
static void a_room_is_never_left(void)
{
    OrbgateQuestion grown = orbgate_question_init();
    ask(&grown);
    CHECK(grown.number == 3 && grown.len == 8 + 8 + 3 + 8 + 8 + 16);
    for (size_t size = 0; size < grown.len + 8; size++) {
        char *room = (char *)malloc(size + (size == 0));
        OrbgateQuestion question = orbgate_question_in(room, size, NULL, 0);
        ask(&question);
        CHECK(size < grown.len ? question.number == 0 : is_written(&question, (const unsigned char *)grown.data, grown.len));
        orbgate_question_free(&question); /* which is the room's */
        free(room);
    }
    OrbgateQuestion none = orbgate_question_in(NULL, 99, NULL, 99);
    ask(&none);
    CHECK(none.number == 0);
    orbgate_question_free(&grown);
    orbgate_question_free(&grown);
    orbgate_question_free(NULL);
    ask(&grown);
    CHECK(grown.number == 3);
    orbgate_question_free(&grown);
}

/* No message is larger than the library reads; the next one is fine again. */
static void a_question_has_a_largest_size(void)
{
    OrbgateQuestion question = orbgate_question_init();
    char *much = (char *)calloc(ORBGATE_MAX_MESSAGE_BYTES, 1);
    CHECK(much != NULL);
    orbgate_sources_begin(&question);
    orbgate_sources_set_tokens(&question, much, ORBGATE_MAX_MESSAGE_BYTES - 16);
    CHECK(question.number == 1 && question.len == ORBGATE_MAX_MESSAGE_BYTES);
    orbgate_sources_set_tokens(&question, much, 1);
    CHECK(question.number == 0);
    const size_t lengths[] = {ORBGATE_MAX_MESSAGE_BYTES - 15, ORBGATE_MAX_MESSAGE_BYTES, UINT32_MAX, SIZE_MAX - 7, SIZE_MAX};
    for (size_t at = 0; at < sizeof lengths / sizeof *lengths; at++) {
        orbgate_sources_begin(&question);
        orbgate_sources_set_tokens(&question, much, lengths[at]);
        CHECK(question.number == 0);
    }
    orbgate_ask_begin(&question);
    for (int at = 0; at < 10000; at++) {
        orbgate_ask_add_header_name(&question, ORBGATE_TEXT("x-name"));
    }
    CHECK(question.number == 3 && question.len == 8 + 10000 * (8 + 6));
    ask(&question);
    CHECK(question.number == 3 && question.len == 51);
    free(much);
    orbgate_question_free(&question);
}

/* An empty secret isn't an absent one, which the library reads itself. */
static void null_is_absent(void)
{
    OrbgateQuestion question = orbgate_question_init();
    orbgate_make_begin(&question);
    orbgate_make_add_secret(&question, NULL, 0);
    CHECK(question.number == 2 && question.len == 8 + 8);
    orbgate_make_add_secret(&question, "", 0);
    CHECK(question.number == 2 && question.len == 8 + 8 + 16);
    orbgate_question_free(&question);
}

int main(void)
{
    answers_are_read_or_refused();
    only_an_allow_is_one();
    a_room_is_never_left();
    a_question_has_a_largest_size();
    null_is_absent();
    return 0;
}
