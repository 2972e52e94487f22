// The rows of policy/cases/questions.jsonl: each answer is the command's, as JSON, and as a typed value that is written as JSON again.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

#include "json.hpp"
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
    const auto answer = ask(engine, from_json<Arguments>(json));
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
    check(count == 40, "there are 40 rows");
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

// A field of an answer: its number, its length, its bytes.
static std::string field(const std::string &name, const std::string &bytes)
{
    const auto &names = questions::detail::field_names;
    const auto number = static_cast<std::size_t>(std::find(std::begin(names), std::end(names), name) - std::begin(names));
    const auto size = bytes.size();
    const std::string head = {static_cast<char>(number), 0, 0, 0, static_cast<char>(size & 255), static_cast<char>(size >> 8), 0, 0};
    return head + bytes;
}

static void fields_are_read_whole_or_not_at_all()
{
    const std::string large("\xff\xff\xff\xff\xff\xff\xff\xff", 8), none(8, '\0');
    const std::string orbs = field("orbs", field("consumes", "") + field("amount", none));
    const std::string location = field("location", field("line", large) + field("later", "x"));
    const std::string lists = field("scopes", field("scopes", "a") + field("scopes", "b")) + field("scopes", field("scopes", "c"));
    const std::string route = field("route", "") + field("scope", "a") + lists + orbs + location;
    const std::string text = field("policy", "\xc3\xa4") + field("files", "of another answer") + field("allowed", route) + field("allowed", "");
    questions::Reach reach;
    check(questions::detail::Reader::get(text, reach), "an answer");
    const std::string first = "{\"route\":\"\",\"scope\":\"a\",\"scopes\":[[\"a\",\"b\"],[\"c\"]],\"orbs\":{\"consumes\":true,\"amount\":0},"
                              "\"reason\":\"\",\"location\":{\"line\":18446744073709551615,\"column\":0}}";
    check(reach.policy == "\xc3\xa4" && reach.allowed.size() == 2 && !reach.allowed[1].orbs, "what it has and what it lacks");
    check(questions::to_json(reach.allowed[0]) == first, questions::to_json(reach.allowed[0]));
    int ends = 0;
    for (std::size_t size = 0; size < text.size(); size++) {
        questions::Reach part;
        ends += questions::detail::Reader::get(std::string_view(text).substr(0, size), part) ? 1 : 0;
    }
    check(ends == 4, "only whole fields are read");
    for (const std::string &bad : {field("token", "kind"), field("allowed", field("orbs", field("consumes", "1"))),
                                   field("allowed", field("location", field("line", "1"))), field("allowed", field("scopes", "a")),
                                   field("policy", "") + field("policy", "a"), field("allowed", field("orbs", "") + field("orbs", ""))}) {
        questions::Reach part;
        check(!questions::detail::Reader::get(bad, part), "malformed");
    }
    const questions::RequestToken token{"\x01\xf0\x9f\x98\x80\n\"\\", "a"};
    check(questions::to_json(token) == "{\"kind\":\"\\u0001\xf0\x9f\x98\x80\\n\\\"\\\\\",\"scopes\":\"a\"}", "written");
}

int main()
{
    answers_are_the_commands();
    errors_are_the_engines();
    fields_are_read_whole_or_not_at_all();
    return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
