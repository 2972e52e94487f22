// A connection of a cpp-httplib server. It reads each head itself, so that a proxy in front of the server finds the same requests, and
// the gate decides with the values that were received: the server skips header lines that it can't read, decodes `%20` in values, and
// answers `Range` and `Expect` before any decision.
#ifndef ORBGATE_CONNECTION_HPP
#define ORBGATE_CONNECTION_HPP

#include <httplib.h>

#ifndef _WIN32
#include <poll.h>
#endif

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <ctime>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace orbgate::detail {

// The framing of a body in chunks (RFC 9112 §7.1). Trailers are refused, as by the server.
class Chunks {
public:
    // False if this byte can't be the next one.
    bool take(char next) noexcept
    {
        const auto byte = static_cast<unsigned char>(next);
        switch (state_) {
        case State::size:
            if (std::isxdigit(byte) != 0) {
                left_ = left_ * 16 + static_cast<std::size_t>(byte <= '9' ? byte - '0' : (byte | 0x20) - 'a' + 10);
                return ++digits_ < 16;
            }
            state_ = byte == ';' ? State::extension : State::size_end;
            return digits_ > 0 && (byte == ';' || byte == '\r');
        case State::extension:
            state_ = byte == '\r' ? State::size_end : State::extension;
            return byte == '\r' || byte == '\t' || (byte >= ' ' && byte != 0x7f);
        case State::size_end:
            is_last_ = left_ == 0;
            state_ = is_last_ ? State::data_end : State::data;
            return byte == '\n';
        case State::data:
            state_ = --left_ == 0 ? State::data_end : State::data;
            return true;
        case State::data_end:
            state_ = State::line_end;
            return byte == '\r';
        case State::line_end:
            digits_ = 0;
            state_ = is_last_ ? State::done : State::size;
            return byte == '\n';
        case State::done:
            break;
        }
        return false;
    }

private:
    enum class State { size, extension, size_end, data, data_end, line_end, done };

    State state_ = State::size;
    std::size_t left_ = 0;
    int digits_ = 0;
    bool is_last_ = false;
};

// Whether a name is a token (RFC 9110 §5.6.2).
inline bool is_token(std::string_view name) noexcept
{
    return !name.empty() && std::all_of(name.begin(), name.end(), [](char byte) {
        const auto is_word = std::isalnum(static_cast<unsigned char>(byte)) != 0;
        return is_word || (byte != '\0' && std::string_view("!#$%&'*+-.^_`|~").find(byte) != std::string_view::npos);
    });
}

inline bool is_name(std::string_view name, std::string_view expected) noexcept
{
    const auto same = [](char one, char other) { return std::tolower(static_cast<unsigned char>(one)) == other; };
    return name.size() == expected.size() && std::equal(name.begin(), name.end(), expected.begin(), same);
}

// A line without its CR and LF has no other control characters.
inline bool is_text(std::string_view line) noexcept
{
    return std::none_of(line.begin(), line.end(), [](char next) {
        const auto byte = static_cast<unsigned char>(next);
        return (byte < ' ' && byte != '\t') || byte == 0x7f;
    });
}

// Without spaces and tabs at its ends.
inline std::string_view trimmed(std::string_view text) noexcept
{
    const std::size_t first = std::min(text.find_first_not_of(" \t"), text.size());
    return text.substr(first, text.find_last_not_of(" \t") + 1 - first);
}

// Whether a list in a header has this option, in any case.
inline bool lists(std::string_view values, std::string_view option) noexcept
{
    for (std::size_t at = 0; at <= values.size();) {
        const std::size_t comma = std::min(values.find(',', at), values.size());
        if (is_name(trimmed(values.substr(at, comma - at)), option)) {
            return true;
        }
        at = comma + 1;
    }
    return false;
}

// The request line and the header lines as received, values without spaces and tabs at their ends.
struct Head {
    std::string method, target, version;
    std::vector<std::pair<std::string, std::string>> fields;

    // False if this isn't `METHOD TARGET HTTP/1.1` with exactly these spaces (RFC 9112 §3).
    bool take_request_line(std::string_view line)
    {
        const std::size_t first = line.find(' '), last = line.rfind(' ');
        if (first == last) {
            return false;
        }
        method = line.substr(0, first);
        target = line.substr(first + 1, last - first - 1);
        version = line.substr(last + 1);
        const bool is_one_word = !target.empty() && target.find_first_of(" \t") == std::string::npos;
        return is_token(method) && is_one_word && (version == "HTTP/1.1" || version == "HTTP/1.0");
    }

    // False if a proxy might read this line in another way.
    bool take_field(std::string_view line)
    {
        const std::size_t colon = line.find(':');
        if (colon == std::string_view::npos || !is_token(line.substr(0, colon))) {
            return false;
        }
        fields.emplace_back(line.substr(0, colon), trimmed(line.substr(colon + 1)));
        const auto &[name, value] = fields.back();
        const bool is_framing = is_name(name, "transfer-encoding") || is_name(name, "content-length");
        return !is_framing || (!value.empty() && value.find('%') == std::string::npos);
    }

    // Whether a line with this name has this option.
    [[nodiscard]] bool has(std::string_view name, std::string_view option) const noexcept
    {
        return std::any_of(fields.begin(), fields.end(),
                           [&](const auto &field) { return is_name(field.first, name) && lists(field.second, option); });
    }

    // What the server reads instead: all that it needs before it takes the rest from `fill`.
    [[nodiscard]] std::string shown() const
    {
        std::string connection;
        if (has("connection", "close")) {
            connection = "Connection: close\r\n";
        } else if (has("connection", "keep-alive")) {
            connection = "Connection: Keep-Alive\r\n"; // for HTTP/1.0
        }
        return method + " " + target + " " + version + "\r\n" + connection + "\r\n";
    }

    // Puts what was received into the server's request. `Expect` is answered by the connection.
    void fill(httplib::Request &request) const
    {
        request.target = target;
        request.headers.erase("Connection");
        const std::string *range = nullptr;
        std::size_t ranges = 0;
        for (const auto &[name, value] : fields) {
            if (!is_name(name, "expect")) {
                request.headers.emplace(name, value);
            }
            if (is_name(name, "range")) {
                range = &value;
                ranges++;
            }
        }
        // A server may ignore any range (RFC 9110 §14.2).
        const bool is_read = ranges == 1 && method == "GET" && range->size() <= 256;
        if (!is_read || !httplib::detail::parse_range_header(*range, request.ranges)) {
            request.ranges.clear();
        }
    }
};

// The socket of a connection, or TLS over it. `Socket` reads and writes bytes.
template <typename Socket>
class Connection final : public httplib::Stream {
public:
    Connection(Socket &socket, std::time_t write_seconds) noexcept : socket_(socket), write_seconds_(write_seconds) {}

    // Waits for the next request, and reads its head.
    bool next(std::time_t seconds)
    {
        drop_read();
        if (is_broken_ || (bytes_.empty() && (!socket_.is_readable(seconds) || !receive()))) {
            return false;
        }
        head_ = Head();
        chunks_ = Chunks();
        is_broken_ = !read_head();
        // Not even a request line: the server answers with a 400.
        shown_ = is_broken_ ? "\r\n" : head_.shown();
        shown_at_ = 0;
        chunked_ = std::any_of(head_.fields.begin(), head_.fields.end(),
                               [](const auto &field) { return is_name(field.first, "transfer-encoding"); });
        awaits_continue_ = head_.version == "HTTP/1.1" && head_.has("expect", "100-continue");
        return true;
    }

    // The head of the request that the server reads now.
    [[nodiscard]] const Head &head() const noexcept { return head_; }
    // Whether the bytes that follow might not be a request.
    [[nodiscard]] bool is_broken() const noexcept { return is_broken_; }

    bool is_readable() const override { return shown_at_ < shown_.size() || at_ < bytes_.size() || socket_.is_readable(0); }
    bool is_writable() const override { return socket_.is_writable(write_seconds_); }
    ssize_t read(char *to, std::size_t size) override
    {
        if (shown_at_ < shown_.size()) {
            const std::size_t count = shown_.copy(to, size, shown_at_);
            shown_at_ += count;
            return static_cast<ssize_t>(count);
        }
        if (is_broken_) {
            return -1;
        }
        if (at_ == bytes_.size()) {
            drop_read();
            if (!asks_for_body() || !receive()) {
                return 0;
            }
        }
        const std::size_t count = std::min(size, bytes_.size() - at_);
        for (std::size_t at = at_; chunked_ && at < at_ + count; ++at) {
            if (!chunks_.take(bytes_[at])) {
                is_broken_ = true;
                return -1;
            }
        }
        bytes_.copy(to, count, at_);
        at_ += count;
        return static_cast<ssize_t>(count);
    }
    ssize_t write(const char *from, std::size_t size) override { return socket_.write(from, size); }
    void get_remote_ip_and_port(std::string &ip, int &port) const override { address(::getpeername, ip, port); }
    void get_local_ip_and_port(std::string &ip, int &port) const override { address(::getsockname, ip, port); }
    socket_t socket() const override { return socket_.socket(); }

private:
    // Proxies and servers take 8 to 64 KiB.
    static constexpr std::size_t max_head = 65'536;

    void drop_read()
    {
        bytes_.erase(0, at_);
        at_ = 0;
    }

    bool receive()
    {
        char more[4096];
        const ssize_t count = socket_.read(more, sizeof more);
        bytes_.append(more, static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
        return count > 0;
    }

    // Once something reads a body that its client holds back, the gate has decided. False if the client is gone.
    bool asks_for_body()
    {
        static constexpr std::string_view line = "HTTP/1.1 100 Continue\r\n\r\n";
        return !std::exchange(awaits_continue_, false) || socket_.write(line.data(), line.size()) == static_cast<ssize_t>(line.size());
    }

    // Takes the head from the bytes. False if it isn't whole, or if a proxy might read it in another way.
    bool read_head()
    {
        for (bool is_first = true;; is_first = false) {
            std::size_t end = bytes_.find('\n', at_);
            while (end == std::string::npos) {
                const std::size_t known = bytes_.size();
                if (known > max_head || !receive()) {
                    return false;
                }
                end = bytes_.find('\n', known);
            }
            if (end == at_ || end >= max_head || bytes_[end - 1] != '\r') {
                return false;
            }
            const std::string_view line = std::string_view(bytes_).substr(at_, end - 1 - at_);
            at_ = end + 1;
            if (line.empty()) {
                return !is_first;
            }
            if (!is_text(line) || !(is_first ? head_.take_request_line(line) : head_.take_field(line))) {
                return false;
            }
        }
    }

    template <typename Name>
    void address(const Name &name, std::string &ip, int &port) const
    {
        sockaddr_storage stored{};
        socklen_t size = sizeof stored;
        char host[NI_MAXHOST], service[NI_MAXSERV];
        auto *address = reinterpret_cast<sockaddr *>(&stored);
        if (name(socket(), address, &size) == 0
            && ::getnameinfo(address, size, host, sizeof host, service, sizeof service, NI_NUMERICHOST | NI_NUMERICSERV) == 0) {
            ip = host;
            port = std::atoi(service);
        }
    }

    Socket &socket_;
    std::time_t write_seconds_;
    std::string bytes_, shown_; // received, and for the server in place of the head
    std::size_t at_ = 0, shown_at_ = 0;
    Head head_;
    Chunks chunks_;
    bool chunked_ = false, awaits_continue_ = false, is_broken_ = false;
};

// Whether a socket can be read or written within this time.
inline bool waits(socket_t socket, short events, std::time_t seconds)
{
    pollfd waiting{};
    waiting.fd = socket;
    waiting.events = events;
    const auto milliseconds = static_cast<int>(std::min<std::time_t>(seconds, 1'000'000) * 1000);
#ifdef _WIN32
    return ::WSAPoll(&waiting, 1, milliseconds) > 0;
#else
    return ::poll(&waiting, 1, milliseconds) > 0;
#endif
}

// A socket whose reads and writes have time limits.
class PlainSocket {
public:
    explicit PlainSocket(socket_t socket) noexcept : socket_(socket) {}

    [[nodiscard]] socket_t socket() const noexcept { return socket_; }
    [[nodiscard]] bool is_readable(std::time_t seconds) const { return waits(socket_, POLLIN, seconds); }
    [[nodiscard]] bool is_writable(std::time_t seconds) const { return waits(socket_, POLLOUT, seconds); }
    ssize_t read(char *to, std::size_t size) const { return ::recv(socket_, to, size, CPPHTTPLIB_RECV_FLAGS); }
    ssize_t write(const char *from, std::size_t size) const { return ::send(socket_, from, size, CPPHTTPLIB_SEND_FLAGS); }

private:
    socket_t socket_;
};

#ifdef CPPHTTPLIB_OPENSSL_SUPPORT
class TlsSocket {
public:
    TlsSocket(SSL_CTX *context, socket_t socket) : plain_(socket), ssl_(SSL_new(context))
    {
        if (ssl_ != nullptr) {
            SSL_set_fd(ssl_, static_cast<int>(socket));
        }
    }
    TlsSocket(const TlsSocket &) = delete;
    TlsSocket &operator=(const TlsSocket &) = delete;
    ~TlsSocket() { SSL_free(ssl_); }

    bool accept() const { return ssl_ != nullptr && SSL_accept(ssl_) == 1; }
    void end() const { SSL_shutdown(ssl_); }
    [[nodiscard]] SSL *ssl() const noexcept { return ssl_; }
    [[nodiscard]] socket_t socket() const noexcept { return plain_.socket(); }
    [[nodiscard]] bool is_readable(std::time_t seconds) const { return SSL_pending(ssl_) > 0 || plain_.is_readable(seconds); }
    [[nodiscard]] bool is_writable(std::time_t seconds) const { return plain_.is_writable(seconds); }
    ssize_t read(char *to, std::size_t size) const { return SSL_read(ssl_, to, limited(size)); }
    ssize_t write(const char *from, std::size_t size) const { return SSL_write(ssl_, from, limited(size)); }

private:
    static int limited(std::size_t size) noexcept { return static_cast<int>(std::min<std::size_t>(size, 1 << 30)); }

    PlainSocket plain_;
    SSL *ssl_;
};
#endif

} // namespace orbgate::detail

#endif // ORBGATE_CONNECTION_HPP
