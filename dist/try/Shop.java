import io.github.orbgate.TokenKind;
import io.github.orbgate.testing.TestIssuer;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.StringJoiner;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/** A service of Spring Boot with the starter and two properties: what it answers without a token, with a wrong scope and with the right one. */
@EnableAutoConfiguration
@RestController
public class Shop {
    @GetMapping("/v1/orders")
    String orders() {
        return "orders";
    }

    public static void main(String[] arguments) throws Exception {
        Path folder = Files.createTempDirectory("shop");
        Path policy = Files.writeString(
                folder.resolve("policy.yaml"),
                """
                orbgate: 1
                apis:
                  shop:
                    base_path: /v1
                    scopes:
                      read:orders: {orbs: false, routes: [GET /orders]}
                ...
                """);
        SpringApplication service = new SpringApplication(Shop.class);
        try (TestIssuer issuer = new TestIssuer()) {
            Path tokens = Files.writeString(folder.resolve("tokens.yaml"), issuer.tokens());
            service.setDefaultProperties(Map.of(
                    "server.port", "0",
                    "server.error.whitelabel.enabled", "false",
                    "spring.main.banner-mode", "off",
                    "logging.level.root", "off",
                    "orbgate.policy", policy.toUri().toString(),
                    "orbgate.tokens", tokens.toUri().toString()));
            try (ConfigurableApplicationContext context = service.run()) {
                URI orders = URI.create("http://127.0.0.1:" + context.getEnvironment().getProperty("local.server.port") + "/v1/orders");
                StringJoiner statuses = new StringJoiner(" ");
                for (String token : new String[] {
                    "", issuer.bearer(TokenKind.USER, "write:orders"), issuer.bearer(TokenKind.USER, "read:orders")
                }) {
                    HttpRequest.Builder request = HttpRequest.newBuilder(orders);
                    if (!token.isEmpty()) {
                        request.header("Authorization", token);
                    }
                    // By default, the client offers HTTP/2 with `Upgrade: h2c`, which a gate denies.
                    HttpClient client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
                    statuses.add("" + client.send(request.build(), BodyHandlers.discarding()).statusCode());
                }
                System.out.println(statuses);
            }
        }
    }
}
