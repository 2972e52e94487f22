// A connection of a cpp-httplib server that passes on only messages of one length. The server itself skips header lines that it
// can't read, so that a proxy in front of it might find a length where it finds none, and a body becomes the next request.
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

// The socket of a connection, or TLS over it. `Socket` reads and writes bytes.
template <typename Socket>
class Connection final : public httplib::Stream {
public:
    Connection(Socket &socket, std::time_t write_seconds) noexcept : socket_(socket), write_seconds_(write_seconds) {}

    // Waits for the next request, and reads its head.
    bool next(std::time_t seconds)
    {
        bytes_.erase(0, at_);
        at_ = 0;
        chunked_ = false;
        if (is_broken_ || (bytes_.empty() && (!socket_.is_readable(seconds) || !fill()))) {
            return false;
        }
        if (!read_head()) {
            // Not even a request line: the server answers with a 400.
            bytes_ = "\r\n";
            is_broken_ = true;
        }
        return true;
    }

    // Whether the bytes that follow might not be a request.
    [[nodiscard]] bool is_broken() const noexcept { return is_broken_; }

    bool is_readable() const override { return at_ < bytes_.size() || socket_.is_readable(0); }
    bool is_writable() const override { return socket_.is_writable(write_seconds_); }
    ssize_t read(char *to, std::size_t size) override
    {
        if (at_ == bytes_.size() && (is_broken_ || !fill())) {
            return is_broken_ ? -1 : 0;
        }
        const std::size_t end = at_ < head_ ? head_ : bytes_.size();
        const std::size_t count = std::min(size, end - at_);
        for (std::size_t at = at_; chunked_ && at_ >= head_ && at < at_ + count; ++at) {
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

    bool fill()
    {
        if (at_ >= head_) {
            bytes_.erase(0, at_);
            at_ = head_ = 0;
        }
        char more[4096];
        const ssize_t count = socket_.read(more, sizeof more);
        bytes_.append(more, static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
        return count > 0;
    }

    // False if a proxy might read these lines in another way. An end of the connection is left to the server.
    bool read_head()
    {
        std::size_t line = 0;
        chunks_ = Chunks();
        for (;;) {
            head_ = bytes_.size();
            const std::size_t end = bytes_.find('\n', line);
            if (end == std::string::npos) {
                if (bytes_.size() > max_head) {
                    return false;
                }
                if (!fill()) {
                    head_ = bytes_.size();
                    return true;
                }
                continue;
            }
            head_ = end + 1;
            if (end == line || bytes_[end - 1] != '\r') {
                return false;
            }
            const std::string_view text = std::string_view(bytes_).substr(line, end - 1 - line);
            if (text.empty()) {
                return true;
            }
            if (!is_text(text) || head_ > max_head || (line > 0 && !is_field(text))) {
                return false;
            }
            line = head_;
        }
    }

    bool is_field(std::string_view line)
    {
        const std::size_t colon = line.find(':');
        const std::string_view name = line.substr(0, colon);
        if (colon == std::string_view::npos || !is_token(name)) {
            return false;
        }
        const bool is_coding = is_name(name, "transfer-encoding");
        chunked_ = chunked_ || is_coding;
        // The server skips an empty value, and decodes `%63hunked`.
        const std::string_view value = line.substr(colon + 1);
        const bool is_read = value.find('%') == std::string_view::npos && value.find_first_not_of(" \t") != std::string_view::npos;
        return is_read || !(is_coding || is_name(name, "content-length"));
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
    std::string bytes_;
    std::size_t at_ = 0, head_ = 0;
    bool chunked_ = false, is_broken_ = false;
    Chunks chunks_;
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
