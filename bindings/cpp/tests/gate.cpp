// The gate of the wrapper: what is fetched by a callback, who waits for it, and what no failure of it becomes.
#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <mutex>
#include <thread>

#include "orbgate_gate.hpp"
#include "test.h"

namespace {

using namespace std::chrono_literals;

std::string file(const std::string &name)
{
    std::ifstream stream("crates/orbgate-token/testdata/" + name, std::ios::binary);
    std::string text{std::istreambuf_iterator<char>(stream), {}};
    while (!text.empty() && text.back() == '\n') {
        text.pop_back();
    }
    CHECK(!text.empty());
    return text;
}

orbgate::Verifier verifier() { return std::move(*orbgate::Verifier::from_yaml(file("token.yaml"))); }

// The issuer, as `testdata` has it.
std::variant<orbgate::Response, orbgate::FetchFailure> serve(const orbgate::Fetch &fetch)
{
    CHECK(fetch.max_bytes == 262144 && fetch.timeout > 0ms && fetch.timeout <= 5s && fetch.method == "GET" && !fetch.body);
    if (fetch.url == "https://id.example.com/jwks") {
        return orbgate::Response{200, "max-age=900", file("jwks.json")};
    }
    if (fetch.url == "https://id.example.com/.well-known/openid-configuration") {
        return orbgate::Response{200, "", R"({"issuer":"https://id.example.com","jwks_uri":"https://id.example.com/jwks"})"};
    }
    return orbgate::FetchFailure::unreachable();
}

// Asks with the token of `testdata`, which is right from 2027 on: a gate that has its keys says so, and one without says that.
std::string refused(const orbgate::Gate &gate, const orbgate::Engine &engine)
{
    const std::string bearer = "Bearer " + file("token.jwt");
    orbgate::GateRequest request;
    request.method = "GET";
    request.target = "/api/v1/external/account";
    request.authorization = {bearer};
    const auto answer = gate.ask(engine, request);
    CHECK(!answer && answer.http_status() == 401u && answer.www_authenticate() == "Bearer");
    CHECK(answer.kind() == orbgate::TokenKind::none && answer.decision().reason() == orbgate::Reason::invalid_token);
    return std::string(answer.refused().value_or(""));
}

void a_token_waits_for_its_keys(const orbgate::Engine &engine)
{
    std::atomic<int> fetches = 0;
    const auto slowly = [&fetches](const orbgate::Fetch &fetch) {
        fetches++;
        std::this_thread::sleep_for(50ms);
        return serve(fetch);
    };
    const auto gate = std::move(*orbgate::Gate::make(verifier(), slowly));
    const auto start = std::chrono::steady_clock::now();
    std::atomic<int> got_keys = 0;
    std::vector<std::thread> threads;
    for (int at = 0; at < 8; at++) {
        threads.emplace_back([&] {
            const std::string refusal = refused(gate, engine);
            // One thread waits for the whole fetch, and the others only for its first second. A busy machine might need longer.
            const bool gave_up = std::chrono::steady_clock::now() - start >= 1s;
            CHECK(refusal == "not_yet_valid" || (gave_up && refusal == "no_keys"));
            got_keys += refusal == "not_yet_valid";
        });
    }
    for (std::thread &thread : threads) {
        thread.join();
    }
    CHECK(got_keys >= 1 && fetches == 2); // one attempt for all: discovery and keys
    CHECK(gate.revoke("https://id.example.com", "2026-11") && !gate.revoke("https://id.example.org", "2026-11"));
    CHECK(refused(gate, engine) == "key_revoked");
    CHECK(gate.forget("https://id.example.com") && !gate.forget("nobody"));
    CHECK(refused(gate, engine) == "key_revoked" && fetches == 4);
}

void a_failure_is_a_denial(const orbgate::Engine &engine)
{
    const auto down = [](const orbgate::Fetch &) { return orbgate::FetchFailure::timeout(); };
    CHECK(refused(*orbgate::Gate::make(verifier(), down), engine) == "no_keys");
#if defined(__cpp_exceptions)
    const auto throwing = [](const orbgate::Fetch &) -> std::variant<orbgate::Response, orbgate::FetchFailure> { throw 7; };
    CHECK(refused(*orbgate::Gate::make(verifier(), throwing), engine) == "no_keys");
    CHECK(refused(*orbgate::Gate::make(verifier(), nullptr), engine) == "no_keys"); // an empty function throws
#endif
    // An issuer that takes longer than it may: nobody waits longer for it.
    orbgate::GateOptions options;
    options.timeout = 100ms;
    const auto late = [](const orbgate::Fetch &fetch) {
        std::this_thread::sleep_for(600ms);
        return serve(fetch);
    };
    const auto gate = std::move(*orbgate::Gate::make(verifier(), late, options));
    const auto start = std::chrono::steady_clock::now();
    CHECK(refused(gate, engine) == "no_keys");
    CHECK(std::chrono::steady_clock::now() - start < 500ms);
}

void a_body_allows_bonus_orbs()
{
    const std::string body = "{\"allowBonusOrbsUse\":true}";
    CHECK(orbgate::bonus_orbs_in(body) == orbgate::BonusOrbs::allow);
    CHECK(orbgate::bonus_orbs_in(body + body) == orbgate::BonusOrbs::refuse);
    CHECK(orbgate::bonus_orbs_in("{\"allowBonusOrbsUse\":\"true\"}") == orbgate::BonusOrbs::refuse);
    CHECK(orbgate::bonus_orbs_in("") == orbgate::BonusOrbs::refuse);
}

void what_is_missing_denies(const orbgate::Engine &engine)
{
    auto gate = std::move(*orbgate::Gate::make(verifier(), serve));
    gate.warm();
    const auto moved = std::move(gate);
    orbgate::GateRequest request;
    CHECK(gate.ask(engine, request).http_status() == 403u && !gate.revoke("a", "b")); // NOLINT: it is what is tested
    gate.warm();
    CHECK(moved.ask(engine, request).http_status() == 400u);
    request.method = "PUT";
    request.target = "/api/v1/external/account";
    CHECK(moved.ask(engine, request).http_status() == 401u);
    auto gone = std::move(*orbgate::Engine::external());
    const auto kept = std::move(gone);
    CHECK(moved.ask(gone, request).http_status() == 403u); // NOLINT
    CHECK(!orbgate::Answer());

    for (auto *values : {&request.upgrade, &request.origin, &request.access_control_request_method}) {
        *values = {"websocket", "h2c"};
        const auto answer = moved.ask(kept, request);
        CHECK(answer.decision().detail() == (values == &request.upgrade ? orbgate::Detail::upgrade : orbgate::Detail::none));
        values->clear();
    }
    request.audit = true;
    request.matched = "/api/v1/external/account";
    const auto answer = moved.ask(kept, request);
    CHECK(answer.audit()->find("\"reason\":\"no_token\"") != std::string_view::npos);

    auto from = std::move(*orbgate::Gate::make(verifier(), serve));
    auto first = from.ask(kept, request);
    const auto second = std::move(first);
    CHECK(!first && first.decision().reason() == orbgate::Reason::none && !first.www_authenticate()); // NOLINT
    CHECK(second.http_status() == 401u && second.www_authenticate() == "Bearer");

    const auto invalid = orbgate::Verifier::from_yaml("orbgate_token: 1\nissuers: []\n");
    CHECK(!invalid && invalid.error().status == orbgate::Status::invalid_configuration && invalid.error().diagnostics.size() == 1);
}

// Each option is one of the gate: a value that it can't have is refused under its name.
void each_option_is_one_of_the_gate(const orbgate::Engine &engine)
{
    const auto refused = [](auto set) {
        orbgate::GateOptions options;
        set(options);
        const auto gate = orbgate::Gate::make(verifier(), serve, options);
        return gate ? std::string() : gate.error().message;
    };
    using Options = orbgate::GateOptions;
    const std::pair<std::chrono::milliseconds Options::*, const char *> times[] = {
        {&Options::ttl, "`ttl`"},           {&Options::ttl_min, "`ttl_min`"},   {&Options::ttl_max, "`ttl_max`"},
        {&Options::max_stale, "`max_stale`"}, {&Options::cooldown, "`cooldown`"}, {&Options::retry, "`retry`"},
        {&Options::timeout, "`timeout`"},
    };
    for (const auto &[time, name] : times) {
        CHECK(refused([time = time](Options &to) { to.*time = 25h; }).find(name) != std::string::npos);
        CHECK(refused([time = time](Options &to) { to.*time = -1ms; }) == orbgate::name(orbgate::Status::invalid_argument));
    }
    CHECK(refused([](Options &to) { to.burst = 1000; }).find("`burst`") != std::string::npos);
    CHECK(refused([](Options &to) { to.ahead_percent = 101; }).find("`ahead_percent`") != std::string::npos);
    CHECK(refused([](Options &to) { to.no_stale_keys = true; }).empty());
    CHECK(!refused([](Options &to) { to.no_stale_keys = true, to.max_stale = 1s; }).empty());
    CHECK(!refused([](Options &to) { to.challenge = 3; }).empty() && !refused([](Options &to) { to.templates = 3; }).empty());
    CHECK(!refused([](Options &to) { to.realm = "orbs"; }).empty()); // not of a full challenge

    Options options;
    options.flat_403 = options.ignore_method_override = true;
    options.challenge = ORBGATE_CHALLENGE_FULL;
    options.templates = ORBGATE_TEMPLATES_COLONS;
    options.realm = "orbs";
    options.resource_metadata = "https://api.example.com/.well-known/oauth-protected-resource";
    options.public_routes = {"POST /docs/{page}"};
    const auto gate = orbgate::Gate::make(verifier(), serve, options).value();
    orbgate::GateRequest request;
    request.method = "POST";
    request.target = "/docs/a";
    request.header_names = {"X-HTTP-Method-Override"};
    request.matched = "/docs/:any";
    CHECK(gate.ask(engine, request).is_allow());
    request.target = "/nowhere";
    const auto denied = gate.ask(engine, request);
    CHECK(denied.http_status() == 403u && denied.www_authenticate()->find(R"(realm="orbs")") != std::string::npos);
    CHECK(denied.www_authenticate()->find("oauth-protected-resource") != std::string::npos);
    const auto before = gate.status();
    CHECK(before.size() == 2 && before[0].issuer == "https://id.example.com" && before[0].key_count == 0 && before[0].fetched == 0ms);
    gate.warm();
    while (gate.status()[0].key_count == 0) {
        std::this_thread::sleep_for(1ms);
    }
    CHECK(gate.status()[0].fetched > 0ms && gate.status()[0].failure.empty() && !gate.status()[0].opaque);
}

// A thread that waits serves no other request, so all but one of those that wait for an issuer's keys give up after a second.
void a_public_route_needs_no_token(const orbgate::Engine &engine)
{
    std::vector<std::string> lines;
    const auto with = [&](const std::string &route) {
        orbgate::GateOptions options;
        options.log = [&](orbgate::LogLevel, std::string_view line) { lines.emplace_back(line); };
        options.public_routes = {route};
        options.pass_cors_preflight = true;
        const auto none = [](const orbgate::Fetch &) { return orbgate::FetchFailure::unreachable(); };
        return orbgate::Gate::make(verifier(), none, options);
    };
    const auto gate = std::move(*with("GET /docs/{page}"));
    CHECK(!gate.check(engine) && !gate.check(engine));
    CHECK(lines.size() == 1 && lines[0].find("charging: no ledger, so only the handlers can charge; routes that consume orbs: ") == 0);
    orbgate::GateRequest request;
    request.method = "GET";
    request.target = "/docs/a";
    for (const auto &matched : {std::optional<std::string_view>(), std::optional<std::string_view>("/docs/{any}")}) {
        request.matched = matched;
        const auto answer = gate.ask(engine, request);
        CHECK(answer.is_allow() && answer.public_template() == "/docs/{page}" && answer.kind() == orbgate::TokenKind::none);
        CHECK(answer.decision().reason() == orbgate::Reason::public_route && !answer.decision().charge() && !answer.subject());
    }
    request.matched = "/docs/a";
    CHECK(gate.ask(engine, request).http_status() == 404);
    request.matched = std::nullopt;
    request.origin = {"https://a.example"};
    request.access_control_request_method = {"GET"};
    for (const bool is_preflight : {false, true}) {
        request.method = is_preflight ? "OPTIONS" : "GET";
        const auto answer = gate.ask(engine, request);
        CHECK(answer.is_allow() && answer.preflight() == is_preflight);
    }
    const auto differences = gate.check_routes(engine, {{"GET", "/docs/{any}"}}).value();
    CHECK(differences.undeclared.empty() && !differences.unserved.empty());
    const auto overlapping = std::move(*with("GET /api/v1/external/{any}"));
    CHECK(overlapping.check(engine)->message.find("same paths") != std::string::npos);
    CHECK(!with("healthz"));
}

// What an endpoint is asked, and what comes of its answers, the exchanges of every language show.
void an_opaque_token_has_what_its_endpoint_says(const orbgate::Engine &engine)
{
    const auto endpoint = [&](const orbgate::Fetch &fetch) -> std::variant<orbgate::Response, orbgate::FetchFailure> {
        CHECK(fetch.max_bytes == 262144 && fetch.timeout > 0ms && fetch.timeout <= 5s);
        const auto now = std::chrono::system_clock::now().time_since_epoch();
        const auto exp = std::to_string(std::chrono::duration_cast<std::chrono::seconds>(now).count() + 600);
        return orbgate::Response{200, "", R"({"active":true,"aud":"api","sub":"user-7","client_id":"app-1","jti":"id-1","scope":"read:orbs","exp":)" + exp + "}"};
    };
    const auto made = [&](const std::string &secret) {
        const auto yaml = "orbgate_token: 1\nissuers:\n  - issuer: https://issuer.example\n    audience: api\n    kind: user\n"
                          "    opaque: { endpoint: 'https://endpoint.example', client_id: c, " + secret + " }\n";
        return orbgate::Gate::make(orbgate::Verifier::from_yaml(yaml).value(), endpoint);
    };
    setenv("ORBGATE_TEST_SECRET", "s3cr3t", 1);
    const auto gate = made("client_secret_env: ORBGATE_TEST_SECRET").value();
    orbgate::GateRequest request;
    request.method = "GET";
    request.target = "/api/v1/external/orbs";
    request.authorization = {"Bearer good"};
    const auto answer = gate.ask(engine, request);
    CHECK(answer && answer.subject() == "user-7" && answer.kind() == orbgate::TokenKind::user && answer.scopes() == "read:orbs");
    CHECK(answer.client() == "app-1" && answer.id() == "id-1" && !answer.actor() && answer.fingerprint().size() == 16);
    CHECK(answer.expires() > std::chrono::system_clock::now());
    CHECK(!gate.read_secrets());
    setenv("ORBGATE_TEST_SECRET", "", 1);
    const auto unread = gate.read_secrets();
    CHECK(unread && unread->message.find("empty") != std::string::npos && gate.ask(engine, request));
    for (const std::string secret : {"client_secret_env: ORBGATE_TEST_SECRET", "client_secret_file: /no/such/file"}) {
        const auto none = made(secret);
        CHECK(!none && none.error().status == orbgate::Status::invalid_configuration);
    }
}

// What comes of each version, the exchanges of every language show.
void a_file_is_followed_until_its_watch_ends()
{
    const std::string a = "orbgate: 1\napis: { a: { base_path: '', scopes: { s: { orbs: false, routes: [GET /a] } } } }\n...\n";
    const auto policy = orbgate::Handle::holding(orbgate::Engine::from_yaml(a).value()).value();
    const auto gate = orbgate::Gate::make(verifier(), serve).value();
    const auto gone = gate.reload(policy, "no such file");
    CHECK(!gone && gone.result == orbgate::names::load_unreadable && gone.error->status == orbgate::Status::io);
    const std::string unique = std::to_string(std::chrono::steady_clock::now().time_since_epoch().count());
    const std::string file = (std::filesystem::temp_directory_path() / ("orbgate-gate-" + unique + ".yaml")).string();
    const auto write = [&](const std::string &policy) {
        std::ofstream(file + ".next", std::ios::binary) << policy;
        std::filesystem::rename(file + ".next", file);
    };
    write(a);
    std::mutex mutex;
    std::condition_variable come;
    std::vector<std::string> results;
    orbgate::WatchOptions watching;
    watching.interval = 10min; // only `read_now` reads it again
    watching.report = [&](const orbgate::Reloaded &reloaded) {
        const std::lock_guard<std::mutex> lock(mutex);
        results.push_back(reloaded.result);
        come.notify_all();
#if defined(__cpp_exceptions)
        throw 7;
#endif
    };
    const auto until = [&](std::size_t count) {
        std::unique_lock<std::mutex> lock(mutex);
        come.wait(lock, [&] { return results.size() >= count; });
        return results.back();
    };
    {
        const orbgate::Watch watch = gate.watch(policy, file, watching);
        write("orbgate: 1\napis: {}\n...\n");
        watch.read_now();
        CHECK(until(1) == "loaded");
    }
    write(a);
    std::this_thread::sleep_for(100ms);
    CHECK(results.size() == 1);
    watching.interval = 20ms;
    watching.require_seal = true;
    const orbgate::Watch sealed = gate.watch(policy, file, watching);
    CHECK(until(2) == "unsealed");
    std::remove(file.c_str());
}

// The policy after a wait decides, and explains. Nothing explains a misrouted request, because the policy allows it.
void the_engine_that_decided_explains()
{
    const auto policy = orbgate::Handle::holding(orbgate::Engine::external().value()).value();
    const auto later = orbgate::Engine::from_yaml("orbgate: 1\napis: { none: { scopes: {} } }\n").value();
    std::vector<std::string> lines;
    orbgate::GateOptions options;
    options.debug = [&](std::string_view line) {
        lines.emplace_back(line);
#if defined(__cpp_exceptions)
        throw 7;
#endif
    };
    options.public_routes = {"GET /healthz"};
    const auto fetch = [&](const orbgate::Fetch &request) {
        CHECK(policy.store(later));
        return serve(request);
    };
    const auto gate = std::move(*orbgate::Gate::make(verifier(), fetch, options));
    const std::string bearer = "Bearer " + file("token.jwt"), bytes = "/a\xff\n?secret";
    orbgate::GateRequest request;
    request.method = "GET";
    request.authorization = {bearer};
    request.target = bytes;
    CHECK(gate.ask(policy, request).http_status() == 400u);
    request.target = "/api/v1/external/account";
    const auto answer = gate.ask(policy, request);
    CHECK(answer.words()->policy == later.digest());
    request.target = "/healthz";
    request.matched = "/other";
    CHECK(gate.ask(policy, request).http_status() == 404u && lines.size() == 2);
    CHECK(lines[0].find("\"path\":\"/a\xef\xbf\xbd\\n\"") != std::string::npos && lines[1].find(std::string(later.digest())) != std::string::npos);
}

} // namespace

int main()
{
    const auto engine = std::move(*orbgate::Engine::external());
    a_token_waits_for_its_keys(engine);
    a_failure_is_a_denial(engine);
    a_body_allows_bonus_orbs();
    what_is_missing_denies(engine);
    each_option_is_one_of_the_gate(engine);
    a_public_route_needs_no_token(engine);
    an_opaque_token_has_what_its_endpoint_says(engine);
    a_file_is_followed_until_its_watch_ends();
    the_engine_that_decided_explains();
    return 0;
}
