package io.github.orbgate.example;

import com.sun.net.httpserver.Headers;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpHandler;
import com.sun.net.httpserver.HttpServer;
import io.github.orbgate.Decision;
import io.github.orbgate.Engine;
import io.github.orbgate.Policy;
import io.github.orbgate.Token;
import io.github.orbgate.TokenKind;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.Map;

/** A server of the JDK's own that asks the policy first. A caller without the scope gets a 403 with an empty body. */
public final class AuthorizeServer {
    private AuthorizeServer() {}

    /** A handler of requests that may be made. */
    private interface Authorized {
        void handle(HttpExchange exchange, Decision decision) throws IOException;
    }

    /** Hands over what the policy allows, and refuses the rest. */
    private static HttpHandler authorize(Policy policy, Authorized next) {
        return exchange -> {
            try (exchange) {
                // The target as it came: neither decoded nor normalised.
                String target = exchange.getRequestURI().toString();
                Decision decision = policy.decide(exchange.getRequestMethod(), target, token(exchange));
                if (decision.isAllow()) {
                    next.handle(exchange, decision);
                } else {
                    deny(exchange, decision);
                }
            }
        };
    }

    /** Every denial has an empty body. A 401 asks for a token (RFC 6750), a 405 lists the methods that there are (RFC 9110). */
    private static void deny(HttpExchange exchange, Decision decision) throws IOException {
        Headers headers = exchange.getResponseHeaders();
        switch (decision.reason()) {
            case NO_TOKEN -> headers.set("WWW-Authenticate", "Bearer");
            case INVALID_TOKEN -> headers.set("WWW-Authenticate", "Bearer error=\"invalid_token\"");
            case METHOD_NOT_DECLARED -> headers.set("Allow", String.join(", ", decision.declaredMethods()));
            default -> {}
        }
        exchange.sendResponseHeaders(decision.httpStatus(), -1);
    }

    /** Who calls. A real server verifies a bearer token here; this one knows two by heart. */
    private static Token token(HttpExchange exchange) {
        Map<String, Token> known =
                Map.of(
                        "Bearer reader", Token.user("read:orbs read:voxies"),
                        "Bearer shopper", Token.user("read:store write:store"));
        String header = exchange.getRequestHeaders().getFirst("Authorization");
        return header == null ? Token.none() : known.getOrDefault(header, Token.of(TokenKind.UNKNOWN, ""));
    }

    private static void answer(HttpExchange exchange, Decision decision) throws IOException {
        byte[] body = (decision + "\n").getBytes(StandardCharsets.UTF_8);
        exchange.sendResponseHeaders(200, body.length);
        exchange.getResponseBody().write(body);
    }

    /** Starts the server on this machine; port 0 is any free one. */
    public static HttpServer start(Policy policy, int port) throws IOException {
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 0);
        server.createContext("/", authorize(policy, AuthorizeServer::answer));
        server.start();
        return server;
    }

    public static void main(String[] arguments) throws IOException {
        HttpServer server = start(Engine.external(), 8080);
        String url = "http:/" + server.getAddress() + "/api/v1/external/orbs";
        System.out.println("try: curl -i -H 'Authorization: Bearer reader' " + url);
    }
}
