package io.github.orbgate;

import java.io.IOException;
import java.net.Authenticator;
import java.net.InetSocketAddress;
import java.net.PasswordAuthentication;
import java.net.Proxy;
import java.net.ProxySelector;
import java.net.SocketAddress;
import java.net.URI;
import java.net.URLDecoder;
import java.net.http.HttpClient;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The proxy of {@code HTTPS_PROXY}, except for the hosts of {@code NO_PROXY}; without the variable, that of Java's system properties. This
 * machine is reached without a proxy.
 */
final class Proxies extends ProxySelector {
    private static final List<Proxy> NONE = List.of(Proxy.NO_PROXY);
    private static final Pattern AUTHORITY = Pattern.compile("(?:(.*)@)?([\\w.-]+|\\[[0-9a-fA-F:.]+])(?::(\\d{1,5}))?");

    private final ProxySelector others = ProxySelector.getDefault();
    private final Address proxy;
    private final List<String> direct;

    Proxies(Map<String, String> environment) {
        String url = either(environment, "https_proxy", "HTTPS_PROXY");
        proxy = url.isEmpty() ? null : parsed(url);
        direct = List.of(either(environment, "no_proxy", "NO_PROXY").split("[,\\s]+"));
    }

    private static String either(Map<String, String> environment, String lower, String upper) {
        return environment.getOrDefault(lower, environment.getOrDefault(upper, ""));
    }

    private record Address(String user, InetSocketAddress at) {}

    /** By hand, because {@link URI} has no host for names with an underscore. */
    private static Address parsed(String url) {
        try {
            URI proxy = URI.create(url.contains("://") ? url : "http://" + url);
            Matcher parts = AUTHORITY.matcher(String.valueOf(proxy.getRawAuthority()));
            // Java has no proxies that are reached by TLS.
            if ("http".equalsIgnoreCase(proxy.getScheme()) && parts.matches()) {
                int port = parts.group(3) == null ? 80 : Integer.parseInt(parts.group(3));
                return new Address(parts.group(1), InetSocketAddress.createUnresolved(parts.group(2), port));
            }
        } catch (IllegalArgumentException unfit) {
            // Its message quotes the URL, which can have a password.
        }
        throw new IllegalArgumentException("HTTPS_PROXY is not a URL of http");
    }

    /** A client with this proxy, and with the user and the password of its URL. */
    HttpClient.Builder in(HttpClient.Builder builder) {
        String user = proxy == null ? null : proxy.user();
        if (user != null) {
            String[] parts = user.split(":", 2);
            char[] password = decoded(parts.length == 2 ? parts[1] : "").toCharArray();
            builder.authenticator(new Authenticator() {
                @Override
                protected PasswordAuthentication getPasswordAuthentication() {
                    return getRequestorType() == RequestorType.PROXY ? new PasswordAuthentication(decoded(parts[0]), password) : null;
                }
            });
        }
        return builder.proxy(this);
    }

    private static String decoded(String part) {
        return URLDecoder.decode(part.replace("+", "%2B"), StandardCharsets.UTF_8);
    }

    @Override
    public List<Proxy> select(URI uri) {
        String host = uri.getHost();
        if (host == null || List.of("localhost", "127.0.0.1", "[::1]").contains(host)) {
            return NONE;
        }
        if (proxy == null) {
            return others == null ? NONE : others.select(uri);
        }
        if (direct.stream().anyMatch(name -> fits(name, host))) {
            return NONE;
        }
        return List.of(new Proxy(Proxy.Type.HTTP, proxy.at()));
    }

    private static boolean fits(String name, String host) {
        String suffix = name.replaceFirst("^\\*?\\.", "").replaceFirst(":\\d+$", "");
        return suffix.equals("*") || !suffix.isEmpty() && (host.equalsIgnoreCase(suffix) || endsWith(host, "." + suffix));
    }

    private static boolean endsWith(String host, String suffix) {
        return host.regionMatches(true, host.length() - suffix.length(), suffix, 0, suffix.length());
    }

    @Override
    public void connectFailed(URI uri, SocketAddress address, IOException failed) {
        // The fetch fails, which is logged.
    }
}
