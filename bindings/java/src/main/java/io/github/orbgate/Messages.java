package io.github.orbgate;

import static io.github.orbgate.Wire.CRITICAL;

import java.util.List;

/**
 * The messages of gates: questions, which this package writes, and answers, which it reads. {@code docs/messages.md} describes them.
 *
 * <p>Made of crates/orbgate-generate/shapes.txt by {@code cargo xtask codes}; not to be edited.
 */
final class Messages {
    private Messages() {}

    private static final byte[] NOTHING = {};

    /** A question to a gate. */
    interface Question extends Wire.Written {}

    /** The answer to a question. */
    abstract static sealed class Reply extends Wire.Read {
        Reply(Wire.Reader from) {
            super(from);
        }

        /**
         * Reads a message.
         *
         * @throws OrbgateException if it isn't an answer, or has something unknown and critical
         */
        static Reply read(byte[] message) {
            Wire.Reader fields = Wire.Reader.of(message);
            Reply reply = switch (fields.number) {
                case 64 -> new Done(fields);
                case 65 -> new Failed(fields);
                case 66 -> new Answer(fields);
                case 67 -> new Wait(fields);
                case 68 -> new CheckSignature(fields);
                case 69 -> new Call(fields);
                case 70 -> new Over(fields);
                case 72 -> new KeyStatus(fields);
                case 73 -> new RouteDifferences(fields);
                case 84 -> new Loaded(fields);
                default -> throw Wire.refused();
            };
            fields.end();
            return reply;
        }
    }

    static final class Make implements Question {
        byte[] tokens = NOTHING;
        boolean flat403;
        boolean ignoreMethodOverride;
        boolean signaturesOutside;
        boolean noStaleKeys;
        boolean introspection;
        long challenge;
        long templates;
        long corsPreflight;
        String realm = "";
        String resourceMetadata = "";
        long ttlMs;
        long ttlMinMs;
        long ttlMaxMs;
        long aheadPercent;
        long maxStaleMs;
        long cooldownMs;
        long burst;
        long retryMs;
        long timeoutMs;
        List<String> publicRoutes = List.of();
        List<Secret> secrets = List.of();
        String mcp = "";
        String mcpInitialScopes = "";
        long mcpMostBytes;
        boolean mcpDenyLegacy;
        String metadata = "";
        List<String> mcpOrigins = List.of();
        boolean mcpChargeSessions;
        boolean proofs;

        @Override
        public void write(Wire.Writer to) {
            to.begin(2);
            to.put(1, tokens);
            to.put(2, flat403);
            to.put(3, ignoreMethodOverride);
            to.put(4, signaturesOutside);
            to.put(5, noStaleKeys);
            to.put(6, introspection);
            to.put(7, challenge);
            to.put(8, templates);
            to.put(9, corsPreflight);
            to.put(10, realm);
            to.put(11, resourceMetadata);
            to.put(12, ttlMs);
            to.put(13, ttlMinMs);
            to.put(14, ttlMaxMs);
            to.put(15, aheadPercent);
            to.put(16, maxStaleMs);
            to.put(17, cooldownMs);
            to.put(18, burst);
            to.put(19, retryMs);
            to.put(20, timeoutMs);
            to.texts(21, publicRoutes);
            to.parts(22, secrets);
            to.put(23, mcp);
            to.put(24, mcpInitialScopes);
            to.put(25, mcpMostBytes);
            to.put(26, mcpDenyLegacy);
            to.put(27, metadata);
            to.texts(28, mcpOrigins);
            to.put(29, mcpChargeSessions);
            to.put(30, proofs);
        }
    }

    static final class Ask implements Question {
        byte[] method = NOTHING;
        byte[] target = NOTHING;
        List<byte[]> authorization = List.of();
        List<byte[]> headerNames = List.of();
        List<byte[]> upgrade = List.of();
        List<byte[]> origin = List.of();
        List<byte[]> accessControlRequestMethod = List.of();
        long matched;
        String pathTemplate = "";
        boolean allowBonusOrbs;
        boolean withAudit;
        boolean holdsThread;
        long unixMs;
        long monotonicMs;
        boolean readsBonusOrbs;
        List<byte[]> dpop = List.of();
        byte[] certificate = NOTHING;
        boolean repeats;
        boolean charges;
        boolean hasAmount;
        long amount;
        long unpaid;
        long retryAfterMs;
        boolean amountFailed;
        boolean keeps;
        boolean again;
        byte[] hold = NOTHING;
        List<byte[]> accessControlRequestHeaders = List.of();

        @Override
        public void write(Wire.Writer to) {
            to.begin(3);
            to.put(1, method);
            to.put(2, target);
            to.items(3, authorization);
            to.items(4, headerNames);
            to.items(5, upgrade);
            to.items(6, origin);
            to.items(7, accessControlRequestMethod);
            to.put(8, matched);
            to.put(9, pathTemplate);
            to.put(10, allowBonusOrbs);
            to.put(11, withAudit);
            to.put(12, holdsThread);
            to.put(13, unixMs);
            to.put(14, monotonicMs);
            to.put(15, readsBonusOrbs);
            to.items(16, dpop);
            to.put(17, certificate);
            to.put(18, repeats);
            to.put(20, charges);
            to.put(21, hasAmount);
            to.put(22, amount);
            to.put(23, unpaid);
            to.put(24, retryAfterMs);
            to.put(25, amountFailed);
            to.put(26, keeps);
            to.put(27, again);
            to.put(28, hold);
            to.items(29, accessControlRequestHeaders);
        }
    }

    static final class Resume implements Question {
        long unixMs;
        long monotonicMs;

        @Override
        public void write(Wire.Writer to) {
            to.begin(4);
            to.put(1, unixMs);
            to.put(2, monotonicMs);
        }
    }

    static final class IsOver implements Question {
        long monotonicMs;

        @Override
        public void write(Wire.Writer to) {
            to.begin(6);
            to.put(1, monotonicMs);
        }
    }

    static final class NextCall implements Question {
        long monotonicMs;

        @Override
        public void write(Wire.Writer to) {
            to.begin(7);
            to.put(1, monotonicMs);
        }
    }

    static final class Called implements Question {
        long attempt;
        long failure;
        long status;
        List<Header> headers = List.of();
        byte[] body = NOTHING;
        long monotonicMs;

        @Override
        public void write(Wire.Writer to) {
            to.begin(8);
            to.put(1, attempt);
            to.put(2, failure);
            to.put(3, status);
            to.parts(4, headers);
            to.put(5, body);
            to.put(6, monotonicMs);
        }
    }

    static final class Warm implements Question {
        long monotonicMs;

        @Override
        public void write(Wire.Writer to) {
            to.begin(9);
            to.put(1, monotonicMs);
        }
    }

    static final class Revoke implements Question {
        byte[] issuer = NOTHING;
        String kid = "";

        @Override
        public void write(Wire.Writer to) {
            to.begin(10);
            to.put(1, issuer);
            to.put(2, kid);
        }
    }

    static final class Forget implements Question {
        byte[] issuer = NOTHING;

        @Override
        public void write(Wire.Writer to) {
            to.begin(11);
            to.put(1, issuer);
        }
    }

    static final class Status implements Question {
        @Override
        public void write(Wire.Writer to) {
            to.begin(13);
        }
    }

    static final class CheckEngine implements Question {
        @Override
        public void write(Wire.Writer to) {
            to.begin(14);
        }
    }

    static final class CheckRoutes implements Question {
        List<ServiceRoute> routes = List.of();
        long templates;

        @Override
        public void write(Wire.Writer to) {
            to.begin(15);
            to.parts(1, routes);
            to.put(2, templates);
        }
    }

    static final class Drop implements Question {
        @Override
        public void write(Wire.Writer to) {
            to.begin(16);
        }
    }

    static final class Reload implements Question {
        byte[] policy = NOTHING;
        String failure = "";
        boolean requireSeal;
        boolean refuseWider;
        List<Secret> secrets = List.of();
        long intervalMs;
        boolean isTold;
        long monotonicMs;
        String file = "";
        String secretsFailure = "";
        boolean hasLedger;
        List<String> amounts = List.of();

        @Override
        public void write(Wire.Writer to) {
            to.begin(24);
            to.put(1, policy);
            to.put(2, failure);
            to.put(3, requireSeal);
            to.put(4, refuseWider);
            to.parts(5, secrets);
            to.put(6, intervalMs);
            to.put(7, isTold);
            to.put(8, monotonicMs);
            to.put(9, file);
            to.put(10, secretsFailure);
            to.put(11, hasLedger);
            to.texts(12, amounts);
        }
    }

    static final class Secret implements Wire.Written {
        byte[] value;

        @Override
        public void write(Wire.Writer to) {
            to.optional(1, value);
        }
    }

    static final class Header implements Wire.Written {
        byte[] name = NOTHING;
        byte[] value = NOTHING;

        @Override
        public void write(Wire.Writer to) {
            to.put(1, name);
            to.put(2, value);
        }
    }

    static final class ServiceRoute implements Wire.Written {
        String method = "";
        String pathTemplate = "";

        @Override
        public void write(Wire.Writer to) {
            to.put(1, method);
            to.put(2, pathTemplate);
        }
    }

    static final class Done extends Reply {
        String notices = from.text(1, "");
        String levels = from.text(2, "");

        Done(Wire.Reader from) {
            super(from);
        }
    }

    static final class Failed extends Reply {
        long status = from.integer(CRITICAL | 1);
        String message = from.text(2, "");
        List<Diagnostic> diagnostics = from.parts(3, Diagnostic::new);

        Failed(Wire.Reader from) {
            super(from);
        }
    }

    static final class Answer extends Reply {
        long packed = from.integer(CRITICAL | 1);
        long httpStatus = from.integer(CRITICAL | 2);
        boolean preflight = from.isThere(CRITICAL | 3);
        String wwwAuthenticate = from.text(4, null);
        String allow = from.text(5, null);
        String refused = from.text(6, "");
        String misrouted = from.text(7, null);
        String publicTemplate = from.text(8, "");
        String audit = from.text(9, null);
        Token token = from.part(10, Token::new);
        boolean mayCall = from.isThere(11);
        byte[] body = from.bytes(CRITICAL | 12, null);
        List<CallHeader> headers = from.parts(13, CallHeader::new);
        long retryAfter = from.integer(14);

        Answer(Wire.Reader from) {
            super(from);
        }
    }

    static final class Wait extends Reply {
        long untilMs = from.integer(CRITICAL | 1);
        boolean mayCall = from.isThere(2);

        Wait(Wire.Reader from) {
            super(from);
        }
    }

    static final class CheckSignature extends Reply {
        String algorithm = from.text(CRITICAL | 1, "");
        String key = from.text(CRITICAL | 2, "");
        byte[] token = from.bytes(CRITICAL | 3, NOTHING);
        long signed = from.integer(CRITICAL | 4);
        byte[] signature = from.bytes(CRITICAL | 5, NOTHING);
        boolean mayCall = from.isThere(6);

        CheckSignature(Wire.Reader from) {
            super(from);
        }
    }

    static final class Call extends Reply {
        long attempt = from.integer(CRITICAL | 1);
        String method = from.text(CRITICAL | 2, "");
        String url = from.text(CRITICAL | 3, "");
        List<CallHeader> headers = from.parts(CRITICAL | 4, CallHeader::new);
        byte[] body = from.bytes(CRITICAL | 5, null);
        long timeoutMs = from.integer(CRITICAL | 6);
        long maxBytes = from.integer(CRITICAL | 7);

        Call(Wire.Reader from) {
            super(from);
        }
    }

    static final class Over extends Reply {
        boolean isOver = from.isThere(CRITICAL | 1);

        Over(Wire.Reader from) {
            super(from);
        }
    }

    static final class KeyStatus extends Reply {
        List<IssuerStatus> issuers = from.parts(1, IssuerStatus::new);

        KeyStatus(Wire.Reader from) {
            super(from);
        }
    }

    static final class RouteDifferences extends Reply {
        List<RouteDifference> differences = from.parts(CRITICAL | 1, RouteDifference::new);

        RouteDifferences(Wire.Reader from) {
            super(from);
        }
    }

    static final class Loaded extends Reply {
        boolean isLoaded = from.isThere(CRITICAL | 1);
        String result = from.text(2, "");
        String message = from.text(3, "");
        String warning = from.text(4, "");
        long status = from.integer(5);
        List<Diagnostic> diagnostics = from.parts(6, Diagnostic::new);
        long pauseMs = from.integer(7);
        String reason = from.text(8, "");

        Loaded(Wire.Reader from) {
            super(from);
        }
    }

    static final class Diagnostic extends Wire.Read {
        long line = from.integer(1);
        long column = from.integer(2);
        String message = from.text(3, "");

        Diagnostic(Wire.Reader from) {
            super(from);
        }
    }

    static final class Token extends Wire.Read {
        long kind = from.integer(1);
        String scopes = from.text(2, "");
        String issuer = from.text(3, "");
        String subject = from.text(4, "");
        String client = from.text(5, "");
        String actor = from.text(6, "");
        String id = from.text(7, "");
        String fingerprint = from.text(8, "");
        long expiresMs = from.integer(9);

        Token(Wire.Reader from) {
            super(from);
        }
    }

    static final class CallHeader extends Wire.Read {
        String name = from.text(CRITICAL | 1, "");
        String value = from.text(CRITICAL | 2, "");

        CallHeader(Wire.Reader from) {
            super(from);
        }
    }

    static final class IssuerStatus extends Wire.Read {
        String issuer = from.text(1, "");
        long keyCount = from.integer(2);
        long fetchedMs = from.integer(3);
        String failure = from.text(4, "");
        String warnings = from.text(5, "");
        boolean opaque = from.isThere(6);

        IssuerStatus(Wire.Reader from) {
            super(from);
        }
    }

    static final class RouteDifference extends Wire.Read {
        long kind = from.integer(CRITICAL | 1);
        String route = from.text(CRITICAL | 2, "");
        String decidedAs = from.text(3, "");

        RouteDifference(Wire.Reader from) {
            super(from);
        }
    }
}
