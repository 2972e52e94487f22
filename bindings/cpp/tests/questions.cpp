// The rows of policy/cases/questions.jsonl: each answer is the command's, as JSON, and as a typed value that is written as JSON again.
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

#include "orbgate_questions.hpp"

namespace questions = orbgate::questions;

static int failures = 0;

static void check(bool is_right, const std::string &what)
{
    if (!is_right) {
        std::fprintf(stderr, "%s\n", what.c_str());
        failures++;
    }
}

// The JSON of a member. The fields of a row are in this order.
static std::string between(const std::string &row, const std::string &before, const std::string &after)
{
    const std::size_t start = row.find(before) + before.size();
    return row.substr(start, row.find(after, start) - start);
}

template <typename Arguments, typename Answer>
static std::string typed(const orbgate::Engine &engine, const std::string &json,
                         orbgate::Result<Answer> (*ask)(const orbgate::Engine &, const Arguments &))
{
    const auto arguments = questions::from_json<Arguments>(json);
    if (!arguments) {
        return "no arguments: " + json;
    }
    const auto answer = ask(engine, *arguments);
    return answer ? questions::to_json(*answer) : answer.error().message;
}

static std::string typed(const orbgate::Engine &engine, const std::string &question, const std::string &json)
{
    if (question == "check") {
        return typed(engine, json, questions::check);
    }
    if (question == "diff") {
        return typed(engine, json, questions::diff);
    }
    if (question == "explain") {
        return typed(engine, json, questions::explain);
    }
    if (question == "lint") {
        return typed(engine, json, questions::lint);
    }
    if (question == "needs") {
        return typed(engine, json, questions::needs);
    }
    if (question == "reach") {
        return typed(engine, json, questions::reach);
    }
    if (question == "table") {
        return typed(engine, json, questions::table);
    }
    if (question == "unused") {
        return typed(engine, json, questions::unused);
    }
    return typed(engine, json, questions::who);
}

static void answers_are_the_commands()
{
    std::ifstream rows("policy/cases/questions.jsonl");
    int count = 0;
    for (std::string row; std::getline(rows, row); count++) {
        const std::string question = between(row, "{\"question\":\"", "\"");
        const std::string arguments = between(row, "\"arguments\":", ",\"command\":");
        const std::size_t start = row.find(",\"answer\":") + 10;
        const std::string answer = row.substr(start, row.size() - start - 1);
        const bool is_named = row.find("\"engine\":\"") != std::string::npos;
        const auto engine = is_named ? orbgate::Engine::from_file("policy/cases/policies/" + between(row, "\"engine\":\"", "\"") + ".yaml")
                                     : orbgate::Engine::external();
        check(engine.has_value(), row);
        const auto json = engine->ask(question, arguments);
        check(json && *json == answer, row);
        const std::string written = typed(*engine, question, arguments);
        check(written == answer, written + "\n" + answer);
    }
    check(count == 38, "there are 38 rows");
}

static void errors_are_the_engines()
{
    const auto engine = orbgate::Engine::external();
    questions::DiffArguments arguments;
    arguments.policy = "orbgate: 2\n";
    const auto answer = questions::diff(*engine, arguments);
    check(!answer && answer.error().status == orbgate::Status::invalid_policy, "a policy with errors");
    check(!answer && answer.error().diagnostics.at(0).line == 1, "its location");
    check(questions::table(*engine).value().apis.size() == 2, "the table");
}

static void json_is_read_whole_or_not_at_all()
{
    const std::string text = "{\"kind\":\"\\u0001\\ud83d\\ude00\\n\\\"\\\\\\u20ac\\u00e9\",\"scopes\":\"a\",\"later\":[{\"x\":[1,-2.5e3,null]},\"\\u0041\"]}";
    const auto token = questions::from_json<questions::RequestToken>(text);
    check(token && token->kind == "\x01\xf0\x9f\x98\x80\n\"\\\xe2\x82\xac\xc3\xa9", "escapes");
    check(token && questions::to_json(*token) == "{\"kind\":\"\\u0001\xf0\x9f\x98\x80\\n\\\"\\\\\xe2\x82\xac\xc3\xa9\",\"scopes\":\"a\"}", "written");
    const auto named = questions::from_json<questions::RequestToken>("{\"scopes\":\"a\",\"k\\u0069nd\":\"b\"}");
    check(named && named->kind == "b" && named->scopes == "a", "an escape in a name");
    for (std::size_t size = 0; size < text.size(); size++) {
        check(!questions::from_json<questions::RequestToken>(text.substr(0, size)), "cut after " + std::to_string(size));
    }
    for (const char *bad : {"{\"kind\":1}", "{\"kind\":\"\\x\"}", "{\"kind\":\"\\u12\"}", "{\"kind\":\"\"}}", "[]", "{,}", "{\"kind\" \"\"}"}) {
        check(!questions::from_json<questions::RequestToken>(bad), bad);
    }
}

int main()
{
    answers_are_the_commands();
    errors_are_the_engines();
    json_is_read_whole_or_not_at_all();
    return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
