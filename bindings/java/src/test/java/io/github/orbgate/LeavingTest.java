package io.github.orbgate;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.github.orbgate.Leaving.Handler;
import io.github.orbgate.Leaving.Plan;
import io.github.orbgate.httpserver.GateFilter;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.Test;

/** The JDK's server, whose callers leave. */
class LeavingTest {
    @Test
    void callersLeaveAtEachWait() throws Exception {
        ExecutorService threads = Executors.newCachedThreadPool();
        try (Leaving leaving = new Leaving()) {
            HttpServer plain = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
            HttpServer server = GateFilter.bonusFromBody(leaving.gate, 4_096).protect(plain);
            server.createContext("/run", exchange -> serve(leaving, exchange));
            server.setExecutor(threads);
            server.start();
            try {
                leaving.run(server.getAddress().getPort());
            } finally {
                server.stop(0);
            }
        } finally {
            threads.shutdownNow();
        }
    }

    private static void serve(Leaving leaving, HttpExchange exchange) throws IOException {
        Plan plan = leaving.plan(exchange.getRequestHeaders().getFirst("X-Number"));
        if (plan.handler == Handler.LATER) {
            leaving.later(() -> {
                try {
                    answer(plan, exchange);
                } catch (IOException left) {
                    exchange.close();
                }
            });
        } else if (plan.handler == Handler.NEVER) {
            exchange.close();
        } else {
            answer(plan, exchange);
        }
    }

    private static void answer(Plan plan, HttpExchange exchange) throws IOException {
        exchange.getRequestBody().readAllBytes();
        exchange.sendResponseHeaders(200, 0);
        plan.answer(exchange.getResponseBody());
        exchange.close();
    }
}
