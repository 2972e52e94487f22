// Answers a request as a server would: a caller without the scope gets a bare 403.
//
//   authorize METHOD TARGET [user|organisation SCOPES]
//   authorize POST /api/v1/external/voxies/prompt/run user "write:voxies read:orbs"
#include <iostream>
#include <string>
#include <string_view>

#include <orbgate.hpp>

static std::string_view phrase(unsigned status)
{
    switch (status) {
    case 400: return "Bad Request";
    case 401: return "Unauthorized";
    case 404: return "Not Found";
    case 405: return "Method Not Allowed";
    default: return "Forbidden";
    }
}

// Every denial has an empty body; a 401 says what is missing, a 405 which methods there are.
static std::string refusal(const orbgate::Engine &engine, const orbgate::Decision &decision)
{
    const unsigned status = decision.http_status().value_or(ORBGATE_DEFAULT_HTTP_STATUS);
    std::string text = "HTTP/1.1 " + std::to_string(status) + " " + std::string(phrase(status)) +
                       "\r\nContent-Length: 0\r\n";
    if (status == 401) {
        const bool refused = decision.reason() == orbgate::Reason::invalid_token;
        text += refused ? "WWW-Authenticate: Bearer error=\"invalid_token\"\r\n" : "WWW-Authenticate: Bearer\r\n";
    }
    if (const auto methods = engine.declared_methods(decision)) {
        text += "Allow: " + std::string(*methods) + "\r\n";
    }
    return text + "\r\n";
}

static std::string answer(const orbgate::Engine &engine, const orbgate::Decision &decision)
{
    const auto words = engine.words(decision);
    if (!decision || !words) {
        return refusal(engine, decision);
    }
    const auto charge = decision.charge();
    const std::string body = std::string(words->route.value_or("")) + " needs " +
                             std::string(words->scope.value_or("")) + " and consumes " +
                             (charge && charge->consumes ? "orbs" : "nothing") + "\n";
    return "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: " + std::to_string(body.size()) +
           "\r\n\r\n" + body;
}

int main(int count, char **arguments)
{
    if (count != 3 && count != 5) {
        std::cerr << "usage: authorize METHOD TARGET [user|organisation SCOPES]\n";
        return 2;
    }
    const auto engine = orbgate::Engine::external();
    if (!engine) {
        std::cerr << "authorize: " << engine.error().message << "\n";
        return 2;
    }
    const auto token = count == 5 ? orbgate::Token(orbgate::token_kind(arguments[3]), arguments[4])
                                  : orbgate::Token::none();
    std::cout << answer(*engine, engine->decide(arguments[1], arguments[2], token));
    return 0;
}
