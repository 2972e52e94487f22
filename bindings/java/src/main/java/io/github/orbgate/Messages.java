package io.github.orbgate;

import java.util.ArrayList;
import java.util.List;

/**
 * The messages of gates: questions, which this package writes, and answers, which it reads.
 *
 * <p>Made of crates/orbgate-capi/src/generate/shapes.txt by {@code cargo xtask codes}; not to be edited.
 */
final class Messages {
    private Messages() {}

    private static final byte[] NOTHING = {};

    /** A question to a gate. */
    interface Question {
        /** Writes it as a message. */
        void write(Wire.Writer to);
    }

    /** The answer to a question. */
    sealed interface Reply permits Done, Failed, Answer, Wait, CheckSignature, Call, Over, SecretSources, KeyStatus, RouteDifferences, ReadBody, Loaded, Charge, HoldStep, LedgerCall, Ledgered, Responded, VisibleNames {
        /**
         * Reads a message.
         *
         * @throws OrbgateException if it isn't an answer, or has something unknown and critical
         */
        static Reply read(byte[] message) {
            Wire.Reader whole = new Wire.Reader(message);
            int number = whole.onlyField();
            Wire.Reader fields = whole.part();
            return switch (number) {
                case 64 -> Done.read(fields);
                case 65 -> Failed.read(fields);
                case 66 -> Answer.read(fields);
                case 67 -> Wait.read(fields);
                case 68 -> CheckSignature.read(fields);
                case 69 -> Call.read(fields);
                case 70 -> Over.read(fields);
                case 71 -> SecretSources.read(fields);
                case 72 -> KeyStatus.read(fields);
                case 73 -> RouteDifferences.read(fields);
                case 74 -> ReadBody.read(fields);
                case 84 -> Loaded.read(fields);
                case 90 -> Charge.read(fields);
                case 91 -> HoldStep.read(fields);
                case 92 -> LedgerCall.read(fields);
                case 93 -> Ledgered.read(fields);
                case 94 -> Responded.read(fields);
                case 98 -> VisibleNames.read(fields);
                default -> throw Wire.refused();
            };
        }
    }

    /** Asks which secrets a token configuration needs. Answered by {@code SecretSources} or {@code Failed}. */
    static final class Sources implements Question {
        /** The token configuration, in YAML. */
        byte[] tokens = NOTHING;

        @Override
        public void write(Wire.Writer to) {
            int start = to.begin(1);
            to.put(1, tokens);
            to.end(start);
        }
    }

    /** Makes a gate. Answered by {@code Done} or {@code Failed}; after {@code Done}, {@code orbgate_step_gate} returns the gate. */
    static final class Make implements Question {
        /** The token configuration, in YAML: which tokens are accepted. */
        byte[] tokens = NOTHING;

        /** Every denial has the status 403, so an unknown route looks like a missing scope. */
        boolean flat403;

        /** No header can override a {@code POST}. Unsafe if the service follows such headers. */
        boolean ignoreMethodOverride;

        /** The host checks signatures. A library without cryptography requires it. */
        boolean signaturesOutside;

        /** No key is used after its time; {@code max_stale_ms} must be 0. */
        boolean noStaleKeys;

        /** The host sends calls that have a body, which issuers of opaque tokens need. */
        boolean introspection;

        /** An {@code ORBGATE_CHALLENGE_*} number: the {@code WWW-Authenticate} header of denials. */
        long challenge;

        /** An {@code ORBGATE_TEMPLATES_*} number: the router's syntax for parameters. */
        long templates;

        /** An {@code ORBGATE_CORS_PREFLIGHT_*} number: how a CORS preflight is decided. */
        long corsPreflight;

        /** The realm of a full challenge: printable ASCII without {@code "} and {@code \}. */
        String realm = "";

        /** The {@code https} URL of the service's metadata in a full challenge (RFC 9728). */
        String resourceMetadata = "";

        /** How long keys are fresh if the issuer sends no usable {@code Cache-Control}. 0 selects 600 s. */
        long ttlMs;

        /** The shortest time that an issuer can set. 0 selects 60 s. */
        long ttlMinMs;

        /** The longest time that an issuer can set. 0 selects 3,600 s. */
        long ttlMaxMs;

        /** The percentage of keys' time after which a token starts a call ahead. 0 selects 80. */
        long aheadPercent;

        /** How long stale keys are used if new ones can't be fetched. 0 selects 3,600 s. */
        long maxStaleMs;

        /** The time between two attempts. 0 selects 30 s. */
        long cooldownMs;

        /** How many attempts tokens with unknown keys can start at once and per cooldown. 0 selects 4. */
        long burst;

        /** The time between two attempts while there are no keys. 0 selects 1 s. */
        long retryMs;

        /** The time limit for one attempt. 0 selects 5 s. */
        long timeoutMs;

        /** Routes that need no token, as in a policy with the whole path: {@code GET /healthz}. */
        List<String> publicRoutes = List.of();

        /** Secrets in the order of {@code SecretSources}. Empty: the library reads them all. */
        List<Secret> secrets = List.of();

        /** The path of an MCP endpoint, whose requests are decided by the operations in their bodies. */
        String mcp = "";

        /** The scopes that a client without a token should ask for, separated by spaces. */
        String mcpInitialScopes = "";

        /** The longest body of the endpoint, at most 8 MiB. 0 selects 4 MiB. */
        long mcpMostBytes;

        /** Requests of protocol versions without the headers of MCP are denied. */
        boolean mcpDenyLegacy;

        /** The URL of the protected resource, whose metadata (RFC 9728) the gate serves. */
        String metadata = "";

        /** Origins whose pages may send requests to the endpoint, such as {@code https://app.example}. */
        List<String> mcpOrigins = List.of();

        @Override
        public void write(Wire.Writer to) {
            int start = to.begin(2);
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
            for (String one : publicRoutes) {
                to.item(21, one);
            }
            for (Secret one : secrets) {
                int part = to.begin(22);
                one.write(to);
                to.end(part);
            }
            to.put(23, mcp);
            to.put(24, mcpInitialScopes);
            to.put(25, mcpMostBytes);
            to.put(26, mcpDenyLegacy);
            to.put(27, metadata);
            for (String one : mcpOrigins) {
                to.item(28, one);
            }
            to.end(start);
        }
    }

    /** Starts a request, as received: neither decoded nor joined. Answered by {@code Answer}, {@code Wait}, {@code CheckSignature}, {@code ReadBody} or {@code Charge}. */
    static final class Ask implements Question {
        /** The method. */
        byte[] method = NOTHING;

        /** The target: path and query, in the bytes of the request line or of {@code :path}. */
        byte[] target = NOTHING;

        /** Every value of {@code Authorization}, one item for each header line. */
        List<byte[]> authorization = List.of();

        /** The names of all headers, or at least those that contain {@code method}, in any letter case. */
        List<byte[]> headerNames = List.of();

        /** Every value of {@code Upgrade}. A request that lists {@code h2c} is denied. */
        List<byte[]> upgrade = List.of();

        /** Every value of {@code Origin}. */
        List<byte[]> origin = List.of();

        /** Every value of {@code Access-Control-Request-Method}. */
        List<byte[]> accessControlRequestMethod = List.of();

        /** An {@code ORBGATE_MATCHED_*} number: what a router before the gate has chosen. */
        long matched;

        /** With {@code ORBGATE_MATCHED_TEMPLATE}, that template with any prefix, in the gate's syntax. */
        String pathTemplate = "";

        /** The request allows bonus orbs. */
        boolean allowBonusOrbs;

        /** The answer has a line for an audit log. */
        boolean withAudit;

        /** A thread blocks while it waits: only one such request waits longer than a second. */
        boolean holdsThread;

        /** The time since 1970, which determines whether tokens are valid. */
        long unixMs;

        /** The time on the monotonic clock, which determines when keys are fetched. */
        long monotonicMs;

        /** The host reads {@code allow_bonus_orbs}, so the audit's {@code bonus_allowed} isn't null. */
        boolean readsBonusOrbs;

        /** A ledger must hold the call's orbs: if it consumes, answered by {@code Charge}, or by a denial. */
        boolean charges;

        /** A function has returned how many orbs the call consumes; otherwise the policy states it. */
        boolean hasAmount;

        /** What the function has returned. 0 holds nothing. */
        long amount;

        /** The {@code unpaid} of a {@code HoldStep} that has denied the call: answered by its denial. */
        long unpaid;

        /** That of the same {@code HoldStep}. */
        long retryAfterMs;

        /** The function has failed, so the call is denied. */
        boolean amountFailed;

        /** After an allow that consumes, and after {@code Charge}, the step keeps the token for {@code again}. */
        boolean keeps;

        /** The request of the last answer: its token isn't verified again, the rest counts as it is. */
        boolean again;

        /** With {@code charges}, the {@code id} of the {@code Hold} that follows: 16 random bytes. {@code Charge} names it. */
        byte[] hold = NOTHING;

        @Override
        public void write(Wire.Writer to) {
            int start = to.begin(3);
            to.put(1, method);
            to.put(2, target);
            for (byte[] one : authorization) {
                to.item(3, one);
            }
            for (byte[] one : headerNames) {
                to.item(4, one);
            }
            for (byte[] one : upgrade) {
                to.item(5, one);
            }
            for (byte[] one : origin) {
                to.item(6, one);
            }
            for (byte[] one : accessControlRequestMethod) {
                to.item(7, one);
            }
            to.put(8, matched);
            to.put(9, pathTemplate);
            to.put(10, allowBonusOrbs);
            to.put(11, withAudit);
            to.put(12, holdsThread);
            to.put(13, unixMs);
            to.put(14, monotonicMs);
            to.put(15, readsBonusOrbs);
            to.put(20, charges);
            to.put(21, hasAmount);
            to.put(22, amount);
            to.put(23, unpaid);
            to.put(24, retryAfterMs);
            to.put(25, amountFailed);
            to.put(26, keeps);
            to.put(27, again);
            to.put(28, hold);
            to.end(start);
        }
    }

    /** Resumes a step after its {@code Wait} is over. The engine can be a later one. Answered like {@code Ask}. */
    static final class Resume implements Question {
        /** The time since 1970. */
        long unixMs;

        /** The time on the monotonic clock. */
        long monotonicMs;

        @Override
        public void write(Wire.Writer to) {
            int start = to.begin(4);
            to.put(1, unixMs);
            to.put(2, monotonicMs);
            to.end(start);
        }
    }

    /** Resumes a step after its signature was checked. Answered by {@code Answer}, {@code ReadBody} or {@code Charge}. */
    static final class Checked implements Question {
        /** The signature is valid. */
        boolean isRight;

        /** The first 8 bytes of the token's SHA-256 hash, or 0 if the library must hash it. */
        long tokenHash;

        /** The time since 1970. */
        long unixMs;

        /** The time on the monotonic clock. */
        long monotonicMs;

        @Override
        public void write(Wire.Writer to) {
            int start = to.begin(5);
            to.put(1, isRight);
            to.put(2, tokenHash);
            to.put(3, unixMs);
            to.put(4, monotonicMs);
            to.end(start);
        }
    }

    /** Asks whether a step's wait is over, after each report and at {@code until_ms}. Answered by {@code Over}. */
    static final class IsOver implements Question {
        /** The time on the monotonic clock. */
        long monotonicMs;

        @Override
        public void write(Wire.Writer to) {
            int start = to.begin(6);
            to.put(1, monotonicMs);
            to.end(start);
        }
    }

    /** Asks for the next call: at the start, after {@code ReadSecrets}, and after answers with {@code may_call}, until {@code Done}. Answered by {@code Call} or {@code Done}. */
    static final class NextCall implements Question {
        /** The time on the monotonic clock. */
        long monotonicMs;

        @Override
        public void write(Wire.Writer to) {
            int start = to.begin(7);
            to.put(1, monotonicMs);
            to.end(start);
        }
    }

    /** Reports the result of a call. Answered by {@code Call}, the next one of the attempt, or by {@code Done}: then steps that wait can be resumed. */
    static final class Called implements Question {
        /** The attempt of the call. A report for one that is over has no effect. */
        long attempt;

        /** An {@code ORBGATE_FETCH_*} number if there is no response; otherwise 0. */
        long failure;

        /** The status of the response. */
        long status;

        /** Its headers, or at least each {@code Cache-Control}. */
        List<Header> headers = List.of();

        /** Its body, which can be left out if the status isn't 200. */
        byte[] body = NOTHING;

        /** The time on the monotonic clock. */
        long monotonicMs;

        @Override
        public void write(Wire.Writer to) {
            int start = to.begin(8);
            to.put(1, attempt);
            to.put(2, failure);
            to.put(3, status);
            for (Header one : headers) {
                int part = to.begin(4);
                one.write(to);
                to.end(part);
            }
            to.put(5, body);
            to.put(6, monotonicMs);
            to.end(start);
        }
    }

    /** Requests every issuer's keys, as far as the settings allow. Answered by {@code Done}; then ask {@code NextCall}. */
    static final class Warm implements Question {
        /** The time on the monotonic clock. */
        long monotonicMs;

        @Override
        public void write(Wire.Writer to) {
            int start = to.begin(9);
            to.put(1, monotonicMs);
            to.end(start);
        }
    }

    /** Never uses a key again. Answered by {@code Done}; an unknown issuer gives {@code ORBGATE_STATUS_NOT_FOUND}. */
    static final class Revoke implements Question {
        /** The issuer. */
        byte[] issuer = NOTHING;

        /** The key's {@code kid}. */
        String kid = "";

        @Override
        public void write(Wire.Writer to) {
            int start = to.begin(10);
            to.put(1, issuer);
            to.put(2, kid);
            to.end(start);
        }
    }

    /** Forgets an issuer's keys or answers about tokens, when it has withdrawn one. Answered like {@code Revoke}. */
    static final class Forget implements Question {
        /** The issuer. */
        byte[] issuer = NOTHING;

        @Override
        public void write(Wire.Writer to) {
            int start = to.begin(11);
            to.put(1, issuer);
            to.end(start);
        }
    }

    /** Reads the secrets again. If one can't be read, all stay. Answered by {@code Done} or {@code Failed}. */
    static final class ReadSecrets implements Question {
        /** As in {@code Make}. */
        List<Secret> secrets = List.of();

        @Override
        public void write(Wire.Writer to) {
            int start = to.begin(12);
            for (Secret one : secrets) {
                int part = to.begin(1);
                one.write(to);
                to.end(part);
            }
            to.end(start);
        }
    }

    /** Asks for the status of each issuer's keys. Answered by {@code KeyStatus}. */
    static final class Status implements Question {
        @Override
        public void write(Wire.Writer to) {
            int start = to.begin(13);
            to.end(start);
        }
    }

    /** Checks that no path has a public route and one of the policy. Answered by {@code Done} or {@code Failed}. */
    static final class CheckEngine implements Question {
        @Override
        public void write(Wire.Writer to) {
            int start = to.begin(14);
            to.end(start);
        }
    }

    /** Compares a service's routes with the policy's and the gate's. Answered by {@code RouteDifferences}. */
    static final class CheckRoutes implements Question {
        /** The routes of the service. */
        List<ServiceRoute> routes = List.of();

        /** Without a gate, an {@code ORBGATE_TEMPLATES_*} number: the syntax of the templates. */
        long templates;

        @Override
        public void write(Wire.Writer to) {
            int start = to.begin(15);
            for (ServiceRoute one : routes) {
                int part = to.begin(1);
                one.write(to);
                to.end(part);
            }
            to.put(2, templates);
            to.end(start);
        }
    }

    /** Ends a step's request, for example when the client disconnects. Answered by {@code Done}. */
    static final class Drop implements Question {
        @Override
        public void write(Wire.Writer to) {
            int start = to.begin(16);
            to.end(start);
        }
    }

    /** Decides a request after its {@code ReadBody}. Answered by {@code Answer} or {@code Charge}. */
    static final class Body implements Question {
        /** The whole body as received, unless one of the flags is set. */
        byte[] body = NOTHING;

        /** The body is longer than allowed. */
        boolean tooLarge;

        /** Header lines, at least each that starts with {@code content} or {@code mcp} in any case. */
        List<Header> headers = List.of();

        /** The time since 1970, for the audit log. */
        long unixMs;

        /** There was no room for the body. */
        boolean busy;

        /** The body couldn't be read. */
        boolean unreadable;

        @Override
        public void write(Wire.Writer to) {
            int start = to.begin(17);
            to.put(1, body);
            to.put(2, tooLarge);
            for (Header one : headers) {
                int part = to.begin(3);
                one.write(to);
                to.end(part);
            }
            to.put(4, unixMs);
            to.put(5, busy);
            to.put(6, unreadable);
            to.end(start);
        }
    }

    /** Checks a version of the policy. The engine is the active one, or null before the first. Answered by {@code Loaded}. */
    static final class Reload implements Question {
        /** The contents of the file. Without {@code interval_ms}, it must have an end marker. */
        byte[] policy = NOTHING;

        /** Why the file can't be read; empty if it was read. */
        String failure = "";

        /** Reject a version without a seal. */
        boolean requireSeal;

        /** Reject a version that allows more than the active one, or for fewer orbs. */
        boolean refuseWider;

        /** As in {@code Make}. */
        List<Secret> secrets = List.of();

        /** Ask with this step after each {@code pause_ms}, until {@code Drop}: a version counts once it was read twice without a change. 0: it counts now. */
        long intervalMs;

        /** An operator waits for the result. */
        boolean isTold;

        /** The time on the monotonic clock. */
        long monotonicMs;

        /** The name of the file, for errors and the log. */
        String file = "";

        /** Why the host can't read a secret; then no version is loaded. Otherwise empty. */
        String secretsFailure = "";

        /** A ledger charges calls, so each route that consumes orbs must have an amount. */
        boolean hasLedger;

        /** The routes with a function that states the amount. */
        List<String> amounts = List.of();

        @Override
        public void write(Wire.Writer to) {
            int start = to.begin(24);
            to.put(1, policy);
            to.put(2, failure);
            to.put(3, requireSeal);
            to.put(4, refuseWider);
            for (Secret one : secrets) {
                int part = to.begin(5);
                one.write(to);
                to.end(part);
            }
            to.put(6, intervalMs);
            to.put(7, isTold);
            to.put(8, monotonicMs);
            to.put(9, file);
            to.put(10, secretsFailure);
            to.put(11, hasLedger);
            for (String one : amounts) {
                to.item(12, one);
            }
            to.end(start);
        }
    }

    /** Makes the step the holds of a process in a ledger service, for {@code Hold} to {@code LedgerCalled}, until {@code Drop}. Answered by {@code Ledgered} or {@code Failed}. */
    static final class UseLedger implements Question {
        /** A call is charged whose handler, or begun stream, stopped midway. */
        boolean capturesCancelled;

        /** How long a hold lasts if the process stops. 0 selects 60 s. */
        long ttlMs;

        /** How long a call waits for the service before it is denied. 0 selects 2 s. */
        long timeoutMs;

        /** How many settlements can wait for the service. 0 selects 4,096. */
        long queue;

        /** Such a call isn't charged. One of the two must be true. */
        boolean voidsCancelled;

        /** A call at an MCP endpoint is charged whose result has {@code isError}. */
        boolean capturesToolErrors;

        /** It isn't charged. With an MCP endpoint, one of the two must be true. */
        boolean voidsToolErrors;

        /** A call at an MCP endpoint is charged whose result asks for input. */
        boolean capturesInputRequired;

        /** It isn't charged. With an MCP endpoint, one of the two must be true. */
        boolean voidsInputRequired;

        @Override
        public void write(Wire.Writer to) {
            int start = to.begin(30);
            to.put(1, capturesCancelled);
            to.put(2, ttlMs);
            to.put(3, timeoutMs);
            to.put(4, queue);
            to.put(5, voidsCancelled);
            to.put(6, capturesToolErrors);
            to.put(7, voidsToolErrors);
            to.put(8, capturesInputRequired);
            to.put(9, voidsInputRequired);
            to.end(start);
        }
    }

    /** Begins to hold the orbs of a {@code Charge}. Answered by {@code HoldStep}. */
    static final class Hold implements Question {
        /** 16 random bytes, new for each request. */
        byte[] id = NOTHING;

        /** That of the {@code Charge}, and so are the others. */
        byte[] account = NOTHING;

        /** How many orbs. */
        long amount;

        /** Bonus orbs may be used. */
        boolean bonus;

        /** What the service notes. */
        byte[] note = NOTHING;

        /** The time on the monotonic clock. */
        long monotonicMs;

        @Override
        public void write(Wire.Writer to) {
            int start = to.begin(31);
            to.put(1, id);
            to.put(2, account);
            to.put(3, amount);
            to.put(4, bonus);
            to.put(5, note);
            to.put(6, monotonicMs);
            to.end(start);
        }
    }

    /** Reports what the service has answered to the call of a {@code HoldStep}. Answered by {@code HoldStep}. */
    static final class Held implements Question {
        /** The id of the hold. */
        byte[] id = NOTHING;

        /** The HTTP status; 0 without an answer. */
        long status;

        /** The body. */
        byte[] body = NOTHING;

        /** The time since 1970. */
        long unixMs;

        /** The time on the monotonic clock. */
        long monotonicMs;

        @Override
        public void write(Wire.Writer to) {
            int start = to.begin(32);
            to.put(1, id);
            to.put(2, status);
            to.put(3, body);
            to.put(4, unixMs);
            to.put(5, monotonicMs);
            to.end(start);
        }
    }

    /** The request has waited. Answered by {@code HoldStep}. */
    static final class Waited implements Question {
        /** The id of the hold. */
        byte[] id = NOTHING;

        /** The time on the monotonic clock. */
        long monotonicMs;

        @Override
        public void write(Wire.Writer to) {
            int start = to.begin(33);
            to.put(1, id);
            to.put(2, monotonicMs);
            to.end(start);
        }
    }

    /** Reports once how the handler of a hold has ended. Answered by {@code Ledgered}; then ask for the next call. */
    static final class Ended implements Question {
        /** The id of the hold. */
        byte[] id = NOTHING;

        /** It was stopped midway, or its stream failed after the first byte. */
        boolean cancelled;

        /** The HTTP status of the whole answer; 0 if it or the handler failed before the first byte. */
        long status;

        /** The handler has stated how many orbs it has consumed. */
        boolean isStated;

        /** How many. */
        long stated;

        /** The time on the monotonic clock. */
        long monotonicMs;

        /** It never ran. */
        boolean neverRan;

        /** Of a call at an MCP endpoint, the {@code end} of its last {@code Responded}; 0 for any other. */
        long response;

        @Override
        public void write(Wire.Writer to) {
            int start = to.begin(34);
            to.put(1, id);
            to.put(2, cancelled);
            to.put(3, status);
            to.put(4, isStated);
            to.put(5, stated);
            to.put(6, monotonicMs);
            to.put(7, neverRan);
            to.put(8, response);
            to.end(start);
        }
    }

    /** Asks for the next message to the service, after each report and at {@code wake_ms}. Send one at a time. Answered by {@code LedgerCall} or {@code Ledgered}. */
    static final class NextLedgerCall implements Question {
        /** The time on the monotonic clock. */
        long monotonicMs;

        @Override
        public void write(Wire.Writer to) {
            int start = to.begin(35);
            to.put(1, monotonicMs);
            to.end(start);
        }
    }

    /** Reports what the service has answered. Answered by {@code Ledgered}; then ask for the next call. */
    static final class LedgerCalled implements Question {
        /** The number of the {@code LedgerCall}. */
        long call;

        /** The HTTP status; 0 without an answer. */
        long status;

        /** The body. */
        byte[] body = NOTHING;

        /** The time on the monotonic clock. */
        long monotonicMs;

        @Override
        public void write(Wire.Writer to) {
            int start = to.begin(36);
            to.put(1, call);
            to.put(2, status);
            to.put(3, body);
            to.put(4, monotonicMs);
            to.end(start);
        }
    }

    /** Checks that each route that consumes orbs has an amount or a function, and that functions have routes. Answered by {@code Done} or {@code Failed}. */
    static final class CheckAmounts implements Question {
        /** The routes with a function, as the policy names them. */
        List<String> functions = List.of();

        @Override
        public void write(Wire.Writer to) {
            int start = to.begin(37);
            for (String one : functions) {
                to.item(1, one);
            }
            to.end(start);
        }
    }

    /** Makes the step, until {@code Drop}, the reader of the response of an MCP endpoint; ask before the handler runs. Answered by {@code Responded}. */
    static final class ReadResponse implements Question {
        /** That of the {@code Charge}. */
        byte[] mcpId = NOTHING;

        /** That of the {@code Charge}. */
        boolean mcpLegacy;

        @Override
        public void write(Wire.Writer to) {
            int start = to.begin(38);
            to.put(1, mcpId);
            to.put(2, mcpLegacy);
            to.end(start);
        }
    }

    /** The response begins. Answered by {@code Responded}. */
    static final class ResponseBegins implements Question {
        /** Its header lines: at least {@code Content-Type} and {@code Content-Encoding}. */
        List<Header> headers = List.of();

        @Override
        public void write(Wire.Writer to) {
            int start = to.begin(39);
            for (Header one : headers) {
                int part = to.begin(1);
                one.write(to);
                to.end(part);
            }
            to.end(start);
        }
    }

    /** A piece of its body. Answered by {@code Responded}. */
    static final class ResponsePiece implements Question {
        /** The bytes. */
        byte[] piece = NOTHING;

        @Override
        public void write(Wire.Writer to) {
            int start = to.begin(40);
            to.put(1, piece);
            to.end(start);
        }
    }

    /** Asks which names a token may pass to a method of the MCP endpoint. Answered by {@code VisibleNames}. */
    static final class Visible implements Question {
        /** The kind of the token, an {@code OrbgateTokenKind}. */
        long kind;

        /** Its scopes. */
        String scopes = "";

        /** {@code tools/call} for tools, {@code prompts/get} for prompts, {@code resources/read} for URIs. */
        String method = "";

        /** The names. */
        List<String> names = List.of();

        @Override
        public void write(Wire.Writer to) {
            int start = to.begin(44);
            to.put(1, kind);
            to.put(2, scopes);
            to.put(3, method);
            for (String one : names) {
                to.item(4, one);
            }
            to.end(start);
        }
    }

    /** A secret that the host passes. */
    static final class Secret {
        /** The secret; absent if the library reads it from its file or environment variable. */
        byte[] value;

        void write(Wire.Writer to) {
            if (value != null) {
                to.item(1, value);
            }
        }
    }

    /** A header line. */
    static final class Header {
        /** Its name, in any letter case. */
        byte[] name = NOTHING;

        /** Its value. */
        byte[] value = NOTHING;

        void write(Wire.Writer to) {
            to.put(1, name);
            to.put(2, value);
        }
    }

    /** A route of a service. */
    static final class ServiceRoute {
        /** Its method. */
        String method = "";

        /** Its template. */
        String pathTemplate = "";

        void write(Wire.Writer to) {
            to.put(1, method);
            to.put(2, pathTemplate);
        }
    }

    /** The question is done. */
    static final class Done implements Reply {
        /** What to log, one sentence on each line: of {@code NextCall}; of {@code CheckEngine} if nothing charges. */
        String notices = "";

        /** The level of each line of {@code notices}, on a line of its own: {@code info}, {@code warning} or {@code error}. */
        String levels = "";

        static Done read(Wire.Reader fields) {
            Done to = new Done();
            while (fields.hasNext()) {
                int number = fields.next();
                switch (number) {
                    case 1 -> to.notices = fields.once(1).text();
                    case 2 -> to.levels = fields.once(2).text();
                    default -> fields.skip(number);
                }
            }
            return to;
        }
    }

    /** A configuration or an option has errors. */
    static final class Failed implements Reply {
        /** The {@code OrbgateStatus} of the error. */
        long status;

        /** All errors in one string, each on a line {@code line:column: message}. */
        String message = "";

        /** The errors that have a position, in the order of the file. */
        List<Diagnostic> diagnostics = new ArrayList<>();

        static Failed read(Wire.Reader fields) {
            Failed to = new Failed();
            while (fields.hasNext()) {
                int number = fields.next();
                switch (number) {
                    case Wire.CRITICAL | 1 -> to.status = fields.once(1).integer();
                    case 2 -> to.message = fields.once(2).text();
                    case 3 -> to.diagnostics.add(Diagnostic.read(fields.part()));
                    default -> fields.skip(number);
                }
            }
            return to;
        }
    }

    /** The result of a request. Only an allow without {@code http_status} permits it. */
    static final class Answer implements Reply {
        /** The decision, packed as with {@code ORBGATE_PACK_ABOUT}. */
        long packed;

        /** The status of the response to a denied request; 0 for an allow. */
        long httpStatus;

        /** The request is allowed only as a preflight, so run only a handler of {@code OPTIONS}. */
        boolean preflight;

        /** The {@code WWW-Authenticate} header of a denial. */
        String wwwAuthenticate;

        /** The {@code Allow} header of a denial. */
        String allow;

        /** Why the token is rejected, such as {@code expired}, only for logs and counters. */
        String refused = "";

        /** What the router chose instead of the allowed route; empty if it is unknown. Count it. */
        String misrouted;

        /** The template of an allowed request that needs no token. */
        String publicTemplate = "";

        /** With {@code with_audit}, a JSON line for an audit log, without a line feed. */
        String audit;

        /** The verified token; absent without a valid token. */
        Token token;

        /** {@code NextCall} might be answered by a call. */
        boolean mayCall;

        /** The response's body, if it has one: JSON, such as the metadata of the resource at a 200. */
        byte[] body;

        /** More headers of the response. */
        List<CallHeader> headers = new ArrayList<>();

        /** The seconds of its {@code Retry-After} header; 0 if it has none. */
        long retryAfter;

        static Answer read(Wire.Reader fields) {
            Answer to = new Answer();
            while (fields.hasNext()) {
                int number = fields.next();
                switch (number) {
                    case Wire.CRITICAL | 1 -> to.packed = fields.once(1).integer();
                    case Wire.CRITICAL | 2 -> to.httpStatus = fields.once(2).integer();
                    case Wire.CRITICAL | 3 -> to.preflight = fields.once(3).isThere();
                    case 4 -> to.wwwAuthenticate = fields.once(4).text();
                    case 5 -> to.allow = fields.once(5).text();
                    case 6 -> to.refused = fields.once(6).text();
                    case 7 -> to.misrouted = fields.once(7).text();
                    case 8 -> to.publicTemplate = fields.once(8).text();
                    case 9 -> to.audit = fields.once(9).text();
                    case 10 -> to.token = Token.read(fields.once(10).part());
                    case 11 -> to.mayCall = fields.once(11).isThere();
                    case Wire.CRITICAL | 12 -> to.body = fields.once(12).bytes();
                    case 13 -> to.headers.add(CallHeader.read(fields.part()));
                    case 14 -> to.retryAfter = fields.once(14).integer();
                    default -> fields.skip(number);
                }
            }
            return to;
        }
    }

    /** The request needs keys, or an answer about its token. Send the calls of {@code NextCall}, wait until {@code IsOver} says so or {@code until_ms}, and resume. */
    static final class Wait implements Reply {
        /** When the wait ends even without a report, on the monotonic clock. */
        long untilMs;

        /** {@code NextCall} might be answered by a call. */
        boolean mayCall;

        static Wait read(Wire.Reader fields) {
            Wait to = new Wait();
            while (fields.hasNext()) {
                int number = fields.next();
                switch (number) {
                    case Wire.CRITICAL | 1 -> to.untilMs = fields.once(1).integer();
                    case 2 -> to.mayCall = fields.once(2).isThere();
                    default -> fields.skip(number);
                }
            }
            return to;
        }
    }

    /** Report with {@code Checked} whether this signature is valid. The algorithm fits the key, and key and signature have a valid form and length. */
    static final class CheckSignature implements Reply {
        /** The algorithm, such as {@code RS256}. ECDSA signatures are two numbers, not DER (RFC 7518 §3.4); PSS has a salt as long as its hash. */
        String algorithm = "";

        /** The key as a JWK with only its required members. Equal keys have equal strings. If it can't be imported, the signature is invalid. */
        String key = "";

        /** The token, whose first {@code signed} bytes are the signed ones. */
        byte[] token = NOTHING;

        /** How many bytes of the token are signed. */
        long signed;

        /** The signature. */
        byte[] signature = NOTHING;

        /** {@code NextCall} might be answered by a call. */
        boolean mayCall;

        static CheckSignature read(Wire.Reader fields) {
            CheckSignature to = new CheckSignature();
            while (fields.hasNext()) {
                int number = fields.next();
                switch (number) {
                    case Wire.CRITICAL | 1 -> to.algorithm = fields.once(1).text();
                    case Wire.CRITICAL | 2 -> to.key = fields.once(2).text();
                    case Wire.CRITICAL | 3 -> to.token = fields.once(3).bytes();
                    case Wire.CRITICAL | 4 -> to.signed = fields.once(4).integer();
                    case Wire.CRITICAL | 5 -> to.signature = fields.once(5).bytes();
                    case 6 -> to.mayCall = fields.once(6).isThere();
                    default -> fields.skip(number);
                }
            }
            return to;
        }
    }

    /** A call to make without following redirects. In any case, report the result with {@code Called}. */
    static final class Call implements Reply {
        /** The attempt that needs it. */
        long attempt;

        /** Its method. */
        String method = "";

        /** {@code https}, or a loopback address. */
        String url = "";

        /** Its headers. One of them can contain a secret, so don't log them. */
        List<CallHeader> headers = new ArrayList<>();

        /** Its body, if it has one. It can contain a token, so don't log it. */
        byte[] body;

        /** If the response hasn't arrived after this time, report {@code ORBGATE_FETCH_TIMEOUT}. */
        long timeoutMs;

        /** If the body is longer, stop reading and report {@code ORBGATE_FETCH_TOO_LARGE}. */
        long maxBytes;

        static Call read(Wire.Reader fields) {
            Call to = new Call();
            while (fields.hasNext()) {
                int number = fields.next();
                switch (number) {
                    case Wire.CRITICAL | 1 -> to.attempt = fields.once(1).integer();
                    case Wire.CRITICAL | 2 -> to.method = fields.once(2).text();
                    case Wire.CRITICAL | 3 -> to.url = fields.once(3).text();
                    case Wire.CRITICAL | 4 -> to.headers.add(CallHeader.read(fields.part()));
                    case Wire.CRITICAL | 5 -> to.body = fields.once(5).bytes();
                    case Wire.CRITICAL | 6 -> to.timeoutMs = fields.once(6).integer();
                    case Wire.CRITICAL | 7 -> to.maxBytes = fields.once(7).integer();
                    default -> fields.skip(number);
                }
            }
            return to;
        }
    }

    /** Whether the wait of a step is over. */
    static final class Over implements Reply {
        /** The step can be resumed. */
        boolean isOver;

        static Over read(Wire.Reader fields) {
            Over to = new Over();
            while (fields.hasNext()) {
                int number = fields.next();
                switch (number) {
                    case Wire.CRITICAL | 1 -> to.isOver = fields.once(1).isThere();
                    default -> fields.skip(number);
                }
            }
            return to;
        }
    }

    /** Where the secrets of a token configuration are, in the order of the issuers that have one. */
    static final class SecretSources implements Reply {
        /** The sources. */
        List<SecretSource> sources = new ArrayList<>();

        static SecretSources read(Wire.Reader fields) {
            SecretSources to = new SecretSources();
            while (fields.hasNext()) {
                int number = fields.next();
                switch (number) {
                    case Wire.CRITICAL | 1 -> to.sources.add(SecretSource.read(fields.part()));
                    default -> fields.skip(number);
                }
            }
            return to;
        }
    }

    /** The status of the keys at one moment. */
    static final class KeyStatus implements Reply {
        /** The issuers, in the order of the configuration. */
        List<IssuerStatus> issuers = new ArrayList<>();

        static KeyStatus read(Wire.Reader fields) {
            KeyStatus to = new KeyStatus();
            while (fields.hasNext()) {
                int number = fields.next();
                switch (number) {
                    case 1 -> to.issuers.add(IssuerStatus.read(fields.part()));
                    default -> fields.skip(number);
                }
            }
            return to;
        }
    }

    /** The differences between the routes of a service and of its policy; empty if they are the same. */
    static final class RouteDifferences implements Reply {
        /** First what the policy lacks, then what the service lacks. */
        List<RouteDifference> differences = new ArrayList<>();

        static RouteDifferences read(Wire.Reader fields) {
            RouteDifferences to = new RouteDifferences();
            while (fields.hasNext()) {
                int number = fields.next();
                switch (number) {
                    case Wire.CRITICAL | 1 -> to.differences.add(RouteDifference.read(fields.part()));
                    default -> fields.skip(number);
                }
            }
            return to;
        }
    }

    /** The request is for an MCP endpoint, and its token is valid. Read its body and ask with {@code Body}. */
    static final class ReadBody implements Reply {
        /** If the body is longer, stop reading and report {@code too_large}. */
        long mostBytes;

        /** {@code NextCall} might be answered by a call. */
        boolean mayCall;

        /** The most bytes of all bodies that the host holds; one without {@code Content-Length} counts as {@code most_bytes}. Without room, report {@code busy}. */
        long mostHeld;

        static ReadBody read(Wire.Reader fields) {
            ReadBody to = new ReadBody();
            while (fields.hasNext()) {
                int number = fields.next();
                switch (number) {
                    case Wire.CRITICAL | 1 -> to.mostBytes = fields.once(1).integer();
                    case 2 -> to.mayCall = fields.once(2).isThere();
                    case Wire.CRITICAL | 3 -> to.mostHeld = fields.once(3).integer();
                    default -> fields.skip(number);
                }
            }
            return to;
        }
    }

    /** What became of a version of the policy. A first one with the engine's digest is active already. */
    static final class Loaded implements Reply {
        /** Make an engine of the same bytes and activate it. The secrets were read again. */
        boolean isLoaded;

        /** The label of {@code orbgate_policy_loads_total}, such as {@code wider}; empty if nothing is counted. */
        String result = "";

        /** What to log: the digest, or why the previous policy stays active. */
        String message = "";

        /** What to log as a warning, such as the changes for callers; empty if there is nothing. */
        String warning = "";

        /** The {@code OrbgateStatus} of a rejection; otherwise 0. */
        long status;

        /** The errors of a policy or a configuration that have a position. */
        List<Diagnostic> diagnostics = new ArrayList<>();

        /** With {@code interval_ms}, when to ask again. */
        long pauseMs;

        /** Why a version is rejected, for the language's error: each error on a line, with the file. */
        String reason = "";

        static Loaded read(Wire.Reader fields) {
            Loaded to = new Loaded();
            while (fields.hasNext()) {
                int number = fields.next();
                switch (number) {
                    case Wire.CRITICAL | 1 -> to.isLoaded = fields.once(1).isThere();
                    case 2 -> to.result = fields.once(2).text();
                    case 3 -> to.message = fields.once(3).text();
                    case 4 -> to.warning = fields.once(4).text();
                    case 5 -> to.status = fields.once(5).integer();
                    case 6 -> to.diagnostics.add(Diagnostic.read(fields.part()));
                    case 7 -> to.pauseMs = fields.once(7).integer();
                    case 8 -> to.reason = fields.once(8).text();
                    default -> fields.skip(number);
                }
            }
            return to;
        }
    }

    /** The call is allowed and consumes orbs: before its handler runs, ask the ledger's step with {@code Hold}. */
    static final class Charge implements Reply {
        /** The account. */
        byte[] account = NOTHING;

        /** How many orbs. */
        long amount;

        /** Bonus orbs may be used. */
        boolean bonus;

        /** What the service notes: the route and the policy's digest. */
        byte[] note = NOTHING;

        /** If it isn't empty, the response of an MCP endpoint settles it: ask with {@code ReadResponse}. */
        byte[] mcpId = NOTHING;

        /** Its protocol version is an older one. */
        boolean mcpLegacy;

        /** With {@code with_audit}, the audit's line once the orbs are held, instead of the answer's. */
        String audit;

        /** The id of the hold in the ledger, for the service's own log. */
        String holdId = "";

        static Charge read(Wire.Reader fields) {
            Charge to = new Charge();
            while (fields.hasNext()) {
                int number = fields.next();
                switch (number) {
                    case Wire.CRITICAL | 1 -> to.account = fields.once(1).bytes();
                    case Wire.CRITICAL | 2 -> to.amount = fields.once(2).integer();
                    case Wire.CRITICAL | 3 -> to.bonus = fields.once(3).isThere();
                    case Wire.CRITICAL | 4 -> to.note = fields.once(4).bytes();
                    case Wire.CRITICAL | 5 -> to.mcpId = fields.once(5).bytes();
                    case Wire.CRITICAL | 6 -> to.mcpLegacy = fields.once(6).isThere();
                    case 7 -> to.audit = fields.once(7).text();
                    case 8 -> to.holdId = fields.once(8).text();
                    default -> fields.skip(number);
                }
            }
            return to;
        }
    }

    /** What a request that waits for its orbs must do next. */
    static final class HoldStep implements Reply {
        /** The orbs are held: run the handler. */
        boolean mayRun;

        /** If it isn't empty, POST to this path with the secret as bearer token, and report {@code Held}. */
        String path = "";

        /** Its body, which is JSON. */
        byte[] body = NOTHING;

        /** After this time the call has failed. */
        long timeoutMs;

        /** If it isn't 0, wait until this monotonic time and ask with {@code Waited}. Otherwise deny. */
        long untilMs;

        /** Of a denial: for {@code unpaid} of {@code Ask}. */
        long unpaid;

        /** Of a denial: for {@code Ask}. */
        long retryAfterMs;

        /** At the end, the label of {@code orbgate_holds_total}. */
        String result = "";

        static HoldStep read(Wire.Reader fields) {
            HoldStep to = new HoldStep();
            while (fields.hasNext()) {
                int number = fields.next();
                switch (number) {
                    case Wire.CRITICAL | 1 -> to.mayRun = fields.once(1).isThere();
                    case Wire.CRITICAL | 2 -> to.path = fields.once(2).text();
                    case Wire.CRITICAL | 3 -> to.body = fields.once(3).bytes();
                    case Wire.CRITICAL | 4 -> to.timeoutMs = fields.once(4).integer();
                    case Wire.CRITICAL | 5 -> to.untilMs = fields.once(5).integer();
                    case 6 -> to.unpaid = fields.once(6).integer();
                    case 7 -> to.retryAfterMs = fields.once(7).integer();
                    case 8 -> to.result = fields.once(8).text();
                    default -> fields.skip(number);
                }
            }
            return to;
        }
    }

    /** The next message to the service. Report it with {@code LedgerCalled}. */
    static final class LedgerCall implements Reply {
        /** Its number. */
        long call;

        /** Its path. By POST, like that of {@code HoldStep}. */
        String path = "";

        /** Its body. */
        byte[] body = NOTHING;

        /** After this time the call has failed. */
        long timeoutMs;

        static LedgerCall read(Wire.Reader fields) {
            LedgerCall to = new LedgerCall();
            while (fields.hasNext()) {
                int number = fields.next();
                switch (number) {
                    case Wire.CRITICAL | 1 -> to.call = fields.once(1).integer();
                    case Wire.CRITICAL | 2 -> to.path = fields.once(2).text();
                    case Wire.CRITICAL | 3 -> to.body = fields.once(3).bytes();
                    case Wire.CRITICAL | 4 -> to.timeoutMs = fields.once(4).integer();
                    default -> fields.skip(number);
                }
            }
            return to;
        }
    }

    /** The state of a ledger's step. */
    static final class Ledgered implements Reply {
        /** Ask with {@code NextLedgerCall} at {@code wake_ms}; otherwise only after a report. */
        boolean wakes;

        /** On the monotonic clock. */
        long wakeMs;

        /** How many settlements wait for the service. */
        long waiting;

        /** How many calls were charged so far. */
        long captured;

        /** How many holds were released. */
        long voided;

        /** How many settlements were given up. */
        long lost;

        static Ledgered read(Wire.Reader fields) {
            Ledgered to = new Ledgered();
            while (fields.hasNext()) {
                int number = fields.next();
                switch (number) {
                    case Wire.CRITICAL | 1 -> to.wakes = fields.once(1).isThere();
                    case Wire.CRITICAL | 2 -> to.wakeMs = fields.once(2).integer();
                    case 3 -> to.waiting = fields.once(3).integer();
                    case 4 -> to.captured = fields.once(4).integer();
                    case 5 -> to.voided = fields.once(5).integer();
                    case 6 -> to.lost = fields.once(6).integer();
                    default -> fields.skip(number);
                }
            }
            return to;
        }
    }

    /** What a response has said so far. */
    static final class Responded implements Reply {
        /** The next piece must be read; otherwise none. */
        boolean reads;

        /** For {@code response} of {@code Ended}. */
        long end;

        static Responded read(Wire.Reader fields) {
            Responded to = new Responded();
            while (fields.hasNext()) {
                int number = fields.next();
                switch (number) {
                    case Wire.CRITICAL | 1 -> to.reads = fields.once(1).isThere();
                    case Wire.CRITICAL | 2 -> to.end = fields.once(2).integer();
                    default -> fields.skip(number);
                }
            }
            return to;
        }
    }

    /** The names that the token may pass, in their order. */
    static final class VisibleNames implements Reply {
        /** The names, one on each line. */
        String names = "";

        static VisibleNames read(Wire.Reader fields) {
            VisibleNames to = new VisibleNames();
            while (fields.hasNext()) {
                int number = fields.next();
                switch (number) {
                    case Wire.CRITICAL | 1 -> to.names = fields.once(1).text();
                    default -> fields.skip(number);
                }
            }
            return to;
        }
    }

    /** An error of a configuration. */
    static final class Diagnostic {
        /** Line, from 1. */
        long line;

        /** Column in characters, from 1. */
        long column;

        /** The message: lower case, no final period, without the position. */
        String message = "";

        static Diagnostic read(Wire.Reader fields) {
            Diagnostic to = new Diagnostic();
            while (fields.hasNext()) {
                int number = fields.next();
                switch (number) {
                    case 1 -> to.line = fields.once(1).integer();
                    case 2 -> to.column = fields.once(2).integer();
                    case 3 -> to.message = fields.once(3).text();
                    default -> fields.skip(number);
                }
            }
            return to;
        }
    }

    /** A verified token. */
    static final class Token {
        /** Its kind: an {@code OrbgateTokenKind}. */
        long kind;

        /** Its scopes, separated by single spaces. */
        String scopes = "";

        /** The issuer. */
        String issuer = "";

        /** The subject ({@code sub}); empty if the token doesn't state it. */
        String subject = "";

        /** The client that the token was issued to; empty if the token doesn't state it. */
        String client = "";

        /** The party that acts for the subject ({@code act}); empty if the token doesn't state it. */
        String actor = "";

        /** The token's own id ({@code jti}); empty if the token doesn't state it. */
        String id = "";

        /** An id that reveals nothing about the token: 16 hexadecimal digits. */
        String fingerprint = "";

        /** When the token expires: in milliseconds since 1970. */
        long expiresMs;

        static Token read(Wire.Reader fields) {
            Token to = new Token();
            while (fields.hasNext()) {
                int number = fields.next();
                switch (number) {
                    case 1 -> to.kind = fields.once(1).integer();
                    case 2 -> to.scopes = fields.once(2).text();
                    case 3 -> to.issuer = fields.once(3).text();
                    case 4 -> to.subject = fields.once(4).text();
                    case 5 -> to.client = fields.once(5).text();
                    case 6 -> to.actor = fields.once(6).text();
                    case 7 -> to.id = fields.once(7).text();
                    case 8 -> to.fingerprint = fields.once(8).text();
                    case 9 -> to.expiresMs = fields.once(9).integer();
                    default -> fields.skip(number);
                }
            }
            return to;
        }
    }

    /** A header line of a call. */
    static final class CallHeader {
        /** Its name. */
        String name = "";

        /** Its value. */
        String value = "";

        static CallHeader read(Wire.Reader fields) {
            CallHeader to = new CallHeader();
            while (fields.hasNext()) {
                int number = fields.next();
                switch (number) {
                    case Wire.CRITICAL | 1 -> to.name = fields.once(1).text();
                    case Wire.CRITICAL | 2 -> to.value = fields.once(2).text();
                    default -> fields.skip(number);
                }
            }
            return to;
        }
    }

    /** Where a secret is. A configuration never contains the secret. */
    static final class SecretSource {
        /** An {@code ORBGATE_SECRET_*} number. */
        long kind;

        /** The path of the file, or the name of the variable. */
        String name = "";

        static SecretSource read(Wire.Reader fields) {
            SecretSource to = new SecretSource();
            while (fields.hasNext()) {
                int number = fields.next();
                switch (number) {
                    case Wire.CRITICAL | 1 -> to.kind = fields.once(1).integer();
                    case Wire.CRITICAL | 2 -> to.name = fields.once(2).text();
                    default -> fields.skip(number);
                }
            }
            return to;
        }
    }

    /** The status of one issuer's keys. */
    static final class IssuerStatus {
        /** The issuer. */
        String issuer = "";

        /** The number of usable keys. At 0, every token is rejected unless {@code opaque} is true. */
        long keyCount;

        /** When the keys were fetched, on the monotonic clock; 0 if there aren't any. */
        long fetchedMs;

        /** Why the last attempt failed; empty if it succeeded. */
        String failure = "";

        /** The keys that were left out, with the reasons: one line for each. */
        String warnings = "";

        /** The issuer's tokens are opaque: {@code failure} is that of its introspection endpoint. */
        boolean opaque;

        static IssuerStatus read(Wire.Reader fields) {
            IssuerStatus to = new IssuerStatus();
            while (fields.hasNext()) {
                int number = fields.next();
                switch (number) {
                    case 1 -> to.issuer = fields.once(1).text();
                    case 2 -> to.keyCount = fields.once(2).integer();
                    case 3 -> to.fetchedMs = fields.once(3).integer();
                    case 4 -> to.failure = fields.once(4).text();
                    case 5 -> to.warnings = fields.once(5).text();
                    case 6 -> to.opaque = fields.once(6).isThere();
                    default -> fields.skip(number);
                }
            }
            return to;
        }
    }

    /** A route that only the service or only the policy has. */
    static final class RouteDifference {
        /** An {@code ORBGATE_DIFFERENCE_*} number. */
        long kind;

        /** The route, for example {@code GET /users/export}. */
        String route = "";

        /** The policy's route that decides an undeclared one; empty if it is denied. */
        String decidedAs = "";

        static RouteDifference read(Wire.Reader fields) {
            RouteDifference to = new RouteDifference();
            while (fields.hasNext()) {
                int number = fields.next();
                switch (number) {
                    case Wire.CRITICAL | 1 -> to.kind = fields.once(1).integer();
                    case Wire.CRITICAL | 2 -> to.route = fields.once(2).text();
                    case 3 -> to.decidedAs = fields.once(3).text();
                    default -> fields.skip(number);
                }
            }
            return to;
        }
    }
}
