// Orbgate for C++17: which scope does this route need, may this token call it, does it consume orbs, and why?
//
// Header-only, on top of orbgate.h; link liborbgate. Objects own their data and can be moved but not copied; `share()`
// creates another owner explicitly. A moved-from object answers every question with a denial. An object that refers to
// other data, as a token refers to its scopes, cannot be constructed from a temporary: that does not compile.
//
// Functions that can fail return a Result, whose `value()` throws (or terminates the program if exceptions are
// disabled). Nothing else throws, except that functions that are not noexcept throw std::bad_alloc if memory is
// exhausted. Every function may be called from any thread; synchronise access to an object while it is modified,
// assigned or moved from.
#ifndef ORBGATE_HPP
#define ORBGATE_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "orbgate.h"

#if defined(__cpp_exceptions)
#include <stdexcept>
#endif

namespace orbgate {

// cargo xtask codes: codes
// The status of a call: see OrbgateStatus.
enum class Status : std::int32_t {
    ok = ORBGATE_STATUS_OK,
    invalid_argument = ORBGATE_STATUS_INVALID_ARGUMENT,
    invalid_policy = ORBGATE_STATUS_INVALID_POLICY,
    io = ORBGATE_STATUS_IO,
    not_found = ORBGATE_STATUS_NOT_FOUND,
    panic = ORBGATE_STATUS_PANIC,
    invalid_configuration = ORBGATE_STATUS_INVALID_CONFIGURATION,
    too_small = ORBGATE_STATUS_TOO_SMALL,
    full = ORBGATE_STATUS_FULL,
};

// Why a request was allowed or denied: see OrbgateReason.
enum class Reason : std::uint8_t {
    none = ORBGATE_REASON_NONE,
    malformed_request = ORBGATE_REASON_MALFORMED_REQUEST,
    no_token = ORBGATE_REASON_NO_TOKEN,
    invalid_token = ORBGATE_REASON_INVALID_TOKEN,
    no_route = ORBGATE_REASON_NO_ROUTE,
    method_not_declared = ORBGATE_REASON_METHOD_NOT_DECLARED,
    user_token_required = ORBGATE_REASON_USER_TOKEN_REQUIRED,
    scope_not_applicable = ORBGATE_REASON_SCOPE_NOT_APPLICABLE,
    scope_missing = ORBGATE_REASON_SCOPE_MISSING,
    scope_held = ORBGATE_REASON_SCOPE_HELD,
    public_route = ORBGATE_REASON_PUBLIC_ROUTE,
    insufficient_orbs = ORBGATE_REASON_INSUFFICIENT_ORBS,
    ledger_unavailable = ORBGATE_REASON_LEDGER_UNAVAILABLE,
    insufficient_user_authentication = ORBGATE_REASON_INSUFFICIENT_USER_AUTHENTICATION,
};

// Which rule a malformed request breaks: see OrbgateDetail.
enum class Detail : std::uint8_t {
    none = ORBGATE_DETAIL_NONE,
    method = ORBGATE_DETAIL_METHOD,
    length = ORBGATE_DETAIL_LENGTH,
    byte = ORBGATE_DETAIL_BYTE,
    fragment = ORBGATE_DETAIL_FRAGMENT,
    form = ORBGATE_DETAIL_FORM,
    backslash = ORBGATE_DETAIL_BACKSLASH,
    matrix_param = ORBGATE_DETAIL_MATRIX_PARAM,
    path_char = ORBGATE_DETAIL_PATH_CHAR,
    percent = ORBGATE_DETAIL_PERCENT,
    bad_escape = ORBGATE_DETAIL_BAD_ESCAPE,
    encoded_control = ORBGATE_DETAIL_ENCODED_CONTROL,
    encoded_delimiter = ORBGATE_DETAIL_ENCODED_DELIMITER,
    encoded_unreserved = ORBGATE_DETAIL_ENCODED_UNRESERVED,
    non_ascii = ORBGATE_DETAIL_NON_ASCII,
    whitespace = ORBGATE_DETAIL_WHITESPACE,
    empty_segment = ORBGATE_DETAIL_EMPTY_SEGMENT,
    dot_segment = ORBGATE_DETAIL_DOT_SEGMENT,
    non_canonical_literal = ORBGATE_DETAIL_NON_CANONICAL_LITERAL,
    ambiguous_case = ORBGATE_DETAIL_AMBIGUOUS_CASE,
    upgrade = ORBGATE_DETAIL_UPGRADE,
    insufficient = ORBGATE_DETAIL_INSUFFICIENT,
    bonus_not_allowed = ORBGATE_DETAIL_BONUS_NOT_ALLOWED,
    temporarily_held = ORBGATE_DETAIL_TEMPORARILY_HELD,
    frozen = ORBGATE_DETAIL_FROZEN,
    proof = ORBGATE_DETAIL_PROOF,
};

// The kind of token: see OrbgateTokenKind.
enum class TokenKind : std::uint8_t {
    unknown = ORBGATE_TOKEN_KIND_UNKNOWN,
    user = ORBGATE_TOKEN_KIND_USER,
    organisation = ORBGATE_TOKEN_KIND_ORGANISATION,
    none = ORBGATE_TOKEN_KIND_NONE,
};
// end of codes

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

// The number of a code or flag.
template <typename T>
constexpr std::underlying_type_t<T> number(T code) noexcept
{
    return static_cast<std::underlying_type_t<T>>(code);
}

// Matches a forwarding reference to a temporary that owns its string. A view owns none.
template <typename T>
constexpr bool is_temporary_text = std::is_class_v<T> && std::is_convertible_v<T, std::string_view> &&
                                   !std::is_same_v<std::remove_cv_t<T>, std::string_view>;

template <typename T>
using IfTemporaryText = std::enable_if_t<is_temporary_text<T>, int>;

// Any other string-like type, but no null pointer.
template <typename T>
using IfText = std::enable_if_t<std::is_convertible_v<T, std::string_view> && !is_temporary_text<T> &&
                                    !std::is_same_v<std::remove_cv_t<std::remove_reference_t<T>>, std::nullptr_t>, int>;

// A view of a string. A null pointer becomes the empty view, because a view constructed from it
// would read from it.
template <typename T>
constexpr std::string_view view_of(T &&text)
{
    if constexpr (std::is_pointer_v<std::remove_reference_t<T>>) {
        return text == nullptr ? std::string_view() : std::string_view(text);
    } else {
        return text;
    }
}

} // namespace detail

// A string that a function reads only during its call: a literal, a std::string, a view, a pointer to a zero-terminated
// string, or bytes with their length. A null pointer is the empty string; `nullptr` itself does not compile.
class Text {
public:
    template <typename T, std::enable_if_t<std::is_convertible_v<const T &, std::string_view>, int> = 0>
    constexpr Text(const T &text) : view_(detail::view_of(text))
    {
    }
    constexpr Text(const char *data, std::size_t size) noexcept : view_(data, size) {}
    Text(std::nullptr_t) = delete;

    [[nodiscard]] constexpr std::string_view view() const noexcept { return view_; }
    [[nodiscard]] constexpr const char *data() const noexcept { return view_.data(); }
    [[nodiscard]] constexpr std::size_t size() const noexcept { return view_.size(); }

private:
    std::string_view view_;
};

inline std::string_view name(Status status) noexcept
{
    return detail::view(orbgate_status_name(detail::number(status)));
}
inline std::string_view name(Reason reason) noexcept
{
    return detail::view(orbgate_reason_name(detail::number(reason)));
}
inline std::string_view name(Detail code) noexcept
{
    return detail::view(orbgate_detail_name(detail::number(code)));
}
inline std::string_view explanation(Reason reason) noexcept
{
    return detail::view(orbgate_explanation(detail::number(reason), 0));
}
inline std::string_view explanation(Detail code) noexcept
{
    return detail::view(orbgate_explanation(0, detail::number(code)));
}

// The kind with this name, `user` or `organisation`; any other string is unknown, which denies.
inline TokenKind token_kind(Text name) noexcept
{
    std::uint32_t kind = ORBGATE_TOKEN_KIND_UNKNOWN;
    const OrbgateStatus status = orbgate_token_kind_from_name(name.data(), name.size(), &kind);
    return status == ORBGATE_STATUS_OK ? static_cast<TokenKind>(kind) : TokenKind::unknown;
}

// One error in a policy. Line and column start at 1; the column counts characters.
struct Diagnostic {
    std::uint32_t line = 0;
    std::uint32_t column = 0;
    std::string message;
};

// Why a call failed.
struct Error {
    Status status = Status::invalid_argument;
    std::string message;                 // all of it: a line `[path:]line:column: message` for each error
    std::vector<Diagnostic> diagnostics; // of a policy, in the order of the file

    explicit Error(OrbgateStatus code) : status(static_cast<Status>(code)), message(name(status)) {}
    Error(Status code, std::string text) : status(code), message(std::move(text)) {}

    // Takes ownership of an error of the C interface, which may be null.
    Error(OrbgateStatus code, OrbgateError *error) : Error(code)
    {
        const std::unique_ptr<OrbgateError, detail::Free<orbgate_error_free>> owner(error);
        OrbgateErrorInfo info = orbgate_error_info_init();
        if (orbgate_error_info(error, &info) != ORBGATE_STATUS_OK) {
            return;
        }
        message = detail::view(info.message);
        OrbgateDiagnostic diagnostic = orbgate_diagnostic_init();
        for (std::size_t at = 0; orbgate_error_diagnostic(error, at, &diagnostic) == ORBGATE_STATUS_OK; at++) {
            diagnostics.push_back({diagnostic.line, diagnostic.column, std::string(detail::view(diagnostic.message))});
        }
    }
};

#if defined(__cpp_exceptions)
// Thrown by Result::value().
class Exception : public std::runtime_error {
public:
    explicit Exception(Error error) : std::runtime_error(error.message), error_(std::move(error)) {}
    [[nodiscard]] const Error &error() const noexcept { return error_; }

private:
    Error error_;
};
#endif

// A value, or the error instead of it: `if (result) use(*result); else show(result.error());`
template <typename T>
class [[nodiscard]] Result {
public:
    Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
    Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

    [[nodiscard]] bool has_value() const noexcept { return state_.index() == 0; }
    explicit operator bool() const noexcept { return has_value(); }

    // The value; undefined behaviour if there is none. A temporary result is moved from.
    [[nodiscard]] T &operator*() & noexcept { return *std::get_if<0>(&state_); }
    [[nodiscard]] const T &operator*() const & noexcept { return *std::get_if<0>(&state_); }
    [[nodiscard]] T operator*() && noexcept { return std::move(*std::get_if<0>(&state_)); }
    T operator*() const && = delete;
    [[nodiscard]] T *operator->() & noexcept { return std::get_if<0>(&state_); }
    [[nodiscard]] const T *operator->() const & noexcept { return std::get_if<0>(&state_); }
    T *operator->() && = delete;
    const T *operator->() const && = delete;

    // The error; undefined behaviour if there is a value. A temporary result is moved from.
    [[nodiscard]] const Error &error() const & noexcept { return *std::get_if<1>(&state_); }
    [[nodiscard]] Error error() && noexcept { return std::move(*std::get_if<1>(&state_)); }
    Error error() const && = delete;

    // The value; throws an Exception if there is none, or terminates the program if exceptions are disabled. A
    // temporary result is moved from.
    T &value() &
    {
        check();
        return **this;
    }
    const T &value() const &
    {
        check();
        return **this;
    }
    T value() &&
    {
        check();
        return *std::move(*this);
    }
    T value() const && = delete;

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
    std::optional<std::uint64_t> amount; // none: the service that charges must supply it
    bool bonus_allowed = false;

    Charge() = default;
    // From `ORBGATE_CHARGE_*` bits and an amount.
    Charge(std::uint32_t bits, std::uint64_t orbs) noexcept
        : consumes((bits & ORBGATE_CHARGE_CONSUMES) != 0), bonus_allowed((bits & ORBGATE_CHARGE_BONUS_ALLOWED) != 0)
    {
        if ((bits & ORBGATE_CHARGE_AMOUNT_STATED) != 0) {
            amount = orbs;
        }
    }
};

// A decision: plain data. A default-constructed one is not an allow.
class [[nodiscard]] Decision {
public:
    constexpr Decision() noexcept : raw_() {}

    [[nodiscard]] bool is_allow() const noexcept { return raw_.effect == ORBGATE_EFFECT_ALLOW; }
    explicit operator bool() const noexcept { return is_allow(); }

    [[nodiscard]] Reason reason() const noexcept { return static_cast<Reason>(raw_.reason); }
    [[nodiscard]] Detail detail() const noexcept { return static_cast<Detail>(raw_.detail); }

    // The HTTP status of a denial; none for an allow. A decision that is neither has the default status,
    // 403.
    [[nodiscard]] std::optional<std::uint16_t> http_status() const noexcept
    {
        if (is_allow()) {
            return std::nullopt;
        }
        return raw_.http_status == 0 ? std::uint16_t{ORBGATE_DEFAULT_HTTP_STATUS} : raw_.http_status;
    }

    // The charge of the call: none for a denial, and if the policy doesn't state it.
    [[nodiscard]] std::optional<Charge> charge() const noexcept
    {
        if ((raw_.charge & ORBGATE_CHARGE_STATED) == 0) {
            return std::nullopt;
        }
        return Charge(raw_.charge, raw_.amount);
    }

    // The decision of the C interface, with the numbers of route and scope and the tag of the policy.
    [[nodiscard]] const OrbgateDecision &raw() const & noexcept { return raw_; }
    [[nodiscard]] OrbgateDecision raw() const && noexcept { return raw_; }

private:
    friend class Answer;
    friend class Engine;
    friend class Handle;
    OrbgateDecision raw_;
};
static_assert(sizeof(Decision) == sizeof(OrbgateDecision), "an array of one is an array of the other");

// The texts of a decision; a member that is null in the JSON interface has no value. They live as long
// as the engine.
struct Words {
    std::string_view decision, reason, policy;
    std::optional<std::string_view> detail, api, route, scope;
    // The route that the request matches, even without a valid token: logs show which routes were called without one.
    std::optional<std::string_view> about;
    // The alternatives of a call that needs more or other than `scope`, each the scopes that are needed together, separated
    // by spaces. The owner's comes first, and begins with `scope`. Empty if the call needs just `scope`.
    std::vector<std::string_view> scopes;
};

// A token's scopes, interned once for many decisions. It belongs to the policy of the engine that created it;
// engines of other policies treat it as empty.
class ScopeSet {
public:
    [[nodiscard]] const OrbgateScopeSet *raw() const noexcept { return set_.get(); }

    // Another owner of the same set.
    [[nodiscard]] ScopeSet share() const noexcept { return ScopeSet(orbgate_scope_set_retain(set_.get())); }

private:
    friend class Batch;
    friend class Engine;
    explicit ScopeSet(OrbgateScopeSet *set) noexcept : set_(set) {}
    std::unique_ptr<OrbgateScopeSet, detail::Free<orbgate_scope_set_free>> set_;
};

// A verified bearer token. It only refers to its scopes: the string or set must outlive the token. A token of a
// temporary string or set does not compile; a token of a pointer or view into a temporary compiles, but is an error.
// The parameters are templates, which reject braces: `{claim()}` would hide a temporary.
class Token {
public:
    // No token was supplied.
    [[nodiscard]] static Token none() noexcept { return Token(TokenKind::none, std::string_view()); }

    template <typename T, detail::IfText<T> = 0>
    Token(TokenKind kind, T &&scopes) noexcept : raw_(orbgate_token_init())
    {
        const std::string_view text = detail::view_of(scopes);
        raw_.kind = detail::number(kind);
        raw_.scopes = text.data();
        raw_.scopes_len = text.size();
    }
    template <typename T, detail::IfTemporaryText<T> = 0>
    Token(TokenKind kind, T &&scopes) = delete;
    Token(TokenKind kind, std::nullptr_t) = delete;

    // A moved-from set is empty.
    Token(TokenKind kind, const ScopeSet &scopes) noexcept : raw_(orbgate_token_init())
    {
        raw_.kind = detail::number(kind);
        raw_.scope_set = scopes.raw();
    }
    Token(TokenKind kind, const ScopeSet &&scopes) = delete;

    template <typename T, detail::IfText<T> = 0>
    [[nodiscard]] static Token user(T &&scopes) noexcept
    {
        return {TokenKind::user, detail::view_of(scopes)};
    }
    [[nodiscard]] static Token user(const ScopeSet &scopes) noexcept
    {
        return {TokenKind::user, scopes};
    }
    template <typename T, detail::IfTemporaryText<T> = 0>
    static Token user(T &&scopes) = delete;
    static Token user(const ScopeSet &&scopes) = delete;
    static Token user(std::nullptr_t) = delete;

    template <typename T, detail::IfText<T> = 0>
    [[nodiscard]] static Token organisation(T &&scopes) noexcept
    {
        return {TokenKind::organisation, detail::view_of(scopes)};
    }
    [[nodiscard]] static Token organisation(const ScopeSet &scopes) noexcept
    {
        return {TokenKind::organisation, scopes};
    }
    template <typename T, detail::IfTemporaryText<T> = 0>
    static Token organisation(T &&scopes) = delete;
    static Token organisation(const ScopeSet &&scopes) = delete;
    static Token organisation(std::nullptr_t) = delete;

    [[nodiscard]] const OrbgateToken *raw() const noexcept { return &raw_; }

private:
    OrbgateToken raw_;
};

// Whether a request contains `allowBonusOrbsUse: true`.
enum class BonusOrbs : std::uint32_t { refuse = 0, allow = ORBGATE_ALLOW_BONUS_ORBS };

// The id of a route, to decide by; an id of another policy denies.
struct RouteId {
    std::uint64_t high = 0, low = 0;

    friend constexpr bool operator==(RouteId one, RouteId other) noexcept
    {
        return one.high == other.high && one.low == other.low;
    }
    friend constexpr bool operator!=(RouteId one, RouteId other) noexcept { return !(one == other); }
};

// A route of an engine. Its strings live as long as the engine.
struct Route {
    RouteId id;
    std::uint32_t number = 0; // from 1, for arrays with an entry for each route
    std::string_view text;    // `METHOD /template`
    std::string_view method, path_template, scope, api;
    Charge charge;            // what an allowed call consumes, without bonus orbs
    std::uint32_t line = 0, column = 0;
    std::string_view methods; // that the template declares, as `GET, POST`
    // What a call needs: all scopes of one of these alternatives, separated by spaces. The owner's comes first, and begins
    // with `scope`; most routes have only `scope`.
    std::vector<std::string_view> scopes;
};

// Requests for one call: methods and targets, and optionally a token for each. Adding copies them into columns, which
// costs more than the single call saves: unless your data is in columns already, decide one by one.
class Batch {
public:
    Batch() = default;
    Batch(const Batch &other)
        : methods_(other.methods_), targets_(other.targets_), scopes_(other.scopes_), kinds_(other.kinds_),
          bonus_(other.bonus_), sets_(other.sets_)
    {
        owned_.reserve(other.owned_.size());
        for (const ScopeSet &set : other.owned_) {
            owned_.push_back(set.share());
        }
    }
    Batch(Batch &&) noexcept = default;
    // All or nothing: methods of one batch must not be combined with the targets of another.
    Batch &operator=(Batch other) noexcept
    {
        methods_ = std::move(other.methods_);
        targets_ = std::move(other.targets_);
        scopes_ = std::move(other.scopes_);
        kinds_ = std::move(other.kinds_);
        bonus_ = std::move(other.bonus_);
        sets_ = std::move(other.sets_);
        owned_ = std::move(other.owned_);
        return *this;
    }
    ~Batch() = default;

    // Adds a request; if that throws, the batch is unchanged. If other rows have tokens, this row has none.
    void add(Text method, Text target)
    {
        if (!kinds_.empty()) {
            add(method, target, Token::none());
            return;
        }
        const std::size_t row = size();
        methods_.add(row, method.view());
        targets_.add(row, target.view());
    }

    // The same with the row's own token: strings are copied, and a set gets another owner.
    void add(Text method, Text target, const Token &token,
             BonusOrbs bonus = BonusOrbs::refuse)
    {
        const std::size_t row = size();
        const OrbgateToken &raw = *token.raw();
        if (kinds_.empty()) {
            // The first row with a token, or the first after one that threw.
            scopes_.clear();
            sets_.clear();
            bonus_.clear();
        }
        methods_.add(row, method.view());
        scopes_.add(row, std::string_view(raw.scopes, raw.scopes_len));
        own(raw.scope_set);
        put(sets_, row, raw.scope_set);
        put(bonus_, row, static_cast<std::uint8_t>(bonus));
        if (kinds_.capacity() <= row) {
            kinds_.reserve(row + row / 2 + 16);
        }
        targets_.add(row, target.view());
        // Nothing throws from here on: all rows have tokens once one of them has.
        if (kinds_.size() != row) {
            kinds_.resize(row, detail::number(TokenKind::none));
        }
        kinds_.push_back(static_cast<std::uint8_t>(raw.kind));
    }

    // A row counts once its target is added.
    [[nodiscard]] std::size_t size() const noexcept { return targets_.size(); }
    // Whether rows have their own tokens.
    [[nodiscard]] bool has_tokens() const noexcept { return !kinds_.empty(); }
    // Removes all requests, but keeps the memory for the next ones.
    void clear() noexcept
    {
        methods_.clear();
        targets_.clear();
        scopes_.clear();
        kinds_.clear();
        bonus_.clear();
        sets_.clear();
        owned_.clear();
    }

private:
    friend class Engine;
    // Strings in Arrow's utf8 layout. A moved-from column has neither offsets nor strings.
    struct Column {
        std::string data;
        std::vector<std::uint32_t> offsets;
        bool full = false;

        [[nodiscard]] std::size_t size() const noexcept { return offsets.empty() ? 0 : offsets.size() - 1; }
        void add(std::size_t row, std::string_view text)
        {
            if (offsets.size() != row + 1 || data.size() != offsets.back()) {
                restore(row);
            }
            // Offsets have 32 bits: data that does not fit invalidates the whole batch.
            full = full || text.size() > UINT32_MAX - data.size();
            if (!full && !text.empty()) {
                data.append(text);
            }
            offsets.push_back(static_cast<std::uint32_t>(data.size()));
        }
        void clear() noexcept
        {
            data.clear();
            offsets.clear();
            full = false;
        }
        // Removes the rest of a row that threw, and fills earlier rows with empty strings.
        void restore(std::size_t row)
        {
            if (offsets.empty()) {
                clear();
            }
            offsets.resize(row + 1);
            data.resize(offsets.back());
        }
        [[nodiscard]] OrbgateColumn raw() const noexcept { return {data.data(), data.size(), offsets.data()}; }
    };

    // Stores a row's value at its index, overwriting the rest of a row that threw.
    template <typename T>
    static void put(std::vector<T> &column, std::size_t row, T value)
    {
        if (column.size() != row) {
            column.resize(row);
        }
        column.push_back(value);
    }

    // Consecutive rows with the same token share an owner.
    void own(const OrbgateScopeSet *set)
    {
        if (set != nullptr && (owned_.empty() || owned_.back().raw() != set)) {
            owned_.push_back(ScopeSet(orbgate_scope_set_retain(set)));
        }
    }

    // The columns, if they fit.
    [[nodiscard]] std::optional<OrbgateBatch> raw() const noexcept
    {
        OrbgateBatch raw = orbgate_batch_init();
        raw.len = size();
        raw.method = methods_.raw();
        raw.target = targets_.raw();
        if (has_tokens()) {
            raw.kinds = kinds_.data();
            raw.allow_bonus_orbs = bonus_.data();
            const auto end = sets_.begin() + static_cast<std::ptrdiff_t>(size());
            const bool has_sets = std::any_of(sets_.begin(), end, [](const auto *set) { return set != nullptr; });
            const bool has_text = scopes_.offsets[size()] > 0;
            if (has_sets && has_text) {
                return std::nullopt;
            }
            if (has_sets) {
                raw.scope_sets = sets_.data();
            } else {
                raw.scopes = scopes_.raw();
            }
        }
        const bool fits = !methods_.full && !targets_.full && !scopes_.full;
        return fits ? std::optional(raw) : std::nullopt;
    }

    Column methods_, targets_, scopes_;
    std::vector<std::uint8_t> kinds_, bonus_;
    std::vector<const OrbgateScopeSet *> sets_;
    std::vector<ScopeSet> owned_;
};

// A compiled, immutable policy.
class Engine {
public:
    // The policy that is compiled into the library: the table of the specification.
    static Result<Engine> external()
    {
        OrbgateEngine *engine = nullptr;
        const OrbgateStatus status = orbgate_engine_external(&engine);
        return made(status, engine, nullptr);
    }

    static Result<Engine> from_yaml(Text yaml)
    {
        OrbgateEngine *engine = nullptr;
        OrbgateError *error = nullptr;
        const OrbgateStatus status = orbgate_engine_from_yaml(yaml.data(), yaml.size(), &engine, &error);
        return made(status, engine, error);
    }

    static Result<Engine> from_file(std::nullptr_t) = delete;
    static Result<Engine> from_file(const std::filesystem::path &path)
    {
        // Bytes on platforms whose paths are bytes, UTF-8 elsewhere.
        if constexpr (std::is_same_v<std::filesystem::path::value_type, char>) {
            return from_file(path.native().data(), path.native().size());
        } else {
            const auto text = path.u8string();
            return from_file(reinterpret_cast<const char *>(text.data()), text.size());
        }
    }

    // Another owner of the same engine.
    [[nodiscard]] Engine share() const noexcept { return Engine(orbgate_engine_retain(engine_.get())); }

    // Decides a request. Pass method and target as received in the request line.
    Decision decide(Text method, Text target, const Token &token,
                    BonusOrbs bonus = BonusOrbs::refuse) const noexcept
    {
        Decision decision;
        const OrbgateStatus status =
            orbgate_engine_decide(engine_.get(), method.data(), method.size(), target.data(), target.size(),
                                  token.raw(), detail::number(bonus), &decision.raw_);
        return status == ORBGATE_STATUS_OK ? decision : Decision();
    }

    // Decides by route: no strings are read.
    Decision decide_route(RouteId route, const Token &token, BonusOrbs bonus = BonusOrbs::refuse) const noexcept
    {
        Decision decision;
        const OrbgateStatus status = orbgate_engine_decide_route(engine_.get(), {route.high, route.low}, token.raw(),
                                                          detail::number(bonus), &decision.raw_);
        return status == ORBGATE_STATUS_OK ? decision : Decision();
    }

    // Decides by scope, without a route.
    Decision decide_scope(Text scope, const Token &token,
                          BonusOrbs bonus = BonusOrbs::refuse) const noexcept
    {
        Decision decision;
        const OrbgateStatus status =
            orbgate_engine_decide_scope(engine_.get(), scope.data(), scope.size(), token.raw(),
                                        detail::number(bonus), &decision.raw_);
        return status == ORBGATE_STATUS_OK ? decision : Decision();
    }

    // Decides every request of a batch with the same token; an error if the requests have their own tokens.
    Result<std::vector<Decision>> decide(const Batch &batch, const Token &token,
                                         BonusOrbs bonus = BonusOrbs::refuse) const
    {
        if (batch.has_tokens()) {
            return Error(Status::invalid_argument, "the requests of this batch have tokens of their own");
        }
        return decide_columns(batch, [&](OrbgateBatch &raw) {
            raw.flags = detail::number(bonus);
            raw.token = token.raw();
        });
    }

    // Decides every request of a batch with its own token; a request without a token is denied. The scopes of all rows
    // must be of the same form: strings or sets.
    Result<std::vector<Decision>> decide(const Batch &batch) const
    {
        return decide_columns(batch, [](OrbgateBatch &) {});
    }

    // Decides a batch of your own columns.
    Result<std::vector<Decision>> decide(const OrbgateBatch &batch) const
    {
        // The vector must not get an impossible length: the library rejects that, and rows without columns.
        const std::size_t limit = std::vector<Decision>().max_size();
        const bool has_columns = batch.method.offsets != nullptr && batch.target.offsets != nullptr;
        std::vector<Decision> decisions(has_columns && batch.len <= limit ? batch.len : 0);
        OrbgateDecision *out = decisions.empty() ? nullptr : &decisions.front().raw_;
        const OrbgateStatus status = orbgate_engine_decide_batch(engine_.get(), &batch, out, decisions.size());
        if (status != ORBGATE_STATUS_OK) {
            return Error(status);
        }
        return decisions;
    }

    // Interns a token's scopes, separated by spaces.
    Result<ScopeSet> scopes(Text scopes) const
    {
        OrbgateScopeSet *set = nullptr;
        const OrbgateStatus status = orbgate_scope_set_from_string(engine_.get(), scopes.data(), scopes.size(), &set);
        return made(status, set);
    }

    // Interns a list of scopes: `{first, second}`, or a vector.
    Result<ScopeSet> scope_set(std::initializer_list<Text> scopes) const
    {
        return scope_set_of(scopes);
    }
    Result<ScopeSet> scope_set(const std::vector<std::string_view> &scopes) const
    {
        return scope_set_of(scopes);
    }

    // The id of the route with this method and template, written as in the policy; none if the policy
    // lacks it.
    [[nodiscard]] std::optional<RouteId> find_route(Text method, Text path_template) const
        noexcept
    {
        OrbgateRouteId id = {};
        const OrbgateStatus status = orbgate_engine_find_route(engine_.get(), method.data(), method.size(),
                                                        path_template.data(), path_template.size(), &id);
        return status == ORBGATE_STATUS_OK ? std::optional(RouteId{id.high, id.low}) : std::nullopt;
    }

    // The strings live as long as the engine, so a temporary engine does not return them.

    // Every route.
    [[nodiscard]] std::vector<Route> routes() const &
    {
        const std::uint32_t count = info().route_count;
        std::vector<Route> routes;
        routes.reserve(count);
        OrbgateRoute raw = orbgate_route_init();
        for (std::uint32_t number = 1;
             number <= count && orbgate_engine_route(engine_.get(), number, &raw) == ORBGATE_STATUS_OK; ++number) {
            using detail::view;
            routes.push_back({{raw.id.high, raw.id.low},
                              raw.number,
                              view(raw.text),
                              view(raw.method),
                              view(raw.path_template),
                              view(raw.scope),
                              view(raw.api),
                              Charge(raw.charge, raw.amount),
                              raw.line,
                              raw.column,
                              view(raw.methods),
                              alternatives(number)});
        }
        return routes;
    }
    std::vector<Route> routes() const && = delete;

    // The texts of a decision; none if another policy made it.
    [[nodiscard]] std::optional<Words> words(const Decision &decision) const &
    {
        OrbgateDecisionStrings text = orbgate_decision_strings_init();
        if (orbgate_engine_decision_strings(engine_.get(), &decision.raw(), &text) != ORBGATE_STATUS_OK) {
            return std::nullopt;
        }
        using detail::maybe;
        using detail::view;
        std::vector<std::string_view> scopes;
        if (const auto scope = maybe(text.scope); scope && decision.raw().route != 0) {
            scopes = alternatives(decision.raw().route);
            if (scopes.size() == 1 && scopes.front() == *scope) {
                scopes.clear();
            }
        }
        return Words{view(text.decision), view(text.reason), view(text.policy), maybe(text.detail), maybe(text.api),
                     maybe(text.route),   maybe(text.scope), maybe(text.about), std::move(scopes)};
    }
    std::optional<Words> words(const Decision &decision) const && = delete;

    // The value of the `Allow` header of a 405, for example `GET, POST`; none if the decision is not a 405, or of
    // another policy.
    [[nodiscard]] std::optional<std::string_view> declared_methods(const Decision &decision) const & noexcept
    {
        OrbgateDecisionStrings text = orbgate_decision_strings_init();
        const OrbgateStatus status = orbgate_engine_decision_strings(engine_.get(), &decision.raw(), &text);
        return status == ORBGATE_STATUS_OK ? detail::maybe(text.allow) : std::nullopt;
    }
    std::optional<std::string_view> declared_methods(const Decision &decision) const && = delete;

    // The policy's digest, for example `sha256:…`; its name.
    [[nodiscard]] std::string_view digest() const & noexcept { return detail::view(info().digest); }
    [[nodiscard]] std::string_view name() const & noexcept { return detail::view(info().name); }
    std::string_view digest() const && = delete;
    std::string_view name() const && = delete;

    // Answers a question about the policy: `check`, `diff`, `explain`, `lint`, `needs`, `reach`, `table`, `unused` or
    // `who`. Arguments and answer are JSON; the answer is that of `orbgate QUESTION --json`.
    [[nodiscard]] Result<std::string> ask(Text question, Text arguments) const
    {
        std::string json;
        std::optional<Error> error = ask(question, arguments, ORBGATE_ANSWER_JSON, [&](std::string_view answer) { json = answer; });
        return error ? Result<std::string>(std::move(*error)) : Result<std::string>(std::move(json));
    }

    // The same in any form of an answer, which `take` gets; it is valid until `take` returns.
    template <typename Take> [[nodiscard]] std::optional<Error> ask(Text question, Text arguments, std::uint32_t form, Take &&take) const
    {
        OrbgateAnswer *owner = nullptr;
        OrbgateStr answer = {nullptr, 0};
        OrbgateError *error = nullptr;
        const OrbgateStatus status = orbgate_engine_ask(engine_.get(), question.data(), question.size(), arguments.data(),
                                                        arguments.size(), form, &owner, &answer, &error);
        if (status != ORBGATE_STATUS_OK) {
            return Error(status, error);
        }
        const std::unique_ptr<OrbgateAnswer, void (*)(OrbgateAnswer *)> owned(owner, orbgate_answer_free);
        take(detail::view(answer));
        return std::nullopt;
    }

    // Whether the policy ends with YAML's end marker, the line `...`. A file that is still being written lacks it.
    [[nodiscard]] bool has_end_marker() const noexcept { return info().has_end_marker == 1; }

    // Whether the end marker carries a seal, the digest of everything before it. A policy with a wrong seal is invalid.
    [[nodiscard]] bool is_sealed() const noexcept { return info().is_sealed == 1; }

    [[nodiscard]] const OrbgateEngine *raw() const noexcept { return engine_.get(); }

private:
    friend class Answer;
    friend class Handle;
    explicit Engine(OrbgateEngine *engine) noexcept : engine_(engine) {}

    static Result<Engine> from_file(const char *path, std::size_t len)
    {
        OrbgateEngine *engine = nullptr;
        OrbgateError *error = nullptr;
        const OrbgateStatus status = orbgate_engine_from_file(path, len, &engine, &error);
        return made(status, engine, error);
    }

    template <typename List>
    Result<ScopeSet> scope_set_of(const List &scopes) const
    {
        std::vector<OrbgateStr> texts;
        for (const Text scope : scopes) {
            texts.push_back({scope.data(), scope.size()});
        }
        OrbgateScopeSet *set = nullptr;
        const OrbgateStatus status = orbgate_scope_set_from_list(engine_.get(), texts.data(), texts.size(), &set);
        return made(status, set);
    }

    // Decides the columns of a batch, after `with` has completed them.
    template <typename F>
    Result<std::vector<Decision>> decide_columns(const Batch &batch, F with) const
    {
        std::optional<OrbgateBatch> raw = batch.raw();
        if (!raw) {
            return Error(Status::invalid_argument,
                         "the batch has over 4 GiB of text, or some scopes as text and some as sets");
        }
        with(*raw);
        return decide(*raw);
    }

    static Result<Engine> made(OrbgateStatus status, OrbgateEngine *engine, OrbgateError *error)
    {
        if (status != ORBGATE_STATUS_OK) {
            return Error(status, error);
        }
        Engine made(engine);
        // Every program creates an engine first, so the ABI is checked here, before any data of another library is
        // read.
        if (!orbgate_check_abi()) {
            const auto text = [](std::uint32_t abi) {
                return std::to_string(abi >> 16) + "." + std::to_string(abi & 0xffff);
            };
            return Error(Status::invalid_argument, "the orbgate library has ABI " + text(orbgate_abi_version())
                                                       + ", and this header needs " + text(ORBGATE_ABI_VERSION));
        }
        return made;
    }

    static Result<ScopeSet> made(OrbgateStatus status, OrbgateScopeSet *set)
    {
        if (status != ORBGATE_STATUS_OK) {
            return Error(status);
        }
        return ScopeSet(set);
    }

    // What a route needs, by its number.
    [[nodiscard]] std::vector<std::string_view> alternatives(std::uint32_t route) const
    {
        std::vector<std::string_view> scopes;
        OrbgateStr next = {nullptr, 0};
        while (orbgate_engine_route_alternative(engine_.get(), route, scopes.size(), &next) == ORBGATE_STATUS_OK) {
            scopes.push_back(detail::view(next));
        }
        return scopes;
    }

    // All zeros if the engine is moved-from.
    [[nodiscard]] OrbgateEngineInfo info() const noexcept
    {
        OrbgateEngineInfo info = orbgate_engine_info_init();
        static_cast<void>(orbgate_engine_info(engine_.get(), &info));
        return info;
    }

    std::unique_ptr<OrbgateEngine, detail::Free<orbgate_engine_free>> engine_;
};

// Holds an engine that can be replaced at run time: readers never wait, and each decision comes
// from one engine.
class Handle {
public:
    static Result<Handle> holding(const Engine &engine)
    {
        OrbgateHandle *handle = nullptr;
        const OrbgateStatus status = orbgate_handle_new(engine.raw(), &handle);
        if (status != ORBGATE_STATUS_OK) {
            return Error(status);
        }
        return Handle(handle);
    }

    // Another owner of the same handle.
    [[nodiscard]] Handle share() const noexcept { return Handle(orbgate_handle_retain(handle_.get())); }

    // Replaces the engine; false if the engine or the handle is moved-from.
    bool store(const Engine &engine) const noexcept
    {
        return orbgate_handle_store(handle_.get(), engine.raw()) == ORBGATE_STATUS_OK;
    }

    // The current engine, for several questions to the same policy.
    [[nodiscard]] Engine load() const noexcept
    {
        OrbgateEngine *engine = nullptr;
        const OrbgateStatus status = orbgate_handle_load(handle_.get(), &engine);
        return Engine(status == ORBGATE_STATUS_OK ? engine : nullptr);
    }

    // Decides with the current engine.
    Decision decide(Text method, Text target, const Token &token,
                    BonusOrbs bonus = BonusOrbs::refuse) const noexcept
    {
        Decision decision;
        const OrbgateStatus status =
            orbgate_handle_decide(handle_.get(), method.data(), method.size(), target.data(), target.size(),
                                  token.raw(), detail::number(bonus), &decision.raw_);
        return status == ORBGATE_STATUS_OK ? decision : Decision();
    }

private:
    explicit Handle(OrbgateHandle *handle) noexcept : handle_(handle) {}
    std::unique_ptr<OrbgateHandle, detail::Free<orbgate_handle_free>> handle_;
};

} // namespace orbgate

#endif // ORBGATE_HPP
