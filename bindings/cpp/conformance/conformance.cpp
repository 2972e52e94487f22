// Answers the requests of policy/cases/run.py with the C++ interface.
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "orbgate.hpp"

struct Row {
    std::string method, target, by_scope, scopes, kind, bonus, verb, path_template;
};

static std::string cell(std::istream &from, char end)
{
    std::string text;
    std::getline(from, text, end);
    return text;
}

static std::string bytes(const std::string &digits)
{
    std::string text;
    for (std::size_t at = 0; at < digits.size(); at += 2) {
        text += static_cast<char>(std::stoi(digits.substr(at, 2), nullptr, 16));
    }
    return text;
}

static void say(const orbgate::Engine &engine, std::size_t number, const std::string &form,
                const orbgate::Decision &decision)
{
    const auto words = engine.words(decision).value();
    std::cout << number << '\t' << form << '\t' << words.decision << '\t'
              << (decision ? "" : std::to_string(decision.http_status().value())) << '\t' << words.reason;
    for (const auto &word : {words.detail, words.api, words.route, words.scope}) {
        std::cout << '\t' << word.value_or("");
    }
    std::cout << '\t';
    if (const auto charge = decision.charge()) {
        std::cout << std::boolalpha << charge->consumes << ' '
                  << (charge->amount ? std::to_string(*charge->amount) : "null") << ' ' << charge->bonus_allowed;
    }
    std::cout << '\t' << words.about.value_or("") << '\n';
}

// One by one and in a batch, with scopes as text or interned.
static void answer(const orbgate::Engine &engine, const std::vector<Row> &rows, std::size_t first, const std::string &way)
{
    orbgate::Batch batch;
    std::vector<std::size_t> numbers;
    for (std::size_t at = 0; at < rows.size(); at++) {
        const Row &row = rows[at];
        const auto set = engine.scopes(row.scopes).value();
        const auto kind = orbgate::token_kind(row.kind);
        const auto by_scopes = way.empty() ? orbgate::Token(kind, row.scopes) : orbgate::Token(kind, set);
        const auto token = row.kind.empty() ? orbgate::Token::none() : by_scopes;
        const auto bonus = row.bonus == "yes" ? orbgate::BonusOrbs::allow : orbgate::BonusOrbs::refuse;
        if (!row.by_scope.empty()) {
            say(engine, first + at, "single" + way, engine.decide_scope(row.by_scope, token, bonus));
            continue;
        }
        say(engine, first + at, "single" + way, engine.decide(row.method, row.target, token, bonus));
        batch.add(row.method, row.target, token, bonus);
        numbers.push_back(first + at);
        if (!row.verb.empty()) {
            const auto route = engine.find_route(row.verb, row.path_template).value();
            say(engine, first + at, "route" + way, engine.decide_route(route, token, bonus));
        }
    }
    const auto decisions = engine.decide(batch).value();
    for (std::size_t at = 0; at < decisions.size(); at++) {
        say(engine, numbers[at], "batch" + way, decisions[at]);
    }
}

int main()
{
    std::size_t first = 0;
    while (std::cin.peek() != EOF) {
        std::vector<Row> rows(std::stoul(cell(std::cin, '\t')));
        const auto file = cell(std::cin, '\n');
        for (Row &row : rows) {
            std::istringstream line(cell(std::cin, '\n'));
            for (auto *text : {&row.method, &row.target, &row.by_scope, &row.scopes}) {
                *text = bytes(cell(line, '\t'));
            }
            for (auto *text : {&row.kind, &row.bonus, &row.verb, &row.path_template}) {
                *text = cell(line, '\t');
            }
        }
        const auto engine = file.empty() ? orbgate::Engine::external().value() : orbgate::Engine::from_file(file).value();
        answer(engine, rows, first, "");
        answer(engine, rows, first, " set");
        first += rows.size();
    }
}
