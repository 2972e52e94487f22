// What must not compile of a protected server, each case for its own reason: `CASE` chooses one, and 0 is none.
#include <orbgate_httplib.hpp>

orbgate::Gate gate();

int main()
{
    orbgate::Protected<> server(gate(), orbgate::Engine::external().value());
    const auto handler = [](const httplib::Request &, httplib::Response &) {};
#if CASE == 0
    server.set_tcp_nodelay(true).Get("/orders", handler);
    const auto answer = gate().ask(orbgate::Engine::external().value(), {});
    return server.is_valid() && answer.words() ? 0 : 1;
#elif CASE == 1 // set_pre_routing_handler
    server.set_pre_routing_handler([](const auto &, auto &) { return httplib::Server::HandlerResponse::Unhandled; });
#elif CASE == 2 // set_pre_routing_handler
    server.set_tcp_nodelay(true).set_pre_routing_handler([](const auto &, auto &) { return httplib::Server::HandlerResponse::Unhandled; });
#elif CASE == 3 // set_post_routing_handler
    server.set_post_routing_handler(handler);
#elif CASE == 4 // set_expect_100_continue_handler
    server.set_expect_100_continue_handler([](const auto &, auto &) { return 100; });
#elif CASE == 5 // base
    httplib::Server &plain = server;
    plain.Get("/orders", handler);
#elif CASE == 6 // deleted
    const auto words = gate().ask(orbgate::Engine::external().value(), {}).words();
#elif CASE == 7 // deleted
    const auto line = gate().ask(orbgate::Engine::external().value(), {}).audit();
#elif CASE == 8 // deleted
    const auto scopes = gate().ask(orbgate::Engine::external().value(), {}).scopes();
#elif CASE == 9 // deleted
    const auto message = gate().ask(orbgate::Engine::external().value(), {}).message();
#endif
    return 0;
}
