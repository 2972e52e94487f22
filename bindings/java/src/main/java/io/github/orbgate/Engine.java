package io.github.orbgate;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessMode;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReferenceFieldUpdater;

/**
 * A compiled, immutable policy: which scope does this route need, may this token call it, does it consume orbs, and
 * why? It is safe to use from any thread.
 *
 * <p>Pass methods and targets as received in the request line, neither decoded nor normalised. A call that throws
 * has decided nothing: deny where you catch the exception.
 *
 * <p>A policy is in native memory, which belongs to all open engines and {@link Handle}s that hold it. It is freed when
 * the last of them is closed and running calls have returned. The garbage collector frees engines that were never
 * closed, but does not see their size.
 */
public final class Engine implements Policy, AutoCloseable {

    private static final AtomicReferenceFieldUpdater<Engine, Core> CORE =
            AtomicReferenceFieldUpdater.newUpdater(Engine.class, Core.class, "core");

    private volatile Core core;

    Engine(Core core) {
        this.core = core;
    }

    /** The policy that is compiled into the library: the table of the specification. */
    public static Engine external() {
        NativeBuffer out = new NativeBuffer(8);
        Core.check(Library.ABI.call("orbgate_engine_external", out.address));
        return new Engine(new Core(out.bytes.getLong(0)));
    }

    /**
     * Compiles a policy from YAML.
     *
     * @throws PolicyException if it has errors, with the line and column of each
     */
    public static Engine fromYaml(String yaml) {
        return fromYaml(Text.ofPolicy(yaml, "yaml"));
    }

    /**
     * Compiles a policy from the bytes of a policy file.
     *
     * @throws PolicyException if it has errors, with the line and column of each
     */
    public static Engine fromYaml(byte[] yaml) {
        Objects.requireNonNull(yaml, "yaml");
        return compile("orbgate_engine_from_yaml", yaml);
    }

    /**
     * Compiles a policy from a stream, for example of a resource. It reads to the end, but at most the maximum size of
     * a policy.
     *
     * @throws PolicyException if it has errors, with the line and column of each
     * @throws IOException if the stream cannot be read
     */
    public static Engine fromYaml(InputStream yaml) throws IOException {
        return fromYaml(Text.ofStream(yaml, "yaml"));
    }

    /**
     * Compiles a policy from a file of any file system.
     *
     * @throws PolicyException if it has errors, with the line and column of each
     * @throws IOException if the file cannot be read, for example {@link
     * java.nio.file.NoSuchFileException}
     */
    public static Engine fromFile(Path path) throws IOException {
        if (Objects.requireNonNull(path, "path").getFileSystem() != FileSystems.getDefault()) {
            return fromOtherFile(path);
        }
        try {
            return compile("orbgate_engine_from_file", Text.bytes(path.toString(), "path"));
        } catch (UncheckedIOException problem) {
            checkReadable(path);
            throw problem.getCause();
        }
    }

    /** A file that only Java can read, for example in an archive. */
    private static Engine fromOtherFile(Path path) throws IOException {
        try {
            return fromYaml(read(path));
        } catch (PolicyException problem) {
            throw problem.in(path);
        }
    }

    /** The contents of a file. */
    static byte[] read(Path path) throws IOException {
        checkReadable(path);
        if (!Files.isRegularFile(path)) {
            throw new IOException("cannot read `" + path + "`: not a regular file");
        }
        try (InputStream file = Files.newInputStream(path)) {
            return Text.ofStream(file, "path");
        }
    }

    /** Throws Java's own exception if a file is missing or unreadable, for example {@link java.nio.file.NoSuchFileException}. */
    private static void checkReadable(Path path) throws IOException {
        path.getFileSystem().provider().checkAccess(path, AccessMode.READ);
    }

    private static Engine compile(String function, byte[] content) {
        NativeBuffer out = new NativeBuffer(16);
        int status = Library.ABI.call(function, content, (long) content.length, out.address, out.address + 8);
        Problem.check(status, out.bytes.getLong(8));
        return new Engine(new Core(out.bytes.getLong(0)));
    }

    @Override
    public Decision decide(byte[] method, byte[] target, Token token, BonusOrbs bonus) {
        return made(open().decide(method, target, token, bonus));
    }

    /**
     * The route with this method and template, written as in the policy including the base path of the API,
     * for example {@code GET} and {@code /api/v1/external/voxies/{voxieId}}. Call it when the server starts.
     */
    public Optional<RouteId> findRoute(String method, String template) {
        byte[] first = Text.ofRequest(method, "method");
        byte[] second = Text.ofRequest(template, "template");
        NativeBuffer out = new NativeBuffer(Layout.RouteId.SIZE);
        int status = open().during(engine -> Library.ABI.call(
                "orbgate_engine_find_route",
                engine,
                first,
                (long) first.length,
                second,
                (long) second.length,
                out.address));
        if (status == Layout.STATUS_NOT_FOUND) {
            return Optional.empty();
        }
        Core.check(status);
        return Optional.of(new RouteId(
                out.bytes.getLong(Layout.RouteId.HIGH), out.bytes.getLong(Layout.RouteId.LOW)));
    }

    /** Decides by route without bonus orbs, for a server whose router has already matched it: no strings are read. */
    public Decision decideRoute(RouteId route, Token token) {
        return decideRoute(route, token, BonusOrbs.REFUSE);
    }

    /** Decides by route, for a server whose router has already matched it: no strings are read. */
    public Decision decideRoute(RouteId route, Token token, BonusOrbs bonus) {
        return made(open().decideRoute(route, token, bonus));
    }

    /** Decides by scope without bonus orbs, for a service whose routes are not in the policy. */
    public Decision decideScope(String scope, Token token) {
        return decideScope(scope, token, BonusOrbs.REFUSE);
    }

    /** Decides by scope, for a service whose routes are not in the policy. */
    public Decision decideScope(String scope, Token token, BonusOrbs bonus) {
        return made(open().decideScope(Text.ofRequest(scope, "scope"), token, bonus));
    }

    /**
     * Decides every request of a batch, each with its own token.
     *
     * @throws IllegalStateException if the requests have no tokens
     */
    public Decisions decide(Batch batch) {
        Objects.requireNonNull(batch, "batch");
        Core core = open();
        return new Decisions(core.table, core.during(batch::decide));
    }

    /** Decides every request of a batch with the same token and without bonus orbs. */
    public Decisions decide(Batch batch, Token token) {
        return decide(batch, token, BonusOrbs.REFUSE);
    }

    /**
     * Decides every request of a batch with the same token.
     *
     * @throws IllegalStateException if the requests have their own tokens
     */
    public Decisions decide(Batch batch, Token token, BonusOrbs bonus) {
        Objects.requireNonNull(batch, "batch");
        Objects.requireNonNull(token, "token");
        Objects.requireNonNull(bonus, "bonus");
        Core core = open();
        return new Decisions(core.table, core.during(engine -> batch.decide(engine, token, bonus)));
    }

    /** Interns the scopes of a token, separated by spaces. Scopes that are not in the policy are dropped. */
    public ScopeSet scopeSet(String scopes) {
        byte[] text = Text.bytes(scopes, "scopes");
        NativeBuffer out = new NativeBuffer(8);
        Core.check(open().during(engine -> Library.ABI.call(
                "orbgate_scope_set_from_string", engine, text, (long) text.length, out.address)));
        return new ScopeSet(out.bytes.getLong(0));
    }

    /** Interns a list of scopes, for example from a JSON array. A scope that contains a space is in no policy. */
    public ScopeSet scopeSet(Collection<String> scopes) {
        return scopeSet(Text.joined(scopes));
    }

    /** Every route of the policy. */
    public List<Route> routes() {
        Table table = open().table;
        return Arrays.stream(table.routes(), 0, table.routeCount()).map(Table.Row::route).toList();
    }

    /** The policy's digest, {@code sha256:} and 64 hexadecimal digits. */
    public String digest() {
        return open().table.digest();
    }

    /** The policy's name, if it has one. */
    public Optional<String> name() {
        return Optional.ofNullable(open().table.name());
    }

    /**
     * Whether the policy ends with YAML's end marker, the line {@code ...}. A file that is still being written, or was
     * truncated, may be a valid policy with fewer routes, but lacks the marker: reject it if you reload files that
     * change.
     */
    public boolean hasEndMarker() {
        return open().table.hasEndMarker();
    }

    /**
     * Whether the end marker carries a seal, the digest of everything before it, as written by {@code orbgate fmt
     * --seal}. A policy with a wrong seal is invalid, so a sealed policy is exactly the text that was sealed: neither
     * truncated nor a mixture of two versions.
     */
    public boolean isSealed() {
        return open().table.isSealed();
    }

    /**
     * Answers a question about the policy: {@code check}, {@code diff}, {@code explain}, {@code lint}, {@code needs},
     * {@code reach}, {@code table}, {@code unused} or {@code who}. Arguments and answer are JSON; the answer is the
     * output of {@code orbgate QUESTION --json}.
     *
     * @throws OrbgateException if the question does not exist, or has other arguments
     * @throws PolicyException if the policy for {@code diff} has errors
     */
    public String ask(String question, String arguments) {
        return new String(ask(question, arguments, Layout.ANSWER_JSON), StandardCharsets.UTF_8);
    }

    private <T> T ask(String question, Object arguments, Class<T> type) {
        return Fields.read(ask(question, Json.write(arguments), Layout.ANSWER_FIELDS), type);
    }

    private byte[] ask(String question, String arguments, int form) {
        byte[] name = Text.bytes(question, "question");
        byte[] json = Text.bytes(arguments, "arguments");
        return open().during(engine -> {
            NativeBuffer out = new NativeBuffer(Layout.Str.SIZE + 16);
            long made = out.address + Layout.Str.SIZE;
            int status = Library.ABI.call(
                    "orbgate_engine_ask", engine, name, (long) name.length, json, (long) json.length, form, made, out.address, made + 8);
            Problem.check(status, out.bytes.getLong(Layout.Str.SIZE + 8));
            try {
                return Library.ABI.copy(out.bytes.getLong(Layout.Str.DATA), out.bytes.getLong(Layout.Str.LEN));
            } finally {
                Library.ABI.call("orbgate_answer_free", out.bytes.getLong(Layout.Str.SIZE));
            }
        });
    }

    // cargo xtask codes: questions
    /**
     * Reports the errors and warnings of a policy.
     *
     * @param arguments the question's arguments
     * @return the answer
     * @throws OrbgateException if the arguments are invalid
     */
    public Questions.Checks check(Questions.CheckArguments arguments) {
        return ask("check", arguments, Questions.Checks.class);
    }

    /**
     * Lists the changes for callers if another policy replaces this one.
     *
     * @param arguments the question's arguments
     * @return the answer
     * @throws OrbgateException if the arguments are invalid
     */
    public Questions.Comparison diff(Questions.DiffArguments arguments) {
        return ask("diff", arguments, Questions.Comparison.class);
    }

    /**
     * Explains why a call is allowed or denied.
     *
     * @param arguments the question's arguments
     * @return the answer
     * @throws OrbgateException if the arguments are invalid
     */
    public Questions.Explanation explain(Questions.ExplainArguments arguments) {
        return ask("explain", arguments, Questions.Explanation.class);
    }

    /**
     * Finds likely mistakes in a policy.
     *
     * @param arguments the question's arguments
     * @return the answer
     * @throws OrbgateException if the arguments are invalid
     */
    public Questions.Lints lint(Questions.LintArguments arguments) {
        return ask("lint", arguments, Questions.Lints.class);
    }

    /**
     * Finds the smallest set of scopes for a list of calls.
     *
     * @param arguments the question's arguments
     * @return the answer
     * @throws OrbgateException if the arguments are invalid
     */
    public Questions.Needs needs(Questions.NeedsArguments arguments) {
        return ask("needs", arguments, Questions.Needs.class);
    }

    /**
     * Lists everything that a token can call.
     *
     * @param arguments the question's arguments
     * @return the answer
     * @throws OrbgateException if the arguments are invalid
     */
    public Questions.Reach reach(Questions.ReachArguments arguments) {
        return ask("reach", arguments, Questions.Reach.class);
    }

    /**
     * Returns the whole policy.
     *
     * @return the answer
     * @throws OrbgateException if the arguments are invalid
     */
    public Questions.Table table() {
        return ask("table", new Questions.TableArguments(), Questions.Table.class);
    }

    /**
     * Counts how often tokens had each scope and used it.
     *
     * @param arguments the question's arguments
     * @return the answer
     * @throws OrbgateException if the arguments are invalid
     */
    public Questions.Usage unused(Questions.UnusedArguments arguments) {
        return ask("unused", arguments, Questions.Usage.class);
    }

    /**
     * Decides which tokens may make a call.
     *
     * @param arguments the question's arguments
     * @return the answer
     * @throws OrbgateException if the arguments are invalid
     */
    public Questions.Callers who(Questions.WhoArguments arguments) {
        return ask("who", arguments, Questions.Callers.class);
    }

    // end of questions

    /** A string of the engine, by the function that returns it; null if there is none. */
    Core open() {
        Core open = core;
        if (open == null) {
            throw closed();
        }
        return open;
    }

    /** The native engine, with the caller as another owner. */
    Core share() {
        Core open = open();
        if (!open.own()) {
            throw closed();
        }
        return open;
    }

    /** {@code Engine[sha256:…]}. */
    @Override
    public String toString() {
        Core open = core;
        return "Engine[" + (open == null ? "closed" : open.table.digest()) + "]";
    }

    private static Decision made(Decision decision) {
        if (decision == null) {
            throw closed();
        }
        return decision;
    }

    static IllegalStateException closed() {
        return new IllegalStateException("the engine is closed");
    }

    /**
     * Closes this engine; every later call throws {@link IllegalStateException}. If no other engine and no handle holds
     * its policy, the memory is freed when the running calls have returned; this does not wait for them. Decisions and
     * scope sets stay valid. Closing twice is harmless.
     */
    @Override
    public void close() {
        Core open = CORE.getAndSet(this, null);
        if (open != null) {
            open.disown();
        }
    }
}
