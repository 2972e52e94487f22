package io.github.orbgate;

import java.io.IOException;
import java.io.InputStream;
import java.lang.System.Logger.Level;
import java.net.http.HttpClient;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BiConsumer;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.function.Supplier;

/**
 * Protects a service: verifies the bearer token of a request, decides and answers. Filters connect it to servers:
 * {@link io.github.orbgate.httpserver.GateFilter}, and those of the modules for Servlet and Spring Boot.
 *
 * <p>It is safe to use from any thread. The issuers' keys are fetched in the background, on the first token and before
 * they expire. Only a request whose keys are still missing, or whose token is opaque and not known yet, waits; a virtual
 * thread releases its carrier meanwhile.
 */
public final class Gate implements Guard, AutoCloseable {
    private static final System.Logger LOGGER = new QuietLogger(System.getLogger(Gate.class.getName()));

    private final Handle policy;
    private final NativeGate nativeGate;
    private final Keys keys;
    private final BiConsumer<String, Map<String, String>> count;
    private final Consumer<String> audit;
    private final AtomicBoolean saidMisrouted = new AtomicBoolean();
    private final AtomicBoolean saidUncounted = new AtomicBoolean();
    private final AtomicBoolean saidUnaudited = new AtomicBoolean();
    private final AtomicBoolean saidUnexplained = new AtomicBoolean();
    private final AtomicReference<String> charging = new AtomicReference<>();
    private final Reloads reloads;
    private final boolean debugs;
    private final Set<Pair> agreed = ConcurrentHashMap.newKeySet();

    private Gate(Builder builder) {
        policy = builder.policy;
        nativeGate = new NativeGate(builder.make);
        keys = new Keys(nativeGate, builder.client == null ? Builder.usualClient() : builder.client, LOGGER);
        count = builder.count;
        audit = builder.audit;
        reloads = new Reloads(policy, nativeGate, keys, builder.refusesWider, labels -> count(Names.POLICY_LOADS_TOTAL, labels), LOGGER);
        debugs = builder.debugs;
        keys.fetch();
    }

    /**
     * A gate with the default settings.
     *
     * @param policy holds the current policy: store another engine, and it decides the next request
     * @param tokens the token configuration, which states which tokens are accepted
     * @throws ConfigurationException if that has errors, with the line and column of each
     */
    public static Gate of(Handle policy, String tokens) {
        return builder(policy, tokens).build();
    }

    /** The settings of a gate. */
    public static Builder builder(Handle policy, String tokens) {
        return new Builder(policy, Text.ofPolicy(tokens, "tokens"));
    }

    /**
     * The settings of a gate whose token configuration is a stream, for example of a resource. It reads to the end, but
     * at most the maximum size of a configuration.
     *
     * @throws IOException if the stream cannot be read
     */
    public static Builder builder(Handle policy, InputStream tokens) throws IOException {
        return new Builder(policy, Text.ofStream(tokens, "tokens"));
    }

    /**
     * Answers a request. It waits only if keys must be fetched first, and only for the maximum duration of a fetch. It
     * never throws because of a caller or an issuer. If there is no answer, for example after {@link #close}, on an
     * interrupt, or if the library fails, it denies with a 403.
     */
    @Override
    public Answer ask(GateRequest request) {
        return ask(request, request::bonus);
    }

    /** As {@link #ask(GateRequest)}, and the request is counted once. */
    @Override
    public Answer ask(GateRequest request, Supplier<BonusOrbs> bonus) {
        return ask(request, bonus, false, answer -> true);
    }

    /**
     * Allows if the router's template matches the paths of the allowed route, even if the policy has been replaced
     * since. Otherwise it asks again, and counts a denial.
     */
    @Override
    public Answer askAgain(GateRequest request, Call allowed) {
        Optional<String> route = allowed.publicTemplate()
                .map(template -> request.method() + " " + template)
                .or(allowed.decision()::route);
        boolean agrees = route.isPresent()
                && request.matched().filter(template -> agree(new Pair(route.get(), template))).isPresent();
        return agrees ? Answer.of(allowed) : ask(request, request::bonus, true, answer -> !answer.isAllow());
    }

    /** A route of a policy, and the template of a router. */
    private record Pair(String route, String template) {}

    /** Matching pairs are compared once. A router has no others, unless requests are denied. */
    private boolean agree(Pair pair) {
        boolean agrees = agreed.contains(pair) || Routes.agree(pair.route(), pair.template());
        if (agrees) {
            agreed.add(pair); // Another thread may have added it meanwhile.
        }
        return agrees;
    }

    /** The answer; observers receive it if it counts. */
    private Answer ask(GateRequest request, Supplier<BonusOrbs> bonus, boolean repeats, Predicate<Answer> counts) {
        Objects.requireNonNull(request, "request");
        Replied replied;
        try {
            replied = answered(request, repeats);
            if (replied.answer.isAllow() && request.bonus() != BonusOrbs.ALLOW) {
                BonusOrbs read = BonusOrbs.of(bonus);
                if (read == BonusOrbs.ALLOW || audit != null && read != request.bonus()) {
                    replied = answered(request.bonus(read), true);
                }
            }
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            return seen(Answer.denied());
        } catch (IllegalStateException closed) {
            return seen(Answer.denied());
        } catch (OrbgateException | ArithmeticException | NoSuchElementException failed) {
            LOGGER.log(Level.ERROR, "a request is denied, because the gate cannot decide it", failed);
            return seen(Answer.denied());
        }
        Answer answer = replied.answer;
        if (!counts.test(answer)) {
            return answer;
        }
        Messages.Answer message = replied.message;
        if (message.misrouted != null) {
            misrouted(answer, message.misrouted);
        }
        if (message.audit != null) {
            observe(() -> audit.accept(message.audit), saidUnaudited, "audit lines are lost, because the function for them fails", () -> {
                count(Names.AUDIT_LOST_TOTAL, Map.of());
            });
        }
        return seen(answer);
    }

    /** The library's reply to a request: it waits, or there is an answer. */
    private record Replied(Messages.Wait waiting, Messages.Answer message, Answer answer) {
        static Replied of(Messages.Reply reply, Table table) {
            if (reply instanceof Messages.Answer message) {
                Optional<BearerToken> token = Optional.ofNullable(message.token).map(BearerToken::of);
                return new Replied(null, message, Answer.of(new Decision(table, message.packed), message, token));
            }
            if (reply instanceof Messages.Wait wait) {
                return new Replied(wait, null, null);
            }
            throw new OrbgateException("the library cannot check signatures: use one with cryptography");
        }

        boolean mayCall() {
            return waiting == null ? message.mayCall : waiting.mayCall;
        }
    }

    private Replied answered(GateRequest request, boolean repeats) throws InterruptedException {
        Messages.Ask ask = request.question();
        ask.repeats = repeats;
        ask.withAudit = audit != null;
        ask.unixMs = System.currentTimeMillis();
        ask.monotonicMs = keys.now();
        try (Step step = new Step()) {
            Replied replied = deciding(request, ask, step);
            while (true) {
                if (replied.mayCall()) {
                    keys.fetch();
                }
                if (replied.waiting == null) {
                    return replied;
                }
                keys.await(step, replied.waiting);
                Messages.Resume resume = new Messages.Resume();
                resume.unixMs = System.currentTimeMillis();
                resume.monotonicMs = keys.now();
                // The policy may have been replaced meanwhile.
                replied = deciding(request, resume, step);
            }
        }
    }

    private Answer seen(Answer answer) {
        Decision decision = answer.decision();
        count(
                Names.DECISIONS_TOTAL,
                Map.of(
                        Names.LABEL_DECISION, answer.isAllow() ? Names.EFFECT_ALLOW : Names.EFFECT_DENY,
                        Names.LABEL_REASON, decision.reason().toString(),
                        Names.LABEL_ROUTE, decision.route().orElse("")));
        answer.refused().ifPresent(code -> count(Names.TOKENS_REFUSED_TOTAL, Map.of(Names.LABEL_REASON, code)));
        return answer;
    }

    private void count(String counter, Map<String, String> labels) {
        observe(() -> count.accept(counter, labels), saidUncounted, "decisions are not counted, because the counter fails", () -> {});
    }

    /** Calls a function of the service. No answer depends on it: its first exception is logged. */
    private static void observe(Runnable observer, AtomicBoolean isSaid, String message, Runnable lost) {
        try {
            observer.run();
        } catch (Throwable failed) { // A lambda can throw anything, such as the error of a class that is missing.
            if (!isSaid.getAndSet(true)) {
                LOGGER.log(Level.ERROR, message, failed);
            }
            lost.run();
        }
    }

    private void misrouted(Answer answer, String matched) {
        String route = answer.decision().about().orElse("");
        count(Names.MISROUTED_TOTAL, Map.of(Names.LABEL_ROUTE, route, Names.LABEL_MATCHED, matched));
        if (!saidMisrouted.getAndSet(true)) {
            LOGGER.log(
                    Level.ERROR,
                    () -> "requests are denied: the router has chosen `" + matched
                            + "`, and the policy allows another route");
        }
    }

    /**
     * Loads a new version of the policy from a file, for all later requests. The file must end with the end marker, so
     * that a partly written file is never used. Without it, or with errors, the previous policy stays active. With
     * {@link Builder#refuseWider}, it also stays active if the new one allows more. The secrets for opaque tokens are read again.
     *
     * @throws ConfigurationException if a secret cannot be read, or if a path fits both a public route and a route of the policy
     * @throws PolicyException if it has errors or no end marker, or allows more and that is refused
     * @throws IOException if the file cannot be read
     */
    public void reload(Path file) throws IOException {
        reloads.reload(file);
    }

    /**
     * Follows a policy file: a thread reads it at an interval, and loads each valid version an interval after its bytes were first read, if
     * they haven't changed, or at once if it has a valid seal.
     * Everything else is logged and counted once, and changes nothing. The first version is the one after the active policy.
     *
     * @param interval the time between two reads, such as two seconds
     */
    public Watch watch(Path file, Duration interval) {
        return reloads.watch(file, interval, false);
    }

    /** As {@link #watch}, and a version without a seal is refused. */
    public Watch watchSealed(Path file, Duration interval) {
        return reloads.watch(file, interval, true);
    }

    /** Asks the current engine, which also explains a denial, if that is wanted. */
    private Replied deciding(GateRequest request, Messages.Question question, Step step) {
        BiFunction<Long, Table, Replied> call = (engine, table) -> Replied.of(nativeGate.ask(engine, question, step), table);
        if (!debugs) {
            return policy.during(call);
        }
        try (Engine engine = policy.load()) {
            Core core = engine.open();
            Replied replied = core.leaving(core.enter(), call);
            // The policy allows a misrouted request, so there is nothing to explain.
            if (replied.waiting == null && !replied.answer.isAllow() && replied.message.misrouted == null) {
                observe(() -> LOGGER.log(Level.INFO, "denied: " + explained(request, replied.answer, engine)), saidUnexplained, "denials are not explained", () -> {});
            }
            return replied;
        }
    }

    /** Why an engine denies a call. Without the query, which can have secrets in it, and without the token. */
    private static String explained(GateRequest request, Answer answer, Engine engine) {
        int query = request.target().indexOf('?');
        String path = query < 0 ? request.target() : request.target().substring(0, query);
        Questions.Request question = new Questions.Request().withMethod(request.method()).withTarget(path);
        if (answer.token().isPresent()) {
            BearerToken token = answer.token().get();
            question = question.withToken(new Questions.RequestToken(token.kind().toString(), token.scopes()));
        } else if (answer.decision().reason() == Reason.INVALID_TOKEN) {
            question = question.withToken(new Questions.RequestToken(TokenKind.UNKNOWN.toString(), ""));
        }
        Questions.Explanation explanation = engine.explain(new Questions.ExplainArguments(question));
        Decision made = answer.decision();
        String reason = made.reason().toString();
        Optional<String> detail = made.detail().map(Detail::toString);
        // Otherwise a header or the query, which the explanation doesn't get, is the cause.
        boolean isCause = explanation.reason().equals(reason) && explanation.detail().equals(detail);
        OptionalLong status = OptionalLong.of(made.httpStatus());
        Record explained = isCause ? explanation : new Questions.PolicyDecision(
                Names.EFFECT_DENY, status, reason, detail, made.api(), made.route(), made.scope(), Optional.empty(), Optional.empty(), made.policy());
        return Json.write(new Denied(request.method(), path, explained));
    }

    /** A line of the log. */
    private record Denied(String method, String path, Record explanation) {}

    /**
     * Fetches every issuer's keys and waits for them, so that the first request doesn't have to.
     *
     * @return the state of the keys afterwards
     * @throws InterruptedException if this thread is interrupted while it waits
     */
    public List<IssuerKeys> warm() throws InterruptedException {
        Messages.Warm question = new Messages.Warm();
        question.monotonicMs = keys.now();
        nativeGate.ask(0, question);
        keys.fetch();
        keys.awaitAll();
        return keys();
    }

    /** The state of each issuer's keys, for logs and health checks. */
    public List<IssuerKeys> keys() {
        long now = keys.now();
        return nativeGate.ask(0, new Messages.Status()) instanceof Messages.KeyStatus status
                ? status.issuers.stream().map(issuer -> IssuerKeys.of(issuer, now)).toList()
                : List.of();
    }

    /**
     * Never uses an issuer's key with this {@code kid} again, even if the issuer still publishes it: for a key whose
     * private half was stolen.
     *
     * @throws NoSuchElementException if the configuration has no such issuer
     */
    public void revoke(String issuer, String kid) {
        Messages.Revoke question = new Messages.Revoke();
        question.issuer = Text.bytes(issuer, "issuer");
        question.kid = Objects.requireNonNull(kid, "kid");
        ask(issuer, question);
    }

    /**
     * Discards an issuer's keys, for example after the issuer has withdrawn one before it expired. The next token waits
     * for new keys.
     *
     * @throws NoSuchElementException if the configuration has no such issuer
     */
    public void forget(String issuer) {
        Messages.Forget question = new Messages.Forget();
        question.issuer = Text.bytes(issuer, "issuer");
        ask(issuer, question);
    }

    private void ask(String issuer, Messages.Question question) {
        try {
            nativeGate.ask(0, question);
        } catch (NoSuchElementException unknown) {
            throw new NoSuchElementException("the configuration has no issuer `" + issuer + "`");
        }
    }

    /**
     * Compares the routes of a service with those of the policy. Call it at startup and in tests.
     *
     * @throws RoutesException if they differ
     */
    public void checkRoutes(List<ServiceRoute> routes) {
        policy.during((engine, table) -> {
            Routes.check(nativeGate.ask(engine, Routes.question(routes)));
            return null;
        });
    }

    /**
     * Checks a policy before you store it in the handle of this gate: no path may match both a public route and a route
     * of the policy. {@link #reload} includes this check. The log states how many routes consume orbs, because no gate in Java charges them.
     *
     * @throws ConfigurationException if one does
     */
    public void check(Engine next) {
        Messages.Done stated = next.open().during(engine -> (Messages.Done) nativeGate.ask(engine, new Messages.CheckEngine()));
        if (!stated.notices.equals(charging.getAndSet(stated.notices))) {
            keys.tell(stated);
        }
    }

    /** Closes the gate: cancels running fetches, and denies every later request. Closing twice is harmless. */
    @Override
    public void close() {
        nativeGate.close();
        keys.close();
    }

    /** The settings of a gate. */
    public static final class Builder {
        private final Handle policy;
        private final Messages.Make make = new Messages.Make();
        private HttpClient client;
        private BiConsumer<String, Map<String, String>> count = (counter, labels) -> {};
        private Consumer<String> audit;
        private boolean refusesWider;
        private boolean debugs;

        private Builder(Handle policy, byte[] tokens) {
            this.policy = Objects.requireNonNull(policy, "policy");
            make.tokens = tokens;
            make.introspection = true;
            make.proofs = true;
        }

        private static HttpClient usualClient() {
            // Otherwise it would ask issuers on this machine for an upgrade to HTTP/2.
            HttpClient.Builder builder = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1);
            return new Proxies(System.getenv()).in(builder).build();
        }

        /**
         * The client that fetches the issuers' keys and asks about opaque tokens, with your proxies, roots and timeouts.
         *
         * @throws IllegalArgumentException if it follows redirects or keeps cookies: only the issuer may state where
         * its keys are
         */
        public Builder client(HttpClient client) {
            if (client.followRedirects() != HttpClient.Redirect.NEVER || client.cookieHandler().isPresent()) {
                throw new IllegalArgumentException("the client for keys must not follow redirects or keep cookies");
            }
            this.client = client;
            return this;
        }

        /** The content of {@code WWW-Authenticate} on a denial; {@code Bearer} by default. */
        public Builder challenge(Challenge challenge) {
            make.challenge = challenge.extent().number;
            make.realm = challenge.realm().orElse("");
            make.resourceMetadata = challenge.resourceMetadata().orElse("");
            return this;
        }

        /** Answers every denial with 403, so that a caller cannot tell an unknown route from a missing scope. */
        public Builder flat403() {
            make.flat403 = true;
            return this;
        }

        /** Allows requests with a header that overrides the method, such as {@code X-HTTP-Method-Override}. Only safe if nothing follows it. */
        public Builder ignoreMethodOverride() {
            make.ignoreMethodOverride = true;
            return this;
        }

        /**
         * Routes that need no token, such as {@code GET /healthz} or {@code GET /docs/{page}}: they are allowed with
         * the reason {@code public_route} before a token is read, by the same rules for paths. No path may match both a
         * public route and a route of the policy. {@code HEAD} must be listed separately.
         */
        public Builder publicRoutes(List<String> routes) {
            make.publicRoutes = List.copyOf(routes);
            return this;
        }

        /** How to answer CORS preflight requests; denied by default. */
        public Builder corsPreflight(CorsPreflight preflight) {
            make.corsPreflight = preflight.number;
            return this;
        }

        /**
         * Receives the name of each counter to increment, with its labels, whose values are codes and templates, never
         * a path or a part of a token. An exception changes no answer, and is logged once. {@code
         * orbgate_decisions_total} has the labels {@code decision}, {@code reason} and {@code route}, {@code
         * orbgate_tokens_refused_total} {@code reason}, {@code orbgate_misrouted_total} {@code route} and {@code
         * matched}, and {@code orbgate_policy_loads_total} {@code result}.
         */
        public Builder count(BiConsumer<String, Map<String, String>> count) {
            this.count = Objects.requireNonNull(count, "count");
            return this;
        }

        /**
         * Receives a line of JSON for each decision. Requests wait for it. An exception changes no answer: it is logged
         * once, and the line counts in {@code orbgate_audit_lost_total}.
         */
        public Builder audit(Consumer<String> audit) {
            this.audit = Objects.requireNonNull(audit, "audit");
            return this;
        }

        /** A reload fails, and the active policy stays, if the new policy allows more, or for fewer orbs. */
        public Builder refuseWider() {
            refusesWider = true;
            return this;
        }

        /**
         * Logs why a call is denied: the answer of {@link Engine#explain} as a line of JSON, without the query, or only the decision if
         * a header or the query causes the denial. It costs time for each denial. Responses don't contain it.
         */
        public Builder debug() {
            debugs = true;
            return this;
        }

        /**
         * Creates the gate. Nothing is fetched before the first token: see {@link Gate#warm}. The secrets for opaque tokens are read
         * now, from their files or environment variables.
         *
         * @throws ConfigurationException if the configuration of tokens, the challenge or a public route has errors, if a secret
         *     cannot be read, or if a path fits both a public route and a route of the policy
         */
        public Gate build() {
            Gate gate = new Gate(this);
            try (Engine now = policy.load()) {
                gate.check(now);
                return gate;
            } catch (OrbgateException overlap) {
                gate.close();
                throw overlap;
            }
        }
    }
}
