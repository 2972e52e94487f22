// Arguments and answers of questions as JSON, for orbgate_questions.hpp. Integers are exact up to 2^64 - 1.
#ifndef ORBGATE_JSON_HPP
#define ORBGATE_JSON_HPP

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "orbgate.hpp"

namespace orbgate::questions {
namespace detail {

// Whether a field without a value is written as null, or left out.
enum class Absent { written, left_out };

template <typename Value> struct IsOptional : std::false_type {};
template <typename Value> struct IsOptional<std::optional<Value>> : std::true_type {};

// Writes values as JSON, UTF-8.
class Writer {
public:
    void put(bool value) { json_ += value ? "true" : "false"; }
    void put(std::uint64_t value) { json_ += std::to_string(value); }

    void put(const std::string &value)
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
        Shape::fields(shape, [this](const char *key, const auto &value, Absent absent) {
            if (absent == Absent::written || has(value)) {
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
    template <typename Value> static auto has(const Value &value) -> decltype(Value::fields(value, 0), true) { return true; }

    void separate(char start)
    {
        if (json_.back() != start) {
            json_ += ',';
        }
    }

    void name(const std::string &key)
    {
        separate('{');
        put(key);
        json_ += ':';
    }

    std::string json_;
};

// Reads the library's JSON, which is well-formed. What isn't is an error, and never read beyond its end. Unknown fields are skipped:
// a later library may add one.
class Reader {
public:
    explicit Reader(std::string_view json) : rest_(json) {}

    [[nodiscard]] bool is_read() const { return is_right_ && rest_.empty(); }

    void get(bool &value)
    {
        value = take("true");
        is_right_ = is_right_ && (value || take("false"));
    }

    void get(std::uint64_t &value)
    {
        value = 0;
        bool any = false;
        while (!rest_.empty() && rest_.front() >= '0' && rest_.front() <= '9') {
            value = value * 10 + static_cast<std::uint64_t>(rest_.front() - '0');
            rest_.remove_prefix(1);
            any = true;
        }
        is_right_ = is_right_ && any;
    }

    void get(std::string &value)
    {
        expect('"');
        value.assign(plain());
        while (is_right_ && !take('"')) {
            if (take('\\')) {
                escape(value);
                value.append(plain());
            } else {
                is_right_ = false;
            }
        }
    }

    template <typename Value> void get(std::optional<Value> &value)
    {
        if (take("null")) {
            value.reset();
        } else {
            get(value.emplace());
        }
    }

    template <typename Value> void get(std::vector<Value> &values)
    {
        values.clear();
        items('[', ']', [&] { get(values.emplace_back()); });
    }

    void get(std::map<std::string, std::string> &values)
    {
        values.clear();
        members([&](std::string_view key) { get(values[std::string(key)]); });
    }

    template <typename Shape> std::enable_if_t<std::is_class_v<Shape>> get(Shape &shape)
    {
        members([&](std::string_view key) {
            bool is_known = false;
            Shape::fields(shape, [&](std::string_view name, auto &value, Absent) {
                if (!is_known && name == key) {
                    is_known = true;
                    get(value);
                }
            });
            if (!is_known) {
                skip();
            }
        });
    }

private:
    bool take(std::string_view text)
    {
        if (!is_right_ || rest_.substr(0, text.size()) != text) {
            return false;
        }
        rest_.remove_prefix(text.size());
        return true;
    }

    bool take(char byte)
    {
        if (!is_right_ || rest_.empty() || rest_.front() != byte) {
            return false;
        }
        rest_.remove_prefix(1);
        return true;
    }

    void expect(char byte) { is_right_ = take(byte); }

    // The bytes of a string up to its end or its next escape.
    std::string_view plain()
    {
        std::size_t len = 0;
        while (len < rest_.size() && rest_[len] != '"' && rest_[len] != '\\') {
            ++len;
        }
        const std::string_view found = rest_.substr(0, len);
        rest_.remove_prefix(len);
        return found;
    }

    template <typename Each> void items(char start, char end, Each &&each)
    {
        expect(start);
        for (bool is_first = true; is_right_ && !take(end); is_first = false) {
            if (!is_first) {
                expect(',');
            }
            each();
        }
    }

    template <typename Each> void members(Each &&each)
    {
        items('{', '}', [&] {
            const std::string_view before = rest_;
            expect('"');
            std::string_view key = plain();
            std::string escaped;
            if (!take('"')) {
                rest_ = before;
                get(escaped);
                key = escaped;
            }
            expect(':');
            if (is_right_) {
                each(key);
            }
        });
    }

    void skip()
    {
        std::string text;
        if (rest_.empty()) {
            is_right_ = false;
        } else if (rest_.front() == '"') {
            get(text);
        } else if (rest_.front() == '[') {
            items('[', ']', [this] { skip(); });
        } else if (rest_.front() == '{') {
            members([this](std::string_view) { skip(); });
        } else {
            const std::size_t end = rest_.find_first_of(",]}");
            is_right_ = end != 0;
            rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end);
        }
    }

    void escape(std::string &value)
    {
        const std::string_view escapes = "\"\\/bfnrt", bytes = "\"\\/\b\f\n\r\t";
        const std::size_t at = rest_.empty() ? std::string_view::npos : escapes.find(rest_.front());
        if (at != std::string_view::npos) {
            value += bytes[at];
            rest_.remove_prefix(1);
        } else if (take('u')) {
            std::uint32_t code = unit();
            if (code >= 0xd800 && code < 0xdc00 && take("\\u")) {
                code = 0x10000 + ((code - 0xd800) << 10) + (unit() - 0xdc00);
            }
            append(value, code);
        } else {
            is_right_ = false;
        }
    }

    std::uint32_t unit()
    {
        std::uint32_t code = 0;
        for (int digit = 0; digit < 4 && is_right_; ++digit) {
            const std::string_view digits = "0123456789abcdef0123456789ABCDEF";
            const std::size_t at = rest_.empty() ? std::string_view::npos : digits.find(rest_.front());
            is_right_ = at != std::string_view::npos;
            code = code << 4 | static_cast<std::uint32_t>(at & 15);
            rest_.remove_prefix(rest_.empty() ? 0 : 1);
        }
        return code;
    }

    static void append(std::string &value, std::uint32_t code)
    {
        const auto byte = [&](std::uint32_t bits) { value += static_cast<char>(bits); };
        if (code < 0x80) {
            byte(code);
        } else if (code < 0x800) {
            byte(0xc0 | code >> 6);
            byte(0x80 | (code & 0x3f));
        } else {
            if (code < 0x10000) {
                byte(0xe0 | code >> 12);
            } else {
                byte(0xf0 | (code >> 18 & 7));
                byte(0x80 | (code >> 12 & 0x3f));
            }
            byte(0x80 | (code >> 6 & 0x3f));
            byte(0x80 | (code & 0x3f));
        }
    }

    std::string_view rest_;
    bool is_right_ = true;
};

} // namespace detail

// A value as JSON.
template <typename Value> std::string to_json(const Value &value)
{
    detail::Writer writer;
    writer.put(value);
    return std::move(writer).take();
}

// A value of JSON; none if the JSON isn't one.
template <typename Value> std::optional<Value> from_json(std::string_view json)
{
    Value value;
    detail::Reader reader(json);
    reader.get(value);
    return reader.is_read() ? std::optional<Value>(std::move(value)) : std::nullopt;
}

namespace detail {

template <typename Answer, typename Arguments>
Result<Answer> answered(const Engine &engine, const char *question, const Arguments &arguments)
{
    const std::string json = to_json(arguments);
    Result<std::string> answer = engine.ask(Text(question), Text(json));
    if (!answer) {
        return std::move(answer).error();
    }
    std::optional<Answer> read = from_json<Answer>(*answer);
    if (!read) {
        return Error(Status::panic, "the answer is not the JSON of this version");
    }
    return std::move(*read);
}

} // namespace detail

} // namespace orbgate::questions

#endif // ORBGATE_JSON_HPP
