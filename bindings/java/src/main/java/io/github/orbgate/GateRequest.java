package io.github.orbgate;

import java.security.cert.CertificateEncodingException;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/**
 * A request as received over the wire: nothing is decoded, stripped or joined.
 *
 * @param method the method
 * @param target path and query, as in the request line
 * @param authorization every value of {@code Authorization}, one item per header line
 * @param headerNames the names of all headers, or at least those that contain {@code method}: a header can override the method
 * @param upgrade every value of {@code Upgrade}: a request that lists {@code h2c} is denied
 * @param origin every value of {@code Origin}
 * @param accessControlRequestMethod every value of {@code Access-Control-Request-Method}
 * @param dpop every value of {@code DPoP}, one item per header line
 * @param certificate the certificate with which the client has authenticated its connection
 * @param matched the template that a router outside the gate has chosen, with its prefix, or an empty string if the router exposes none,
 *     as in a fallback; empty if no router is outside. An otherwise allowed request is denied if the router chose another route
 * @param bonus whether the request allows bonus orbs
 */
public record GateRequest(
        String method,
        String target,
        List<String> authorization,
        List<String> headerNames,
        List<String> upgrade,
        List<String> origin,
        List<String> accessControlRequestMethod,
        List<String> dpop,
        Optional<X509Certificate> certificate,
        Optional<String> matched,
        BonusOrbs bonus) {

    /** Checks that nothing is null. */
    public GateRequest {
        Objects.requireNonNull(method, "method");
        Objects.requireNonNull(target, "target");
        authorization = List.copyOf(authorization);
        headerNames = List.copyOf(headerNames);
        upgrade = List.copyOf(upgrade);
        origin = List.copyOf(origin);
        accessControlRequestMethod = List.copyOf(accessControlRequestMethod);
        dpop = List.copyOf(dpop);
        Objects.requireNonNull(certificate, "certificate");
        Objects.requireNonNull(matched, "matched");
        Objects.requireNonNull(bonus, "bonus");
    }

    /**
     * A request whose body nobody has read, without a router outside the gate.
     *
     * @param headers the values of each header, one item per header line; names in any case
     */
    public GateRequest(String method, String target, Map<String, ? extends Collection<String>> headers) {
        this(
                method,
                target,
                values(headers, "Authorization"),
                List.copyOf(headers.keySet()),
                values(headers, "Upgrade"),
                values(headers, "Origin"),
                values(headers, "Access-Control-Request-Method"),
                values(headers, "DPoP"),
                Optional.empty(),
                Optional.empty(),
                BonusOrbs.UNREAD);
    }

    private static List<String> values(Map<String, ? extends Collection<String>> headers, String name) {
        return headers.entrySet().stream()
                .filter(header -> header.getKey().equalsIgnoreCase(name))
                .<String>flatMap(header -> header.getValue().stream())
                .toList();
    }

    /** The same request, which a router has routed to this template; an empty string if the router exposes none. */
    public GateRequest matched(String template) {
        return with(certificate, Optional.of(template), bonus);
    }

    /** The same request, with or without bonus orbs. */
    public GateRequest bonus(BonusOrbs bonus) {
        return with(certificate, matched, bonus);
    }

    /** The same request, of a client with this certificate: take it from the server that ended TLS. */
    public GateRequest certificate(X509Certificate certificate) {
        return with(Optional.of(certificate), matched, bonus);
    }

    /** The question to the library, without its times. */
    Messages.Ask question() {
        Messages.Ask ask = new Messages.Ask();
        ask.method = Text.ofRequest(method, "method");
        ask.target = Text.ofRequest(target, "target");
        ask.authorization = texts(authorization);
        ask.headerNames = texts(headerNames);
        ask.upgrade = texts(upgrade);
        ask.origin = texts(origin);
        ask.accessControlRequestMethod = texts(accessControlRequestMethod);
        ask.dpop = texts(dpop);
        ask.certificate = certificate.map(GateRequest::der).orElse(ask.certificate);
        if (matched.isPresent()) {
            ask.matched = matched.get().isEmpty() ? Layout.MATCHED_UNKNOWN : Layout.MATCHED_TEMPLATE;
            ask.pathTemplate = matched.get();
        }
        ask.allowBonusOrbs = bonus == BonusOrbs.ALLOW;
        ask.readsBonusOrbs = bonus != BonusOrbs.UNREAD;
        ask.holdsThread = true;
        return ask;
    }

    private static List<byte[]> texts(List<String> texts) {
        if (texts.isEmpty()) {
            return List.of();
        }
        List<byte[]> all = new ArrayList<>(texts.size());
        texts.forEach(text -> all.add(Text.ofRequest(text, "a header")));
        return all;
    }

    private static byte[] der(X509Certificate certificate) {
        try {
            return certificate.getEncoded();
        } catch (CertificateEncodingException error) {
            throw new IllegalArgumentException("the certificate can't be encoded", error);
        }
    }

    private GateRequest with(Optional<X509Certificate> certificate, Optional<String> matched, BonusOrbs bonus) {
        return new GateRequest(
                method,
                target,
                authorization,
                headerNames,
                upgrade,
                origin,
                accessControlRequestMethod,
                dpop,
                certificate,
                matched,
                bonus);
    }

    /** Method and target, without any part of a token. */
    @Override
    public String toString() {
        return method + " " + target;
    }
}
