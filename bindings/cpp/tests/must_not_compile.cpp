// What must not compile, each case for its own reason: `CASE` chooses one, and 0 is none.
#include <string>

#include "orbgate.hpp"

using orbgate::Engine;
using orbgate::Token;

std::string claim();
const std::string frozen_claim();

// A string of somebody's own.
struct Text {
    std::string text;
    operator std::string_view() const { return text; }
};

int main()
{
    const auto engine = Engine::external().value();
    const auto scopes = engine.scopes("read:orbs").value();
    const std::string text = claim();
    orbgate::Batch batch;
#if CASE == 0
    // Literals, views, pointers and what has a name are fine.
    const char *pointer = text.c_str();
    const Text own{text};
    for (const auto &token : {Token::user("read:orbs"), Token::user(text), Token::user(std::string_view(text)),
                              Token::user(pointer), Token::user(own), Token::organisation(scopes), Token::none(),
                              Token(orbgate::TokenKind::user, text)}) {
        batch.add("GET", "/", token);
    }
    const auto failed = Engine::from_yaml("");
    return engine.decide("GET", claim(), Token::user(text)) || failed.error().message.empty() ? 0 : 1;
#elif CASE == 1 // deleted
    const auto token = Token::user(claim());
#elif CASE == 2 // deleted
    const auto token = Token::user(frozen_claim());
#elif CASE == 3 // deleted
    const auto token = Token::user(text + " write:orbs");
#elif CASE == 4 // deleted
    const auto token = Token::organisation(claim());
#elif CASE == 5 // deleted
    const auto token = Token(orbgate::TokenKind::user, claim());
#elif CASE == 6 // deleted
    const Token token{orbgate::TokenKind::user, Text{text}};
#elif CASE == 7 // deleted
    const auto token = Token::user(engine.scopes(text).value());
#elif CASE == 8 // deleted
    const auto token = Token(orbgate::TokenKind::user, *engine.scopes(text));
#elif CASE == 9 // deleted
    const auto token = Token::user(std::move(scopes));
#elif CASE == 10 // deleted
    const auto digest = Engine::external().value().digest();
#elif CASE == 11 // deleted
    const auto name = Engine::external()->name();
#elif CASE == 12 // deleted
    const auto words = engine.share().words(engine.decide("GET", "/", Token::none()));
#elif CASE == 13 // deleted
    const auto handle = orbgate::Handle::holding(engine).value();
    const auto methods = handle.load().declared_methods(handle.decide("PUT", "/", Token::none()));
#elif CASE == 14 // deleted
    const auto routes = engine.share().routes();
#elif CASE == 15 // Detail
    return engine.decide("GET", "/", Token::none()).reason() == orbgate::Detail::none;
#elif CASE == 16 // cannot
    const orbgate::Reason reason = 5;
#elif CASE == 17 // ignoring
    engine.decide("GET", "/", Token::none());
#elif CASE == 18 // matching
    const auto token = Token::user({claim()});
#elif CASE == 19 // matching
    const auto token = Token::organisation({claim()});
#elif CASE == 20 // matching
    const auto token = Token(orbgate::TokenKind::user, {claim()});
#elif CASE == 21 // matching
    const auto token = Token::user({Text{text}});
#elif CASE == 22 // deleted
    const auto token = Token::user(nullptr);
#elif CASE == 23 // deleted
    const auto token = Token::organisation(nullptr);
#elif CASE == 24 // deleted
    const auto token = Token(orbgate::TokenKind::user, nullptr);
#elif CASE == 25 // deleted
    const auto token = Token::user({engine.scopes(text).value()});
#elif CASE == 26 // deleted
    const auto decision = engine.decide(nullptr, "/", Token::none());
#elif CASE == 27 // deleted
    const auto decision = engine.decide("GET", nullptr, Token::none());
#elif CASE == 28 // deleted
    const auto decision = engine.decide_scope(nullptr, Token::none());
#elif CASE == 29 // deleted
    const auto handle = orbgate::Handle::holding(engine).value();
    const auto decision = handle.decide(nullptr, "/", Token::none());
#elif CASE == 30 // deleted
    const auto handle = orbgate::Handle::holding(engine).value();
    const auto decision = handle.decide("GET", nullptr, Token::none());
#elif CASE == 31 // deleted
    const auto set = engine.scopes(nullptr);
#elif CASE == 32 // deleted
    const auto set = engine.scope_set({"read:orbs", nullptr});
#elif CASE == 33 // deleted
    const auto id = engine.find_route(nullptr, "/");
#elif CASE == 34 // deleted
    const auto id = engine.find_route("GET", nullptr);
#elif CASE == 35 // deleted
    const auto other = Engine::from_yaml(nullptr);
#elif CASE == 36 // deleted
    const auto other = Engine::from_file(nullptr);
#elif CASE == 37 // deleted
    batch.add(nullptr, "/");
#elif CASE == 38 // deleted
    batch.add("GET", nullptr, Token::none());
#elif CASE == 39 // deleted
    const auto kind = orbgate::token_kind(nullptr);
#endif
    return 0;
}
