// Servers that check_gate.py tries to get around: their handlers say which of them ran.
//
//   service POLICY TOKENS FOLDER    prints the ports of a protected server, of three that are broken, and of one without a gate
#include <iostream>
#include <thread>

#include <orbgate_curl.hpp>
#include <orbgate_httplib.hpp>

#include "test.h"

namespace {

// Broken servers: one asks nobody, one doesn't listen to the answer, and one takes any route.
struct Forgetful : httplib::Server {
    httplib::Server &set_pre_routing_handler(const HandlerWithResponse &) { return *this; }
};
struct Deaf : httplib::Server {
    httplib::Server &set_pre_routing_handler(HandlerWithResponse handler)
    {
        return Server::set_pre_routing_handler([handler = std::move(handler)](const auto &request, auto &response) {
            (void)handler(request, response);
            return HandlerResponse::Unhandled;
        });
    }
};
struct Careless : httplib::Server {
    httplib::Server &Get(const std::string &, Handler handler) { return Server::Get(".*", std::move(handler)); }
};

void say(httplib::Response &response, const std::string &text)
{
    // What a handler knows of its caller, so that it fails if no gate has decided.
    response.set_content(text + " for " + std::string(orbgate::answered().subject().value_or("?")) + "\n", "text/plain");
}

httplib::Server::Handler named(const std::string &name)
{
    return [name](const httplib::Request &request, httplib::Response &response) {
        say(response, name + (request.matches.size() > 1 ? " " + request.matches[1].str() : ""));
    };
}

template <typename Server>
void add_routes(Server &server)
{
    server.Get("/orders", named("orders"));
    server.Get("/healthz", named("fine"));
    server.Options("/orders", named("preflight"));
    server.Get("/orders/{id}", named("order")); // no handler for `GET /orders/export`, which has another scope
    server.Get("/a/{x}/c", named("wide"));
    server.Get("/a/b/{y}", named("narrow"));
    server.Get("/a.b/{x}", named("dotted")); // no handler for `GET /axb/{x}`
    server.Get("/undeclared/{x}", named("undeclared"));
    server.Get("/missing/{id}", [](const httplib::Request &, httplib::Response &response) { response.status = 404; });
    server.Get("/throws", [](const httplib::Request &, httplib::Response &) { throw std::runtime_error("a secret"); });
    server.Post("/orders", [](const httplib::Request &request, httplib::Response &response) { say(response, "made " + request.body); });
    server.Delete("/orders/{id}", named("deleted"));
    server.Post("/uploads", [](const httplib::Request &, httplib::Response &response, const httplib::ContentReader &content) {
        std::size_t size = 0;
        content([&](const char *, std::size_t more) {
            size += more;
            return size < 4000;
        });
        response.status = 200; // the server has put 400 there, if not all was read
        say(response, "uploaded");
    });
    server.Put("/ignored", [](const httplib::Request &, httplib::Response &response, const httplib::ContentReader &) {
        say(response, "ignored");
    });
}

template <typename Server>
std::thread start(Server &server)
{
    std::cout << server.bind_to_any_port("127.0.0.1") << std::endl;
    return std::thread([&server] { server.listen_after_bind(); });
}

} // namespace

int main(int count, char **arguments)
{
    CHECK(count == 4);
    const auto verifier = orbgate::Verifier::from_file(arguments[2]).value();
    orbgate::GateOptions options;
    options.public_routes = {"GET /healthz"};
    options.pass_cors_preflight = true;
    // The server keeps shares: neither temporary is missed.
    orbgate::Protected<> server(orbgate::Gate::make(verifier, orbgate::fetch_by_curl, options).value(),
                                orbgate::Engine::from_file(arguments[1]).value());
    options.public_routes.push_back("GET /{any}");
    try {
        orbgate::Protected<> overlapping(orbgate::Gate::make(verifier, orbgate::fetch_by_curl, options).value(),
                                         orbgate::Engine::from_file(arguments[1]).value());
        CHECK(false);
    } catch (const orbgate::Exception &thrown) {
        CHECK(std::string(thrown.what()).find("/{any}") != std::string::npos);
    }
    try {
        server.Get("/orders/:id", [](const httplib::Request &, httplib::Response &) {});
        CHECK(false);
    } catch (const std::logic_error &thrown) {
        CHECK(std::string(thrown.what()) == "`GET /orders/:id` isn't a template of a policy: write `{id}`, not `:id`");
    }
    add_routes(server);
    CHECK(server.set_mount_point("/files", arguments[3]) && server.set_mount_point("/hidden", arguments[3]));
    server.set_file_request_handler([](const httplib::Request &, httplib::Response &response) {
        response.set_header("Caller", std::string(orbgate::answered().subject().value_or("?")));
    });
    server.set_error_handler([](const httplib::Request &, httplib::Response &response) { say(response, "an error page"); });
    std::atomic<int> decisions = 0;
    server.set_answer_logger([&](const httplib::Request &, const orbgate::Answer &) {
        decisions++;
        throw std::runtime_error("a counter that fails");
    });
    server.set_audit([&](std::string_view line) {
        CHECK(line.find("\"decision\":") != std::string_view::npos);
        throw std::runtime_error("a full disk");
    });
    server.set_logger([](const httplib::Request &, const httplib::Response &) { throw 1; });

    const auto policy = orbgate::Engine::from_file(arguments[1]).value();
    const auto differences = server.check_routes(policy).value();
    std::vector<std::string> undeclared;
    for (const auto &difference : differences.undeclared) {
        CHECK(!difference.decided_as);
        undeclared.push_back(difference.route);
    }
    std::sort(undeclared.begin(), undeclared.end());
    // No policy needs a route for preflights.
    CHECK((undeclared == std::vector<std::string>{"GET /undeclared/{x}", "OPTIONS /orders"}));
    auto unserved = differences.unserved;
    std::sort(unserved.begin(), unserved.end());
    CHECK((unserved == std::vector<std::string>{"GET /axb/{x}", "GET /files/{name}", "GET /orders/export", "HEAD /files/{name}"}));

    const auto gate = orbgate::Gate::make(verifier, orbgate::fetch_by_curl).value();
    orbgate::Protected<Forgetful> forgetful(gate, policy);
    orbgate::Protected<Deaf> deaf(gate, policy);
    orbgate::Protected<Careless> careless(gate, policy);
    add_routes(forgetful);
    add_routes(deaf);
    add_routes(careless);
    httplib::Server plain;
    plain.Get("/orders", named("plain"));
    std::thread threads[] = {start(server), start(forgetful), start(deaf), start(careless), start(plain)};
    for (std::string line; std::getline(std::cin, line);) {
    }
    server.stop();
    forgetful.stop();
    deaf.stop();
    careless.stop();
    plain.stop();
    for (std::thread &thread : threads) {
        thread.join();
    }
    CHECK(decisions > 0);
    return 0;
}
