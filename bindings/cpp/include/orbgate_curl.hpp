// Fetches the issuers' keys for a gate, and asks about opaque tokens, with libcurl, which your program must link.
#ifndef ORBGATE_CURL_HPP
#define ORBGATE_CURL_HPP

#include <algorithm>
#include <cctype>

#include <curl/curl.h>

#include "orbgate_gate.hpp"

namespace orbgate {

namespace detail {

struct Reading {
    std::size_t max_bytes = 0;
    bool is_too_large = false;
    Response response;
};

inline bool same_name(std::string_view one, std::string_view other) noexcept
{
    const auto lower = [](char byte) { return std::tolower(static_cast<unsigned char>(byte)); };
    return std::equal(one.begin(), one.end(), other.begin(), other.end(),
                      [&](char left, char right) { return lower(left) == lower(right); });
}

inline std::size_t read_body(char *data, std::size_t, std::size_t size, void *to)
{
    auto &[max_bytes, is_too_large, response] = *static_cast<Reading *>(to);
    is_too_large = size > max_bytes - response.body.size();
    if (is_too_large) {
        return 0;
    }
    response.body.append(data, size);
    return size;
}

inline std::size_t read_header(char *data, std::size_t, std::size_t size, void *to)
{
    static constexpr std::string_view name = "cache-control:";
    const std::string_view line(data, size);
    if (same_name(line.substr(0, name.size()), name)) {
        auto &value = static_cast<Reading *>(to)->response.cache_control;
        value.append(value.empty() ? "" : ",").append(line.substr(name.size(), line.find_last_not_of("\r\n") + 1 - name.size()));
    }
    return size;
}

inline bool is_loopback(std::string_view url) noexcept
{
    url.remove_prefix(std::min(url.find("//"), url.size() - 2) + 2);
    const auto host = url.substr(0, url.find_first_of(url.front() == '[' ? "]" : ":/?#"));
    return host == "localhost" || host == "127.0.0.1" || host == "[::1";
}

} // namespace detail

// A `Fetcher`: it follows no redirects, respects the gate's limits of size and time, and fetches only from `https` URLs
// or this machine, which the gate has checked. It uses the proxy of `HTTPS_PROXY` and `NO_PROXY`, but never for this machine.
inline std::variant<Response, FetchFailure> fetch_by_curl(const Fetch &fetch)
{
    static const CURLcode ready = curl_global_init(CURL_GLOBAL_DEFAULT);
    const std::unique_ptr<CURL, decltype(&curl_easy_cleanup)> curl(curl_easy_init(), curl_easy_cleanup);
    if (ready != CURLE_OK || !curl) {
        return FetchFailure::unreachable("libcurl cannot be used");
    }
    std::unique_ptr<curl_slist, decltype(&curl_slist_free_all)> headers(nullptr, curl_slist_free_all);
    const auto add = [&headers](const std::string &line) {
        curl_slist *longer = curl_slist_append(headers.get(), line.c_str());
        if (longer != nullptr) {
            static_cast<void>(headers.release()); // it is in the longer list
            headers.reset(longer);
        }
        return longer != nullptr;
    };
    // A body is sent without waiting for the server's consent.
    bool is_complete = !fetch.body || add("Expect:");
    for (const auto &[name, value] : fetch.headers) {
        is_complete = is_complete && add(name + ": " + value);
    }
    if (fetch.body) {
        curl_easy_setopt(curl.get(), CURLOPT_POSTFIELDSIZE, static_cast<long>(fetch.body->size()));
        curl_easy_setopt(curl.get(), CURLOPT_POSTFIELDS, fetch.body->data());
    }
    curl_easy_setopt(curl.get(), CURLOPT_CUSTOMREQUEST, fetch.method.c_str());
    if (!is_complete) {
        return FetchFailure::unreachable("there is no memory");
    }
    curl_easy_setopt(curl.get(), CURLOPT_HTTPHEADER, headers.get());
    detail::Reading reading;
    reading.max_bytes = fetch.max_bytes;
    curl_easy_setopt(curl.get(), CURLOPT_URL, fetch.url.c_str());
    if (detail::is_loopback(fetch.url)) {
        curl_easy_setopt(curl.get(), CURLOPT_NOPROXY, "*");
    }
    curl_easy_setopt(curl.get(), CURLOPT_TIMEOUT_MS, static_cast<long>(fetch.timeout.count()));
    curl_easy_setopt(curl.get(), CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl.get(), CURLOPT_WRITEFUNCTION, detail::read_body);
    curl_easy_setopt(curl.get(), CURLOPT_WRITEDATA, &reading);
    curl_easy_setopt(curl.get(), CURLOPT_HEADERFUNCTION, detail::read_header);
    curl_easy_setopt(curl.get(), CURLOPT_HEADERDATA, &reading);
    char message[CURL_ERROR_SIZE] = "";
    curl_easy_setopt(curl.get(), CURLOPT_ERRORBUFFER, message);
    const CURLcode code = curl_easy_perform(curl.get());
    if (reading.is_too_large) {
        return FetchFailure::too_large("the response has more than " + std::to_string(fetch.max_bytes) + " bytes");
    }
    if (code != CURLE_OK) {
        // Its own words could quote what was sent.
        const std::string cause = fetch.body || message[0] == '\0' ? curl_easy_strerror(code) : message;
        return code == CURLE_OPERATION_TIMEDOUT ? FetchFailure::timeout(cause) : FetchFailure::unreachable(cause);
    }
    long status = 0;
    curl_easy_getinfo(curl.get(), CURLINFO_RESPONSE_CODE, &status);
    reading.response.status = static_cast<unsigned>(status);
    return std::move(reading.response);
}

} // namespace orbgate

#endif // ORBGATE_CURL_HPP
