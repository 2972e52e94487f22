// Reads the arguments of questions from rows of JSON, which are well-formed and in ASCII, without escapes but `\n`, `\"` and `\\`.
#ifndef ORBGATE_TESTS_JSON_HPP
#define ORBGATE_TESTS_JSON_HPP

#include <cstdlib>

#include "orbgate_questions.hpp"

class JsonReader {
public:
    explicit JsonReader(std::string_view json) : rest_(json) {}

    template <typename Shape> std::enable_if_t<std::is_class_v<Shape>> get(Shape &shape)
    {
        members([&](const std::string &key) {
            bool is_known = false;
            orbgate::questions::detail::each_field(shape, [&](std::string_view name, auto &value, bool) {
                if (name == key) {
                    is_known = true;
                    get(value);
                }
            });
            expect(is_known);
        });
    }

private:
    void get(bool &value)
    {
        value = take("true");
        expect(value || take("false"));
    }

    void get(std::uint64_t &value)
    {
        for (value = 0; rest_.front() >= '0' && rest_.front() <= '9'; rest_.remove_prefix(1)) {
            value = value * 10 + static_cast<std::uint64_t>(rest_.front() - '0');
        }
    }

    void get(std::string &value)
    {
        for (expect(take("\"")); !take("\""); rest_.remove_prefix(1)) {
            const bool is_escaped = take("\\");
            expect(!is_escaped || std::string_view("n\"\\").find(rest_.front()) != std::string_view::npos);
            value += is_escaped && rest_.front() == 'n' ? '\n' : rest_.front();
        }
    }

    template <typename Value> void get(std::optional<Value> &value)
    {
        if (!take("null")) {
            get(value.emplace());
        }
    }

    template <typename Value> void get(std::vector<Value> &values)
    {
        items("[", "]", [&] { get(values.emplace_back()); });
    }

    void get(std::map<std::string, std::string> &values)
    {
        members([&](const std::string &key) { get(values[key]); });
    }

    template <typename Each> void members(Each &&each)
    {
        items("{", "}", [&] {
            std::string key;
            get(key);
            expect(take(":"));
            each(key);
        });
    }

    template <typename Each> void items(const char *start, const char *end, Each &&each)
    {
        expect(take(start));
        for (bool is_first = true; !take(end); is_first = false) {
            expect(is_first || take(","));
            each();
        }
    }

    bool take(std::string_view text)
    {
        const bool is_next = rest_.substr(0, text.size()) == text;
        rest_.remove_prefix(is_next ? text.size() : 0);
        return is_next;
    }

    void expect(bool is_right)
    {
        if (!is_right || rest_.empty()) {
            rest_ = {};
            std::abort();
        }
    }

    std::string_view rest_;
};

// The JSON must go on after the value: it is a part of a row.
template <typename Value> Value from_json(const std::string &json)
{
    Value value;
    JsonReader(json + "\n").get(value);
    return value;
}

#endif // ORBGATE_TESTS_JSON_HPP
