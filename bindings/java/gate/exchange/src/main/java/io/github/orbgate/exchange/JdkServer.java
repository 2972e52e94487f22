package io.github.orbgate.exchange;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.github.orbgate.Gate;
import io.github.orbgate.httpserver.GateFilter;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.Executors;

/**
 * The JDK's own server. Its contexts are prefixes of strings: {@code /store/buy} would also get {@code /store/buyer}. So that of each
 * template ends at the last slash before its first parameter.
 */
final class JdkServer implements Program.Server {
    @Override
    public int start(int port, List<String> templates, Optional<Gate> gate) throws IOException {
        HttpServer plain = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 128);
        HttpServer server = gate.map(guard -> new GateFilter(guard).protect(plain)).orElse(plain);
        Set<String> prefixes = new TreeSet<>(Set.of("/"));
        templates.forEach(template -> {
            String literal = template.split("\\{", 2)[0];
            prefixes.add(literal.substring(0, literal.lastIndexOf('/') + 1));
        });
        for (String prefix : prefixes) {
            server.createContext(prefix, JdkServer::serve);
        }
        server.setExecutor(Executors.newFixedThreadPool(16));
        server.start();
        return server.getAddress().getPort();
    }

    private static void serve(HttpExchange exchange) throws IOException {
        byte[] text = Program.saw(exchange.getRequestMethod(), exchange.getRequestURI().toString(), GateFilter.call(exchange));
        exchange.getResponseHeaders().set("Content-Type", "application/json");
        boolean hasBody = !exchange.getRequestMethod().equals("HEAD");
        exchange.sendResponseHeaders(200, hasBody ? text.length : -1);
        if (hasBody) {
            exchange.getResponseBody().write(text);
        }
        exchange.close();
    }
}
