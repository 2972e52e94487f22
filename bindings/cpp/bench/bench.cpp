// What a decision takes from C++: see `cargo xtask bench --bindings`.
//
//   bench FILE FOLDER    answers the requests of the file, METHOD TAB TARGET TAB SCOPES, all of which must be allowed, and the
//                        questions of the folder; prints the nanoseconds of a call, of a decision in batches of 256, of an empty
//                        call, and of `explain` and `reach`
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <deque>
#include <fstream>
#include <iterator>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include <orbgate_questions.hpp>

#include "../tests/json.hpp"

namespace {

constexpr int rounds = 25, repeats = 200;
constexpr std::size_t most = 256;

struct Request {
    std::string method, target;
    orbgate::Token token;
};

struct Requests {
    // One set for each different text, as a server interns a token's scopes when it first sees it.
    std::map<std::string, orbgate::ScopeSet> sets;
    std::deque<Request> all;
    std::vector<orbgate::Batch> batches;
};

Requests read(const orbgate::Engine &engine, const char *path)
{
    Requests requests;
    std::ifstream file(path);
    std::string method, target, scopes;
    while (std::getline(file, method, '\t') && std::getline(file, target, '\t') && std::getline(file, scopes)) {
        auto set = requests.sets.find(scopes);
        if (set == requests.sets.end()) {
            set = requests.sets.emplace(scopes, engine.scopes(scopes).value()).first;
        }
        const orbgate::Token token(orbgate::TokenKind::user, set->second);
        if (requests.all.size() % most == 0) {
            requests.batches.emplace_back();
        }
        requests.batches.back().add(method, target, token);
        requests.all.push_back({method, target, token});
    }
    return requests;
}

template <class Pass>
void measure(const char *name, std::size_t count, const Pass &pass)
{
    double best = 1e300;
    for (int round = 0; round < rounds; round++) {
        const auto start = std::chrono::steady_clock::now();
        const std::size_t right = pass();
        const std::chrono::duration<double, std::nano> taken = std::chrono::steady_clock::now() - start;
        best = std::min(best, taken.count() / static_cast<double>(count));
        if (right != count) {
            throw std::runtime_error("a request was not allowed");
        }
    }
    std::printf("%s %.2f\n", name, best);
}

// A file of the folder.
std::string text(const std::string &path)
{
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

// The least that an answer takes until it is there.
template <class Ask, class IsRight>
void least(const std::string &name, const Ask &ask, const IsRight &is_right)
{
    double best = 1e300;
    for (int times = 0; times < repeats; times++) {
        const auto start = std::chrono::steady_clock::now();
        const auto answer = ask();
        const std::chrono::duration<double, std::nano> taken = std::chrono::steady_clock::now() - start;
        best = std::min(best, taken.count());
        if (!is_right(answer.value())) {
            throw std::runtime_error("another answer");
        }
    }
    std::printf("%s %.0f\n", name.c_str(), best);
}

// Asks a question with types, and as JSON, and compares each answer.
template <class Arguments, class Answer>
void ask(const orbgate::Engine &engine, const std::string &folder, const std::string &question,
         orbgate::Result<Answer> (*typed)(const orbgate::Engine &, const Arguments &))
{
    const std::string given = text(folder + "/" + question + ".json"), expected = text(folder + "/" + question + ".answer.json");
    const auto arguments = from_json<Arguments>(given);
    for (int times = 0; times < 2; times++) { // the second time, after what the first has allocated
        const auto answer = typed(engine, arguments).value();
        if (orbgate::questions::to_json(answer) != expected) {
            throw std::runtime_error("another answer");
        }
    }
    // One after the other: what one allocates and frees changes how long the other waits for memory.
    least(
        question, [&] { return typed(engine, arguments); }, [&](const Answer &answer) { return answer.policy == engine.digest(); });
    least(
        question + "-json", [&] { return engine.ask(question, given); }, [&](const std::string &json) { return json == expected; });
}

} // namespace

int main(int count, char **arguments)
{
    if (count != 3) {
        std::fputs("usage: bench FILE FOLDER\n", stderr);
        return 2;
    }
    const auto engine = orbgate::Engine::external().value();
    const Requests requests = read(engine, arguments[1]);
    const std::size_t all = requests.all.size();
    measure("single", all, [&] {
        std::size_t allowed = 0;
        for (const Request &request : requests.all) {
            allowed += engine.decide(request.method, request.target, request.token).is_allow();
        }
        return allowed;
    });
    measure("batch", all, [&] {
        std::size_t allowed = 0;
        for (const orbgate::Batch &batch : requests.batches) {
            const auto decisions = engine.decide(batch).value();
            allowed += static_cast<std::size_t>(
                std::count_if(decisions.begin(), decisions.end(), [](const auto &one) { return one.is_allow(); }));
        }
        return allowed;
    });
    measure("empty", all, [&] {
        std::size_t right = 0;
        for (std::size_t at = 0; at < all; at++) {
            right += orbgate_abi_version() == ORBGATE_ABI_VERSION;
        }
        return right;
    });
    const std::string folder = arguments[2];
    const auto wide = orbgate::Engine::from_file(folder + "/policy.yaml").value();
    ask(wide, folder, "explain", orbgate::questions::explain);
    ask(wide, folder, "reach", orbgate::questions::reach);
    return 0;
}
