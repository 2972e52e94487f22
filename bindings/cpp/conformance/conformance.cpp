// Puts every row of policy/cases/ through the C++ interface: see policy/cases/README.md.
//
//   conformance CASES    prints every failed case, then `ran N cases`; exits 1 if a case failed
#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "orbgate.hpp"

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 16> columns = {
    "name",     "policy", "method", "target", "by_scope", "kind",  "scopes", "bonus",
    "decision", "status", "reason", "detail", "api",      "route", "scope",  "orbs"};
constexpr std::size_t first_answer = 8;

using Row = std::map<std::string_view, std::string>;

static std::vector<std::string> cut(const std::string &text, char at)
{
    std::vector<std::string> pieces(1);
    for (const char character : text) {
        if (character == at) {
            pieces.emplace_back();
        } else {
            pieces.back() += character;
        }
    }
    return pieces;
}

// `\xNN` is a byte and `\\` a backslash.
static std::string unescape(const std::string &cell)
{
    std::string text;
    for (std::size_t at = 0; at < cell.size(); at++) {
        if (cell[at] != '\\') {
            text += cell[at];
        } else if (cell.compare(at, 2, "\\\\") == 0) {
            text += '\\';
            at += 1;
        } else if (cell.compare(at, 2, "\\x") == 0 && at + 4 <= cell.size()) {
            text += static_cast<char>(std::stoi(cell.substr(at + 2, 2), nullptr, 16));
            at += 3;
        } else {
            throw std::runtime_error("bad escape in `" + cell + "`");
        }
    }
    return text;
}

static std::string orbs(const orbgate::Decision &decision)
{
    const auto charge = decision.charge();
    if (!charge) {
        return "";
    }
    if (!charge->consumes) {
        return charge->amount == 0u && !charge->bonus_allowed ? "free" : "free with an amount";
    }
    return (charge->amount ? std::to_string(*charge->amount) : "unstated") + (charge->bonus_allowed ? " bonus" : "");
}

static std::array<std::string, 8> answer(const orbgate::Engine &engine, const orbgate::Decision &decision)
{
    const auto words = engine.words(decision).value();
    const auto text = [](const std::optional<std::string_view> &word) { return std::string(word.value_or("")); };
    return {std::string(words.decision),
            decision ? "" : std::to_string(decision.http_status().value()),
            std::string(words.reason),
            text(words.detail),
            text(words.api),
            text(words.route),
            text(words.scope),
            orbs(decision)};
}

static orbgate::Decision ask(const orbgate::Engine &engine, const Row &row, const orbgate::Token &token)
{
    const auto bonus = row.at("bonus") == "yes" ? orbgate::BonusOrbs::allow : orbgate::BonusOrbs::refuse;
    if (!row.at("by_scope").empty()) {
        return engine.decide_scope(unescape(row.at("by_scope")), token, bonus);
    }
    return engine.decide(unescape(row.at("method")), unescape(row.at("target")), token, bonus);
}

// The answers of a row with its scopes as text, and interned.
static std::array<std::array<std::string, 8>, 2> answers(const orbgate::Engine &engine, const Row &row)
{
    const auto scopes = unescape(row.at("scopes"));
    const auto set = engine.scopes(scopes).value();
    const bool none = row.at("kind").empty();
    const auto kind = orbgate::token_kind(row.at("kind"));
    const auto by_text = none ? orbgate::Token::none() : orbgate::Token(kind, scopes);
    const auto by_set = none ? orbgate::Token::none() : orbgate::Token(kind, set);
    return {answer(engine, ask(engine, row, by_text)), answer(engine, ask(engine, row, by_set))};
}

// What a row's requests are about: the route that they are decided by when their token is some user's.
static bool are_about(const orbgate::Engine &engine, const Row &row)
{
    if (!row.at("by_scope").empty()) {
        return engine.words(ask(engine, row, orbgate::Token::none())).value().about == std::nullopt;
    }
    const auto named = engine.words(ask(engine, row, orbgate::Token(orbgate::TokenKind::user, ""))).value();
    const auto without = engine.words(ask(engine, row, orbgate::Token::none())).value();
    const auto about = named.scope ? named.route.value_or("") : "";
    return named.about.value_or("") == about && without.about.value_or("") == about;
}

// The name, which no file has, of the engine that is compiled into the library.
static const std::string compiled_in = "compiled in";

struct Runner {
    fs::path cases;
    std::map<std::string, orbgate::Engine> engines = {};
    std::size_t ran = 0, failed = 0;

    const orbgate::Engine &engine(const std::string &name)
    {
        const auto found = engines.find(name);
        if (found != engines.end()) {
            return found->second;
        }
        if (name == compiled_in) {
            return engines.emplace(name, orbgate::Engine::external().value()).first->second;
        }
        const auto file = name == "external" ? cases / ".." / "external.yaml" : cases / "policies" / (name + ".yaml");
        return engines.emplace(name, orbgate::Engine::from_file(file.string()).value()).first->second;
    }

    void run(const std::string &position, const Row &row, const orbgate::Engine &engine)
    {
        bool wrong = !are_about(engine, row);
        if (wrong) {
            std::cout << position << ": " << row.at("name") << ": it is about another route\n";
        }
        for (const auto &found : answers(engine, row)) {
            for (std::size_t at = 0; at < found.size(); at++) {
                const auto column = columns[first_answer + at];
                if (found[at] != row.at(column)) {
                    std::cout << position << ": " << row.at("name") << ": " << column << " is `" << found[at]
                              << "`, not `" << row.at(column) << "`\n";
                    wrong = true;
                }
            }
        }
        ran += 1;
        failed += wrong ? 1 : 0;
    }

    void run_file(const fs::path &path)
    {
        std::ifstream file(path, std::ios::binary);
        const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
        const auto lines = cut(text, '\n');
        bool header = false;
        std::set<std::string> names;
        for (std::size_t at = 0; at < lines.size(); at++) {
            const auto position = path.filename().string() + ":" + std::to_string(at + 1);
            if (lines[at].empty() || (!header && lines[at][0] == '#')) {
                continue;
            }
            const auto cells = cut(lines[at], '\t');
            if (cells.size() != columns.size()) {
                throw std::runtime_error(position + ": not 16 cells");
            }
            if (!header) {
                if (!std::equal(cells.begin(), cells.end(), columns.begin())) {
                    throw std::runtime_error(position + ": not the header row");
                }
                header = true;
                continue;
            }
            Row row;
            for (std::size_t column = 0; column < columns.size(); column++) {
                row[columns[column]] = cells[column];
            }
            if (!names.insert(row["name"]).second) {
                throw std::runtime_error(position + ": the name is taken");
            }
            run(position, row, engine(row["policy"]));
            if (row["policy"] == "external") {
                run(position, row, engine(compiled_in));
            }
        }
    }
};

int main(int count, char **arguments)
{
    if (count != 2) {
        std::cerr << "usage: conformance CASES\n";
        return 2;
    }
    try {
        Runner runner{arguments[1]};
        std::vector<fs::path> files;
        for (const auto &entry : fs::directory_iterator(runner.cases)) {
            if (entry.path().extension() == ".tsv") {
                files.push_back(entry.path());
            }
        }
        std::sort(files.begin(), files.end());
        for (const auto &file : files) {
            runner.run_file(file);
        }
        if (runner.failed > 0) {
            std::cout << runner.failed << " failed\n";
        }
        std::cout << "ran " << runner.ran << " cases\n";
        return runner.failed > 0 || runner.ran == 0 ? 1 : 0;
    } catch (const std::exception &error) {
        std::cerr << "conformance: " << error.what() << "\n";
        return 2;
    }
}
