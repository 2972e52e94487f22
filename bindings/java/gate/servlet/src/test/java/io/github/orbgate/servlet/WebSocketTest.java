package io.github.orbgate.servlet;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.orbgate.Answer;
import io.github.orbgate.BearerToken;
import io.github.orbgate.Guard;
import io.github.orbgate.Reason;
import io.github.orbgate.TokenKind;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.ServletException;
import jakarta.websocket.OnMessage;
import jakarta.websocket.server.ServerEndpoint;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.WebSocket;
import java.net.http.WebSocketHandshakeException;
import java.util.EnumSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import org.eclipse.jetty.ee10.servlet.FilterHolder;
import org.eclipse.jetty.ee10.servlet.ServletContextHandler;
import org.eclipse.jetty.ee10.websocket.jakarta.server.config.JakartaWebSocketServletContainerInitializer;
import org.eclipse.jetty.ee10.websocket.servlet.WebSocketUpgradeFilter;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** WebSockets of Jetty: a filter of its own answers their handshakes. */
class WebSocketTest {
    /** An endpoint. */
    @ServerEndpoint("/feeds/{id}")
    public static class Feed {
        /** Answers a message with itself. */
        @OnMessage
        public String answer(String message) {
            return message;
        }
    }

    /** What an endpoint answers to a message, or the status of the answer to the handshake. */
    private static String talk(int port, String path) throws Exception {
        CompletableFuture<String> answer = new CompletableFuture<>();
        try {
            WebSocket socket = HttpClient.newHttpClient()
                    .newWebSocketBuilder()
                    .buildAsync(URI.create("ws://127.0.0.1:" + port + path), new WebSocket.Listener() {
                        @Override
                        public CompletionStage<?> onText(WebSocket from, CharSequence text, boolean isLast) {
                            answer.complete(text.toString());
                            return null;
                        }
                    })
                    .join();
            socket.sendText("seen", true).join();
            return answer.get();
        } catch (CompletionException refused) {
            return "" + ((WebSocketHandshakeException) refused.getCause()).getResponse().statusCode();
        }
    }

    private final Server server = new Server();
    private final ServerConnector connector = new ServerConnector(server);

    private void start(boolean isConfirmed, boolean isInside) throws Exception {
        Guard gate = request -> Answer.of(
                request.target().equals("/feeds/1") ? Reason.SCOPE_HELD : Reason.SCOPE_MISSING, BearerToken.of(TokenKind.USER, ""));
        connector.setHost("127.0.0.1");
        server.addConnector(connector);
        ServletContextHandler context = new ServletContextHandler("/");
        FilterHolder filter = new FilterHolder(new GateFilter(gate));
        if (isConfirmed) {
            filter.setInitParameter(GateFilter.WEBSOCKETS, "inside");
        }
        context.addFilter(filter, "/*", EnumSet.allOf(DispatcherType.class));
        context.addFilter(new FilterHolder(new HandlerFilter()), "/*", EnumSet.allOf(DispatcherType.class));
        if (isInside) {
            FilterHolder upgrades = new FilterHolder(new WebSocketUpgradeFilter());
            upgrades.setName(WebSocketUpgradeFilter.class.getName());
            context.addFilter(upgrades, "/*", EnumSet.of(DispatcherType.REQUEST));
        }
        JakartaWebSocketServletContainerInitializer.configure(context, (servlets, container) -> container.addEndpoint(Feed.class));
        server.setHandler(context);
        server.start();
    }

    @AfterEach
    void stop() throws Exception {
        server.stop();
    }

    @Test
    void aHandshakeInsideTheGateIsDecided() throws Exception {
        start(true, true);
        assertEquals("seen", talk(connector.getLocalPort(), "/feeds/1"));
        assertEquals("403", talk(connector.getLocalPort(), "/feeds/2"));
    }

    @Test
    void noServerStartsWhoseHandshakesMayBeOutsideTheGate() {
        ServletException refused = assertThrows(ServletException.class, () -> start(false, false));
        assertTrue(refused.getMessage().contains("`orbgate.websockets`"), refused.getMessage());
    }
}
