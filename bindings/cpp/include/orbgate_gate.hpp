// Gates for C++17 answer requests: the library verifies the bearer token and decides; your callback makes the calls to the
// issuers, which fetch keys and ask about opaque tokens, with your HTTP client. On top of orbgate_gate.h.
//
// Programs that include this header must also link the thread library.
#ifndef ORBGATE_GATE_HPP
#define ORBGATE_GATE_HPP

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <fstream>
#include <functional>
#include <list>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "orbgate.hpp"
#include "orbgate_gate.h"
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
inline constexpr std::string_view holds_total = "orbgate_holds_total";
inline constexpr std::string_view settlements_total = "orbgate_settlements_total";
inline constexpr std::string_view over_ceiling_total = "orbgate_over_ceiling_total";
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

namespace detail {

// Calls a function of the service, whose exceptions change nothing.
template <typename F>
void quietly(F call) noexcept
{
#if defined(__cpp_exceptions)
    try {
        call();
    } catch (...) {
    }
#else
    call();
#endif
}

// The contents of a regular file; opening a pipe could wait for ever.
inline Result<std::string> read_file(const std::filesystem::path &path)
{
    std::error_code failed;
    if (!std::filesystem::is_regular_file(path, failed)) {
        return Error(Status::io, failed ? failed.message() : "not a regular file");
    }
    std::ifstream file(path, std::ios::binary);
    std::string text;
    char chunk[16'384];
    // A little too much is read, so that the library says what is wrong.
    while (text.size() <= ORBGATE_MAX_POLICY_BYTES && (file.read(chunk, sizeof chunk), file.gcount() > 0)) {
        text.append(chunk, static_cast<std::size_t>(file.gcount()));
    }
    return file.bad() || !file.is_open() ? Result<std::string>(Error(Status::io, "it can't be read")) : Result<std::string>(std::move(text));
}

// The errors of an answer that have a position.
template <typename Next>
std::vector<Diagnostic> diagnostics(const OrbgateMessage *answer, Next next)
{
    std::vector<Diagnostic> diagnostics;
    OrbgateMessage one = orbgate_message_init();
    while (next(answer, &one)) {
        diagnostics.push_back({static_cast<std::uint32_t>(orbgate_diagnostic_get_line(&one)),
                               static_cast<std::uint32_t>(orbgate_diagnostic_get_column(&one)),
                               std::string(view(orbgate_diagnostic_get_message(&one)))});
    }
    return diagnostics;
}

// One request, or one other question, to a gate: its step, which ends with it, and memory for its questions and answers.
struct Exchange {
    explicit Exchange(std::uint64_t of = 0) noexcept : gate(of) {}
    Exchange(const Exchange &) = delete;
    Exchange &operator=(const Exchange &) = delete;
    ~Exchange()
    {
        orbgate_step_end(&step);
        orbgate_question_free(&question);
    }

    // Sends the question.
    OrbgateStatus send(const OrbgateEngine *engine = nullptr) noexcept
    {
        const OrbgateStatus status = orbgate_gate_send(&gate, engine, &step, &question, &answer);
        if (status != ORBGATE_STATUS_OK) {
            orbgate_step_end(&step);
        }
        return status;
    }

    // Sends a question that is answered by `Done` or `Failed`.
    std::optional<Error> fails(const OrbgateEngine *engine = nullptr)
    {
        const OrbgateStatus status = send(engine);
        return status == ORBGATE_STATUS_OK && answer.kind == ORBGATE_MESSAGE_DONE ? std::nullopt : std::optional(error(status));
    }

    // Why there is no other answer.
    [[nodiscard]] Error error(OrbgateStatus status) const
    {
        if (status != ORBGATE_STATUS_OK || answer.kind != ORBGATE_MESSAGE_FAILED) {
            return Error(status == ORBGATE_STATUS_OK ? ORBGATE_STATUS_INVALID_ARGUMENT : status);
        }
        Error error(static_cast<Status>(orbgate_failed_get_status(&answer)), std::string(view(orbgate_failed_get_message(&answer))));
        error.diagnostics = diagnostics(&answer, orbgate_failed_next_diagnostic);
        return error;
    }

    std::uint64_t gate, step = 0; // handles
    OrbgateQuestion question = orbgate_question_init();
    OrbgateMessage answer = orbgate_message_init(), token = orbgate_message_init();
};

// Ends a request. Each thread keeps the memory of one for its next, because allocating it takes as long as a decision.
struct EndRequest {
    void operator()(Exchange *ended) const noexcept
    {
        std::unique_ptr<Exchange> exchange(ended);
        static thread_local const AtThreadEnd at_end;
        (void)at_end;
        // Not at the end of the thread, nor after a request of an unusual size.
        if (kept_ == nullptr && !is_thread_over_ && std::max(exchange->question.room, exchange->question.answer_room) <= 65'536) {
            orbgate_step_end(&exchange->step);
            kept_ = exchange.release();
        }
    }

    static std::unique_ptr<Exchange, EndRequest> begin(std::uint64_t gate)
    {
        Exchange *const exchange = std::exchange(kept_, nullptr);
        if (exchange == nullptr) {
            return std::unique_ptr<Exchange, EndRequest>(new Exchange(gate));
        }
        exchange->gate = gate;
        exchange->answer.kind = exchange->token.kind = 0;
        return std::unique_ptr<Exchange, EndRequest>(exchange);
    }

private:
    struct AtThreadEnd {
        ~AtThreadEnd()
        {
            is_thread_over_ = true;
            delete std::exchange(kept_, nullptr);
        }
    };

    // Without destructors, so an answer may be destroyed after the others of its thread.
    static inline thread_local Exchange *kept_ = nullptr;
    static inline thread_local bool is_thread_over_ = false;
};
using Request = std::unique_ptr<Exchange, EndRequest>;

inline std::uint64_t count(std::chrono::milliseconds time) noexcept { return static_cast<std::uint64_t>(time.count()); }
inline std::chrono::milliseconds milliseconds(std::uint64_t count) noexcept
{
    const auto most = static_cast<std::uint64_t>(std::chrono::milliseconds::max().count());
    return std::chrono::milliseconds(static_cast<std::chrono::milliseconds::rep>(std::min(count, most)));
}
// A time since 1970, if it isn't 0.
inline std::optional<std::chrono::system_clock::time_point> time(std::uint64_t unix_ms) noexcept
{
    using Clock = std::chrono::system_clock;
    const auto most = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::time_point::max().time_since_epoch());
    return unix_ms == 0 ? std::nullopt : std::optional(Clock::time_point(std::min(milliseconds(unix_ms), most)));
}

} // namespace detail

// Which tokens are accepted, from the YAML configuration of orbgate-token.
class Verifier {
public:
    static Result<Verifier> from_yaml(Text yaml)
    {
        detail::Exchange exchange;
        orbgate_sources_begin(&exchange.question);
        orbgate_sources_set_tokens(&exchange.question, yaml.data(), yaml.size());
        const OrbgateStatus status = exchange.send();
        if (status != ORBGATE_STATUS_OK || exchange.answer.kind != ORBGATE_MESSAGE_SECRET_SOURCES) {
            return exchange.error(status);
        }
        return Verifier(std::string(yaml.view()));
    }
    static Result<Verifier> from_file(const std::filesystem::path &path)
    {
        const auto text = detail::read_file(path);
        if (!text) {
            return Error(Status::io, path.string() + ": " + text.error().message);
        }
        return from_yaml(*text);
    }

    // The configuration.
    [[nodiscard]] const std::string &yaml() const noexcept { return yaml_; }

private:
    explicit Verifier(std::string yaml) noexcept : yaml_(std::move(yaml)) {}
    std::string yaml_;
};

// A call to an issuer, for its keys or about an opaque token. Send all of it: follow no redirects, read at most `max_bytes` of the
// response, and take at most `timeout`. It can contain a token and a secret, so don't log headers and body.
struct Fetch {
    std::string method = "GET";
    std::string url;
    std::vector<std::pair<std::string, std::string>> headers;
    std::optional<std::string> body;
    std::size_t max_bytes = 0;
    std::chrono::milliseconds timeout{0};
};

// The response of a server to a fetch.
struct Response {
    unsigned status = 0;
    std::string cache_control; // the header's value; several joined by commas
    std::string body;
};

// Why there is no response. The cause is for the log, and quotes neither headers nor body.
struct FetchFailure {
    std::uint32_t number;
    std::string cause;

    static FetchFailure unreachable(std::string cause = {}) { return {ORBGATE_FETCH_UNREACHABLE, std::move(cause)}; }
    static FetchFailure timeout(std::string cause = {}) { return {ORBGATE_FETCH_TIMEOUT, std::move(cause)}; }
    static FetchFailure bad_url(std::string cause = {}) { return {ORBGATE_FETCH_BAD_URL, std::move(cause)}; }
    static FetchFailure too_large(std::string cause = {}) { return {ORBGATE_FETCH_TOO_LARGE, std::move(cause)}; }
};

// How bad a line of the log is.
enum class LogLevel { info, warning, error };

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
    std::optional<BonusOrbs> bonus = std::nullopt; // empty if nobody reads it: an audit's `bonus_allowed` is null
    // The template that a router outside the gate has chosen, with its prefix; "" if the router exposes
    // none.
    std::optional<std::string_view> matched = std::nullopt;
    bool audit = false; // with a line for an audit
    // One item per line of each header. A request that lists `h2c` in `Upgrade` is denied.
    std::vector<std::string_view> upgrade = {}, origin = {}, access_control_request_method = {};
    std::vector<std::string_view> dpop = {}; // every value of `DPoP`, likewise
    std::string_view certificate = {};       // with which the client has authenticated its connection, in DER
};

// The answer of a gate. A default-constructed one denies. Its strings live as long as the answer.
class [[nodiscard]] Answer {
public:
    Answer() noexcept : engine_(nullptr) {}

    [[nodiscard]] bool is_allow() const noexcept { return decision_.is_allow() && orbgate_answer_is_allow(message()); }
    explicit operator bool() const noexcept { return is_allow(); }
    [[nodiscard]] Decision decision() const noexcept { return exchange_ ? decision_ : Decision(); }
    // The strings of the decision, from its policy, which the answer keeps alive; none if default-constructed.
    [[nodiscard]] std::optional<Words> words() const & noexcept { return engine_.words(decision()); }
    std::optional<Words> words() const && = delete;

    // The status for a denied request, whose body must be empty; none for an allow.
    [[nodiscard]] std::optional<std::uint32_t> http_status() const noexcept
    {
        if (is_allow()) {
            return std::nullopt;
        }
        const auto status = static_cast<std::uint32_t>(orbgate_answer_get_http_status(message()));
        return status == 0 ? std::uint32_t{ORBGATE_DEFAULT_HTTP_STATUS} : status;
    }

    // cargo xtask codes: answer
    // The request is allowed only as a preflight, so run only a handler of `OPTIONS`.
    [[nodiscard]] bool preflight() const noexcept { return orbgate_answer_get_preflight(message()); }
    // The `WWW-Authenticate` header of a denial.
    [[nodiscard]] std::optional<std::string_view> www_authenticate() const & noexcept { return detail::maybe(orbgate_answer_get_www_authenticate(message())); }
    std::optional<std::string_view> www_authenticate() const && = delete;
    // The `Allow` header of a denial.
    [[nodiscard]] std::optional<std::string_view> allow() const & noexcept { return detail::maybe(orbgate_answer_get_allow(message())); }
    std::optional<std::string_view> allow() const && = delete;
    // Why the token is rejected, such as `expired`, only for logs and counters.
    [[nodiscard]] std::optional<std::string_view> refused() const & noexcept { return detail::maybe(orbgate_answer_get_refused(message())); }
    std::optional<std::string_view> refused() const && = delete;
    // What the router chose instead of the allowed route; empty if it is unknown. Count it.
    [[nodiscard]] std::optional<std::string_view> misrouted() const & noexcept { return detail::maybe(orbgate_answer_get_misrouted(message())); }
    std::optional<std::string_view> misrouted() const && = delete;
    // The template of an allowed request that needs no token.
    [[nodiscard]] std::optional<std::string_view> public_template() const & noexcept { return detail::maybe(orbgate_answer_get_public_template(message())); }
    std::optional<std::string_view> public_template() const && = delete;
    // With `with_audit`, a JSON line for an audit log, without a line feed.
    [[nodiscard]] std::optional<std::string_view> audit() const & noexcept { return detail::maybe(orbgate_answer_get_audit(message())); }
    std::optional<std::string_view> audit() const && = delete;
    // end of answer

    // The kind of the token, if it is valid.
    [[nodiscard]] TokenKind kind() const noexcept
    {
        return token() == nullptr ? TokenKind::none : static_cast<TokenKind>(orbgate_token_get_kind(token()));
    }
    // cargo xtask codes: token
    // Its scopes, separated by single spaces.
    [[nodiscard]] std::string_view scopes() const & noexcept { return detail::view(orbgate_token_get_scopes(token())); }
    std::string_view scopes() const && = delete;
    // The issuer.
    [[nodiscard]] std::string_view issuer() const & noexcept { return detail::view(orbgate_token_get_issuer(token())); }
    std::string_view issuer() const && = delete;
    // The subject (`sub`), if the token states it.
    [[nodiscard]] std::optional<std::string_view> subject() const & noexcept { return detail::maybe(orbgate_token_get_subject(token())); }
    std::optional<std::string_view> subject() const && = delete;
    // The client that the token was issued to, if the token states it.
    [[nodiscard]] std::optional<std::string_view> client() const & noexcept { return detail::maybe(orbgate_token_get_client(token())); }
    std::optional<std::string_view> client() const && = delete;
    // The party that acts for the subject (`act`), if the token states it.
    [[nodiscard]] std::optional<std::string_view> actor() const & noexcept { return detail::maybe(orbgate_token_get_actor(token())); }
    std::optional<std::string_view> actor() const && = delete;
    // The token's own id (`jti`), if the token states it.
    [[nodiscard]] std::optional<std::string_view> id() const & noexcept { return detail::maybe(orbgate_token_get_id(token())); }
    std::optional<std::string_view> id() const && = delete;
    // An id that reveals nothing about the token: 16 hexadecimal digits.
    [[nodiscard]] std::string_view fingerprint() const & noexcept { return detail::view(orbgate_token_get_fingerprint(token())); }
    std::string_view fingerprint() const && = delete;
    // When the token expires.
    [[nodiscard]] std::optional<std::chrono::system_clock::time_point> expires() const noexcept { return detail::time(orbgate_token_get_expires_ms(token())); }
    // end of token

    // The message of the C interface; null for none.
    [[nodiscard]] const OrbgateMessage *message() const & noexcept { return exchange_ ? &exchange_->answer : nullptr; }
    const OrbgateMessage *message() const && = delete;

private:
    friend class Gate;
    Answer(detail::Request exchange, Engine engine) noexcept : exchange_(std::move(exchange)), engine_(std::move(engine))
    {
        orbgate_answer_get_token(message(), &exchange_->token);
        const OrbgateStatus status = orbgate_engine_unpack(engine_.raw(), orbgate_answer_get_packed(message()), &decision_.raw_);
        decision_ = status == ORBGATE_STATUS_OK ? decision_ : Decision();
    }

    [[nodiscard]] const OrbgateMessage *token() const noexcept
    {
        return exchange_ && exchange_->token.kind != 0 ? &exchange_->token : nullptr;
    }

    detail::Request exchange_;
    Decision decision_;
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

inline Result<RouteDifferences> check_routes(std::uint64_t gate, const Engine &engine, const std::vector<ServiceRoute> &routes)
{
    Exchange exchange(gate);
    orbgate_check_routes_begin(&exchange.question);
    for (const auto &[method, path_template] : routes) {
        orbgate_check_routes_add_route(&exchange.question, method.data(), method.size(), path_template.data(), path_template.size());
    }
    const OrbgateStatus status = exchange.send(engine.raw());
    if (status != ORBGATE_STATUS_OK || exchange.answer.kind != ORBGATE_MESSAGE_ROUTE_DIFFERENCES) {
        return exchange.error(status);
    }
    RouteDifferences differences;
    OrbgateMessage one = orbgate_message_init();
    while (orbgate_route_differences_next_difference(&exchange.answer, &one)) {
        std::string route(view(orbgate_route_difference_get_route(&one)));
        if (orbgate_route_difference_get_kind(&one) == ORBGATE_DIFFERENCE_UNSERVED) {
            differences.unserved.push_back(std::move(route));
        } else {
            const auto other = maybe(orbgate_route_difference_get_decided_as(&one));
            differences.undeclared.push_back({std::move(route), other ? std::optional(std::string(*other)) : std::nullopt});
        }
    }
    return differences;
}

} // namespace detail

// Compares the routes of a service with those of a policy: call it at startup and in tests.
inline Result<RouteDifferences> check_routes(const Engine &engine, const std::vector<ServiceRoute> &routes)
{
    return detail::check_routes(0, engine, routes);
}

// Options of a gate. Those that are 0 or empty have their defaults.
struct GateOptions {
    std::vector<std::string> public_routes; // need no token, such as `GET /healthz`
    bool pass_cors_preflight = false;       // a browser's preflight passes without a token if the requested method is declared
    bool refuse_wider = false;              // a reload fails for a policy that allows more than the active one, or for fewer orbs
    // Receives a line of JSON for each denial, which explains it: method, path without the query, and the answer of `explain`, or only the
    // decision if a header or the query causes the denial. It costs time for each denial, and responses don't contain it. An exception
    // doesn't affect an answer.
    std::function<void(std::string_view)> debug;
    // Receives a sentence for each change that operators should know: issuers that can't be fetched or asked, or can be again, keys that
    // are left out of a set, failed fetches, and versions of the policy. It is called from any thread, and an exception doesn't affect an
    // answer.
    std::function<void(LogLevel, std::string_view)> log;
    // cargo xtask codes: options
    // Every denial has the status 403, so an unknown route looks like a missing scope.
    bool flat_403 = false;
    // No header can override a `POST`. Unsafe if the service follows such headers.
    bool ignore_method_override = false;
    // No key is used after its time; `max_stale_ms` must be 0.
    bool no_stale_keys = false;
    // An `ORBGATE_CHALLENGE_*` number: the `WWW-Authenticate` header of denials.
    std::uint64_t challenge = 0;
    // An `ORBGATE_TEMPLATES_*` number: the router's syntax for parameters.
    std::uint64_t templates = 0;
    // The realm of a full challenge: printable ASCII without `"` and `\`.
    std::string realm;
    // The `https` URL of the service's metadata in a full challenge (RFC 9728).
    std::string resource_metadata;
    // How long keys are fresh if the issuer sends no usable `Cache-Control`. 0 selects 600 s.
    std::chrono::milliseconds ttl{0};
    // The shortest time that an issuer can set. 0 selects 60 s.
    std::chrono::milliseconds ttl_min{0};
    // The longest time that an issuer can set. 0 selects 3,600 s.
    std::chrono::milliseconds ttl_max{0};
    // The percentage of keys' time after which a token starts a call ahead. 0 selects 80.
    std::uint64_t ahead_percent = 0;
    // How long stale keys are used if new ones can't be fetched. 0 selects 3,600 s.
    std::chrono::milliseconds max_stale{0};
    // The time between two attempts. 0 selects 30 s.
    std::chrono::milliseconds cooldown{0};
    // How many attempts tokens with unknown keys can start at once and per cooldown. 0 selects 4.
    std::uint64_t burst = 0;
    // The time between two attempts while there are no keys. 0 selects 1 s.
    std::chrono::milliseconds retry{0};
    // The time limit for one attempt. 0 selects 5 s.
    std::chrono::milliseconds timeout{0};
    // `Ask` has what proves a token. Without it, a configuration with `proof` is refused.
    bool proofs = false;
    // end of options
};

// The status of one issuer's keys, for health checks.
struct IssuerStatus {
    // cargo xtask codes: issuer status
    // The issuer.
    std::string issuer;
    // The number of usable keys. At 0, every token is rejected unless `opaque` is true.
    std::uint64_t key_count = 0;
    // When the keys were fetched, on the monotonic clock; 0 if there aren't any.
    std::chrono::milliseconds fetched{0};
    // Why the last attempt failed; empty if it succeeded.
    std::string failure;
    // The keys that were left out, with the reasons: one line for each.
    std::string warnings;
    // The issuer's tokens are opaque: `failure` is that of its introspection endpoint.
    bool opaque = false;
    // end of issuer status

    static IssuerStatus of(const OrbgateMessage &from)
    {
        // cargo xtask codes: read issuer status
        return {std::string(detail::view(orbgate_issuer_status_get_issuer(&from))),
                orbgate_issuer_status_get_key_count(&from),
                detail::milliseconds(orbgate_issuer_status_get_fetched_ms(&from)),
                std::string(detail::view(orbgate_issuer_status_get_failure(&from))),
                std::string(detail::view(orbgate_issuer_status_get_warnings(&from))),
                orbgate_issuer_status_get_opaque(&from)};
        // end of read issuer status
    }
};

// The result of a reload.
struct [[nodiscard]] Reloaded {
    std::string result;          // `names::load_loaded`, or the reason for the failure: the label of `names::policy_loads_total`
    std::optional<Error> error;  // none if the new policy is active
    std::string message;         // a sentence for the log, which `GateOptions::log` gets
    std::string warning;         // what an operator should look at, such as the changes for callers; `log` gets it, too

    explicit operator bool() const noexcept { return !error; }
};

// How a file is followed.
struct WatchOptions {
    std::chrono::milliseconds interval{2'000}; // the time between two reads
    bool require_seal = false;                 // a version without a seal is rejected
    // Receives each result, for a counter. It is called from the thread that reads; an exception changes nothing.
    std::function<void(const Reloaded &)> report;
};

// A file that is followed until this is destroyed.
class [[nodiscard]] Watch {
public:
    // Reads the file now, for an operator who has changed it. A version with a valid seal is activated at once, and others at most a second
    // after their bytes were first read, however often this is called.
    void read_now() const
    {
        const std::lock_guard<std::mutex> lock(state_->mutex);
        state_->is_told = true;
        state_->woken.notify_all();
    }

private:
    friend class Gate;
    struct State {
        std::mutex mutex;
        std::condition_variable woken;
        bool is_told = false, is_over = false;
        std::thread thread;
    };
    struct End {
        void operator()(State *state) const noexcept
        {
            {
                const std::lock_guard<std::mutex> lock(state->mutex);
                state->is_over = true;
                state->woken.notify_all();
            }
            state->thread.join();
            delete state;
        }
    };
    explicit Watch(State *state) noexcept : state_(state) {}
    std::unique_ptr<State, End> state_;
};

// A gate: policy and keys, for any number of requests. It may be called from any thread; a thread whose token needs
// keys that are missing waits for them.
class Gate {
public:
    // It reads the secrets of issuers of opaque tokens from their files or environment variables.
    static Result<Gate> make(const Verifier &verifier, Fetcher fetcher, const GateOptions &options = {})
    {
        auto state = std::make_shared<State>(std::move(fetcher));
        detail::Exchange exchange;
        orbgate_make_begin(&exchange.question);
        orbgate_make_set_tokens(&exchange.question, verifier.yaml().data(), verifier.yaml().size());
        set(&exchange.question, options);
        auto error = exchange.fails();
        state->gate = exchange.gate;
        if (error) {
            return std::move(*error);
        }
        state->refuses_wider = options.refuse_wider;
        state->debug = options.debug;
        state->log = options.log;
        state->start_calls();
        return Gate(std::move(state));
    }

    // Another owner of the same gate.
    [[nodiscard]] Gate share() const noexcept { return Gate(state_); }

    // Replaces the handle's engine with the policy of a file, for all later requests. The file must end in the end marker,
    // so that a half-written file is never used. If it doesn't, if it has errors, or if it overlaps the public routes or `refuse_wider`
    // rejects it, the active policy stays. The secrets for opaque tokens are read again; if one can't be read, they and the policy stay.
    Reloaded reload(const Handle &policy, const std::filesystem::path &file) const
    {
        detail::Exchange exchange(raw());
        return look(exchange, policy, file, {}, true);
    }

    // Follows a file until the result is destroyed: a thread reads it at an interval, and activates each valid version an interval after its
    // bytes were first read, if they haven't changed, or at once if it has a valid seal. Anything else is reported once, and changes nothing. The first version is the one after the active policy.
    Watch watch(const Handle &policy, std::filesystem::path file, WatchOptions options = {}) const;

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
        if (state_) {
            detail::Exchange exchange(raw());
            orbgate_warm_begin(&exchange.question);
            orbgate_warm_set_monotonic_ms(&exchange.question, monotonic_ms());
            if (exchange.send() == ORBGATE_STATUS_OK) {
                state_->start_calls();
            }
        }
    }

    // Never uses a key again, for example because its private half was stolen. False for an unknown
    // issuer.
    bool revoke(Text issuer, Text kid) const noexcept
    {
        detail::Exchange exchange(raw());
        orbgate_revoke_begin(&exchange.question);
        orbgate_revoke_set_issuer(&exchange.question, issuer.data(), issuer.size());
        orbgate_revoke_set_kid(&exchange.question, kid.data(), kid.size());
        return exchange.send() == ORBGATE_STATUS_OK;
    }

    // Discards an issuer's keys, for example after the issuer has withdrawn one. False for an
    // unknown issuer.
    bool forget(Text issuer) const noexcept
    {
        detail::Exchange exchange(raw());
        orbgate_forget_begin(&exchange.question);
        orbgate_forget_set_issuer(&exchange.question, issuer.data(), issuer.size());
        return exchange.send() == ORBGATE_STATUS_OK;
    }

    // Reads the secrets for opaque tokens again, from their files or environment variables: call it when one has changed.
    // If one can't be read, it returns the error, and all of them stay as they are.
    [[nodiscard]] std::optional<Error> read_secrets() const
    {
        detail::Exchange exchange(raw());
        orbgate_read_secrets_begin(&exchange.question);
        return exchange.fails();
    }

    // An error if a path matches both a public route of the options and a route of this engine's policy. Call it at
    // startup, and before you replace the engine. The log states how many routes consume orbs, because no gate in C++ charges them.
    [[nodiscard]] std::optional<Error> check(const Engine &engine) const
    {
        detail::Exchange exchange(raw());
        orbgate_check_engine_begin(&exchange.question);
        auto error = exchange.fails(engine.raw());
        if (!error) {
            state_->states(exchange.answer);
        }
        return error;
    }

    // `orbgate::check_routes`, including the public routes.
    [[nodiscard]] Result<RouteDifferences> check_routes(const Engine &engine, const std::vector<ServiceRoute> &routes) const
    {
        return raw() == 0 ? Error(Status::invalid_argument, "there is no gate") : detail::check_routes(raw(), engine, routes);
    }

    // The status of each issuer's keys, in the order of the configuration, for health checks.
    [[nodiscard]] std::vector<IssuerStatus> status() const
    {
        detail::Exchange exchange(raw());
        orbgate_status_begin(&exchange.question);
        std::vector<IssuerStatus> issuers;
        OrbgateMessage one = orbgate_message_init();
        const bool is_known = exchange.send() == ORBGATE_STATUS_OK;
        while (is_known && orbgate_key_status_next_issuer(&exchange.answer, &one)) {
            issuers.push_back(IssuerStatus::of(one));
        }
        return issuers;
    }

    // The handle of the C interface; 0 without a gate.
    [[nodiscard]] std::uint64_t raw() const noexcept { return state_ ? state_->gate : 0; }

private:
    struct State {
        explicit State(Fetcher with) : fetcher(std::move(with)) {}
        State(const State &) = delete;
        State &operator=(const State &) = delete;
        // Waits for the running calls.
        ~State()
        {
            {
                std::unique_lock<std::mutex> lock(mutex);
                ended.wait(lock, [this] { return threads.empty(); });
            }
            join_ended();
            orbgate_gate_end(&gate);
        }

        void start_calls()
        {
            join_ended();
            while (auto call = next_call()) {
                const std::lock_guard<std::mutex> lock(mutex);
                threads.emplace_back([this, call = std::move(call)]() mutable { run(std::move(call)); });
            }
        }

        // An exchange that was answered by a call; null if there is nothing to call.
        std::unique_ptr<detail::Exchange> next_call()
        {
            auto exchange = std::make_unique<detail::Exchange>(gate);
            orbgate_next_call_begin(&exchange->question);
            orbgate_next_call_set_monotonic_ms(&exchange->question, monotonic_ms());
            const bool is_call = exchange->send() == ORBGATE_STATUS_OK && exchange->answer.kind == ORBGATE_MESSAGE_CALL;
            if (!is_call && exchange->answer.kind == ORBGATE_MESSAGE_DONE) {
                tell(exchange->answer);
            }
            return is_call ? std::move(exchange) : nullptr;
        }

        // Logs what the library says.
        void tell(const OrbgateMessage &done)
        {
            std::string_view levels = detail::view(orbgate_done_get_levels(&done));
            std::string_view notices = detail::view(orbgate_done_get_notices(&done));
            while (!notices.empty()) {
                const std::string_view level = first_line(levels);
                notice(level == "info" ? LogLevel::info : level == "warning" ? LogLevel::warning : LogLevel::error, first_line(notices));
            }
        }

        // The same of how a gate charges, unless nothing has changed.
        void states(const OrbgateMessage &done)
        {
            const std::string_view now = detail::view(orbgate_done_get_notices(&done));
            {
                const std::lock_guard<std::mutex> lock(mutex);
                if (charging == now) {
                    return;
                }
                charging = now;
            }
            tell(done);
        }

        // Takes the first line off.
        static std::string_view first_line(std::string_view &lines) noexcept
        {
            const std::string_view line = lines.substr(0, lines.find('\n'));
            lines.remove_prefix(std::min(line.size() + 1, lines.size()));
            return line;
        }

        void notice(LogLevel level, std::string_view lines) const noexcept
        {
            detail::quietly([&] {
                while (log && !lines.empty()) {
                    log(level, first_line(lines));
                }
            });
        }

        // Joins the threads of earlier calls. A detached thread could outlive the program.
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
        void run(std::unique_ptr<detail::Exchange> next) noexcept
        {
            while (next) {
                complete(*next);
                {
                    const std::lock_guard<std::mutex> lock(mutex);
                    ended.notify_all();
                }
                next = next_call();
            }
            // Under the lock: the state may be destroyed right after it.
            const std::lock_guard<std::mutex> lock(mutex);
            const auto own = std::find_if(threads.begin(), threads.end(),
                                          [](const std::thread &thread) { return thread.get_id() == std::this_thread::get_id(); });
            ended_threads.splice(ended_threads.end(), threads, own);
            ended.notify_all();
        }

        // Makes all calls of an attempt.
        void complete(detail::Exchange &exchange) noexcept
        {
            OrbgateQuestion *const to = &exchange.question;
            while (exchange.answer.kind == ORBGATE_MESSAGE_CALL) {
                const std::variant<Response, FetchFailure> came = fetched(exchange.answer);
                orbgate_called_begin(to);
                orbgate_called_set_attempt(to, orbgate_call_get_attempt(&exchange.answer));
                orbgate_called_set_monotonic_ms(to, monotonic_ms());
                if (const Response *response = std::get_if<Response>(&came)) {
                    const std::string &cache_control = response->cache_control, &body = response->body;
                    orbgate_called_set_status(to, response->status);
                    orbgate_called_set_body(to, body.data(), body.size());
                    if (!cache_control.empty()) {
                        orbgate_called_add_header(to, ORBGATE_TEXT("cache-control"), cache_control.data(), cache_control.size());
                    }
                } else {
                    const FetchFailure &failure = *std::get_if<FetchFailure>(&came);
                    orbgate_called_set_failure(to, failure.number);
                    if (!failure.cause.empty()) {
                        detail::quietly([&] {
                            notice(LogLevel::warning, std::string(detail::view(orbgate_call_get_url(&exchange.answer))) + " cannot be fetched: " + failure.cause);
                        });
                    }
                }
                if (exchange.send() != ORBGATE_STATUS_OK) {
                    return; // the attempt ends by itself
                }
            }
        }

        std::variant<Response, FetchFailure> fetched(const OrbgateMessage &message) noexcept
        {
            const auto call = [&] {
                Fetch fetch;
                fetch.method = detail::view(orbgate_call_get_method(&message));
                fetch.url = detail::view(orbgate_call_get_url(&message));
                OrbgateMessage header = orbgate_message_init();
                while (orbgate_call_next_header(&message, &header)) {
                    fetch.headers.emplace_back(detail::view(orbgate_call_header_get_name(&header)),
                                               detail::view(orbgate_call_header_get_value(&header)));
                }
                if (const auto body = detail::maybe(orbgate_call_get_body(&message))) {
                    fetch.body = *body;
                }
                fetch.max_bytes = static_cast<std::size_t>(orbgate_call_get_max_bytes(&message));
                fetch.timeout = detail::milliseconds(orbgate_call_get_timeout_ms(&message));
                return fetcher(fetch);
            };
#if defined(__cpp_exceptions)
            try {
                return call();
            } catch (...) {
                return FetchFailure::unreachable();
            }
#else
            return call();
#endif
        }

        // Waits until the request can be resumed.
        void wait(detail::Exchange &exchange)
        {
            const auto is_over = [&] {
                orbgate_is_over_begin(&exchange.question);
                orbgate_is_over_set_monotonic_ms(&exchange.question, monotonic_ms());
                return exchange.send() != ORBGATE_STATUS_OK || orbgate_over_get_is_over(&exchange.answer);
            };
            const std::uint64_t until_ms = orbgate_wait_get_until_ms(&exchange.answer);
            const std::chrono::steady_clock::time_point until{detail::milliseconds(until_ms)};
            std::unique_lock<std::mutex> lock(mutex);
            ended.wait_until(lock, until, is_over);
        }

        std::uint64_t gate = 0; // a handle
        Fetcher fetcher;
        bool refuses_wider = false;
        std::string charging;
        std::function<void(std::string_view)> debug;
        std::function<void(LogLevel, std::string_view)> log;
        std::mutex mutex;
        std::condition_variable ended; // an attempt has ended
        std::list<std::thread> threads, ended_threads;
    };

    explicit Gate(std::shared_ptr<State> state) noexcept : state_(std::move(state)) {}

    // Judges a file as it is now, and activates it or reports why not. An exchange that follows it is used again.
    Reloaded look(detail::Exchange &exchange, const Handle &policy, const std::filesystem::path &file, const WatchOptions &options,
                  bool is_told, std::chrono::milliseconds interval = {}) const
    {
        if (!state_) {
            return {std::string(names::load_refused), Error(Status::invalid_argument, "there is no gate"), "", ""};
        }
        const auto text = detail::read_file(file);
        const Engine active = policy.load();
        const std::string failure = text ? "" : text.error().message, name = file.string();
        OrbgateQuestion *const to = &exchange.question;
        orbgate_reload_begin(to);
        orbgate_reload_set_policy(to, text ? text->data() : nullptr, text ? text->size() : 0);
        orbgate_reload_set_failure(to, failure.data(), failure.size());
        orbgate_reload_set_file(to, name.data(), name.size());
        orbgate_reload_set_require_seal(to, options.require_seal);
        orbgate_reload_set_refuse_wider(to, state_->refuses_wider);
        orbgate_reload_set_interval_ms(to, detail::count(interval));
        orbgate_reload_set_is_told(to, is_told);
        orbgate_reload_set_monotonic_ms(to, monotonic_ms());
        const OrbgateStatus status = exchange.send(active.raw());
        const OrbgateMessage *const answer = &exchange.answer;
        if (status != ORBGATE_STATUS_OK || answer->kind != ORBGATE_MESSAGE_LOADED) {
            return {std::string(names::load_refused), exchange.error(status), "", ""};
        }
        Reloaded reloaded{std::string(detail::view(orbgate_loaded_get_result(answer))), std::nullopt,
                          std::string(detail::view(orbgate_loaded_get_message(answer))),
                          std::string(detail::view(orbgate_loaded_get_warning(answer)))};
        if (orbgate_loaded_get_is_loaded(answer)) {
            const auto next = Engine::from_yaml(*text);
            if (!next || !policy.store(*next)) {
                reloaded.error = next ? Error(Status::invalid_argument, "there is no handle") : next.error();
            }
        } else if (orbgate_loaded_get_status(answer) != 0) {
            reloaded.error = Error(static_cast<Status>(orbgate_loaded_get_status(answer)), std::string(detail::view(orbgate_loaded_get_reason(answer))));
            reloaded.error->diagnostics = detail::diagnostics(answer, orbgate_loaded_next_diagnostic);
        }
        state_->notice(reloaded.error ? LogLevel::error : LogLevel::info, reloaded.message);
        state_->notice(LogLevel::warning, reloaded.warning);
        state_->start_calls();
        return reloaded;
    }

    // Explains a denial, by the engine that made it. Without the query, which can have secrets in it, and without the token.
    void explain(const Answer &answer, const GateRequest &request) const
    {
        questions::ExplainArguments arguments;
        questions::Request &question = arguments.request;
        question.method = in_utf8(request.method);
        question.target = in_utf8(request.target.substr(0, request.target.find('?')));
        switch (answer.kind()) {
        case TokenKind::user: question.token = questions::RequestToken{"user", std::string(answer.scopes())}; break;
        case TokenKind::organisation: question.token = questions::RequestToken{"organisation", std::string(answer.scopes())}; break;
        default:
            if (answer.decision().reason() == Reason::invalid_token) {
                question.token = questions::RequestToken{"unknown", ""};
            }
        }
        const auto explanation = questions::explain(answer.engine_, arguments);
        const auto made = answer.words();
        if (explanation && made) {
            // Otherwise a header or the query, which the explanation doesn't get, is the cause.
            const bool is_cause = explanation->reason == made->reason && explanation->detail == made->detail;
            state_->debug("{\"method\":" + questions::to_json(question.method) + ",\"path\":" + questions::to_json(question.target) +
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
        detail::quietly([&] { explain(answer, request); });
        return answer;
    }

    // Asks until there is an answer, each time with the engine that is current then.
    template <typename Current>
    Answer ask_current(const Current &current, const GateRequest &request) const
    {
        if (!state_) {
            return {};
        }
        Engine engine = current();
        auto exchange = detail::EndRequest::begin(raw());
        const OrbgateMessage *const answer = &exchange->answer;
        set(&exchange->question, request);
        for (;;) {
            if (exchange->send(engine.raw()) != ORBGATE_STATUS_OK) {
                return {};
            }
            if (orbgate_answer_get_may_call(answer) || orbgate_wait_get_may_call(answer)) {
                state_->start_calls();
            }
            if (answer->kind == ORBGATE_MESSAGE_ANSWER) {
                return Answer(std::move(exchange), std::move(engine));
            }
            if (answer->kind != ORBGATE_MESSAGE_WAIT) {
                return {}; // also without cryptography, because no host of C++ checks signatures
            }
            state_->wait(*exchange);
            engine = current();
            orbgate_resume_begin(&exchange->question);
            orbgate_resume_set_unix_ms(&exchange->question, unix_ms());
            orbgate_resume_set_monotonic_ms(&exchange->question, monotonic_ms());
        }
    }

    static void set(OrbgateQuestion *to, const GateOptions &from) noexcept
    {
        // cargo xtask codes: set options
        orbgate_make_set_flat_403(to, from.flat_403);
        orbgate_make_set_ignore_method_override(to, from.ignore_method_override);
        orbgate_make_set_no_stale_keys(to, from.no_stale_keys);
        orbgate_make_set_challenge(to, from.challenge);
        orbgate_make_set_templates(to, from.templates);
        orbgate_make_set_realm(to, from.realm.data(), from.realm.size());
        orbgate_make_set_resource_metadata(to, from.resource_metadata.data(), from.resource_metadata.size());
        orbgate_make_set_ttl_ms(to, detail::count(from.ttl));
        orbgate_make_set_ttl_min_ms(to, detail::count(from.ttl_min));
        orbgate_make_set_ttl_max_ms(to, detail::count(from.ttl_max));
        orbgate_make_set_ahead_percent(to, from.ahead_percent);
        orbgate_make_set_max_stale_ms(to, detail::count(from.max_stale));
        orbgate_make_set_cooldown_ms(to, detail::count(from.cooldown));
        orbgate_make_set_burst(to, from.burst);
        orbgate_make_set_retry_ms(to, detail::count(from.retry));
        orbgate_make_set_timeout_ms(to, detail::count(from.timeout));
        orbgate_make_set_proofs(to, from.proofs);
        // end of set options
        orbgate_make_set_introspection(to, true);
        orbgate_make_set_cors_preflight(to, from.pass_cors_preflight ? ORBGATE_CORS_PREFLIGHT_PASS : ORBGATE_CORS_PREFLIGHT_DENY);
        for (const std::string &route : from.public_routes) {
            orbgate_make_add_public_route(to, route.data(), route.size());
        }
    }

    static void set(OrbgateQuestion *to, const GateRequest &request) noexcept
    {
        const auto each = [to](const std::vector<std::string_view> &values, auto add) {
            for (const std::string_view value : values) {
                add(to, value.data(), value.size());
            }
        };
        orbgate_ask_begin(to);
        orbgate_ask_set_method(to, request.method.data(), request.method.size());
        orbgate_ask_set_target(to, request.target.data(), request.target.size());
        each(request.authorization, orbgate_ask_add_authorization);
        each(request.header_names, orbgate_ask_add_header_name);
        each(request.upgrade, orbgate_ask_add_upgrade);
        each(request.origin, orbgate_ask_add_origin);
        each(request.access_control_request_method, orbgate_ask_add_access_control_request_method);
        each(request.dpop, orbgate_ask_add_dpop);
        orbgate_ask_set_certificate(to, request.certificate.data(), request.certificate.size());
        if (request.matched) {
            orbgate_ask_set_matched(to, request.matched->empty() ? ORBGATE_MATCHED_UNKNOWN : ORBGATE_MATCHED_TEMPLATE);
            orbgate_ask_set_path_template(to, request.matched->data(), request.matched->size());
        }
        orbgate_ask_set_allow_bonus_orbs(to, request.bonus == BonusOrbs::allow);
        orbgate_ask_set_reads_bonus_orbs(to, request.bonus.has_value());
        orbgate_ask_set_with_audit(to, request.audit);
        orbgate_ask_set_holds_thread(to, true);
        orbgate_ask_set_unix_ms(to, unix_ms());
        orbgate_ask_set_monotonic_ms(to, monotonic_ms());
    }

    template <typename Clock>
    static std::uint64_t since_start() noexcept
    {
        const auto since = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now().time_since_epoch()).count();
        return since < 0 ? 0 : static_cast<std::uint64_t>(since);
    }
    static std::uint64_t unix_ms() noexcept { return since_start<std::chrono::system_clock>(); }
    static std::uint64_t monotonic_ms() noexcept { return since_start<std::chrono::steady_clock>(); }

    std::shared_ptr<State> state_;
};

inline Watch Gate::watch(const Handle &policy, std::filesystem::path file, WatchOptions options) const
{
    Watch watch(new Watch::State);
    Watch::State *const state = watch.state_.get();
    options.interval = std::max(options.interval, std::chrono::milliseconds(1));
    state->thread = std::thread([state, gate = share(), policy = policy.share(), file = std::move(file), options = std::move(options)] {
        detail::Exchange exchange(gate.raw());
        for (bool is_told = false;;) {
            auto pause = options.interval;
            detail::quietly([&] {
                const Reloaded reloaded = gate.look(exchange, policy, file, options, is_told, options.interval);
                pause = std::max(detail::milliseconds(orbgate_loaded_get_pause_ms(&exchange.answer)), std::chrono::milliseconds(1));
                if (options.report && !reloaded.result.empty()) {
                    options.report(reloaded);
                }
            });
            std::unique_lock<std::mutex> lock(state->mutex);
            state->woken.wait_for(lock, pause, [state] { return state->is_told || state->is_over; });
            if (state->is_over) {
                return;
            }
            is_told = std::exchange(state->is_told, false);
        }
    });
    return watch;
}

} // namespace orbgate

#endif // ORBGATE_GATE_HPP
