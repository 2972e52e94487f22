// A cpp-httplib server behind a gate. Your program must provide cpp-httplib.
#ifndef ORBGATE_HTTPLIB_HPP
#define ORBGATE_HTTPLIB_HPP

#include <httplib.h>

#include <atomic>
#include <cctype>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <stdexcept>

#include "orbgate_connection.hpp"
#include "orbgate_gate.hpp"

namespace orbgate {

// The request as received, with the target of the request line. It refers to the strings of
// `request`.
inline GateRequest request_of(const httplib::Request &request)
{
    GateRequest question;
    question.method = request.method;
    question.target = request.target;
    for (const auto &header : request.headers) {
        question.header_names.push_back(header.first);
    }
    const auto values = [&request](const char *name) {
        std::vector<std::string_view> values;
        const auto [first, end] = request.headers.equal_range(name);
        for (auto header = first; header != end; ++header) {
            values.push_back(header->second);
        }
        return values;
    };
    question.authorization = values("Authorization");
    question.dpop = values("DPoP");
    question.upgrade = values("Upgrade");
    question.origin = values("Origin");
    question.access_control_request_method = values("Access-Control-Request-Method");
    return question;
}

// Answers with a denial: its status, `no-store` because caches can keep a 404 or a 405, at most two other headers, and no body.
inline void refuse(const Answer &answer, httplib::Response &response)
{
    response.status = static_cast<int>(answer.http_status().value_or(ORBGATE_DEFAULT_HTTP_STATUS));
    response.set_header("Cache-Control", "no-store");
    if (const auto challenge = answer.www_authenticate()) {
        response.set_header("WWW-Authenticate", std::string(*challenge));
    }
    if (const auto methods = answer.allow()) {
        response.set_header("Allow", std::string(*methods));
    }
}

namespace detail {

// State of this thread's request, from the decision until the response is written.
struct Call {
    Answer answer;
    const void *server = nullptr; // that asked; none if no gate has decided this request
    const void *route = nullptr;  // whose handler may run
    bool has_unread_body = false;
};
inline thread_local Call call;

// The answer to the request whose handler runs in this thread.
inline thread_local const Answer *running = nullptr;

struct Running {
    explicit Running(const Answer &answer) noexcept { running = &answer; }
    Running(const Running &) = delete;
    Running &operator=(const Running &) = delete;
    ~Running() { running = nullptr; }
};

// Iterates over the segments of a path or template.
inline bool next_segment(std::string_view &rest, std::string_view &segment) noexcept
{
    if (rest.empty() || rest.front() != '/') {
        return false;
    }
    const std::size_t end = std::min(rest.find('/', 1), rest.size());
    segment = rest.substr(1, end - 1);
    rest.remove_prefix(end);
    return true;
}

inline bool is_parameter(std::string_view segment) noexcept
{
    return segment.size() > 2 && segment.front() == '{' && segment.back() == '}';
}

// A template with `parameter` for each parameter, and its literals formatted by `literal`.
template <typename Literal>
std::string filled(std::string_view path_template, std::string_view parameter, const Literal &literal)
{
    std::string out;
    for (std::string_view segment; next_segment(path_template, segment);) {
        out.append("/").append(is_parameter(segment) ? std::string(parameter) : literal(segment));
    }
    return out;
}

// A template without the names of its parameters. Of templates that match the same path, the most specific
// sorts first.
inline std::string shape(std::string_view path_template)
{
    return filled(path_template, "\x7f", [](std::string_view literal) { return std::string(literal); });
}

// The cpp-httplib pattern that matches the same paths.
inline std::string pattern(std::string_view path_template)
{
    return filled(path_template, "([^/]+)", [](std::string_view literal) {
        std::string out;
        for (const char byte : literal) {
            const bool is_word = std::isalnum(static_cast<unsigned char>(byte)) != 0 || byte == '_';
            out.append(is_word ? "" : "\\").push_back(byte);
        }
        return out;
    });
}

inline bool fits(std::string_view path_template, std::string_view path) noexcept
{
    for (std::string_view literal, segment; next_segment(path_template, literal);) {
        if (!next_segment(path, segment) || (is_parameter(literal) ? segment.empty() : segment != literal)) {
            return false;
        }
    }
    return path.empty();
}

// Whether the server reads request bodies with this method.
inline bool has_content(std::string_view method) noexcept
{
    return method == "POST" || method == "PUT" || method == "PATCH" || method == "DELETE";
}

enum class Body { none, read, unclear };

// Whether the server reads the whole body of an allowed request. A body that stays on the connection would be parsed as
// the next request.
inline Body body_of(const httplib::Request &request)
{
    const std::size_t lengths = request.get_header_value_count("Content-Length");
    const std::size_t codings = request.get_header_value_count("Transfer-Encoding");
    const std::string length = request.get_header_value("Content-Length"), coding = request.get_header_value("Transfer-Encoding");
    if (codings == 0 && (lengths == 0 || (lengths == 1 && length == "0"))) {
        return Body::none;
    }
    // Proxies and servers count with 63 bits or more. `from_chars` alone would take a minus.
    std::int64_t size = 0;
    const char *const end = length.data() + length.size();
    const auto [rest, error] = std::from_chars(length.data(), end, size);
    const bool is_number = error == std::errc() && rest == end && length.front() != '-';
    // A proxy of HTTP/1.0 knows no coding (RFC 9112 §6.1).
    const bool is_clear = lengths + codings == 1 && (codings == 1 ? coding == "chunked" && request.version != "HTTP/1.0" : is_number);
    const bool is_read = has_content(request.method) && (request.method != "DELETE" || lengths == 1);
    return is_clear && is_read ? Body::read : Body::unclear;
}

// Whether the client asks to close the connection, for example with `Connection: close, Upgrade`. cpp-httplib 0.11
// itself only recognises `close`.
inline bool ends_connection(const httplib::Request &request)
{
    const auto [first, end] = request.headers.equal_range("Connection");
    return std::any_of(first, end, [](const auto &header) { return lists(header.second, "close"); });
}

// Calls an observer of the service. No response depends on it: its first exception is reported.
template <typename F>
void observe(std::atomic<bool> &is_reported, const char *name, const F &observer) noexcept
{
    const auto report = [&](const char *what) {
        if (!is_reported.exchange(true)) {
            std::fprintf(stderr, "orbgate: %s failed: %s\n", name, what);
        }
    };
    try {
        observer();
    } catch (const std::exception &thrown) {
        report(thrown.what());
    } catch (...) {
        report("it threw something else than an exception");
    }
}

// A response with this status and no body.
inline void empty(httplib::Response &response, int status)
{
    response.status = status;
    response.body.clear();
    response.content_length_ = 0;
    response.content_provider_ = nullptr;
    response.is_chunked_content_provider_ = false;
    for (const char *name : {"Content-Type", "Content-Length", "Content-Encoding", "Transfer-Encoding"}) {
        response.headers.erase(name);
    }
}

// Closes the connection after this response. The server has no function for that, but closes connections whose content
// fails.
inline void close_after(httplib::Response &response)
{
    if (response.content_provider_) {
        empty(response, 400); // a handler that left a body unread, and whose own content may be endless
    }
    if (!response.has_header("Content-Length")) {
        response.set_header("Content-Length", std::to_string(response.body.size()));
    }
    const auto body = std::make_shared<std::string>(std::move(response.body));
    response.body.clear();
    response.content_provider_ = [body](std::size_t, std::size_t, httplib::DataSink &sink) {
        sink.write(body->data(), body->size());
        return false;
    };
    response.headers.erase("Keep-Alive");
    response.headers.erase("Connection");
    response.set_header("Connection", "close");
}

} // namespace detail

// In a handler of a `Protected` server: the gate's answer to the request. The reference is valid until the handler
// returns. Elsewhere it throws, so that a handler without a gate responds with a 500.
inline const Answer &answered()
{
    if (detail::running == nullptr) {
        throw std::logic_error("no gate has decided this request");
    }
    return *detail::running;
}

// A cpp-httplib server that asks the gate first: denied requests reach no handler and no file, and each handler runs
// only for requests that the policy allows under the handler's own template. It has the functions of its base class,
// such as `Get` and `listen`, except those that would bypass the gate. Routes are templates as in a policy: for
// `/orders/{id}`, the value is `request.matches[1]`.
template <typename Base = httplib::Server>
class Protected : private Base {
public:
    using Request = httplib::Request;
    using Response = httplib::Response;
    using Handler = httplib::Server::Handler;
    using HandlerWithContentReader = httplib::Server::HandlerWithContentReader;
    using ExceptionHandler = httplib::Server::ExceptionHandler;

    // Passes further arguments to the base class, for example the certificate of an `SSLServer`. It shares ownership of
    // gate and policy. It throws an Exception if a path matches both a public route of the gate and a route of the
    // policy.
    template <typename... Arguments>
    Protected(const Gate &gate, const Engine &policy, Arguments &&...arguments)
        : Protected(std::in_place, gate, policy.share(), std::forward<Arguments>(arguments)...)
    {
    }
    // The same with a policy that can be replaced while the server runs.
    template <typename... Arguments>
    Protected(const Gate &gate, const Handle &policy, Arguments &&...arguments)
        : Protected(std::in_place, gate, policy.share(), std::forward<Arguments>(arguments)...)
    {
    }

    // Routes. Their order doesn't matter: the most specific matching template is chosen, as in the policy. `Get` also
    // serves `HEAD`, if the policy declares it.
    Protected &Get(const std::string &path_template, Handler handler) { return add("GET", path_template, std::move(handler)); }
    Protected &Post(const std::string &path_template, Handler handler) { return add("POST", path_template, std::move(handler)); }
    Protected &Put(const std::string &path_template, Handler handler) { return add("PUT", path_template, std::move(handler)); }
    Protected &Patch(const std::string &path_template, Handler handler) { return add("PATCH", path_template, std::move(handler)); }
    Protected &Delete(const std::string &path_template, Handler handler) { return add("DELETE", path_template, std::move(handler)); }
    Protected &Options(const std::string &path_template, Handler handler) { return add("OPTIONS", path_template, std::move(handler)); }
    // Handlers that read the body themselves take precedence over others.
    Protected &Post(const std::string &path_template, HandlerWithContentReader handler)
    {
        return add("POST", path_template, std::move(handler));
    }
    Protected &Put(const std::string &path_template, HandlerWithContentReader handler)
    {
        return add("PUT", path_template, std::move(handler));
    }
    Protected &Patch(const std::string &path_template, HandlerWithContentReader handler)
    {
        return add("PATCH", path_template, std::move(handler));
    }
    Protected &Delete(const std::string &path_template, HandlerWithContentReader handler)
    {
        return add("DELETE", path_template, std::move(handler));
    }

    // Compares the routes with those of a policy; for startup and tests. Routes of files count as unserved.
    [[nodiscard]] Result<RouteDifferences> check_routes(const Engine &policy) const
    {
        std::vector<ServiceRoute> served;
        for (const Route &route : routes_) {
            served.push_back({route.method, route.path_template});
        }
        // `HEAD` is served by the handler of `GET`, for a policy that declares it.
        for (const auto &declared : policy.routes()) {
            const auto serves = [&](const Route &route) {
                return route.method == "GET" && detail::shape(route.path_template) == detail::shape(declared.path_template);
            };
            if (declared.method == "HEAD" && std::any_of(routes_.begin(), routes_.end(), serves)) {
                served.push_back({"HEAD", std::string(declared.path_template)});
            }
        }
        return gate_.check_routes(policy, served);
    }

    // Files, for requests that the policy allows. The policy needs a route for them, such as
    // `GET /static/{file}`.
    bool set_mount_point(const std::string &mount_point, const std::string &folder, httplib::Headers headers = {})
    {
        return Base::set_mount_point(mount_point, folder, std::move(headers));
    }
    bool remove_mount_point(const std::string &mount_point) { return Base::remove_mount_point(mount_point); }
    Protected &set_file_extension_and_mimetype_mapping(const std::string &extension, const std::string &type)
    {
        Base::set_file_extension_and_mimetype_mapping(extension, type);
        return *this;
    }
    Protected &set_file_request_handler(Handler handler)
    {
        Base::set_file_request_handler([this, handler = std::move(handler)](const Request &request, Response &response) {
            const detail::Running running(allowed());
            handler(request, response);
        });
        return *this;
    }

    // These handlers run only for requests that the gate has allowed: a denial has no body.
    Protected &set_error_handler(Handler handler)
    {
        on_error_ = std::move(handler);
        return *this;
    }
    Protected &set_exception_handler(ExceptionHandler handler)
    {
        on_exception_ = std::move(handler);
        return *this;
    }

    // Receives every answer of the gate, for counters. Exceptions of a logger or the audit change no response: the
    // first is written to standard error.
    Protected &set_answer_logger(std::function<void(const Request &, const Answer &)> logger)
    {
        answer_logger_ = std::move(logger);
        return *this;
    }
    // Receives a line of JSON for each decision. Requests wait for it.
    Protected &set_audit(std::function<void(std::string_view)> audit)
    {
        audit_ = std::move(audit);
        return *this;
    }
    // Receives every request and response, including requests without a decision, such as one with an invalid request
    // line.
    Protected &set_logger(httplib::Logger logger)
    {
        // An exception would terminate the program.
        Base::set_logger([this, logger = std::move(logger)](const Request &request, const Response &response) {
            detail::observe(is_logger_reported_, "the logger of requests", [&] { logger(request, response); });
        });
        return *this;
    }

    Protected &set_default_headers(httplib::Headers headers)
    {
        Base::set_default_headers(std::move(headers));
        return *this;
    }
    Protected &set_address_family(int family)
    {
        Base::set_address_family(family);
        return *this;
    }
    Protected &set_tcp_nodelay(bool on)
    {
        Base::set_tcp_nodelay(on);
        return *this;
    }
    Protected &set_socket_options(httplib::SocketOptions options)
    {
        Base::set_socket_options(std::move(options));
        return *this;
    }
    Protected &set_keep_alive_max_count(std::size_t count)
    {
        Base::set_keep_alive_max_count(count);
        return *this;
    }
    Protected &set_keep_alive_timeout(std::time_t seconds)
    {
        Base::set_keep_alive_timeout(seconds);
        return *this;
    }
    template <typename... Time>
    Protected &set_read_timeout(const Time &...time)
    {
        Base::set_read_timeout(time...);
        return *this;
    }
    template <typename... Time>
    Protected &set_write_timeout(const Time &...time)
    {
        Base::set_write_timeout(time...);
        return *this;
    }
    template <typename... Time>
    Protected &set_idle_interval(const Time &...time)
    {
        Base::set_idle_interval(time...);
        return *this;
    }
    Protected &set_payload_max_length(std::size_t length)
    {
        Base::set_payload_max_length(length);
        return *this;
    }

    using Base::bind_to_any_port;
    using Base::bind_to_port;
    using Base::is_running;
    using Base::is_valid;
    using Base::new_task_queue;
    using Base::stop;
    // Register every route before calling this.
    bool listen(const std::string &host, int port, int socket_flags = 0)
    {
        register_routes();
        return Base::listen(host, port, socket_flags);
    }
    bool listen_after_bind()
    {
        register_routes();
        return Base::listen_after_bind();
    }

private:
    struct Route {
        std::string method, path_template;
        std::variant<Handler, HandlerWithContentReader> handler;

        [[nodiscard]] bool reads_body() const noexcept { return handler.index() == 1; }
    };

    template <typename Policy, typename... Arguments>
    Protected(std::in_place_t, const Gate &gate, Policy policy, Arguments &&...arguments)
        : Base(std::forward<Arguments>(arguments)...), gate_(gate.share()), policy_(std::move(policy))
    {
        if (auto overlap = std::visit([this](const auto &policy) { return gate_.check(engine_of(policy)); }, policy_)) {
            throw Exception(std::move(*overlap));
        }
        using Handled = httplib::Server::HandlerResponse;
        Base::set_pre_routing_handler([this](const Request &request, Response &response) {
            return admits(request, response) ? Handled::Unhandled : Handled::Handled;
        });
        Base::set_error_handler([this](const Request &request, Response &response) {
            if (on_error_ && is_allowed()) {
                run(response, [&] { on_error_(request, response); });
            }
        });
        Base::set_exception_handler([this](const Request &request, Response &response, std::exception_ptr thrown) {
            detail::empty(response, 500);
            if (on_exception_ && is_allowed()) {
                run(response, [&] { on_exception_(request, response, std::move(thrown)); });
            }
        });
        // The last function that is called before a response is written. The state of the request ends here.
        Base::set_post_routing_handler([](const Request &request, Response &response) {
            const detail::Call call = std::exchange(detail::call, detail::Call());
            const bool is_last = detail::ends_connection(request) && !response.content_provider_;
            if (call.server == nullptr && response.status >= 400 && !response.has_header("Cache-Control")) {
                response.set_header("Cache-Control", "no-store"); // refused by the server itself, without the gate
            }
            if (call.server == nullptr || call.has_unread_body || is_last) {
                detail::close_after(response);
            }
        });
    }

    // Serves the requests of a connection, as the base class does, but each only once its whole head is clear.
    bool process_and_close_socket(socket_t socket) override
    {
        limit(socket, SO_RCVTIMEO, this->read_timeout_sec_, this->read_timeout_usec_);
        limit(socket, SO_SNDTIMEO, this->write_timeout_sec_, this->write_timeout_usec_);
        bool is_served = false;
#ifdef CPPHTTPLIB_OPENSSL_SUPPORT
        if constexpr (std::is_base_of_v<httplib::SSLServer, Base>) {
            detail::TlsSocket tls(this->ssl_context(), socket);
            is_served = tls.accept() && serve(tls, [&tls](Request &request) { request.ssl = tls.ssl(); });
            if (is_served) {
                tls.end();
            }
        } else
#endif
        {
            detail::PlainSocket plain(socket);
            is_served = serve(plain, [](Request &) {});
        }
#ifdef _WIN32
        ::shutdown(socket, SD_BOTH);
        ::closesocket(socket);
#else
        ::shutdown(socket, SHUT_RDWR);
        ::close(socket);
#endif
        return is_served;
    }

    template <typename Socket, typename F>
    bool serve(Socket &socket, const F &note_tls)
    {
        detail::Connection<Socket> connection(socket, this->write_timeout_sec_);
        // The server calls this once it has read what `Head` shows it, before it looks at `Expect`.
        const std::function<void(Request &)> set_up = [&](Request &request) {
            connection.head().fill(request);
            note_tls(request);
        };
        bool is_served = false, is_closed = false;
        for (std::size_t left = this->keep_alive_max_count_; left > 0 && !is_closed && this->svr_sock_ != INVALID_SOCKET; --left) {
            if (!connection.next(this->keep_alive_timeout_sec_)) {
                break;
            }
            is_served = this->process_request(connection, left == 1, is_closed, set_up);
            is_closed = is_closed || !is_served || connection.is_broken();
        }
        return is_served;
    }

    static void limit(socket_t socket, int option, std::time_t seconds, std::time_t microseconds)
    {
#ifdef _WIN32
        const auto time = static_cast<DWORD>(seconds * 1000 + microseconds / 1000);
#else
        timeval time{};
        time.tv_sec = seconds;
        time.tv_usec = static_cast<decltype(time.tv_usec)>(microseconds);
#endif
        ::setsockopt(socket, SOL_SOCKET, option, reinterpret_cast<const char *>(&time), sizeof time);
    }

    static Engine engine_of(const Engine &policy) { return policy.share(); }
    static Engine engine_of(const Handle &policy) { return policy.load(); }

    template <typename H>
    Protected &add(std::string method, const std::string &path_template, H handler)
    {
        if (is_ready_) {
            throw std::logic_error("`" + method + " " + path_template + "` comes after `listen`");
        }
        if (path_template.find("/:") != std::string::npos) { // cpp-httplib's own syntax, which no request would match
            throw std::logic_error("`" + method + " " + path_template + "` isn't a template of a policy: write `{id}`, not `:id`");
        }
        routes_.push_back({std::move(method), path_template, std::move(handler)});
        return *this;
    }

    // The server chooses the first matching route, and tries routes that read bodies before all
    // others.
    void register_routes()
    {
        if (std::exchange(is_ready_, true)) {
            return;
        }
        const auto rank = [](const Route &route) { return std::pair(!route.reads_body(), detail::shape(route.path_template)); };
        std::stable_sort(routes_.begin(), routes_.end(),
                         [&](const Route &one, const Route &other) { return rank(one) < rank(other); });
        for (Route &route : routes_) {
            std::visit([&](auto &handler) { register_at(route, guarded(route, handler)); }, route.handler);
        }
    }

    template <typename H>
    void register_at(const Route &route, H handler)
    {
        const std::string pattern = detail::pattern(route.path_template);
        if (route.method == "POST") {
            Base::Post(pattern, std::move(handler));
        } else if (route.method == "PUT") {
            Base::Put(pattern, std::move(handler));
        } else if (route.method == "PATCH") {
            Base::Patch(pattern, std::move(handler));
        } else if (route.method == "DELETE") {
            Base::Delete(pattern, std::move(handler));
        } else if constexpr (std::is_same_v<H, Handler>) {
            route.method == "GET" ? Base::Get(pattern, std::move(handler)) : Base::Options(pattern, std::move(handler));
        }
    }

    Handler guarded(const Route &route, const Handler &handler)
    {
        return [this, &route, &handler](const Request &request, Response &response) {
            const detail::Running running(allowed(&route));
            detail::call.has_unread_body = false; // the server has read it
            handler(request, response);
        };
    }

    HandlerWithContentReader guarded(const Route &route, const HandlerWithContentReader &handler)
    {
        return [this, &route, &handler](const Request &request, Response &response, const httplib::ContentReader &content) {
            const detail::Running running(allowed(&route));
            const auto note = [](bool is_whole) {
                detail::call.has_unread_body = !is_whole;
                return is_whole;
            };
            const httplib::ContentReader noting(
                [&](httplib::ContentReceiver receiver) { return note(content(std::move(receiver))); },
                [&](auto header, httplib::ContentReceiver receiver) { return note(content(std::move(header), std::move(receiver))); });
            handler(request, response, noting);
        };
    }

    // The route whose handler the server will call.
    [[nodiscard]] const Route *route_of(const Request &request) const
    {
        const std::string_view method = request.method == "HEAD" ? "GET" : std::string_view(request.method);
        const auto route = std::find_if(routes_.begin(), routes_.end(), [&](const Route &route) {
            return route.method == method && detail::fits(route.path_template, request.path);
        });
        return route == routes_.end() ? nullptr : &*route;
    }

    // Asks the gate; false if the response is complete.
    bool admits(const Request &request, Response &response)
    {
        detail::call = detail::Call();
        auto &own = const_cast<Request &>(request); // an object of the server, which is not const there
        const detail::Body body = detail::body_of(request);
        detail::call.has_unread_body = body != detail::Body::none;
        if (detail::call.has_unread_body && request.method == "HEAD") {
            // A response to `HEAD` has no content whose failure would close the connection.
            own.method = "GET";
            detail::call.server = this;
            response.status = 400;
            return false;
        }
        if (body == detail::Body::none && detail::has_content(request.method) && !request.has_header("Content-Length")) {
            // Without it, the server would wait for a body until the connection closes. There is none (RFC 9112
            // §6.3).
            own.headers.emplace("Content-Length", "0");
        }
        const Route *route = route_of(request);
        GateRequest question = request_of(request);
        question.audit = static_cast<bool>(audit_);
        if (route != nullptr) {
            question.matched = route->path_template;
        }
        detail::call.answer = std::visit([&](const auto &policy) { return gate_.ask(policy, question); }, policy_);
        detail::call.server = this;
        detail::call.route = route;
        const Answer &answer = detail::call.answer;
        if (const auto line = answer.audit()) {
            detail::observe(is_audit_reported_, "the audit", [&] { audit_(*line); });
        }
        if (answer_logger_) {
            detail::observe(is_answer_logger_reported_, "the logger of answers", [&] { answer_logger_(request, answer); });
        }
        if (!answer) {
            refuse(answer, response);
            return false;
        }
        if (body == detail::Body::unclear) {
            response.status = 400;
            return false;
        }
        return true;
    }

    [[nodiscard]] bool is_allowed() const noexcept { return detail::call.server == this && detail::call.answer.is_allow(); }

    // The answer to this thread's request. It throws if the request is not allowed, or only for another route than this
    // one.
    const Answer &allowed() const
    {
        if (!is_allowed()) {
            throw std::logic_error("no gate has decided this request");
        }
        return detail::call.answer;
    }
    const Answer &allowed(const Route *route) const
    {
        if (detail::call.route != route) {
            throw std::logic_error("the gate has decided this request for another route");
        }
        return allowed();
    }

    // Runs a handler that the server calls where exceptions are not permitted.
    template <typename F>
    void run(Response &response, const F &handler) const
    {
        const detail::Running running(detail::call.answer);
        try {
            handler();
        } catch (...) {
            detail::empty(response, 500);
        }
    }

    Gate gate_;
    std::variant<Engine, Handle> policy_;
    std::vector<Route> routes_;
    bool is_ready_ = false;
    Handler on_error_;
    ExceptionHandler on_exception_;
    std::function<void(const Request &, const Answer &)> answer_logger_;
    std::function<void(std::string_view)> audit_;
    std::atomic<bool> is_audit_reported_ = false, is_answer_logger_reported_ = false, is_logger_reported_ = false;
};

} // namespace orbgate

#endif // ORBGATE_HTTPLIB_HPP
