package io.github.orbgate;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.net.InetSocketAddress;
import java.net.Proxy;
import java.net.URI;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Which proxy is asked, and which cannot be one. */
class ProxiesTest {
    @Test
    void aProxyIsAnHttpUrlWhoseNameMayHaveAnUnderscore() {
        for (String url : List.of("http://corp_proxy:3128", "corp_proxy:3128", "http://user:p%40ss@corp_proxy:3128")) {
            Proxies proxies = new Proxies(Map.of("HTTPS_PROXY", url, "NO_PROXY", ".inside.example"));
            Proxy expected = new Proxy(Proxy.Type.HTTP, InetSocketAddress.createUnresolved("corp_proxy", 3128));
            assertEquals(List.of(expected), proxies.select(URI.create("https://id.example.com/keys")), url);
            for (String direct : List.of("https://id.inside.example/keys", "http://127.0.0.1:9000/keys")) {
                assertEquals(List.of(Proxy.NO_PROXY), proxies.select(URI.create(direct)), direct);
            }
        }
    }

    @Test
    void whatIsNoHttpUrlIsRefusedWithoutBeingShown() {
        for (String url : List.of("https://proxy", "socks5://proxy:1080", "http://user:pa#ss@proxy", "http://proxy:99999", "http://", "http://a b")) {
            Exception refused = assertThrows(IllegalArgumentException.class, () -> new Proxies(Map.of("https_proxy", url)), url);
            assertEquals("HTTPS_PROXY is not a URL of http", refused.getMessage());
        }
    }
}
