package io.github.orbgate.testing;

import com.sun.net.httpserver.HttpServer;
import io.github.orbgate.TokenKind;
import java.io.IOException;
import java.math.BigInteger;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.Signature;
import java.security.interfaces.ECPublicKey;
import java.security.spec.ECGenParameterSpec;
import java.time.Duration;
import java.time.Instant;
import java.util.Base64;
import java.util.Base64.Encoder;

/** A local issuer: it signs tokens, and serves its keys on its own port until it is closed. */
public final class TestIssuer implements AutoCloseable {
    private static final String AUDIENCE = "https://service.test";
    private static final Encoder BASE64 = Base64.getUrlEncoder().withoutPadding();

    private final KeyPair keys;
    private final HttpServer server;
    private final String name;

    /**
     * Starts an issuer with a new key.
     *
     * @throws IOException if there is no free port
     */
    public TestIssuer() throws IOException {
        try {
            KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
            generator.initialize(new ECGenParameterSpec("secp256r1"));
            keys = generator.generateKeyPair();
        } catch (GeneralSecurityException impossible) {
            throw new IllegalStateException("this Java has no ES256", impossible);
        }
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        name = "http://127.0.0.1:" + server.getAddress().getPort();
        byte[] jwks = jwks().getBytes(StandardCharsets.US_ASCII);
        server.createContext("/jwks", exchange -> {
            exchange.sendResponseHeaders(200, jwks.length);
            exchange.getResponseBody().write(jwks);
            exchange.close();
        });
        server.start();
    }

    private String jwks() {
        ECPublicKey key = (ECPublicKey) keys.getPublic();
        String x = coordinate(key.getW().getAffineX());
        String y = coordinate(key.getW().getAffineY());
        return "{\"keys\":[{\"kty\":\"EC\",\"crv\":\"P-256\",\"kid\":\"test\",\"x\":\"" + x + "\",\"y\":\"" + y + "\"}]}";
    }

    private static String coordinate(BigInteger number) {
        byte[] bytes = number.toByteArray();
        byte[] all = new byte[32];
        int length = Math.min(bytes.length, all.length);
        System.arraycopy(bytes, bytes.length - length, all, all.length - length, length);
        return BASE64.encodeToString(all);
    }

    /** The token configuration that trusts it: the second argument of a gate. */
    public String tokens() {
        return """
                orbgate_token: 1
                issuers:
                  - issuer: %s
                    audience: %s
                    jwks_uri: %s/jwks
                    algorithms: [ES256]
                    kind:
                      user: [{claim: token_kind, equals: user}]
                      organisation: [{claim: token_kind, equals: organisation}]
                    account: subject
                """
                .formatted(name, AUDIENCE, name);
    }

    /** An {@code Authorization} value with a token of this kind and these scopes, valid for ten minutes. */
    public String bearer(TokenKind kind, String scopes) {
        return bearer(kind, scopes, Duration.ofMinutes(10));
    }

    /** The same with another validity from now; with a negative duration it is expired. */
    public String bearer(TokenKind kind, String scopes, Duration valid) {
        long now = Instant.now().getEpochSecond();
        String claims = "{\"iss\":\"" + name + "\",\"aud\":\"" + AUDIENCE + "\",\"sub\":\"subject\",\"client_id\":\"client\""
                + ",\"iat\":" + (now - 3600) + ",\"exp\":" + (now + valid.toSeconds())
                + ",\"token_kind\":\"" + kind + "\",\"scope\":\"" + scopes + "\"}";
        return "Bearer " + signed("{\"alg\":\"ES256\",\"typ\":\"at+jwt\",\"kid\":\"test\"}", claims);
    }

    private String signed(String header, String claims) {
        String input = encoded(header) + "." + encoded(claims);
        try {
            Signature signer = Signature.getInstance("SHA256withECDSAinP1363Format");
            signer.initSign(keys.getPrivate());
            signer.update(input.getBytes(StandardCharsets.US_ASCII));
            return input + "." + BASE64.encodeToString(signer.sign());
        } catch (GeneralSecurityException impossible) {
            throw new IllegalStateException("this Java has no ES256", impossible);
        }
    }

    private static String encoded(String text) {
        return BASE64.encodeToString(text.getBytes(StandardCharsets.UTF_8));
    }

    @Override
    public void close() {
        server.stop(0);
    }
}
