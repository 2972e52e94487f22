// An issuer for the tests of a service: its tokens are really signed and verified. It has a new key each time, and
// gives tokens to any program on this machine, so never use it in production. Your program must provide cpp-httplib and
// OpenSSL's libcrypto.
#ifndef ORBGATE_TEST_ISSUER_HPP
#define ORBGATE_TEST_ISSUER_HPP

#include <httplib.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/x509.h>

#include <chrono>
#include <cstdio>
#include <stdexcept>

#include "orbgate_gate.hpp"

namespace orbgate {

namespace detail {

// An OpenSSL object; throws if OpenSSL returned none.
template <typename T>
T made(T made)
{
    if (!made) {
        throw std::runtime_error("OpenSSL cannot sign with P-256");
    }
    return made;
}

template <auto free>
struct OpenSslFree {
    template <typename T>
    void operator()(T *made) const noexcept
    {
        free(made);
    }
};

// Bytes in base64url without padding (RFC 7515 §2).
inline std::string base64url(const std::string &bytes)
{
    const auto *from = reinterpret_cast<const unsigned char *>(bytes.data());
    std::string out((bytes.size() + 2) / 3 * 4 + 1, '\0'); // and the NUL that OpenSSL writes
    out.resize(static_cast<std::size_t>(EVP_EncodeBlock(reinterpret_cast<unsigned char *>(&out[0]), from, static_cast<int>(bytes.size()))));
    out.erase(std::find(out.begin(), out.end(), '='), out.end());
    std::replace(out.begin(), out.end(), '+', '-');
    std::replace(out.begin(), out.end(), '/', '_');
    return out;
}

} // namespace detail

// Signs tokens, and serves its key on a loopback address until it is destroyed:
//
//   orbgate::TestIssuer issuer;
//   const auto gate = orbgate::Gate::make(issuer.verifier(), orbgate::fetch_by_curl).value();
//   const std::string authorization = issuer.bearer(orbgate::TokenKind::user, "read:orders");
class TestIssuer {
public:
    // Starts it on a port of 127.0.0.1; 0 chooses a free one. It serves `/tokens.yaml`, which trusts it, `/jwks`, and a
    // token for any client at `/token?kind=user&scope=read:orders`. It throws if the port is in use.
    explicit TestIssuer(int port = 0) : key_(new_key())
    {
        const auto answer = [](auto body) {
            return [body](const httplib::Request &request, httplib::Response &response) {
                response.set_content(body(request) + "\n", "text/plain");
            };
        };
        server_.Get("/tokens.yaml", answer([this](const httplib::Request &) { return tokens(); }));
        server_.Get("/jwks", answer([this](const httplib::Request &) { return keys(); }));
        server_.Get("/token", answer([this](const httplib::Request &request) {
                        const bool is_organisation = request.get_param_value("kind") == "organisation";
                        const TokenKind kind = is_organisation ? TokenKind::organisation : TokenKind::user;
                        return token(kind, request.get_param_value("scope"));
                    }));
        server_.set_keep_alive_max_count(1); // no idle connection delays its end
        const int bound = port == 0 ? server_.bind_to_any_port("127.0.0.1") : server_.bind_to_port("127.0.0.1", port) ? port : -1;
        if (bound < 0) {
            throw std::runtime_error("the test issuer cannot listen on port " + std::to_string(port));
        }
        url_ = "http://127.0.0.1:" + std::to_string(bound);
        thread_ = std::thread([this] { server_.listen_after_bind(); });
        while (!server_.is_running()) {
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
    }
    TestIssuer(const TestIssuer &) = delete;
    TestIssuer &operator=(const TestIssuer &) = delete;
    ~TestIssuer()
    {
        server_.stop();
        thread_.join();
    }

    // Its `iss`, and the URL where it serves.
    [[nodiscard]] const std::string &url() const noexcept { return url_; }

    // The configuration that trusts it: JSON, which is YAML.
    [[nodiscard]] std::string tokens() const
    {
        const auto kind = [](const std::string &name) {
            return '"' + name + R"(": [{"claim": "token_kind", "equals": ")" + name + R"("}])";
        };
        return R"({"orbgate_token": 1, "issuers": [{"issuer": ")" + url_ + R"(", "audience": ")" + audience + R"(", "jwks_uri": ")" + url_ +
               R"(/jwks", "algorithms": ["ES256"], "kind": {)" + kind("user") + ", " + kind("organisation") +
               R"(}, "account": "subject"}]})";
    }
    // A verifier that trusts it.
    [[nodiscard]] Verifier verifier() const { return Verifier::from_yaml(tokens()).value(); }

    // An `Authorization` value with a token of this kind and these scopes, separated by spaces. It is valid for ten
    // minutes.
    [[nodiscard]] std::string bearer(TokenKind kind, std::string_view scopes) const { return "Bearer " + token(kind, scopes); }

    // Warns on standard error that this issuer is not for production, and serves until the program is stopped.
    void serve()
    {
        std::fprintf(stderr,
                     "FOR TESTS ONLY, never in production: any program on this machine gets any token from %s/token?scope=…;\n"
                     "%s/tokens.yaml trusts it\n",
                     url_.c_str(), url_.c_str());
        for (;;) {
            std::this_thread::sleep_for(std::chrono::hours(1));
        }
    }

private:
    static constexpr const char *audience = "https://service.test";
    using Key = std::unique_ptr<EVP_PKEY, detail::OpenSslFree<EVP_PKEY_free>>;

    static Key new_key()
    {
        const std::unique_ptr<EVP_PKEY_CTX, detail::OpenSslFree<EVP_PKEY_CTX_free>> context(
            detail::made(EVP_PKEY_CTX_new_id(EVP_PKEY_EC, nullptr)));
        EVP_PKEY *key = nullptr;
        detail::made(EVP_PKEY_keygen_init(context.get()) == 1 &&
                     EVP_PKEY_CTX_set_ec_paramgen_curve_nid(context.get(), NID_X9_62_prime256v1) == 1 &&
                     EVP_PKEY_keygen(context.get(), &key) == 1);
        return Key(key);
    }

    [[nodiscard]] std::string keys() const
    {
        unsigned char *der = nullptr;
        const int size = i2d_PUBKEY(key_.get(), &der);
        detail::made(size > 64);
        // An encoded key ends with the coordinates of its point.
        const std::string point(reinterpret_cast<const char *>(der) + size - 64, 64);
        OPENSSL_free(der);
        return R"({"keys": [{"kty": "EC", "crv": "P-256", "kid": "test", "x": ")" + detail::base64url(point.substr(0, 32)) + R"(", "y": ")" +
               detail::base64url(point.substr(32)) + "\"}]}";
    }

    [[nodiscard]] std::string token(TokenKind kind, std::string_view scopes) const
    {
        const auto now = std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch()).count();
        const std::string claims = R"({"iss": ")" + url_ + R"(", "aud": ")" + audience + R"(", "sub": "subject", "client_id": "client", "iat": )" +
                                   std::to_string(now) + R"(, "exp": )" + std::to_string(now + 600) + R"(, "token_kind": ")" +
                                   (kind == TokenKind::organisation ? "organisation" : "user") + R"(", "scope": )" + questions::to_json(std::string(scopes)) +
                                   "}";
        const std::string header = R"({"alg": "ES256", "typ": "at+jwt", "kid": "test"})";
        const std::string text = detail::base64url(header) + "." + detail::base64url(claims);
        return text + "." + detail::base64url(signature(text));
    }

    // Both numbers of a signature, encoded as in a token (RFC 7518 §3.4).
    [[nodiscard]] std::string signature(const std::string &text) const
    {
        const std::unique_ptr<EVP_MD_CTX, detail::OpenSslFree<EVP_MD_CTX_free>> context(detail::made(EVP_MD_CTX_new()));
        unsigned char der[128];
        std::size_t size = sizeof der;
        const auto *bytes = reinterpret_cast<const unsigned char *>(text.data());
        detail::made(EVP_DigestSignInit(context.get(), nullptr, EVP_sha256(), nullptr, key_.get()) == 1 &&
                     EVP_DigestSign(context.get(), der, &size, bytes, text.size()) == 1);
        const unsigned char *from = der;
        const std::unique_ptr<ECDSA_SIG, detail::OpenSslFree<ECDSA_SIG_free>> pair(
            detail::made(d2i_ECDSA_SIG(nullptr, &from, static_cast<long>(size))));
        std::string out(64, '\0');
        auto *to = reinterpret_cast<unsigned char *>(&out[0]);
        detail::made(BN_bn2binpad(ECDSA_SIG_get0_r(pair.get()), to, 32) == 32 && BN_bn2binpad(ECDSA_SIG_get0_s(pair.get()), to + 32, 32) == 32);
        return out;
    }

    Key key_;
    std::string url_;
    httplib::Server server_;
    std::thread thread_;
};

} // namespace orbgate

#endif // ORBGATE_TEST_ISSUER_HPP
