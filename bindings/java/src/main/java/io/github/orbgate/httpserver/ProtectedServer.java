package io.github.orbgate.httpserver;

import com.sun.net.httpserver.Authenticator;
import com.sun.net.httpserver.Filter;
import com.sun.net.httpserver.HttpContext;
import com.sun.net.httpserver.HttpHandler;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;

/** A server whose contexts all have the gate's filter first, and the comparison before the handler. */
final class ProtectedServer extends HttpServer {
    private final HttpServer server;
    private final GateFilter filter;
    private final Map<String, HttpContext> contexts = new ConcurrentHashMap<>();

    ProtectedServer(HttpServer server, GateFilter filter) {
        this.server = server;
        this.filter = filter;
        refuseUnprotected("/"); // It would serve whatever no other context does.
    }

    /** The JDK doesn't list contexts, but throws when it removes a missing one. JDK 17 keeps several for one path, and uses the first. */
    private void refuseUnprotected(String path) {
        try {
            server.removeContext(path);
        } catch (IllegalArgumentException none) {
            return;
        }
        throw new IllegalStateException("no gate protects the context `" + path + "`: create it with the protected server");
    }

    @Override
    public HttpContext createContext(String path, HttpHandler handler) {
        HttpContext context = createContext(path);
        context.setHandler(handler);
        return context;
    }

    @Override
    public HttpContext createContext(String path) {
        if (contexts.containsKey(path)) {
            throw new IllegalArgumentException("there is a context for `" + path + "` already");
        }
        refuseUnprotected(path);
        HttpContext context = server.createContext(path);
        context.getFilters().add(filter);
        contexts.put(path, context);
        return new Context(context);
    }

    /** Starts the server, unless a context has another filter before the gate. */
    @Override
    public void start() {
        contexts.forEach((path, context) -> {
            if (context.getFilters().isEmpty() || context.getFilters().get(0) != filter) {
                throw new IllegalStateException("the gate is not the first filter of the context `" + path + "`");
            }
        });
        server.start();
    }

    @Override
    public void removeContext(String path) {
        server.removeContext(path);
        contexts.remove(path);
    }

    @Override
    public void removeContext(HttpContext context) {
        removeContext(context.getPath());
    }

    @Override
    public void bind(InetSocketAddress address, int backlog) throws IOException {
        server.bind(address, backlog);
    }

    @Override
    public void setExecutor(Executor executor) {
        server.setExecutor(executor);
    }

    @Override
    public Executor getExecutor() {
        return server.getExecutor();
    }

    @Override
    public void stop(int delay) {
        server.stop(delay);
    }

    @Override
    public InetSocketAddress getAddress() {
        return server.getAddress();
    }

    /** A context whose handlers receive only decided requests. */
    private final class Context extends HttpContext {
        private final HttpContext context;

        Context(HttpContext context) {
            this.context = context;
        }

        @Override
        public HttpHandler getHandler() {
            return context.getHandler();
        }

        @Override
        public void setHandler(HttpHandler handler) {
            context.setHandler(filter.comparing(handler));
        }

        @Override
        public String getPath() {
            return context.getPath();
        }

        @Override
        public HttpServer getServer() {
            return ProtectedServer.this;
        }

        @Override
        public Map<String, Object> getAttributes() {
            return context.getAttributes();
        }

        @Override
        public List<Filter> getFilters() {
            return context.getFilters();
        }

        @Override
        public Authenticator setAuthenticator(Authenticator authenticator) {
            return context.setAuthenticator(authenticator);
        }

        @Override
        public Authenticator getAuthenticator() {
            return context.getAuthenticator();
        }
    }
}
