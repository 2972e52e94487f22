// The gate of the wrapper: what is fetched by a callback, who waits for it, and what no failure of it becomes.
#include <atomic>
#include <cstdlib>
#include <fstream>
#include <iterator>

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
    CHECK(fetch.max_bytes == 262144 && fetch.timeout > 0ms && fetch.timeout <= 5s);
    if (fetch.url == "https://id.example.com/jwks") {
        return orbgate::Response{200, "max-age=900", file("jwks.json")};
    }
    if (fetch.url == "https://id.example.com/.well-known/openid-configuration") {
        return orbgate::Response{200, "", R"({"issuer":"https://id.example.com","jwks_uri":"https://id.example.com/jwks"})"};
    }
    return orbgate::FetchFailure::unreachable;
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
            const std::string found = refused(gate, engine);
            // One thread waits for the whole fetch, and the others only for its first second. A busy machine might need longer.
            const bool gave_up = std::chrono::steady_clock::now() - start >= 1s;
            CHECK(found == "not_yet_valid" || (gave_up && found == "no_keys"));
            got_keys += found == "not_yet_valid";
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
    const auto down = [](const orbgate::Fetch &) { return orbgate::FetchFailure::timeout; };
    CHECK(refused(*orbgate::Gate::make(verifier(), down), engine) == "no_keys");
#if defined(__cpp_exceptions)
    const auto throwing = [](const orbgate::Fetch &) -> std::variant<orbgate::Response, orbgate::FetchFailure> { throw 7; };
    CHECK(refused(*orbgate::Gate::make(verifier(), throwing), engine) == "no_keys");
    CHECK(refused(*orbgate::Gate::make(verifier(), nullptr), engine) == "no_keys"); // an empty function throws
#endif
    // An issuer that takes longer than it may: nobody waits longer for it.
    OrbgateGateOptions options = orbgate_gate_options_init();
    options.timeout_ms = 100;
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

    const auto invalid = orbgate::Verifier::from_yaml("orbgate_token: 1\nissuers: []\n");
    CHECK(!invalid && invalid.error().status == orbgate::Status::invalid_configuration && invalid.error().diagnostics.size() == 1);
    OrbgateGateOptions options = orbgate_gate_options_init();
    options.burst = 1000;
    const auto refused = orbgate::Gate::make(verifier(), serve, options);
    CHECK(!refused && refused.error().message == "fetching keys: `burst` is not 1 to 100");
}

void the_policy_after_a_wait_decides()
{
    const auto later = orbgate::Engine::from_yaml("orbgate: 1\nname: later\napis: { none: { scopes: {} } }\n").value();
    const auto policy = orbgate::Handle::holding(orbgate::Engine::external().value()).value();
    const auto gate = std::move(*orbgate::Gate::make(verifier(), [&](const orbgate::Fetch &fetch) {
        CHECK(policy.store(later));
        return serve(fetch);
    }));
    const std::string bearer = "Bearer " + file("token.jwt");
    orbgate::GateRequest request;
    request.method = "GET";
    request.target = "/api/v1/external/account";
    request.authorization = {bearer};
    const auto shared = gate.share();
    const auto answer = shared.ask(policy, request);
    CHECK(!answer && answer.refused() == "not_yet_valid" && answer.words()->policy == later.digest());
    const orbgate::Answer none;
    CHECK(!none && !none.words());
}

// A thread that waits serves no other request, so all but one of those that wait for an issuer's keys give up after a second.
void few_threads_wait_for_long(const orbgate::Engine &engine)
{
    std::mutex mutex;
    std::condition_variable changed;
    bool may_answer = false;
    int answered = 0;
    const auto slowly = [&](const orbgate::Fetch &) -> std::variant<orbgate::Response, orbgate::FetchFailure> {
        std::unique_lock<std::mutex> lock(mutex);
        changed.wait(lock, [&] { return may_answer; });
        return orbgate::FetchFailure::unreachable;
    };
    OrbgateGateOptions options = orbgate_gate_options_init();
    options.timeout_ms = 600000;
    const auto gate = std::move(*orbgate::Gate::make(verifier(), slowly, options));
    std::vector<std::thread> threads;
    for (int at = 0; at < 8; at++) {
        threads.emplace_back([&] {
            CHECK(refused(gate, engine) == "no_keys");
            const std::lock_guard<std::mutex> lock(mutex);
            answered++;
            changed.notify_all();
        });
    }
    {
        std::unique_lock<std::mutex> lock(mutex);
        CHECK(changed.wait_for(lock, 300s, [&] { return answered == 7; }));
        may_answer = true;
        changed.notify_all();
    }
    for (std::thread &thread : threads) {
        thread.join();
    }
}

void a_public_route_needs_no_token(const orbgate::Engine &engine)
{
    const auto with = [](const std::string &route) {
        const OrbgateStr text = {route.data(), route.size()};
        OrbgateGateOptions options = orbgate_gate_options_init();
        options.public_routes = &text;
        options.public_route_count = 1;
        const auto none = [](const orbgate::Fetch &) { return orbgate::FetchFailure::unreachable; };
        return orbgate::Gate::make(verifier(), none, options);
    };
    const auto gate = std::move(*with("GET /docs/{page}"));
    CHECK(!gate.check(engine));
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
    const auto differences = gate.check_routes(engine, {{"GET", "/docs/{any}"}}).value();
    CHECK(differences.undeclared.empty() && !differences.unserved.empty());
    const auto overlapping = std::move(*with("GET /api/v1/external/{any}"));
    CHECK(overlapping.check(engine)->message.find("fits the same paths") != std::string::npos);
    CHECK(!with("healthz"));
}

// Two issuers of opaque tokens next to the issuer of `testdata`.
orbgate::Result<orbgate::Verifier> with_opaque(const std::string &secret)
{
    std::string yaml = file("token.yaml"), issuers;
    for (const std::string prefix : {"", "ory_at_"}) {
        issuers += "  - issuer: https://issuer" + prefix + ".example\n    audience: api\n    kind: user\n    opaque: { endpoint: 'https://" + prefix +
                "endpoint.example', client_id: c, " + secret + ", max_cache_seconds: 1" + (prefix.empty() ? "" : ", prefix: " + prefix) + " }\n";
    }
    yaml.insert(yaml.find("remember_signatures"), issuers);
    return orbgate::Verifier::from_yaml(yaml);
}

void an_opaque_token_is_asked_about(const orbgate::Engine &engine)
{
    std::mutex mutex;
    std::vector<std::string> asked;
    unsigned status = 200;
    std::string revoked, right = "Basic YzpzM2NyM3Q="; // c:s3cr3t
    const auto endpoint = [&](const orbgate::Fetch &fetch) -> std::variant<orbgate::Response, orbgate::FetchFailure> {
        if (!fetch.post) {
            return serve(fetch);
        }
        CHECK(fetch.max_bytes == 262144 && fetch.timeout > 0ms && fetch.timeout <= 5s);
        CHECK(fetch.post->authorization == right);
        const std::string begin = "token=", end = "&token_type_hint=access_token", &body = fetch.post->body;
        CHECK(body.substr(0, begin.size()) == begin && body.substr(body.size() - end.size()) == end);
        const std::string token = body.substr(begin.size(), body.size() - begin.size() - end.size());
        const std::lock_guard<std::mutex> lock(mutex);
        asked.push_back(fetch.url + " " + token);
        const auto now = std::chrono::system_clock::now().time_since_epoch();
        const auto exp = std::to_string(std::chrono::duration_cast<std::chrono::seconds>(now).count() + 600);
        const std::string scope = token == "poor" ? "read:account" : "read:orbs";
        const std::string active = R"({"active":true,"aud":"api","sub":"user-7","scope":")" + scope + R"(","exp":)" + exp + "}";
        return orbgate::Response{status, "", token == "other" || token == revoked ? R"({"active":false})" : active};
    };
    setenv("ORBGATE_TEST_SECRET", "s3cr3t", 1);
    const auto gate = orbgate::Gate::make(with_opaque("client_secret_env: ORBGATE_TEST_SECRET").value(), endpoint).value();
    const auto ask = [&](const std::string &token) {
        const std::string bearer = "Bearer " + token;
        orbgate::GateRequest request;
        request.method = "GET";
        request.target = "/api/v1/external/orbs";
        request.authorization = {bearer};
        auto answer = gate.ask(engine, request);
        CHECK(!answer || (answer.subject() == "user-7" && answer.kind() == orbgate::TokenKind::user));
        return answer;
    };
    const auto refused_as = [&](const std::string &token) { return std::string(ask(token).refused().value_or("")); };
    CHECK(ask("good").is_allow() && ask("good").is_allow());
    CHECK(ask("poor").http_status() == 403u);
    CHECK(ask("other").http_status() == 401u && refused_as("other") == "inactive");
    CHECK(ask("ory_at_1").is_allow());
    CHECK((asked == std::vector<std::string>{"https://endpoint.example good", "https://endpoint.example poor", "https://endpoint.example other",
                                             "https://ory_at_endpoint.example ory_at_1"}));
    CHECK(refused(gate, engine) == "not_yet_valid"); // the JWT of `testdata`
    // A revocation is seen within the second of the configuration.
    revoked = "good";
    std::this_thread::sleep_for(1s);
    CHECK(refused_as("good") == "inactive");
    // An endpoint that fails, and one that doesn't know the secret.
    for (const unsigned failure : {500u, 401u}) {
        status = failure;
        CHECK(refused_as("of-" + std::to_string(failure)) == "unanswered");
    }
    status = 200;
    // More tokens than are asked about at once: each gets its turn, and each thread its answer.
    std::atomic<int> allowed = 0;
    std::vector<std::thread> threads;
    for (int at = 0; at < 48; at++) {
        threads.emplace_back([&, at] {
            const auto start = std::chrono::steady_clock::now();
            while (!ask("many-" + std::to_string(at))) {
                // On a busy machine, the second that a thread waits was over, in whole milliseconds.
                CHECK(std::chrono::steady_clock::now() - start >= 990ms);
                std::this_thread::sleep_for(10ms);
            }
            allowed++;
        });
    }
    for (std::thread &thread : threads) {
        thread.join();
    }
    CHECK(allowed == 48);
    // The secret changes, and answers to the former one are forgotten.
    right = "Basic YzpmcmVzaA=="; // c:fresh
    setenv("ORBGATE_TEST_SECRET", "fresh", 1);
    CHECK(!gate.read_secrets() && ask("poor").http_status() == 403u);
    setenv("ORBGATE_TEST_SECRET", "", 1);
    const auto unread = gate.read_secrets();
    CHECK(unread && unread->message.find("it is empty") != std::string::npos && ask("ory_at_1").is_allow());
    // No gate without its secret, and no message with it.
    setenv("ORBGATE_TEST_SECRET", "", 1);
    for (const std::string secret : {"client_secret_env: ORBGATE_TEST_SECRET", "client_secret_file: /no/such/file"}) {
        const auto none = orbgate::Gate::make(with_opaque(secret).value(), endpoint);
        CHECK(!none && none.error().status == orbgate::Status::invalid_configuration);
        CHECK(none.error().message.find("client_secret_") != std::string::npos);
    }
}

} // namespace

int main()
{
    const auto engine = std::move(*orbgate::Engine::external());
    a_token_waits_for_its_keys(engine);
    a_failure_is_a_denial(engine);
    a_body_allows_bonus_orbs();
    what_is_missing_denies(engine);
    the_policy_after_a_wait_decides();
    few_threads_wait_for_long(engine);
    a_public_route_needs_no_token(engine);
    an_opaque_token_is_asked_about(engine);
    return 0;
}
