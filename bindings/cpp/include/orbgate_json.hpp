// The arguments of questions as JSON, and their answers from fields, for orbgate_questions.hpp. Integers are exact up to 2^64 - 1.
#ifndef ORBGATE_JSON_HPP
#define ORBGATE_JSON_HPP

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "orbgate.hpp"

namespace orbgate::questions {
namespace detail {

// Names the fields of a struct, in their order. Those in parentheses are left out of JSON without a value; others are null then.
#define ORBGATE_FIELDS(...)                                                                                                                 \
    static constexpr std::string_view names{#__VA_ARGS__};                                                                                  \
    [[nodiscard]] auto fields() noexcept { return std::tie(__VA_ARGS__); }                                                                  \
    [[nodiscard]] auto fields() const noexcept { return std::tie(__VA_ARGS__); }

// Calls `visit` with the name and the value of each field, and with whether it is left out without a value.
template <typename Shape, typename Visit> void each_field(Shape &shape, Visit &&visit)
{
    std::string_view names = Shape::names;
    [[maybe_unused]] const auto next = [&](auto &value) {
        std::string_view name = names.substr(0, names.find(", "));
        names.remove_prefix(std::min(names.size(), name.size() + 2));
        const bool left_out = name.front() == '(';
        if (left_out) {
            name = name.substr(1, name.size() - 2);
        }
        if (name.back() == '_') {
            name.remove_suffix(1); // a keyword of C++
        }
        visit(name, value, left_out);
    };
    std::apply([&](auto &...values) { (next(values), ...); }, shape.fields());
}

template <typename Value> struct IsOptional : std::false_type {};
template <typename Value> struct IsOptional<std::optional<Value>> : std::true_type {};

// Writes values as JSON, UTF-8.
class Writer {
public:
    void put(bool value) { json_ += value ? "true" : "false"; }
    void put(std::uint64_t value) { json_ += std::to_string(value); }

    void put(const std::string &value) { put(std::string_view(value)); }

    void put(std::string_view value)
    {
        json_ += '"';
        for (const char byte : value) {
            const auto number = static_cast<unsigned char>(byte);
            if (byte == '"' || byte == '\\') {
                json_ += '\\';
                json_ += byte;
            } else if (number >= 0x20) {
                json_ += byte;
            } else if (byte == '\n') {
                json_ += "\\n";
            } else {
                const char *const digits = "0123456789abcdef";
                json_ += "\\u00";
                json_ += digits[number >> 4];
                json_ += digits[number & 15];
            }
        }
        json_ += '"';
    }

    template <typename Value> void put(const std::optional<Value> &value)
    {
        if (value) {
            put(*value);
        } else {
            json_ += "null";
        }
    }

    template <typename Value> void put(const std::vector<Value> &values)
    {
        json_ += '[';
        for (const Value &value : values) {
            separate('[');
            put(value);
        }
        json_ += ']';
    }

    template <typename Value> void put(const std::map<std::string, Value> &values)
    {
        json_ += '{';
        for (const auto &[key, value] : values) {
            name(key);
            put(value);
        }
        json_ += '}';
    }

    template <typename Shape> std::enable_if_t<std::is_class_v<Shape>> put(const Shape &shape)
    {
        json_ += '{';
        each_field(shape, [this](std::string_view key, const auto &value, bool left_out) {
            if (!left_out || has(value)) {
                name(key);
                put(value);
            }
        });
        json_ += '}';
    }

    [[nodiscard]] std::string take() && { return std::move(json_); }

private:
    static bool has(bool value) { return value; }
    template <typename Value> static bool has(const std::optional<Value> &value) { return value.has_value(); }
    template <typename Value> static auto has(const Value &value) -> decltype(!value.empty()) { return !value.empty(); }
    template <typename Value> static auto has(const Value &value) -> decltype(value.fields(), true) { return true; }

    void separate(char start)
    {
        if (json_.back() != start) {
            json_ += ',';
        }
    }

    void name(std::string_view key)
    {
        separate('{');
        put(key);
        json_ += ':';
    }

    std::string json_;
};

// The name of each field of an answer, at its number.
inline constexpr std::string_view field_names[] = {
    // cargo xtask codes: names
    "", "files", "file", "policy", "diagnostics", "location", "line", "column", "message", "warnings", "old", "new", "verdict", "widens",
    "complete", "left_out", "changes", "asked", "method", "target", "scope", "token", "kind", "scopes", "allow_bonus_orbs_use", "before",
    "route", "orbs", "consumes", "amount", "organisation", "after", "wider", "narrower", "cost", "payer", "removed", "fails", "decision",
    "status", "reason", "detail", "api", "bonus_allowed", "missing_step", "alternatives", "lacking", "orbs_if_allowed", "in_order",
    "rules", "rule", "state", "near", "why", "meant", "findings", "code", "level", "other", "suppressed", "calls", "is_smallest", "needs",
    "first", "at", "call", "refusals", "allowed", "name", "apis", "closed", "template", "permits", "routes", "headings", "without_token",
    "unused", "granted", "used", "needed", "in_policy", "last", "time", "tokens", "earned",
    // end of names
};

// Reads an answer's fields, each a number, a length and its bytes. A malformed one is an error, and never read beyond its end. Unknown
// fields are skipped: a later library may add one.
class Reader {
public:
    template <typename Shape> static std::enable_if_t<std::is_class_v<Shape>, bool> get(std::string_view fields, Shape &shape)
    {
        std::array<bool, std::size(field_names)> seen{};
        return each(fields, [&](std::uint32_t number, std::string_view bytes) {
            bool is_right = true;
            each_field(shape, [&](std::string_view name, auto &value, bool) {
                if (number < seen.size() && name == field_names[number]) {
                    is_right = (is_list(value) || !seen[number]) && get(bytes, value);
                    seen[number] = true;
                }
            });
            return is_right;
        });
    }

private:
    // Whether a value has a field for each of its items. Others have one field.
    template <typename Value> static constexpr bool is_list(const Value &) { return false; }
    template <typename Value> static constexpr bool is_list(const std::vector<Value> &) { return true; }
    template <typename Value> static constexpr bool is_list(const std::optional<std::vector<Value>> &) { return true; }

    static bool get(std::string_view bytes, bool &value)
    {
        value = bytes.empty();
        return value;
    }

    static bool get(std::string_view bytes, std::string &value)
    {
        value.assign(bytes);
        return true;
    }

    // Only arguments have one.
    static bool get(std::string_view, std::map<std::string, std::string> &) { return false; }

    static bool get(std::string_view bytes, std::uint64_t &value)
    {
        if (bytes.size() != sizeof value) {
            return false;
        }
        value = word(bytes) | static_cast<std::uint64_t>(word(bytes.substr(4))) << 32;
        return true;
    }

    template <typename Value> static bool get(std::string_view bytes, std::optional<Value> &value)
    {
        return get(bytes, value ? *value : value.emplace());
    }

    // One more item.
    template <typename Value> static bool get(std::string_view bytes, std::vector<Value> &values) { return get(bytes, values.emplace_back()); }

    // An item that is a list.
    static bool get(std::string_view bytes, std::vector<std::vector<std::string>> &values)
    {
        std::vector<std::string> &items = values.emplace_back();
        return each(bytes, [&](std::uint32_t, std::string_view item) { return get(item, items); });
    }

    static std::uint32_t word(std::string_view bytes)
    {
        const auto byte = [&](std::size_t at) { return static_cast<std::uint32_t>(static_cast<unsigned char>(bytes[at])) << 8 * at; };
        return byte(0) | byte(1) | byte(2) | byte(3);
    }

    template <typename Take> static bool each(std::string_view fields, Take &&take)
    {
        while (!fields.empty()) {
            const std::size_t size = fields.size() < 8 ? fields.size() : word(fields.substr(4));
            if (fields.size() < 8 || size > fields.size() - 8 || !take(word(fields), fields.substr(8, size))) {
                return false;
            }
            fields.remove_prefix(8 + size);
        }
        return true;
    }
};

} // namespace detail

// A value as JSON.
template <typename Value> std::string to_json(const Value &value)
{
    detail::Writer writer;
    writer.put(value);
    return std::move(writer).take();
}

namespace detail {

template <typename Answer, typename Arguments>
Result<Answer> answered(const Engine &engine, const char *question, const Arguments &arguments)
{
    const std::string json = to_json(arguments);
    Answer answer;
    bool is_read = false;
    const std::optional<Error> error = engine.ask(Text(question), Text(json), ORBGATE_ANSWER_FIELDS,
                                                  [&](std::string_view fields) { is_read = Reader::get(fields, answer); });
    if (error) {
        return *error;
    }
    if (!is_read) {
        return Error(Status::panic, "the answer is malformed");
    }
    return answer;
}

} // namespace detail

} // namespace orbgate::questions

#endif // ORBGATE_JSON_HPP
