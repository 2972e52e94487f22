package io.github.orbgate;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.net.httpserver.HttpServer;
import io.github.orbgate.example.AuthorizeServer;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class AuthorizeServerTest {
    private static final String ORBS = "/api/v1/external/orbs";

    private HttpServer server;

    @BeforeEach
    void start() throws IOException {
        server = AuthorizeServer.start(Engine.external(), 0);
    }

    @AfterEach
    void stop() {
        server.stop(0);
    }

    private HttpResponse<String> get(String target, String token) throws IOException, InterruptedException {
        return ask("GET", target, token);
    }

    private HttpResponse<String> ask(String method, String target, String token) throws IOException, InterruptedException {
        HttpRequest.Builder request =
                HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + server.getAddress().getPort() + target));
        request.method(method, HttpRequest.BodyPublishers.noBody());
        if (token != null) {
            request.header("Authorization", "Bearer " + token);
        }
        return HttpClient.newHttpClient().send(request.build(), HttpResponse.BodyHandlers.ofString());
    }

    private void refused(int status, String target, String token) throws IOException, InterruptedException {
        HttpResponse<String> response = get(target, token);
        assertEquals(status, response.statusCode());
        assertEquals("", response.body());
    }

    @Test
    void aCallWithoutTheScopeGetsABare403() throws IOException, InterruptedException {
        refused(403, ORBS, "shopper");
    }

    @Test
    void aCallWithTheScopeIsLetThrough() throws IOException, InterruptedException {
        HttpResponse<String> response = get(ORBS, "reader");
        assertEquals(200, response.statusCode());
        assertTrue(response.body().startsWith("allow: scope_held"), response.body());
    }

    private String header(String name, String method, String token) throws IOException, InterruptedException {
        return ask(method, ORBS, token).headers().firstValue(name).orElse("");
    }

    @Test
    void aRefusalSaysWhatIsMissing() throws IOException, InterruptedException {
        assertEquals("Bearer", header("WWW-Authenticate", "GET", null));
        assertEquals("Bearer error=\"invalid_token\"", header("WWW-Authenticate", "GET", "forged"));
        assertEquals("", header("WWW-Authenticate", "GET", "shopper"));
        assertEquals(405, ask("DELETE", ORBS, "reader").statusCode());
        assertEquals("GET", header("Allow", "DELETE", "reader"));
        assertEquals("", header("Allow", "GET", "reader"));
    }

    @Test
    void everythingElseIsRefusedWithItsStatus() throws IOException, InterruptedException {
        refused(401, ORBS, null);
        refused(401, ORBS, "forged");
        refused(404, "/api/v1/external/nothing", "reader");
        refused(400, ORBS + "/%2e%2e/orbs", "reader");
    }
}
