import com.nimbusds.jose.JOSEObjectType;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.JWSSigner;
import com.nimbusds.jose.crypto.ECDSASigner;
import com.nimbusds.jose.crypto.RSASSASigner;
import com.nimbusds.jose.jwk.Curve;
import com.nimbusds.jose.jwk.ECKey;
import com.nimbusds.jose.jwk.JWK;
import com.nimbusds.jose.jwk.JWKSet;
import com.nimbusds.jose.jwk.RSAKey;
import com.nimbusds.jose.jwk.gen.ECKeyGenerator;
import com.nimbusds.jose.jwk.gen.RSAKeyGenerator;
import com.nimbusds.jose.jwk.source.ImmutableJWKSet;
import com.nimbusds.jose.proc.DefaultJOSEObjectTypeVerifier;
import com.nimbusds.jose.proc.JWSVerificationKeySelector;
import com.nimbusds.jose.proc.SecurityContext;
import com.nimbusds.jwt.JWTClaimsSet;
import com.nimbusds.jwt.SignedJWT;
import com.nimbusds.jwt.proc.DefaultJWTClaimsVerifier;
import com.nimbusds.jwt.proc.DefaultJWTProcessor;
import com.sun.management.OperatingSystemMXBean;
import com.sun.net.httpserver.HttpServer;
import io.github.orbgate.Engine;
import io.github.orbgate.Gate;
import io.github.orbgate.GateRequest;
import io.github.orbgate.Handle;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Date;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * What a gate takes from a bearer header to its answer, beside nimbus-jose-jwt verifying the same tokens alone: {@code benches/gates.py} runs it.
 *
 * <p>Each turn prints {@code ALGORITHM GATE NIMBUS}, in nanoseconds of processor time a token, of all threads. nimbus has its keys
 * ready, and checks signature, type, issuer, audience and expiry; the gate does that, reads kind and scopes, and decides.
 */
final class Speed {
    private static final int TURNS = 10;
    /** They take about a tenth of a second: the processor time of a process comes in steps of 10 ms. */
    private static final int CALLS = 1000;
    private static final String AUDIENCE = "https://service.test";
    private static final OperatingSystemMXBean SYSTEM =
            (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();

    private interface Check {
        boolean passes(String token) throws Exception;
    }

    public static void main(String[] arguments) throws Exception {
        RSAKey rsa = new RSAKeyGenerator(2048).keyID("one").generate();
        measure(JWSAlgorithm.RS256, rsa, new RSASSASigner(rsa));
        ECKey curve = new ECKeyGenerator(Curve.P_256).keyID("one").generate();
        measure(JWSAlgorithm.ES256, curve, new ECDSASigner(curve));
    }

    private static void measure(JWSAlgorithm algorithm, JWK key, JWSSigner signer) throws Exception {
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        byte[] keys = new JWKSet(key.toPublicJWK()).toString().getBytes(StandardCharsets.UTF_8);
        server.createContext("/", exchange -> {
            exchange.sendResponseHeaders(200, keys.length);
            exchange.getResponseBody().write(keys);
            exchange.close();
        });
        server.start();
        String issuer = "http://127.0.0.1:" + server.getAddress().getPort();
        String tokens = "orbgate_token: 1\nissuers: [{ issuer: '%s', audience: '%s', algorithms: [%s], kind: user, jwks_uri: '%s' }]\n"
                .formatted(issuer, AUDIENCE, algorithm, issuer);
        try (Engine engine = Engine.external();
                Gate gate = Gate.of(new Handle(engine), tokens)) {
            List<String> none = List.of("x");
            Check byGate = token -> gate.ask(new GateRequest(
                            "GET",
                            "/api/v1/external/orbs",
                            Map.of("Host", none, "User-Agent", none, "Accept", none, "Authorization", List.of("Bearer " + token))))
                    .isAllow();
            Check byPeer = peer(algorithm, key, issuer);
            List<String> signed = signed(algorithm, signer, issuer);
            // Java's compiler needs some calls, and the first one fetches the keys.
            for (int turn = 0; turn < 10; turn++) {
                nanoseconds(signed, byGate);
                nanoseconds(signed, byPeer);
            }
            for (int turn = 0; turn < TURNS; turn++) {
                System.out.println(algorithm + " " + nanoseconds(signed, byGate) + " " + nanoseconds(signed, byPeer));
            }
        } finally {
            server.stop(0);
        }
    }

    private static Check peer(JWSAlgorithm algorithm, JWK key, String issuer) {
        DefaultJWTProcessor<SecurityContext> nimbus = new DefaultJWTProcessor<>();
        nimbus.setJWSTypeVerifier(new DefaultJOSEObjectTypeVerifier<>(new JOSEObjectType("at+jwt")));
        nimbus.setJWSKeySelector(
                new JWSVerificationKeySelector<>(algorithm, new ImmutableJWKSet<>(new JWKSet(key.toPublicJWK()))));
        JWTClaimsSet exact = new JWTClaimsSet.Builder().issuer(issuer).build();
        nimbus.setJWTClaimsSetVerifier(new DefaultJWTClaimsVerifier<>(AUDIENCE, exact, Set.of("exp")));
        return token -> nimbus.process(token, null).getSubject() != null;
    }

    private static List<String> signed(JWSAlgorithm algorithm, JWSSigner signer, String issuer) throws Exception {
        JWSHeader header = new JWSHeader.Builder(algorithm)
                .type(new JOSEObjectType("at+jwt"))
                .keyID("one")
                .build();
        Date expires = new Date(System.currentTimeMillis() + 600_000);
        List<String> all = new ArrayList<>();
        for (int at = 0; at < CALLS; at++) {
            JWTClaimsSet claims = new JWTClaimsSet.Builder()
                    .issuer(issuer)
                    .audience(AUDIENCE)
                    .subject("user-" + at)
                    .claim("client_id", "app")
                    .expirationTime(expires)
                    .claim("scope", "read:orbs")
                    .build();
            SignedJWT token = new SignedJWT(header, claims);
            token.sign(signer);
            all.add(token.serialize());
        }
        return all;
    }

    private static long nanoseconds(List<String> tokens, Check check) throws Exception {
        long start = SYSTEM.getProcessCpuTime();
        for (String token : tokens) {
            if (!check.passes(token)) {
                throw new AssertionError("a right token is refused");
            }
        }
        return (SYSTEM.getProcessCpuTime() - start) / tokens.size();
    }
}
