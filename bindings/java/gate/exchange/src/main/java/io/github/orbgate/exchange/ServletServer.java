package io.github.orbgate.exchange;

import io.github.orbgate.Gate;
import io.github.orbgate.servlet.GateFilter;
import io.github.orbgate.servlet.HandlerFilter;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import org.eclipse.jetty.ee11.servlet.FilterHolder;
import org.eclipse.jetty.ee11.servlet.ServletContextHandler;
import org.eclipse.jetty.ee11.servlet.ServletHolder;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;

/**
 * Jetty. Servlets are mapped to prefixes of paths: that of each template is what comes before its first segment with a
 * parameter, or with an asterisk, which no mapping can have there.
 */
final class ServletServer implements Program.Server {
    @Override
    public int start(int port, List<String> templates, Optional<Gate> gate) throws Exception {
        Server server = new Server();
        ServerConnector connector = new ServerConnector(server);
        connector.setHost("127.0.0.1");
        connector.setPort(port);
        // It leaves a connection open after `CONNECT`, which it refuses by itself, and the driver waits for its end.
        connector.setIdleTimeout(1_000);
        server.addConnector(connector);
        ServletContextHandler context = new ServletContextHandler("/");
        gate.ifPresent(guard -> List.of(new GateFilter(guard), new HandlerFilter()).forEach(
                filter -> context.addFilter(new FilterHolder(filter), "/*", EnumSet.allOf(DispatcherType.class))));
        Set<String> prefixes = new TreeSet<>(Set.of("/"));
        templates.forEach(template -> prefixes.add(template.replaceFirst("[^/]*[{*].*", "")));
        for (String prefix : prefixes) {
            String mapping = prefix.endsWith("/") ? prefix + "*" : prefix;
            context.addServlet(new ServletHolder(new Echo()), mapping);
        }
        server.setHandler(context);
        server.start();
        return connector.getLocalPort();
    }

    /** Says what it saw. */
    static final class Echo extends HttpServlet {
        private static final long serialVersionUID = 1;

        @Override
        protected void service(HttpServletRequest request, HttpServletResponse response) throws IOException {
            echo(request, response);
        }
    }

    static void echo(HttpServletRequest request, HttpServletResponse response) throws IOException {
        String query = request.getQueryString();
        String target = query == null ? request.getRequestURI() : request.getRequestURI() + "?" + query;
        byte[] text = Program.saw(request.getMethod(), target, GateFilter.call(request));
        response.setContentType("application/json");
        response.getOutputStream().write(text);
    }
}
