// A service that a gate protects, with cpp-httplib, and libcurl for the issuers' keys:
//   gate --listen 127.0.0.1:PORT --policy FILE --tokens FILE [--ungated]
// Port 0 takes a free one; the program says on which address it listens. The service answers with what it knows of the call. It is also the gate
// program of C++, with the commands that policy/cases/gate/README.md has.
#include <orbgate_curl.hpp>
#include <orbgate_httplib.hpp>

#include <csignal>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <mutex>
#include <thread>

using orbgate::questions::to_json;

namespace {

std::mutex output;

// Writes a line, whole.
void say(const std::string &line)
{
    const std::lock_guard<std::mutex> lock(output);
    std::cout << line + "\n" << std::flush;
}

// What the service knows of an allowed call; of one without a gate no more than the request.
std::string seen(const httplib::Request &request, const orbgate::Answer &answer)
{
    const auto words = answer.words();
    const auto charge = answer.decision().charge();
    const auto kind = answer.kind();
    const auto text = [](std::optional<std::string_view> it) { return to_json(it ? std::optional<std::string>(*it) : std::nullopt); };
    return "{\"method\":" + to_json(request.method) + ",\"target\":" + to_json(request.target) +
           ",\"route\":" + text(words ? words->route : std::nullopt) + ",\"scope\":" + text(words ? words->scope : std::nullopt) +
           ",\"kind\":" +
           (kind == orbgate::TokenKind::none ? "null" : kind == orbgate::TokenKind::user ? "\"user\"" : "\"organisation\"") +
           ",\"consumes\":" + to_json(charge ? std::optional<bool>(charge->consumes) : std::nullopt) + "}";
}

void serve(const httplib::Request &request, httplib::Response &response, const orbgate::Answer &answer)
{
    const std::string body = seen(request, answer);
    say(body);
    response.status = 200;
    response.set_content(body, "application/json");
}

int failed(const std::string &path, const orbgate::Error &error)
{
    std::cerr << path << ": " << error.message << "\n";
    return 2;
}

// The counters, by their labels.
class Counters {
public:
    void count(const orbgate::Answer &answer)
    {
        // An answer that was never made has no words, and denies.
        const auto words = answer.words();
        const std::lock_guard<std::mutex> lock(mutex_);
        const auto text = [](std::optional<std::string_view> it) { return std::string(it.value_or("")); };
        decisions_[words ? text(words->decision) + " " + text(words->reason) + " " + text(words->route) : "deny  "]++;
        if (const auto refused = answer.refused()) {
            refused_[std::string(*refused)]++;
        }
        misrouted_ += answer.misrouted() ? 1 : 0;
    }

    bool count(const orbgate::Reloaded &reloaded)
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        loads_[std::string(reloaded.result)]++;
        return static_cast<bool>(reloaded);
    }

    std::string text()
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        const auto name = [](std::string_view counter) { return to_json(std::string(counter)) + ":"; };
        return "{" + name(orbgate::names::decisions_total) + to_json(decisions_) + "," + name(orbgate::names::tokens_refused_total) +
               to_json(refused_) + "," + name(orbgate::names::misrouted_total) + to_json(misrouted_) + "," +
               name(orbgate::names::policy_loads_total) + to_json(loads_) + "}";
    }

private:
    std::mutex mutex_;
    std::map<std::string, std::uint64_t> decisions_, refused_, loads_;
    std::uint64_t misrouted_ = 0;
};

// What is said on standard input.
void obey(const std::string &path, const orbgate::Gate &gate, const orbgate::Handle &policy, Counters &counters)
{
    for (std::string command; std::getline(std::cin, command);) {
        if (command == "reload") {
            say(counters.count(gate.reload(policy, path)) ? "reloaded" : "kept");
        } else if (command == "count") {
            say("counted " + counters.text());
        }
    }
}

// Registers a route by its method.
void add(orbgate::Protected<> &server, std::string_view method, const std::string &path_template, const httplib::Server::Handler &handler)
{
    using Add = orbgate::Protected<> &(orbgate::Protected<>::*)(const std::string &, httplib::Server::Handler);
    static const std::map<std::string_view, Add> calls = {
        {"GET", &orbgate::Protected<>::Get},     {"POST", &orbgate::Protected<>::Post},     {"PUT", &orbgate::Protected<>::Put},
        {"PATCH", &orbgate::Protected<>::Patch}, {"DELETE", &orbgate::Protected<>::Delete}, {"OPTIONS", &orbgate::Protected<>::Options},
    };
    if (const auto call = calls.find(method); call != calls.end()) {
        (server.*call->second)(path_template, handler);
    }
}

// Serves until the program is stopped, as any program is, and frees what it has.
template <typename Server>
int listen(Server &server, std::map<std::string, std::string> &given)
{
    const std::string &address = given["--listen"];
    const std::string host = address.substr(0, address.rfind(':'));
    const int wanted = std::stoi(address.substr(address.rfind(':') + 1));
    const int port = wanted == 0 ? server.bind_to_any_port(host.c_str()) : (server.bind_to_port(host.c_str(), wanted) ? wanted : -1);
    if (port < 0) {
        std::cerr << "cannot listen on " << address << "\n";
        return 2;
    }
    say("listening " + host + ":" + std::to_string(port));
    static Server *running = &server;
    std::signal(SIGTERM, [](int) { running->stop(); });
    server.listen_after_bind();
    return 0;
}

} // namespace

int main(int count, char **arguments)
{
    std::map<std::string, std::string> given = {{"--listen", "127.0.0.1:0"}};
    std::vector<std::string> open; // routes that need no token
    bool gated = true, debug = false, refuse_wider = false;
    for (int at = 1; at < count; at++) {
        const std::string name = arguments[at];
        if (name == "--ungated") {
            gated = false;
        } else if (name == "--debug") {
            debug = true;
        } else if (name == "--refuse-wider") {
            refuse_wider = true;
        } else if (at + 1 < count) {
            const char *value = arguments[++at];
            if (name == "--public") {
                open.emplace_back(value);
            } else {
                given[name] = value;
            }
        }
    }
    const auto engine = orbgate::Engine::from_file(given["--policy"]);
    if (!engine) {
        return failed(given["--policy"], engine.error());
    }
    const auto verifier = orbgate::Verifier::from_file(given["--tokens"]);
    if (!verifier) {
        return failed(given["--tokens"], verifier.error());
    }
    orbgate::GateOptions options;
    options.proofs = true;
    options.public_routes = open;
    options.challenge = given["--challenge"] == "full" ? ORBGATE_CHALLENGE_FULL : ORBGATE_CHALLENGE_MINIMAL;
    options.refuse_wider = refuse_wider;
    if (debug) {
        options.debug = [](std::string_view line) { std::cerr << "denied: " + std::string(line) + "\n"; };
    }
    options.log = [](orbgate::LogLevel level, std::string_view line) {
        static const char *const names[] = {"info: ", "warning: ", "error: "};
        std::cerr << names[static_cast<int>(level)] + std::string(line) + "\n";
    };
    const auto made = orbgate::Gate::make(*verifier, orbgate::fetch_by_curl, options);
    if (!made) {
        return failed(given["--tokens"], made.error());
    }
    const orbgate::Gate &gate = *made;
    if (const auto overlap = gate.check(*engine)) {
        return failed(given["--policy"], *overlap);
    }
    const auto policy = orbgate::Handle::holding(*engine).value();
    // Lives as long as the thread that reads commands, which nothing ends.
    static Counters counters;
    std::optional<orbgate::Watch> watch;
    if (!given["--watch"].empty()) {
        orbgate::WatchOptions every;
        every.interval = std::chrono::milliseconds(std::stoi(given["--watch"]));
        every.report = [](const orbgate::Reloaded &reloaded) { counters.count(reloaded); };
        watch.emplace(gate.watch(policy, given["--policy"], every));
    }
    std::thread([path = given["--policy"], shared_gate = gate.share(), shared = policy.share()] { obey(path, shared_gate, shared, counters); }).detach();
    if (!gated) {
        httplib::Server server;
        server.set_pre_routing_handler([](const httplib::Request &request, httplib::Response &response) {
            serve(request, response, orbgate::Answer());
            return httplib::Server::HandlerResponse::Handled;
        });
        return listen(server, given);
    }
    orbgate::Protected<> server(gate, policy);
    server.set_audit([](std::string_view line) { say("audited " + std::string(line)); });
    server.set_answer_logger([](const httplib::Request &, const orbgate::Answer &answer) { counters.count(answer); });
    const auto handler = [](const httplib::Request &request, httplib::Response &response) { serve(request, response, orbgate::answered()); };
    for (const auto &route : engine->routes()) {
        add(server, route.method, std::string(route.path_template), handler);
    }
    for (const std::string &route : open) {
        add(server, route.substr(0, route.find(' ')), route.substr(route.find(' ') + 1), handler);
    }
    // A later policy can have routes that this service has not. The same handler serves them.
    server.set_error_handler([handler](const httplib::Request &request, httplib::Response &response) {
        if (response.status == 404) {
            handler(request, response);
        }
    });
    return listen(server, given);
}
