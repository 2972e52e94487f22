package io.github.orbgate.servlet;

import io.github.orbgate.Leaving;
import jakarta.servlet.DispatcherType;
import java.util.EnumSet;
import java.util.List;
import org.eclipse.jetty.ee10.servlet.FilterHolder;
import org.eclipse.jetty.ee10.servlet.ServletContextHandler;
import org.eclipse.jetty.ee10.servlet.ServletHolder;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.junit.jupiter.api.Test;

/** Jetty, whose callers leave. */
class LeavingTest {
    @Test
    void callersLeaveAtEachWait() throws Exception {
        Server server = new Server();
        ServerConnector connector = new ServerConnector(server);
        connector.setHost("127.0.0.1");
        server.addConnector(connector);
        try (Leaving leaving = new Leaving()) {
            ServletContextHandler context = new ServletContextHandler("/");
            for (var filter : List.of(GateFilter.bonusFromBody(leaving.gate, 4_096), new HandlerFilter())) {
                FilterHolder holder = new FilterHolder(filter);
                holder.setAsyncSupported(true);
                context.addFilter(holder, "/*", EnumSet.allOf(DispatcherType.class));
            }
            ServletHolder servlet = new ServletHolder(new LeavingServlet(leaving));
            servlet.setAsyncSupported(true);
            context.addServlet(servlet, "/run");
            server.setHandler(context);
            server.start();
            leaving.run(connector.getLocalPort());
        } finally {
            server.stop();
        }
    }
}
