// Gates for C++17 answer requests: the library verifies the bearer token and decides; your callback fetches the
// issuers' keys, and asks about opaque tokens, with your HTTP client.
//
// Programs that include this header must also link the thread library.
#ifndef ORBGATE_GATE_HPP
#define ORBGATE_GATE_HPP

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <fstream>
#include <functional>
#include <iterator>
#include <list>
#include <mutex>
#include <thread>
#include <vector>

#include "orbgate.hpp"
#include "orbgate_questions.hpp"

namespace orbgate {

// The names of metrics, the same in the gates of all languages, and the values of the label `result`: for your own
// counters.
namespace names {
// cargo xtask codes: names
inline constexpr std::string_view decisions_total = "orbgate_decisions_total";
inline constexpr std::string_view tokens_refused_total = "orbgate_tokens_refused_total";
inline constexpr std::string_view misrouted_total = "orbgate_misrouted_total";
inline constexpr std::string_view policy_loads_total = "orbgate_policy_loads_total";
inline constexpr std::string_view audit_lost_total = "orbgate_audit_lost_total";
inline constexpr std::string_view label_decision = "decision";
inline constexpr std::string_view label_reason = "reason";
inline constexpr std::string_view label_route = "route";
inline constexpr std::string_view label_matched = "matched";
inline constexpr std::string_view label_result = "result";
inline constexpr std::string_view load_loaded = "loaded";
inline constexpr std::string_view load_unreadable = "unreadable";
inline constexpr std::string_view load_refused = "refused";
inline constexpr std::string_view load_unfinished = "unfinished";
inline constexpr std::string_view load_wider = "wider";
// end of names
} // namespace names

// Which tokens are accepted, from the YAML configuration of orbgate-token.
class Verifier {
public:
    static Result<Verifier> from_yaml(Text yaml)
    {
        OrbgateVerifier *verifier = nullptr;
        OrbgateError *error = nullptr;
        const OrbgateStatus status = orbgate_verifier_from_yaml(yaml.data(), yaml.size(), &verifier, &error);
        if (status != ORBGATE_STATUS_OK) {
            return Error(status, error);
        }
        return Verifier(verifier);
    }
    static Result<Verifier> from_file(const std::filesystem::path &path)
    {
        std::ifstream file(path, std::ios::binary);
        const std::string text(std::istreambuf_iterator<char>(file), {});
        if (!file.is_open() || file.bad()) {
            return Error(Status::io, path.string() + ": cannot be read");
        }
        return from_yaml(text);
    }

    [[nodiscard]] const OrbgateVerifier *raw() const noexcept { return verifier_.get(); }

private:
    explicit Verifier(OrbgateVerifier *verifier) noexcept : verifier_(verifier) {}
    std::unique_ptr<OrbgateVerifier, detail::Free<orbgate_verifier_free>> verifier_;
};

// A question about an opaque token. It contains the token and a secret, so don't log it.
struct Post {
    std::string authorization; // the header's value
    std::string body;          // its type is `application/x-www-form-urlencoded`
};

// A URL to fetch with GET, or with POST if it has a `post`: follow no redirects, read at most `max_bytes`, and take at
// most `timeout`.
struct Fetch {
    std::string url;
    std::size_t max_bytes = 0;
    std::chrono::milliseconds timeout{0};
    std::optional<Post> post = std::nullopt;
};

// The response of a server to a fetch.
struct Response {
    unsigned status = 0;
    std::string cache_control; // the header's value; several joined by commas
    std::string body;
};

// Why there is no response.
enum class FetchFailure : std::uint32_t {
    unreachable = ORBGATE_FETCH_UNREACHABLE,
    timeout = ORBGATE_FETCH_TIMEOUT,
    too_large = ORBGATE_FETCH_TOO_LARGE,
    bad_url = ORBGATE_FETCH_BAD_URL,
};

// Performs a fetch in a separate thread: at most one at a time per issuer, or 32 if the issuer's tokens are opaque. An
// exception counts as `unreachable`.
using Fetcher = std::function<std::variant<Response, FetchFailure>(const Fetch &)>;

// Whether a complete body allows bonus orbs: a JSON object that contains `"allowBonusOrbsUse": true` once.
inline BonusOrbs bonus_orbs_in(Text body) noexcept
{
    std::uint8_t allows = 0;
    const OrbgateStatus status = orbgate_allows_bonus_orbs(body.data(), body.size(), &allows);
    return status == ORBGATE_STATUS_OK && allows == 1 ? BonusOrbs::allow : BonusOrbs::refuse;
}

// A request as received over the wire. It only refers to its strings.
struct GateRequest {
    std::string_view method;
    std::string_view target;                     // path and query, neither decoded nor cut
    std::vector<std::string_view> authorization; // an item for each line of the header
    std::vector<std::string_view> header_names;  // of all headers
    BonusOrbs bonus = BonusOrbs::refuse;
    // The template that a router outside the gate has chosen, with its prefix; "" if the router exposes
    // none.
    std::optional<std::string_view> matched = std::nullopt;
    bool audit = false; // with a line for an audit
    // One item per line of each header. A request that lists `h2c` in `Upgrade` is denied.
    std::vector<std::string_view> upgrade = {}, origin = {}, access_control_request_method = {};
};

// The answer of a gate. A default-constructed one denies.
class [[nodiscard]] Answer {
public:
    Answer() noexcept : info_(orbgate_step_info_init()), engine_(nullptr) {}

    [[nodiscard]] bool is_allow() const noexcept { return decision().is_allow(); }
    explicit operator bool() const noexcept { return is_allow(); }
    [[nodiscard]] Decision decision() const noexcept
    {
        Decision decision;
        decision.raw_ = info_.decision;
        return decision;
    }
    // The texts of the decision, from its policy, which the answer keeps alive; none if default-constructed.
    [[nodiscard]] std::optional<Words> words() const & noexcept { return engine_.words(decision()); }
    std::optional<Words> words() const && = delete;

    // The status for a denied request, whose body must be empty; none for an allow.
    [[nodiscard]] std::optional<std::uint32_t> http_status() const noexcept
    {
        if (is_allow()) {
            return std::nullopt;
        }
        return info_.http_status == 0 ? std::uint32_t{ORBGATE_DEFAULT_HTTP_STATUS} : info_.http_status;
    }
    [[nodiscard]] std::optional<std::string_view> www_authenticate() const & noexcept { return detail::maybe(info_.www_authenticate); }
    [[nodiscard]] std::optional<std::string_view> allow() const & noexcept { return detail::maybe(info_.allow); }

    // The template of an allowed public route, whose decision has no route; otherwise none.
    [[nodiscard]] std::optional<std::string_view> public_template() const & noexcept { return detail::maybe(info_.public_template); }
    // Whether the request is allowed only as a CORS preflight (`pass_cors_preflight`): don't run a handler that takes other methods
    // than `OPTIONS`.
    [[nodiscard]] bool preflight() const noexcept { return info_.preflight == 1; }

    // For logs and counters: why the token was rejected; the template that the router chose instead; the
    // audit line.
    [[nodiscard]] std::optional<std::string_view> refused() const & noexcept { return detail::maybe(info_.refused); }
    [[nodiscard]] std::optional<std::string_view> misrouted() const & noexcept { return detail::maybe(info_.misrouted); }
    [[nodiscard]] std::optional<std::string_view> audit() const & noexcept { return detail::maybe(info_.audit); }

    // The content of the token, if it is valid; the strings live as long as the answer.
    [[nodiscard]] TokenKind kind() const noexcept { return step_ ? static_cast<TokenKind>(info_.token_kind) : TokenKind::none; }
    [[nodiscard]] std::string_view scopes() const & noexcept { return detail::view(info_.scopes); }
    [[nodiscard]] std::string_view issuer() const & noexcept { return detail::view(info_.issuer); }
    [[nodiscard]] std::optional<std::string_view> subject() const & noexcept { return detail::maybe(info_.subject); }
    [[nodiscard]] std::optional<std::string_view> client() const & noexcept { return detail::maybe(info_.client); }
    [[nodiscard]] std::string_view fingerprint() const & noexcept { return detail::view(info_.fingerprint); }
    [[nodiscard]] const OrbgateStepInfo &raw() const & noexcept { return info_; }

private:
    friend class Gate;
    using Step = std::unique_ptr<OrbgateStep, detail::Free<orbgate_step_free>>;
    Answer(Step step, const OrbgateStepInfo &info, Engine engine) noexcept
        : step_(std::move(step)), info_(info), engine_(std::move(engine))
    {
    }

    Step step_;
    OrbgateStepInfo info_;
    Engine engine_;
};

// A route of a service: its method, and its template as written in a policy.
struct ServiceRoute {
    std::string method, path_template;
};

// A route that is missing in the policy, so that no gate protects it.
struct UndeclaredRoute {
    std::string route;                     // such as `GET /users/export`
    std::optional<std::string> decided_as; // the policy's route that decides its requests; none if they are denied
};

// The differences between the routes of a service and those of a policy.
struct RouteDifferences {
    std::vector<UndeclaredRoute> undeclared; // only the service has them
    std::vector<std::string> unserved;       // only the policy has them, which is harmless if several services share it

    [[nodiscard]] bool empty() const noexcept { return undeclared.empty() && unserved.empty(); }
};

namespace detail {

// `compare` calls the library with the methods, the templates, their number, and the output for the differences.
template <typename Compare>
Result<RouteDifferences> check_routes(const std::vector<ServiceRoute> &routes, const Compare &compare)
{
    std::vector<OrbgateStr> methods, templates;
    for (const ServiceRoute &route : routes) {
        methods.push_back({route.method.data(), route.method.size()});
        templates.push_back({route.path_template.data(), route.path_template.size()});
    }
    OrbgateRouteDifferences *raw = nullptr;
    const OrbgateStatus status = compare(methods.data(), templates.data(), routes.size(), &raw);
    if (status != ORBGATE_STATUS_OK) {
        return Error(status);
    }
    const std::unique_ptr<OrbgateRouteDifferences, Free<orbgate_route_differences_free>> owner(raw);
    RouteDifferences differences;
    OrbgateRouteDifference difference = orbgate_route_difference_init();
    for (std::size_t at = 0; raw != nullptr && orbgate_route_difference(raw, at, &difference) == ORBGATE_STATUS_OK; at++) {
        const std::string route(view(difference.route));
        if (difference.kind == ORBGATE_DIFFERENCE_UNSERVED) {
            differences.unserved.push_back(route);
        } else {
            const auto other = maybe(difference.decided_as);
            differences.undeclared.push_back({route, other ? std::optional(std::string(*other)) : std::nullopt});
        }
    }
    return differences;
}

} // namespace detail

// Compares the routes of a service with those of a policy: call it at startup and in tests.
inline Result<RouteDifferences> check_routes(const Engine &engine, const std::vector<ServiceRoute> &routes)
{
    return detail::check_routes(routes, [&](const OrbgateStr *methods, const OrbgateStr *templates, std::size_t count, auto **out) {
        return orbgate_engine_check_routes(engine.raw(), methods, templates, count, ORBGATE_TEMPLATES_BRACES, out);
    });
}

// Options of a gate, with C++ types.
struct GateOptions {
    std::vector<std::string> public_routes; // need no token, such as `GET /healthz`
    bool pass_cors_preflight = false;       // a browser's preflight passes without a token if the requested method is declared
    bool refuse_wider = false;              // `Gate::reload` fails for a policy that allows more than the active one, or for fewer orbs
    // Receives a line of JSON for each denial, which explains it: method, path without the query, and the answer of `explain`, or only the
    // decision if a header or the query causes the denial. It costs time for each denial, and responses don't contain it. An exception
    // doesn't affect an answer.
    std::function<void(std::string_view)> debug;
    OrbgateGateOptions others = orbgate_gate_options_init(); // those of the C interface
};

// The result of a reload.
struct [[nodiscard]] Reloaded {
    std::string_view result;    // `names::load_loaded`, or the reason for the failure: the label of `names::policy_loads_total`
    std::optional<Error> error; // none if the new policy is active

    explicit operator bool() const noexcept { return !error; }
};

// A gate: policy and keys, for any number of requests. It may be called from any thread; a thread whose token needs
// keys that are missing waits for them.
class Gate {
public:
    // With the options of the C interface; `orbgate_gate_options_init()` returns the defaults. It reads the secrets of
    // issuers of opaque tokens from their files or environment variables.
    static Result<Gate> make(const Verifier &verifier, Fetcher fetcher, OrbgateGateOptions options = orbgate_gate_options_init())
    {
        OrbgateGate *gate = nullptr;
        OrbgateError *error = nullptr;
        options.flags |= ORBGATE_GATE_INTROSPECTION;
        const OrbgateStatus status = orbgate_gate_new(verifier.raw(), &options, &gate, &error);
        if (status != ORBGATE_STATUS_OK) {
            return Error(status, error);
        }
        return Gate(std::make_shared<State>(gate, std::move(fetcher)));
    }
    static Result<Gate> make(const Verifier &verifier, Fetcher fetcher, const GateOptions &options)
    {
        auto gate = make_public(verifier, std::move(fetcher), options);
        if (gate) {
            gate->state_->refuses_wider = options.refuse_wider;
            gate->state_->debug = options.debug;
        }
        return gate;
    }

    // Another owner of the same gate.
    [[nodiscard]] Gate share() const noexcept { return Gate(state_); }

    // Replaces the handle's engine with the policy of a file, for all later requests. The file must end in the end marker,
    // so that a half-written file is never used. If it doesn't, if it has errors, or if `check` or `refuse_wider` rejects it,
    // the active policy stays. The secrets for opaque tokens are read again; if one can't be read, they and the policy stay.
    Reloaded reload(const Handle &policy, const std::filesystem::path &file) const
    {
        auto next = Engine::from_file(file);
        if (!next) {
            const bool is_read = next.error().status != Status::io;
            return {is_read ? names::load_refused : names::load_unreadable, next.error()};
        }
        if (!next->has_end_marker()) {
            return {names::load_unfinished, Error(Status::invalid_policy, file.string() + ": the policy has no end marker, the line `...`")};
        }
        if (auto overlap = check(*next)) {
            return {names::load_refused, std::move(overlap)};
        }
        if (state_ && state_->refuses_wider) {
            if (auto wider = check_wider(policy.load(), *next, file); !wider) {
                return wider;
            }
        }
        if (auto unread = read_secrets()) {
            return {names::load_refused, std::move(unread)};
        }
        if (!policy.store(*next)) {
            return {names::load_refused, Error(Status::invalid_argument, "there is no handle")};
        }
        return {names::load_loaded, std::nullopt};
    }

    // Answers a request with this engine. A moved-from gate or engine denies.
    Answer ask(const Engine &engine, const GateRequest &request) const
    {
        return explained(ask_current([&] { return engine.share(); }, request), request);
    }
    // The same with the handle's engine at the time of the answer: after waiting for keys, possibly a later one.
    Answer ask(const Handle &policy, const GateRequest &request) const
    {
        return explained(ask_current([&] { return policy.load(); }, request), request);
    }

    // Starts to fetch every issuer's keys, so that the first request need not wait. Returns
    // immediately.
    void warm() const
    {
        if (state_ && orbgate_gate_warm(state_->gate.get(), monotonic_ms()) == ORBGATE_STATUS_OK) {
            state_->start_fetches();
        }
    }

    // Never uses a key again, for example because its private half was stolen. False for an unknown
    // issuer.
    bool revoke(Text issuer, Text kid) const noexcept
    {
        return orbgate_gate_revoke(raw(), issuer.data(), issuer.size(), kid.data(), kid.size()) == ORBGATE_STATUS_OK;
    }

    // Discards an issuer's keys, for example after the issuer has withdrawn one. False for an
    // unknown issuer.
    bool forget(Text issuer) const noexcept
    {
        return orbgate_gate_forget(raw(), issuer.data(), issuer.size()) == ORBGATE_STATUS_OK;
    }

    // Reads the secrets for opaque tokens again, from their files or environment variables: call it when one has changed.
    // If one can't be read, it returns the error, and all of them stay as they are.
    [[nodiscard]] std::optional<Error> read_secrets() const
    {
        OrbgateError *error = nullptr;
        const OrbgateStatus status = orbgate_gate_read_secrets(raw(), nullptr, 0, &error);
        return status == ORBGATE_STATUS_OK ? std::nullopt : std::optional(Error(status, error));
    }

    // An error if a path matches both a public route of the options and a route of this engine's policy. Call it at
    // startup, and before you replace the engine.
    [[nodiscard]] std::optional<Error> check(const Engine &engine) const
    {
        OrbgateError *error = nullptr;
        const OrbgateStatus status = orbgate_gate_check_engine(raw(), engine.raw(), &error);
        return status == ORBGATE_STATUS_OK ? std::nullopt : std::optional(Error(status, error));
    }

    // `orbgate::check_routes`, including the public routes.
    [[nodiscard]] Result<RouteDifferences> check_routes(const Engine &engine, const std::vector<ServiceRoute> &routes) const
    {
        return detail::check_routes(routes, [&](const OrbgateStr *methods, const OrbgateStr *templates, std::size_t count, auto **out) {
            return orbgate_gate_check_routes(raw(), engine.raw(), methods, templates, count, out);
        });
    }

    // For health checks, with `orbgate_gate_status`.
    [[nodiscard]] const OrbgateGate *raw() const noexcept { return state_ ? state_->gate.get() : nullptr; }

private:
    struct State {
        State(OrbgateGate *made, Fetcher with) : gate(made), fetcher(std::move(with)) {}
        State(const State &) = delete;
        State &operator=(const State &) = delete;
        // Waits for the running fetches.
        ~State()
        {
            {
                std::unique_lock<std::mutex> lock(mutex);
                ended.wait(lock, [this] { return threads.empty(); });
            }
            join_ended();
        }

        void start_fetches()
        {
            join_ended();
            while (OrbgateFetch *fetch = next_fetch()) {
                const std::lock_guard<std::mutex> lock(mutex);
                threads.emplace_back([this, fetch] { run(fetch); });
            }
        }

        OrbgateFetch *next_fetch() noexcept
        {
            OrbgateFetch *fetch = nullptr;
            return orbgate_gate_next_fetch(gate.get(), monotonic_ms(), &fetch) == ORBGATE_STATUS_OK ? fetch : nullptr;
        }

        // Joins the threads of earlier fetches. A detached thread could outlive the program.
        void join_ended()
        {
            std::list<std::thread> done;
            {
                const std::lock_guard<std::mutex> lock(mutex);
                done.swap(ended_threads);
            }
            for (std::thread &thread : done) {
                thread.join();
            }
        }

        // Completes an attempt, and then those that waited for their turn.
        void run(OrbgateFetch *next) noexcept
        {
            while (next != nullptr) {
                complete(next);
                {
                    const std::lock_guard<std::mutex> lock(mutex);
                    ended.notify_all();
                }
                next = next_fetch();
            }
            // Under the lock: the state may be destroyed right after it.
            const std::lock_guard<std::mutex> lock(mutex);
            const auto own = std::find_if(threads.begin(), threads.end(),
                                          [](const std::thread &thread) { return thread.get_id() == std::this_thread::get_id(); });
            ended_threads.splice(ended_threads.end(), threads, own);
            ended.notify_all();
        }

        // Completes all fetches of an attempt.
        void complete(OrbgateFetch *next) noexcept
        {
            while (next != nullptr) {
                const std::unique_ptr<OrbgateFetch, detail::Free<orbgate_fetch_free>> fetch(std::exchange(next, nullptr));
                OrbgateFetchInfo info = orbgate_fetch_info_init();
                OrbgateStatus status = orbgate_fetch_info(fetch.get(), &info);
                const std::variant<Response, FetchFailure> came = fetched(info);
                if (const Response *response = std::get_if<Response>(&came)) {
                    status = orbgate_gate_fetched(gate.get(), info.attempt, response->status, response->cache_control.data(),
                                                  response->cache_control.size(), response->body.data(), response->body.size(),
                                                  monotonic_ms(), &next);
                } else {
                    const std::uint32_t failure = detail::number(*std::get_if<FetchFailure>(&came));
                    status = orbgate_gate_fetch_failed(gate.get(), info.attempt, failure, monotonic_ms());
                }
                if (status != ORBGATE_STATUS_OK) {
                    next = nullptr; // the attempt ends by itself
                }
            }
        }

        std::variant<Response, FetchFailure> fetched(const OrbgateFetchInfo &info) noexcept
        {
            const auto call = [&] {
                Fetch fetch = {std::string(detail::view(info.url)), static_cast<std::size_t>(info.max_bytes),
                               std::chrono::milliseconds(info.timeout_ms)};
                if (info.body.data != nullptr) {
                    fetch.post = Post{std::string(detail::view(info.authorization)), std::string(detail::view(info.body))};
                }
                return fetcher(fetch);
            };
#if defined(__cpp_exceptions)
            try {
                return call();
            } catch (...) {
                return FetchFailure::unreachable;
            }
#else
            return call();
#endif
        }

        void wait(const OrbgateStep *step, std::uint64_t until_ms)
        {
            const auto is_over = [&] {
                std::uint8_t over = 1;
                return orbgate_gate_is_over(gate.get(), step, monotonic_ms(), &over) != ORBGATE_STATUS_OK || over == 1;
            };
            const std::chrono::steady_clock::time_point until{std::chrono::milliseconds(until_ms)};
            std::unique_lock<std::mutex> lock(mutex);
            ended.wait_until(lock, until, is_over);
        }

        std::unique_ptr<OrbgateGate, detail::Free<orbgate_gate_free>> gate;
        Fetcher fetcher;
        bool refuses_wider = false;
        std::function<void(std::string_view)> debug;
        std::mutex mutex;
        std::condition_variable ended; // an attempt has ended
        std::list<std::thread> threads, ended_threads;
    };

    explicit Gate(std::shared_ptr<State> state) noexcept : state_(std::move(state)) {}

    static Result<Gate> make_public(const Verifier &verifier, Fetcher fetcher, const GateOptions &options)
    {
        const std::vector<std::string_view> routes(options.public_routes.begin(), options.public_routes.end());
        const std::vector<OrbgateStr> open = texts(routes);
        OrbgateGateOptions all = options.others;
        all.public_routes = open.data();
        all.public_route_count = open.size();
        all.cors_preflight = options.pass_cors_preflight ? ORBGATE_CORS_PREFLIGHT_PASS : ORBGATE_CORS_PREFLIGHT_DENY;
        return make(verifier, std::move(fetcher), all);
    }

    // Whether a file's policy allows more than the active one, with the public routes of this gate.
    Reloaded check_wider(const Engine &active, const Engine &next, const std::filesystem::path &file) const
    {
        if (active.digest() == next.digest()) {
            return {names::load_loaded, std::nullopt};
        }
        std::ifstream stream(file, std::ios::binary);
        questions::DiffArguments arguments;
        arguments.policy.assign(std::istreambuf_iterator<char>(stream), {});
        const auto changes = questions::diff(active, arguments);
        if (!changes) {
            return {names::load_refused, changes.error()};
        }
        if (changes->new_ != next.digest()) {
            return {names::load_unfinished, Error(Status::invalid_policy, file.string() + ": the policy file is still being written")};
        }
        std::string wider;
        for (const std::string &kind : changes->fails) {
            wider += (wider.empty() ? "" : ", ") + kind;
        }
        OrbgateError *error = nullptr;
        const OrbgateStatus status = orbgate_gate_check_wider(raw(), active.raw(), next.raw(), &error);
        if (status != ORBGATE_STATUS_OK) {
            wider = Error(status, error).message;
        } else if (!changes->widens) {
            return {names::load_loaded, std::nullopt};
        }
        return {names::load_wider, Error(Status::invalid_policy, file.string() + ": the policy allows more than the active one: " + wider)};
    }

    // Explains a denial, by the engine that made it. Without the query, which can have secrets in it, and without the token.
    void explain(const Answer &answer, const GateRequest &request) const
    {
        questions::ExplainArguments arguments;
        questions::Request &asked = arguments.request;
        asked.method = in_utf8(request.method);
        asked.target = in_utf8(request.target.substr(0, request.target.find('?')));
        switch (answer.kind()) {
        case TokenKind::user: asked.token = questions::RequestToken{"user", std::string(answer.scopes())}; break;
        case TokenKind::organisation: asked.token = questions::RequestToken{"organisation", std::string(answer.scopes())}; break;
        default:
            if (answer.decision().reason() == Reason::invalid_token) {
                asked.token = questions::RequestToken{"unknown", ""};
            }
        }
        const auto explanation = questions::explain(answer.engine_, arguments);
        const auto made = answer.words();
        if (explanation && made) {
            // Otherwise a header or the query, which the explanation doesn't get, is the cause.
            const bool is_cause = explanation->reason == made->reason && explanation->detail == made->detail;
            state_->debug("{\"method\":" + questions::to_json(asked.method) + ",\"path\":" + questions::to_json(asked.target) +
                          ",\"explanation\":" + (is_cause ? questions::to_json(*explanation) : in_json(*made, answer.decision())) + "}");
        }
    }

    static std::string in_json(const Words &words, const Decision &decision)
    {
        questions::PolicyDecision json;
        json.decision = words.decision;
        json.status = decision.http_status();
        json.reason = words.reason;
        json.detail = words.detail;
        json.api = words.api;
        json.route = words.route;
        json.scope = words.scope;
        json.policy = words.policy;
        return questions::to_json(json);
    }

    // Bytes outside ASCII are malformed in every request; each becomes a replacement character.
    static std::string in_utf8(std::string_view bytes)
    {
        std::string text;
        for (const char byte : bytes) {
            static_cast<unsigned char>(byte) < 0x80 ? text += byte : text += "\xef\xbf\xbd";
        }
        return text;
    }

    Answer explained(Answer answer, const GateRequest &request) const
    {
        // The policy allows a misrouted request, so there is nothing to explain.
        if (answer || answer.misrouted() || !state_ || !state_->debug) {
            return answer;
        }
#if defined(__cpp_exceptions)
        try {
            explain(answer, request);
        } catch (...) {
        }
#else
        explain(answer, request);
#endif
        return answer;
    }

    // Asks until there is an answer, each time with the engine that is current then.
    template <typename Current>
    Answer ask_current(const Current &current, const GateRequest &request) const
    {
        if (!state_) {
            return {};
        }
        const std::vector<OrbgateStr> authorization = texts(request.authorization), names = texts(request.header_names),
                                      upgrade = texts(request.upgrade), origin = texts(request.origin),
                                      preflight = texts(request.access_control_request_method);
        OrbgateGateRequest raw = orbgate_gate_request_init();
        raw.flags = ORBGATE_HOLDS_THREAD | detail::number(request.bonus) | (request.audit ? std::uint32_t{ORBGATE_WITH_AUDIT} : 0u);
        raw.method = text(request.method);
        raw.target = text(request.target);
        raw.authorization = authorization.data();
        raw.authorization_count = authorization.size();
        raw.header_names = names.data();
        raw.header_name_count = names.size();
        raw.upgrade = upgrade.data();
        raw.upgrade_count = upgrade.size();
        raw.origin = origin.data();
        raw.origin_count = origin.size();
        raw.access_control_request_method = preflight.data();
        raw.access_control_request_method_count = preflight.size();
        if (request.matched) {
            raw.matched = request.matched->empty() ? ORBGATE_MATCHED_UNKNOWN : ORBGATE_MATCHED_TEMPLATE;
            raw.path_template = text(*request.matched);
        }
        OrbgateStep *step = nullptr;
        Engine engine = current();
        OrbgateStatus status = orbgate_gate_ask(state_->gate.get(), engine.raw(), &raw, unix_ms(), monotonic_ms(), &step);
        for (;;) {
            Answer::Step owner(status == ORBGATE_STATUS_OK ? step : nullptr);
            OrbgateStepInfo info = orbgate_step_info_init();
            state_->start_fetches();
            if (orbgate_step_info(owner.get(), &info) != ORBGATE_STATUS_OK) {
                return {};
            }
            if (info.kind != ORBGATE_STEP_WAIT) {
                // A library that cannot check signatures gives no answer, which denies.
                return info.kind == ORBGATE_STEP_ANSWER ? Answer(std::move(owner), info, std::move(engine)) : Answer();
            }
            state_->wait(owner.get(), info.until_ms);
            engine = current();
            status = orbgate_gate_resume(state_->gate.get(), engine.raw(), owner.release(), unix_ms(), monotonic_ms(), &step);
        }
    }

    template <typename Clock>
    static std::uint64_t since_start() noexcept
    {
        const auto since = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now().time_since_epoch()).count();
        return since < 0 ? 0 : static_cast<std::uint64_t>(since);
    }
    static std::uint64_t unix_ms() noexcept { return since_start<std::chrono::system_clock>(); }
    static std::uint64_t monotonic_ms() noexcept { return since_start<std::chrono::steady_clock>(); }

    static OrbgateStr text(std::string_view view) noexcept { return {view.data(), view.size()}; }
    static std::vector<OrbgateStr> texts(const std::vector<std::string_view> &views)
    {
        std::vector<OrbgateStr> texts;
        for (const std::string_view view : views) {
            texts.push_back(text(view));
        }
        return texts;
    }

    std::shared_ptr<State> state_;
};

} // namespace orbgate

#endif // ORBGATE_GATE_HPP
