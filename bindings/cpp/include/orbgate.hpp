// Orbgate for C++17: which scope does this route need, may this token call it, does it consume orbs, and why?
//
// Header-only, over orbgate.h; link liborbgate. Objects own what they hold and can be moved, not copied; `share()`
// makes another owner where that is meant. A moved-from object answers every question with a denial.
//
// What can fail returns a Result, whose `value()` is the one that throws (or ends the program where exceptions are
// off). Nothing else throws, but for want of memory what is not noexcept throws as std::vector does. Everything may
// be used from any thread; an object that is being added to, assigned to or moved from needs the usual care.
#ifndef ORBGATE_HPP
#define ORBGATE_HPP

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "orbgate.h"

#if defined(__cpp_exceptions)
#include <stdexcept>
#endif

namespace orbgate {

using Status = OrbgateStatus;
using Reason = OrbgateReason;
using Detail = OrbgateDetail;
using TokenKind = OrbgateTokenKind;

namespace detail {

inline std::string_view view(OrbgateStr text) noexcept
{
    return text.data == nullptr ? std::string_view() : std::string_view(text.data, text.len);
}

inline std::optional<std::string_view> maybe(OrbgateStr text) noexcept
{
    return text.data == nullptr ? std::nullopt : std::optional(view(text));
}

template <auto free>
struct Free {
    template <typename T>
    void operator()(T *object) const noexcept
    {
        free(object);
    }
};

} // namespace detail

inline std::string_view name(Status status) noexcept { return detail::view(orbgate_status_name(status)); }
inline std::string_view name(Reason reason) noexcept { return detail::view(orbgate_reason_name(reason)); }
inline std::string_view name(Detail code) noexcept { return detail::view(orbgate_detail_name(code)); }
inline std::string_view explanation(Reason reason) noexcept
{
    return detail::view(orbgate_reason_explanation(reason));
}
inline std::string_view explanation(Detail code) noexcept
{
    return detail::view(orbgate_detail_explanation(code));
}

// The kind of a name, `user` or `organisation`; any other text is unknown, and unknown denies.
inline TokenKind token_kind(std::string_view name) noexcept
{
    std::uint32_t kind = ORBGATE_TOKEN_KIND_UNKNOWN;
    const Status status = orbgate_token_kind_from_name(name.data(), name.size(), &kind);
    return status == ORBGATE_STATUS_OK ? static_cast<TokenKind>(kind) : ORBGATE_TOKEN_KIND_UNKNOWN;
}

// One thing wrong with a policy. Line and column start at 1; the column counts characters.
struct Fault {
    std::uint32_t line = 0;
    std::uint32_t column = 0;
    std::string message;
};

// Why a call failed.
struct Error {
    Status status = ORBGATE_STATUS_INVALID_ARGUMENT;
    std::string message;       // all of it: a line `[path:]line:column: message` for each fault
    std::vector<Fault> faults; // of a policy, in the order of the file

    explicit Error(Status code) : status(code), message(name(code)) {}

    // Takes over an error of the C interface, which may be null.
    Error(Status code, OrbgateError *error) : Error(code)
    {
        const std::unique_ptr<OrbgateError, detail::Free<orbgate_error_free>> owner(error);
        OrbgateErrorInfo info = orbgate_error_info_init();
        if (orbgate_error_info(error, &info) != ORBGATE_STATUS_OK) {
            return;
        }
        message = detail::view(info.message);
        OrbgateFault fault = orbgate_fault_init();
        for (std::size_t at = 0; orbgate_error_fault(error, at, &fault) == ORBGATE_STATUS_OK; at++) {
            faults.push_back({fault.line, fault.column, std::string(detail::view(fault.message))});
        }
    }
};

#if defined(__cpp_exceptions)
// What Result::value() throws.
class Exception : public std::runtime_error {
public:
    explicit Exception(Error error) : std::runtime_error(error.message), error_(std::move(error)) {}
    [[nodiscard]] const Error &error() const noexcept { return error_; }

private:
    Error error_;
};
#endif

// A value or the error that stands in its place: `if (result) use(*result); else show(result.error());`
template <typename T>
class [[nodiscard]] Result {
public:
    Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
    Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

    [[nodiscard]] bool has_value() const noexcept { return state_.index() == 0; }
    explicit operator bool() const noexcept { return has_value(); }

    // The value; undefined where there is none.
    [[nodiscard]] T &operator*() & noexcept { return *std::get_if<0>(&state_); }
    [[nodiscard]] const T &operator*() const & noexcept { return *std::get_if<0>(&state_); }
    [[nodiscard]] T &&operator*() && noexcept { return std::move(*std::get_if<0>(&state_)); }
    [[nodiscard]] T *operator->() noexcept { return std::get_if<0>(&state_); }
    [[nodiscard]] const T *operator->() const noexcept { return std::get_if<0>(&state_); }

    // The error; undefined where there is a value.
    [[nodiscard]] const Error &error() const noexcept { return *std::get_if<1>(&state_); }

    // The value, or an Exception; where exceptions are off the program ends.
    T &value() &
    {
        check();
        return **this;
    }
    T value() &&
    {
        check();
        return std::move(**this);
    }

private:
    void check() const
    {
        if (!has_value()) {
#if defined(__cpp_exceptions)
            throw Exception(error());
#else
            std::abort();
#endif
        }
    }

    std::variant<T, Error> state_;
};

// What an allowed call consumes.
struct Charge {
    bool consumes = false;
    std::optional<std::uint64_t> amount; // none where the policy states none: whoever charges must supply it
    bool bonus_allowed = false;
};

// A decision: plain data. One that was never made is no allow.
class [[nodiscard]] Decision {
public:
    constexpr Decision() noexcept : raw_() {}

    [[nodiscard]] bool is_allow() const noexcept { return raw_.effect == ORBGATE_EFFECT_ALLOW; }
    explicit operator bool() const noexcept { return is_allow(); }

    [[nodiscard]] Reason reason() const noexcept { return static_cast<Reason>(raw_.reason); }
    [[nodiscard]] Detail detail() const noexcept { return static_cast<Detail>(raw_.detail); }

    // The HTTP status of a denial; none on an allow. What is neither is a 403.
    [[nodiscard]] std::optional<std::uint16_t> http_status() const noexcept
    {
        if (is_allow()) {
            return std::nullopt;
        }
        return raw_.http_status == 0 ? std::uint16_t{403} : raw_.http_status;
    }

    // What the call consumes: none on a denial, and where the policy states no orb column.
    [[nodiscard]] std::optional<Charge> charge() const noexcept
    {
        if ((raw_.charge & ORBGATE_CHARGE_STATED) == 0) {
            return std::nullopt;
        }
        Charge charge;
        charge.consumes = (raw_.charge & ORBGATE_CHARGE_CONSUMES) != 0;
        charge.bonus_allowed = (raw_.charge & ORBGATE_CHARGE_BONUS_ALLOWED) != 0;
        if ((raw_.charge & ORBGATE_CHARGE_AMOUNT_STATED) != 0) {
            charge.amount = raw_.amount;
        }
        return charge;
    }

    // As the C interface has it: the numbers of route and scope, the mark of the policy.
    [[nodiscard]] const OrbgateDecision &raw() const noexcept { return raw_; }

private:
    friend class Engine;
    friend class Handle;
    OrbgateDecision raw_;
};
static_assert(sizeof(Decision) == sizeof(OrbgateDecision), "an array of one is an array of the other");

// A decision in words; what is null in the JSON interface has no value. They live as long as the engine.
struct Words {
    std::string_view decision, reason, policy;
    std::optional<std::string_view> detail, api, route, scope;
};

// A token's scopes, interned once for many decisions. It belongs to the policy of the engine that made it; with
// another it holds nothing.
class ScopeSet {
public:
    [[nodiscard]] const OrbgateScopeSet *raw() const noexcept { return set_.get(); }

    // One more owner of the same set.
    [[nodiscard]] ScopeSet share() const noexcept { return ScopeSet(orbgate_scope_set_retain(set_.get())); }

private:
    friend class Engine;
    explicit ScopeSet(OrbgateScopeSet *set) noexcept : set_(set) {}
    std::unique_ptr<OrbgateScopeSet, detail::Free<orbgate_scope_set_free>> set_;
};

// A verified bearer token. It only refers to its scopes: text or set must live as long as it.
class Token {
public:
    // No token was supplied.
    [[nodiscard]] static Token none() noexcept { return Token(ORBGATE_TOKEN_KIND_NONE, std::string_view()); }

    Token(TokenKind kind, std::string_view scopes) noexcept : raw_(orbgate_token_init())
    {
        raw_.kind = kind;
        raw_.scopes = scopes.data();
        raw_.scopes_len = scopes.size();
    }

    // A set that has been moved from holds nothing.
    Token(TokenKind kind, const ScopeSet &scopes) noexcept : raw_(orbgate_token_init())
    {
        raw_.kind = kind;
        raw_.scope_set = scopes.raw();
    }
    Token(TokenKind kind, ScopeSet &&scopes) = delete; // it would refer to what is gone

    [[nodiscard]] static Token user(std::string_view scopes) noexcept { return {ORBGATE_TOKEN_KIND_USER, scopes}; }
    [[nodiscard]] static Token user(const ScopeSet &scopes) noexcept { return {ORBGATE_TOKEN_KIND_USER, scopes}; }
    [[nodiscard]] static Token user(ScopeSet &&scopes) = delete;
    [[nodiscard]] static Token organisation(std::string_view scopes) noexcept
    {
        return {ORBGATE_TOKEN_KIND_ORGANISATION, scopes};
    }
    [[nodiscard]] static Token organisation(const ScopeSet &scopes) noexcept
    {
        return {ORBGATE_TOKEN_KIND_ORGANISATION, scopes};
    }
    [[nodiscard]] static Token organisation(ScopeSet &&scopes) = delete;

    [[nodiscard]] const OrbgateToken *raw() const noexcept { return &raw_; }

private:
    OrbgateToken raw_;
};

// Whether a request says `allowBonusOrbsUse: true`.
enum class BonusOrbs : std::uint32_t { refuse = 0, allow = ORBGATE_ALLOW_BONUS_ORBS };

// A route to ask by; one of another policy denies.
struct RouteId {
    std::uint64_t bits = 0;
};

// Methods and targets of many requests, for one call.
class Batch {
public:
    Batch() = default;
    Batch(const Batch &) = default;
    Batch(Batch &&) = default;
    // All or nothing: methods of one batch must not meet the targets of another.
    Batch &operator=(Batch other) noexcept
    {
        methods_ = std::move(other.methods_);
        targets_ = std::move(other.targets_);
        return *this;
    }
    ~Batch() = default;

    // Adds a request; where that throws, the batch is as before.
    void add(std::string_view method, std::string_view target)
    {
        const std::size_t row = size();
        methods_.add(row, method);
        targets_.add(row, target);
    }
    // A row counts once it has its target, which comes last.
    [[nodiscard]] std::size_t size() const noexcept { return targets_.size(); }
    void clear()
    {
        methods_.clear();
        targets_.clear();
    }

private:
    friend class Engine;
    // Texts as Arrow lays out utf8; without offsets, as what has been moved from, there are none.
    struct Column {
        std::string data;
        std::vector<std::uint32_t> offsets;
        bool full = false;

        [[nodiscard]] std::size_t size() const noexcept { return offsets.empty() ? 0 : offsets.size() - 1; }
        void add(std::size_t row, std::string_view text)
        {
            if (offsets.empty()) {
                clear();
            }
            // Takes away what is left of a row that threw.
            offsets.resize(row + 1);
            data.resize(offsets.back());
            // An offset has 32 bits: what does not fit makes the whole batch invalid.
            full = full || text.size() > UINT32_MAX - data.size();
            if (!full) {
                data.append(text);
            }
            offsets.push_back(static_cast<std::uint32_t>(data.size()));
        }
        void clear() { *this = Column(); }
        [[nodiscard]] OrbgateColumn raw() const noexcept { return {data.data(), data.size(), offsets.data()}; }
    };
    Column methods_, targets_;
};

// A compiled, immutable policy.
class Engine {
public:
    // The policy that is compiled into the library: the table of the specification.
    static Result<Engine> external()
    {
        OrbgateEngine *engine = nullptr;
        const Status status = orbgate_engine_external(&engine);
        return made(status, engine, nullptr);
    }

    static Result<Engine> from_yaml(std::string_view yaml)
    {
        OrbgateEngine *engine = nullptr;
        OrbgateError *error = nullptr;
        const Status status = orbgate_engine_from_yaml(yaml.data(), yaml.size(), &engine, &error);
        return made(status, engine, error);
    }

    static Result<Engine> from_file(std::string_view path)
    {
        OrbgateEngine *engine = nullptr;
        OrbgateError *error = nullptr;
        const Status status = orbgate_engine_from_file(path.data(), path.size(), &engine, &error);
        return made(status, engine, error);
    }

    // One more owner of the same engine.
    [[nodiscard]] Engine share() const noexcept { return Engine(orbgate_engine_retain(engine_.get())); }

    // Decides a request. Method and target are the bytes of the request line as they came over the wire.
    Decision decide(std::string_view method, std::string_view target, const Token &token,
                    BonusOrbs bonus = BonusOrbs::refuse) const noexcept
    {
        Decision decision;
        const Status status =
            orbgate_engine_decide(engine_.get(), method.data(), method.size(), target.data(), target.size(),
                                  token.raw(), static_cast<std::uint32_t>(bonus), &decision.raw_);
        return status == ORBGATE_STATUS_OK ? decision : Decision();
    }

    // Decides by route: no text is looked at.
    Decision decide_route(RouteId route, const Token &token, BonusOrbs bonus = BonusOrbs::refuse) const noexcept
    {
        Decision decision;
        const Status status = orbgate_engine_decide_route(engine_.get(), route.bits, token.raw(),
                                                          static_cast<std::uint32_t>(bonus), &decision.raw_);
        return status == ORBGATE_STATUS_OK ? decision : Decision();
    }

    // Decides by scope, without a route.
    Decision decide_scope(std::string_view scope, const Token &token,
                          BonusOrbs bonus = BonusOrbs::refuse) const noexcept
    {
        Decision decision;
        const Status status =
            orbgate_engine_decide_scope(engine_.get(), scope.data(), scope.size(), token.raw(),
                                        static_cast<std::uint32_t>(bonus), &decision.raw_);
        return status == ORBGATE_STATUS_OK ? decision : Decision();
    }

    // Decides every request of a batch with one token.
    Result<std::vector<Decision>> decide(const Batch &batch, const Token &token,
                                         BonusOrbs bonus = BonusOrbs::refuse) const
    {
        if (batch.methods_.full || batch.targets_.full) {
            return Error(ORBGATE_STATUS_INVALID_ARGUMENT);
        }
        OrbgateBatch raw = orbgate_batch_init();
        raw.flags = static_cast<std::uint32_t>(bonus);
        raw.len = batch.size();
        raw.method = batch.methods_.raw();
        raw.target = batch.targets_.raw();
        raw.token = token.raw();
        return decide(raw);
    }

    // Decides a batch of columns of your own.
    Result<std::vector<Decision>> decide(const OrbgateBatch &batch) const
    {
        // A length that is none must not reach the vector: the library refuses it, and rows without columns.
        const std::size_t limit = std::vector<Decision>().max_size();
        const bool has_columns = batch.method.offsets != nullptr && batch.target.offsets != nullptr;
        std::vector<Decision> decisions(has_columns && batch.len <= limit ? batch.len : 0);
        OrbgateDecision *out = decisions.empty() ? nullptr : &decisions.front().raw_;
        const Status status = orbgate_engine_decide_batch(engine_.get(), &batch, out, decisions.size());
        if (status != ORBGATE_STATUS_OK) {
            return Error(status);
        }
        return decisions;
    }

    // Interns a token's scopes, separated by spaces.
    Result<ScopeSet> scopes(std::string_view scopes) const
    {
        OrbgateScopeSet *set = nullptr;
        const Status status = orbgate_scope_set_from_text(engine_.get(), scopes.data(), scopes.size(), &set);
        return made(status, set);
    }

    // Interns scopes that come one by one.
    Result<ScopeSet> scope_set(const std::vector<std::string_view> &scopes) const
    {
        std::vector<OrbgateStr> texts;
        for (const std::string_view scope : scopes) {
            texts.push_back({scope.data(), scope.size()});
        }
        OrbgateScopeSet *set = nullptr;
        const Status status = orbgate_scope_set_from_list(engine_.get(), texts.data(), texts.size(), &set);
        return made(status, set);
    }

    // The id of the route that the policy writes with this method and template; none where it has none.
    [[nodiscard]] std::optional<RouteId> find_route(std::string_view method, std::string_view path_template) const
        noexcept
    {
        RouteId id;
        const Status status = orbgate_engine_find_route(engine_.get(), method.data(), method.size(),
                                                        path_template.data(), path_template.size(), &id.bits);
        return status == ORBGATE_STATUS_OK ? std::optional(id) : std::nullopt;
    }

    // A decision in words; none where another policy made it.
    [[nodiscard]] std::optional<Words> words(const Decision &decision) const noexcept
    {
        OrbgateDecisionText text = orbgate_decision_text_init();
        if (orbgate_engine_decision_text(engine_.get(), &decision.raw(), &text) != ORBGATE_STATUS_OK) {
            return std::nullopt;
        }
        using detail::maybe;
        using detail::view;
        return Words{view(text.decision), view(text.reason), view(text.policy),
                     maybe(text.detail),  maybe(text.api),   maybe(text.route), maybe(text.scope)};
    }

    // What the `Allow` header of a 405 lists, as in `GET, POST`; none where the decision is no 405, or another policy's.
    // It lives as long as the engine.
    [[nodiscard]] std::optional<std::string_view> declared_methods(const Decision &decision) const noexcept
    {
        OrbgateStr methods = {nullptr, 0};
        const Status status = orbgate_engine_declared_methods(engine_.get(), &decision.raw(), &methods);
        return status == ORBGATE_STATUS_OK ? detail::maybe(methods) : std::nullopt;
    }

    // The policy's digest, as in `sha256:…`; its name; the whole table as JSON. They live as long as the engine.
    [[nodiscard]] std::string_view digest() const noexcept { return text(orbgate_engine_digest_text); }
    [[nodiscard]] std::string_view name() const noexcept { return text(orbgate_engine_name); }
    [[nodiscard]] std::string_view table_json() const noexcept { return text(orbgate_engine_table_json); }

    [[nodiscard]] const OrbgateEngine *raw() const noexcept { return engine_.get(); }

private:
    friend class Handle;
    explicit Engine(OrbgateEngine *engine) noexcept : engine_(engine) {}

    static Result<Engine> made(Status status, OrbgateEngine *engine, OrbgateError *error)
    {
        if (status != ORBGATE_STATUS_OK) {
            return Error(status, error);
        }
        return Engine(engine);
    }

    static Result<ScopeSet> made(Status status, OrbgateScopeSet *set)
    {
        if (status != ORBGATE_STATUS_OK) {
            return Error(status);
        }
        return ScopeSet(set);
    }

    template <typename F>
    [[nodiscard]] std::string_view text(F of) const noexcept
    {
        OrbgateStr text = {nullptr, 0};
        return of(engine_.get(), &text) == ORBGATE_STATUS_OK ? detail::view(text) : std::string_view();
    }

    std::unique_ptr<OrbgateEngine, detail::Free<orbgate_engine_free>> engine_;
};

// A place that holds an engine, for hot reload: readers never wait, and each decision is one engine's.
class Handle {
public:
    static Result<Handle> holding(const Engine &engine)
    {
        OrbgateHandle *handle = nullptr;
        const Status status = orbgate_handle_new(engine.raw(), &handle);
        if (status != ORBGATE_STATUS_OK) {
            return Error(status);
        }
        return Handle(handle);
    }

    // One more owner of the same place.
    [[nodiscard]] Handle share() const noexcept { return Handle(orbgate_handle_retain(handle_.get())); }

    // Puts another engine in; false where the engine or the handle has been moved from.
    bool store(const Engine &engine) const noexcept
    {
        return orbgate_handle_store(handle_.get(), engine.raw()) == ORBGATE_STATUS_OK;
    }

    // The engine of now, for several questions to one policy.
    [[nodiscard]] Engine load() const noexcept
    {
        OrbgateEngine *engine = nullptr;
        const Status status = orbgate_handle_load(handle_.get(), &engine);
        return Engine(status == ORBGATE_STATUS_OK ? engine : nullptr);
    }

    // Decides with the engine of now.
    Decision decide(std::string_view method, std::string_view target, const Token &token,
                    BonusOrbs bonus = BonusOrbs::refuse) const noexcept
    {
        Decision decision;
        const Status status =
            orbgate_handle_decide(handle_.get(), method.data(), method.size(), target.data(), target.size(),
                                  token.raw(), static_cast<std::uint32_t>(bonus), &decision.raw_);
        return status == ORBGATE_STATUS_OK ? decision : Decision();
    }

private:
    explicit Handle(OrbgateHandle *handle) noexcept : handle_(handle) {}
    std::unique_ptr<OrbgateHandle, detail::Free<orbgate_handle_free>> handle_;
};

} // namespace orbgate

#endif // ORBGATE_HPP
