// The C++ interface as its users use it. Compiled with exceptions, and without them.
#include <cstdio>
#include <cstdlib>
#include <new>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "orbgate.hpp"

#define CHECK(...)                                                                      \
    do {                                                                                \
        if (!(__VA_ARGS__)) {                                                           \
            std::fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #__VA_ARGS__); \
            std::exit(1);                                                               \
        }                                                                               \
    } while (0)

using orbgate::Batch;
using orbgate::BonusOrbs;
using orbgate::Decision;
using orbgate::Engine;
using orbgate::Handle;
using orbgate::ScopeSet;
using orbgate::Token;

bool second_unit_allows(const Decision &decision);

#if defined(__cpp_exceptions)
// How many allocations of this thread succeed before the next one fails; below 0, all do.
static thread_local int allocations_left = -1;
// Whether any allocation can fail: valgrind replaces these allocators by its own, unless they are inlined.
static thread_local bool can_fail = false;

[[gnu::noinline]] void *operator new(std::size_t size)
{
    can_fail = true;
    if (allocations_left == 0) {
        throw std::bad_alloc();
    }
    allocations_left -= allocations_left > 0 ? 1 : 0;
    if (void *const memory = std::malloc(size == 0 ? 1 : size)) {
        return memory;
    }
    throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void *memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void *memory, std::size_t) noexcept { std::free(memory); }
#endif

static_assert(std::is_nothrow_move_constructible_v<Engine> && std::is_nothrow_move_assignable_v<Engine>);
static_assert(std::is_nothrow_move_constructible_v<Handle> && std::is_nothrow_move_assignable_v<ScopeSet>);
static_assert(!std::is_copy_constructible_v<Engine> && !std::is_copy_assignable_v<Engine>);
static_assert(!std::is_copy_constructible_v<ScopeSet> && !std::is_copy_constructible_v<Handle>);
static_assert(std::is_trivially_copyable_v<Decision> && std::is_standard_layout_v<Decision>);
static_assert(!std::is_constructible_v<Token, orbgate::TokenKind, ScopeSet &&>, "it would dangle");
static_assert(!std::is_constructible_v<Token, orbgate::TokenKind, std::string>, "it would dangle");
static_assert(std::is_constructible_v<Token, orbgate::TokenKind, const std::string &>);
static_assert(!std::is_constructible_v<orbgate::Text, std::nullptr_t>, "it would be read");
static_assert(std::is_same_v<decltype(std::declval<const orbgate::Result<Engine> &>().value()), const Engine &>);

constexpr std::string_view orbs = "/api/v1/external/orbs";
constexpr std::string_view shop = "orbgate: 1\nname: shop\napis:\n  shop:\n    base_path: /v1\n    scopes:\n"
                                  "      read:orders: { orbs: false, routes: [GET /orders] }\n"
                                  "      write:orders: { orbs: true, routes: [{ route: PUT /orders, orbs: 5 }] }\n";

static void decisions(const Engine &engine)
{
    const auto held = engine.decide("GET", orbs, Token::user("read:orbs"), BonusOrbs::allow);
    CHECK(held && held.is_allow() && held.reason() == orbgate::Reason::scope_held && !held.http_status());
    CHECK(held.charge()->consumes && !held.charge()->amount && held.charge()->bonus_allowed);
    CHECK(second_unit_allows(held));
    const auto words = engine.words(held).value();
    CHECK(words.decision == "allow" && words.scope == "read:orbs" && !words.detail);
    CHECK(words.policy == engine.digest());

    const auto missing = engine.decide("GET", orbs, Token::user("read:store"));
    CHECK(!missing && missing.http_status() == 403 && !missing.charge());
    CHECK(orbgate::name(missing.reason()) == "scope_missing");
    const auto none = engine.decide("GET", orbs, Token::none());
    CHECK(!none && none.http_status() == 401);
    const auto undeclared = engine.decide("PUT", orbs, Token::user("read:orbs"));
    CHECK(undeclared.http_status() == 405 && engine.declared_methods(undeclared) == "GET");
    CHECK(!engine.declared_methods(none) && !engine.declared_methods(held) && !engine.declared_methods(Decision()));
    const auto malformed = engine.decide("GET", std::string_view("/\0", 2), Token::none());
    CHECK(malformed.detail() == orbgate::Detail::byte && orbgate::name(malformed.detail()) == "byte");
    CHECK(!orbgate::explanation(malformed.detail()).empty() && !orbgate::explanation(malformed.reason()).empty());
    CHECK(!engine.decide("GET", orbs, Token(orbgate::token_kind("robot"), "read:orbs")));
    CHECK(!Decision() && Decision().http_status() == 403 && !engine.words(Decision()));
}

// A decision lists its alternatives, unless the call needs just the scope.
static void alternatives()
{
    using Scopes = std::vector<std::string_view>;
    const auto engine = Engine::from_yaml(
        "orbgate: 1\napis:\n  shop:\n    base_path: /v1\n    scopes:\n"
        "      read: { or: [root, b a], orbs: false, routes: [GET /, { route: GET /own, or: [] }, { route: GET /all, and: a }] }\n"
        "      a: { routes: [] }\n      b: { routes: [] }\n      root: { routes: [] }\n").value();
    const auto scopes = [&](const orbgate::Decision &decision) { return engine.words(decision).value().scopes; };
    CHECK(scopes(engine.decide("GET", "/v1", Token::user("root"))) == (Scopes{"read", "a b", "root"}));
    CHECK(scopes(engine.decide("GET", "/v1/all", Token::user("a"))) == Scopes{"read a"});
    CHECK(scopes(engine.decide("GET", "/v1/own", Token::user("a"))).empty());
    CHECK(scopes(engine.decide("PUT", "/v1", Token::user("a"))).empty());
    CHECK(scopes(engine.decide("GET", "/v1", Token::none())).empty());
    CHECK(scopes(engine.decide_scope("read", Token::user("a"))).empty());
}

static void routes_and_scopes(const Engine &engine)
{
    const auto set = engine.scopes("read:orders write:orders").value();
    const auto list = engine.scope_set({"read:orders", "write:orders"}).value();
    const auto route = engine.find_route("PUT", "/v1/orders").value();
    for (const auto *scopes : {&set, &list}) {
        const auto decision = engine.decide_route(route, Token::organisation(*scopes));
        CHECK(decision && decision.charge()->amount == 5u);
        CHECK(engine.decide_scope("read:orders", Token::user(*scopes)));
    }
    CHECK(!engine.find_route("PUT", "/orders"));
    const auto routes = engine.routes();
    CHECK(routes.size() == 2 && routes[1].number == 2 && routes[1].text == "PUT /v1/orders");
    CHECK(routes[1].id == route && routes[0].id != route && routes[0].method == "GET");
    CHECK(routes[1].path_template == "/v1/orders" && routes[1].scope == "write:orders" && routes[1].api == "shop");
    CHECK(routes[1].charge.consumes && routes[1].charge.amount == 5u && !routes[0].charge.consumes);
    CHECK(routes[1].scopes == std::vector<std::string_view>{"write:orders"});
    CHECK(routes[0].line == 7 && routes[0].column > 1 && routes[0].methods == "GET, PUT");
    CHECK(!engine.decide_route({}, Token::user(set)));
    CHECK(!engine.decide_scope("read:nothing", Token::user(set)));
    CHECK(engine.name() == "shop" && engine.ask("table", "{}").value().substr(0, 2) == "{\"");
    const auto unknown = engine.ask("why", "{}");
    CHECK(!unknown && unknown.error().status == orbgate::Status::not_found);
    CHECK(engine.ask("reach", "{}").error().message.find("`token`") != std::string::npos);
}

static std::string allowed(const Engine &engine, const Batch &batch)
{
    std::string allowed;
    for (const auto &decision : engine.decide(batch).value()) {
        allowed += decision.is_allow() ? '+' : '-';
    }
    return allowed;
}

// Each row has its own token, which outlives the texts that it was made of; a row without one is denied.
static void tokens_of_rows(const Engine &engine)
{
    Batch texts;
    texts.add("GET", "/v1/orders");
    {
        std::string scopes = "read:orders";
        texts.add("GET", "/v1/orders", Token::user(scopes));
        texts.add("PUT", "/v1/orders", Token::organisation("write:orders"), BonusOrbs::allow);
        scopes.assign(scopes.size(), 'x');
    }
    texts.add("GET", "/v1/orders");
    texts.add("GET", "/v1/orders", Token::user(""));
    texts.add("GET", "/v1/orders", Token::none());
    CHECK(texts.size() == 6 && texts.has_tokens() && allowed(engine, texts) == "-++---");
    const auto decisions = engine.decide(texts).value();
    CHECK(decisions[2].charge()->bonus_allowed && decisions[2].charge()->amount == 5u);
    CHECK(decisions[0].http_status() == 401 && decisions[4].http_status() == 403 && decisions[5].http_status() == 401);
    // No other token replaces theirs, or fills in for a missing one.
    CHECK(engine.decide(texts, Token::user("read:orders")).error().status == orbgate::Status::invalid_argument);

    Batch sets;
    {
        const auto reads = engine.scopes("read:orders").value(), writes = engine.scopes("write:orders").value();
        sets.add("GET", "/v1/orders", Token::user(reads));
        sets.add("PUT", "/v1/orders", Token::user(writes));
        sets.add("GET", "/v1/orders", Token::user(writes));
        sets.add("GET", "/v1/orders");
        sets.add("GET", "/v1/orders", Token::user(reads));
    }
    CHECK(allowed(engine, sets) == "++--+");
    const auto copy = sets;
    sets.clear();
    CHECK(allowed(engine, copy) == "++--+" && !sets.has_tokens() && allowed(engine, sets).empty());
    sets = copy;
    sets.add("GET", "/v1/orders", Token::user("read:orders"));
    CHECK(!engine.decide(sets) && engine.decide(sets).error().message.find("sets") != std::string::npos);

    // Without a token at all: no row is allowed.
    Batch plain;
    plain.add("GET", "/v1/orders");
    CHECK(allowed(engine, plain) == "-");
}

static void batches(const Engine &engine)
{
    Batch batch;
    CHECK(engine.decide(batch, Token::none()).value().empty());
    for (int at = 0; at < 300; at++) {
        batch.add(at % 2 == 0 ? "GET" : "PUT", "/v1/orders");
    }
    const auto decisions = engine.decide(batch, Token::user("read:orders"));
    CHECK(decisions && decisions->size() == 300 && batch.size() == 300);
    for (std::size_t at = 0; at < 300; at++) {
        CHECK((*decisions)[at].is_allow() == (at % 2 == 0));
    }
    batch.clear();
    CHECK(batch.size() == 0);
    tokens_of_rows(engine);
    for (const std::size_t len : {SIZE_MAX, SIZE_MAX / sizeof(Decision) / 4, std::size_t{1}}) {
        OrbgateBatch bad = orbgate_batch_init();
        bad.len = len;
        CHECK(engine.decide(bad).error().status == orbgate::Status::invalid_argument);
    }
}

#if defined(__cpp_exceptions)
// Whether it throws when this many more allocations succeed and the next one fails.
template <typename F>
static bool throws_after(int allocations, F run)
{
    allocations_left = allocations;
    bool threw = false;
    try {
        run();
    } catch (const std::bad_alloc &) {
        threw = true;
    }
    allocations_left = -1;
    return threw;
}

// Whichever allocation fails, a batch is as it was, and takes the next row.
static void without_memory(const Engine &engine)
{
    const std::string method(40, 'X'), target = "/v1/orders/" + std::string(40, 'x');
    const auto allows = [&engine](const Batch &batch) {
        std::string allows;
        for (const auto &decision : engine.decide(batch, Token::user("read:orders")).value()) {
            allows += decision.is_allow() ? '+' : '-';
        }
        return allows;
    };
    Batch other;
    other.add("GET", "/v1/orders");
    other.add(method, target);
    int failures = 0;
    for (std::size_t rows = 0; rows <= 4; rows++) {
        bool threw = true;
        for (int allocations = 0; threw; allocations++) {
            Batch batch;
            for (std::size_t row = 0; row < rows; row++) {
                batch.add("GET", "/v1/orders");
            }
            threw = throws_after(allocations, [&] { batch.add(method, target); });
            failures += threw ? 1 : 0;
            if (threw) {
                CHECK(batch.size() == rows && allows(batch) == std::string(rows, '+'));
                batch.add("GET", "/v1/orders");
                CHECK(allows(batch) == std::string(rows + 1, '+'));
            }
        }
    }
    // The same with tokens; the first row has none.
    const std::string scopes = "read:orders " + std::string(40, 'x');
    const auto set = engine.scopes(scopes).value();
    for (const auto &token : {Token::user(scopes), Token::user(set)}) {
        for (std::size_t rows = 0; rows <= 4; rows++) {
            bool threw = true;
            for (int allocations = 0; threw; allocations++) {
                Batch batch;
                batch.add("GET", "/v1/orders");
                for (std::size_t row = 0; row < rows; row++) {
                    batch.add("GET", "/v1/orders", token);
                }
                threw = throws_after(allocations, [&] { batch.add(method, target, token); });
                const std::string before = rows == 0 ? "-" : "-" + std::string(rows, '+');
                if (threw) {
                    CHECK(batch.size() == rows + 1 && batch.has_tokens() == (rows > 0));
                    CHECK(rows > 0 || allows(batch) == "+");
                    CHECK(allowed(engine, batch) == before);
                    batch.add("GET", "/v1/orders");
                    batch.add("GET", "/v1/orders", token);
                    CHECK(allowed(engine, batch) == before + "-+");
                } else {
                    CHECK(allowed(engine, batch) == before + "-");
                }
            }
        }
    }
    bool threw = true;
    for (int allocations = 0; threw; allocations++) {
        Batch batch;
        batch.add("PUT", "/v1/orders");
        threw = throws_after(allocations, [&] { batch = other; });
        CHECK(allows(batch) == (threw ? "-" : "+-"));
    }
    CHECK(failures >= 5 || !can_fail);
}
#endif

// A pointer that turns out to be null, as that of a header that a request does not have, is the empty text.
static void null_pointers(const Engine &engine)
{
    const char *const text = nullptr;
    char *const own = nullptr;
    const auto set = engine.scopes("read:orbs").value();
    for (const auto &token : {Token::user(text), Token::organisation(own), Token(orbgate::TokenKind::user, text)}) {
        CHECK(engine.decide("GET", orbs, token).reason() == orbgate::Reason::scope_missing);
    }
    CHECK(engine.decide(text, orbs, Token::user(set)).detail() == orbgate::Detail::method);
    CHECK(engine.decide("GET", own, Token::user(set)).detail() == orbgate::Detail::length);
    CHECK(engine.decide({text, 0}, {"", 0}, Token::user(set)).detail() == orbgate::Detail::method);
    CHECK(!engine.decide_scope(text, Token::user(set)) && !engine.find_route(text, own));
    const auto handle = Handle::holding(engine).value();
    CHECK(!handle.decide(text, own, Token::user(set)));
    const auto none = engine.scopes(text).value(), one = engine.scope_set({text, "read:orbs", own}).value();
    CHECK(!engine.decide("GET", orbs, Token::user(none)) && engine.decide("GET", orbs, Token::user(one)));
    CHECK(!Engine::from_yaml(text) && orbgate::token_kind(own) == orbgate::TokenKind::unknown);
    Batch batch;
    batch.add(text, own);
    batch.add(text, own, Token::user(set));
    CHECK(allowed(engine, batch) == "--");
}

template <typename T>
static void to_itself(T &object, T &same)
{
    object = std::move(same);
}

static void moves(Engine engine)
{
    auto second = std::move(engine);
    CHECK(second.decide("GET", orbs, Token::user("read:orbs")));
    // What has been moved from denies, and says nothing.
    CHECK(!engine.decide("GET", orbs, Token::user("read:orbs")) && engine.digest().empty());
    CHECK(!engine.decide_scope("read:orbs", Token::none()) && !engine.find_route("GET", orbs));
    CHECK(!engine.scopes("read:orbs") && !Handle::holding(engine) && engine.share().raw() == nullptr);
    engine = Engine::external().value();
    CHECK(engine.decide("GET", orbs, Token::user("read:orbs")));
    // Nothing is lost by moving to oneself, which the compiler must not see to be one.
    to_itself(second, second);
    CHECK(second.decide("GET", orbs, Token::user("read:orbs")));

    auto set = engine.scopes("read:orbs").value();
    const auto shared = set.share();
    const auto moved = std::move(set);
    CHECK(engine.decide("GET", orbs, Token::user(moved)) && engine.decide("GET", orbs, Token::user(shared)));
    CHECK(!engine.decide("GET", orbs, Token::user(set)));
    set = engine.scopes("read:orbs").value();
    to_itself(set, set);
    CHECK(engine.decide("GET", orbs, Token::user(set)));

    auto handle = Handle::holding(engine).value();
    to_itself(handle, handle);
    CHECK(handle.decide("GET", orbs, Token::user("read:orbs")));
    const auto other = std::move(handle);
    CHECK(other.decide("GET", orbs, Token::user("read:orbs")));
    CHECK(!handle.decide("GET", orbs, Token::user("read:orbs")) && !handle.store(engine));
    CHECK(handle.load().raw() == nullptr && !handle.share().decide("GET", orbs, Token::user("read:orbs")));

    orbgate::Batch batch;
    batch.add("GET", orbs);
    auto rows = std::move(batch);
    CHECK(rows.size() == 1 && engine.decide(rows, Token::user("read:orbs")).value()[0]);
    // What has been moved from has no rows, and takes new ones.
    CHECK(batch.size() == 0 && engine.decide(batch, Token::none()).value().empty());
    batch.add("GET", "/nowhere");
    CHECK(batch.size() == 1 && !engine.decide(batch, Token::user("read:orbs")).value()[0]);
    to_itself(rows, rows);
    CHECK(engine.decide(rows, Token::user("read:orbs")).value().size() == rows.size());
}

static void failures()
{
    const auto good = Engine::external();
    CHECK(good.value().digest() == good->digest() && &good.value() == &*good);
    const auto failed = Engine::from_yaml("orbgate: 1\ncolour: red\napis: {}\n");
    CHECK(!failed && failed.error().status == orbgate::Status::invalid_policy);
    CHECK(failed.error().diagnostics.size() > 0 && failed.error().diagnostics[0].line == 2);
    CHECK(failed.error().message.substr(0, 5) == "2:1: ");
    CHECK(Engine::from_file("no/such/file").error().status == orbgate::Status::io);
    const std::filesystem::path folder = "policy";
    CHECK(Engine::from_file(folder).error().status == orbgate::Status::io);
    const auto read = Engine::from_file(folder / "external.yaml");
    CHECK(read && read->name() == "external" && read->has_end_marker());
    CHECK(!Engine::from_yaml("orbgate: 1\napis: {}\n").value().has_end_marker());
    CHECK(!read->is_sealed() && Engine::external().value().is_sealed());
#if defined(__cpp_exceptions)
    try {
        (void)Engine::from_yaml("").value();
        CHECK(!"it throws");
    } catch (const orbgate::Exception &exception) {
        CHECK(exception.error().status == orbgate::Status::invalid_policy && *exception.what() != '\0');
    }
#endif
}

static void reloads(const Engine &first, const Engine &second)
{
    const auto handle = Handle::holding(first).value();
    std::vector<std::thread> threads;
    for (int at = 0; at < 4; at++) {
        threads.emplace_back([own = handle.share(), &first, &second] {
            for (int round = 0; round < 500; round++) {
                const auto decision = own.decide("GET", "/v1/orders", Token::user("read:orders"));
                CHECK(first.words(decision) || second.words(decision));
                CHECK(own.load().raw() != nullptr);
            }
        });
    }
    for (int at = 0; at < 500; at++) {
        CHECK(handle.store(at % 2 == 0 ? second : first));
    }
    for (auto &thread : threads) {
        thread.join();
    }
}

int main()
{
    const auto external = Engine::external().value(), other = Engine::from_yaml(shop).value();
    decisions(external);
    routes_and_scopes(other);
    alternatives();
    batches(other);
#if defined(__cpp_exceptions)
    without_memory(other);
#endif
    moves(external.share());
    null_pointers(external);
    failures();
    reloads(external, other);
    return 0;
}
