// A gate before a server of cpp-httplib, which the program that includes this brings.
#ifndef ORBGATE_HTTPLIB_HPP
#define ORBGATE_HTTPLIB_HPP

#include <httplib.h>

#include "orbgate_gate.hpp"

namespace orbgate {

// The request as it came, with the request line's target. It refers to the texts of `request`.
inline GateRequest request_of(const httplib::Request &request)
{
    GateRequest asked;
    asked.method = request.method;
    asked.target = request.target;
    for (const auto &header : request.headers) {
        asked.header_names.push_back(header.first);
    }
    const auto [first, end] = request.headers.equal_range("Authorization");
    for (auto header = first; header != end; ++header) {
        asked.authorization.push_back(header->second);
    }
    return asked;
}

// Answers a denial: its status, at most two headers, and no body.
inline void refuse(const Answer &answer, httplib::Response &response)
{
    response.status = static_cast<int>(answer.http_status().value_or(ORBGATE_DEFAULT_HTTP_STATUS));
    if (const auto challenge = answer.www_authenticate()) {
        response.set_header("WWW-Authenticate", std::string(*challenge));
    }
    if (const auto methods = answer.allow()) {
        response.set_header("Allow", std::string(*methods));
    }
}

namespace detail {
inline thread_local Answer answered;
} // namespace detail

// In a handler behind `protect`: what the gate has answered to the call. The reference is good until the handler returns.
inline const Answer &answered() noexcept { return detail::answered; }

// Asks the gate before any route of the server: what is denied reaches no handler. `policy` is an `Engine` or a `Handle`; it and the
// gate must live as long as the server. It takes the server's pre-routing handler, and lets each connection bring one request, because a
// denial leaves its body unread.
template <typename Policy>
void protect(httplib::Server &server, const Gate &gate, const Policy &policy)
{
    server.set_keep_alive_max_count(1);
    server.set_pre_routing_handler([&gate, &policy](const httplib::Request &request, httplib::Response &response) {
        if constexpr (std::is_same_v<Policy, Engine>) {
            detail::answered = gate.ask(policy, request_of(request));
        } else {
            detail::answered = gate.ask(policy.load(), request_of(request));
        }
        if (detail::answered) {
            return httplib::Server::HandlerResponse::Unhandled;
        }
        refuse(detail::answered, response);
        return httplib::Server::HandlerResponse::Handled;
    });
}

} // namespace orbgate

#endif // ORBGATE_HTTPLIB_HPP
