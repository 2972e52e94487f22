package io.github.orbgate;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.InputStream;
import java.lang.ref.WeakReference;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class EngineTest {
    private static final String ORBS = "/api/v1/external/orbs";
    private static final Token READER = Token.user("read:orbs");

    private final Engine engine = Engine.external();

    @Test
    void theWayIsTheBestOfThisJava() {
        assertEquals(System.getProperty("orbgate.way"), Library.ABI.name());
    }

    @Test
    void aDecisionSaysWhichScopeAndWhy() {
        Decision decision = engine.decide("GET", ORBS, READER);
        assertTrue(decision.isAllow());
        assertEquals(Reason.SCOPE_HELD, decision.reason());
        assertEquals(Optional.empty(), decision.detail());
        assertEquals(0, decision.httpStatus());
        assertEquals(Optional.of("read:orbs"), decision.scope());
        assertEquals(Optional.of("GET " + ORBS), decision.route());
        assertEquals(Optional.of("external"), decision.api());
        assertEquals(engine.digest(), decision.policy());
        assertEquals("allow: scope_held, GET " + ORBS + ", read:orbs", decision.toString());
    }

    @Test
    void aKindInAnotherCaseIsUnknown() {
        assertEquals(Reason.INVALID_TOKEN, engine.decide("GET", ORBS, Token.of(TokenKind.of("User"), "")).reason());
    }

    @Test
    void equalDecisionsAreEqual() {
        Decision decision = engine.decide("GET", ORBS, READER);
        assertEquals(decision, Engine.external().decide("GET", ORBS, READER));
        assertEquals(decision.hashCode(), Engine.external().decide("GET", ORBS, READER).hashCode());
        assertNotEquals(decision, engine.decide("GET", ORBS, Token.none()));
    }

    @Test
    void aCharge() {
        String route = "/api/v1/external/voxies/prompt/run";
        Token writer = Token.user("write:voxies");
        Charge charge = engine.decide("POST", route, writer, BonusOrbs.ALLOW).charge().orElseThrow();
        assertEquals(new Charge(true, OptionalLong.empty(), true), charge);
        assertFalse(engine.decide("POST", route, writer).charge().orElseThrow().bonusAllowed());
    }

    @Test
    void bytesAreBytes() {
        Decision nul = engine.decide(new byte[] {'G', 0, 'T'}, ORBS.getBytes(StandardCharsets.US_ASCII), READER,
                BonusOrbs.REFUSE);
        assertEquals(Optional.of(Detail.METHOD), nul.detail());
        assertEquals(Optional.of(Detail.LENGTH), engine.decide("GET", "", READER).detail());
        // Java's own encoder would make a harmless `?` of half a character.
        assertEquals(Optional.of(Detail.BYTE), engine.decide("GET", ORBS + "\ud800", READER).detail());
        assertEquals(Optional.of(Detail.BYTE), engine.decide("GET", ORBS + "?\u00e9\u20ac\ud83d\ude00", READER).detail());
    }

    @Test
    void aDetailOfALaterLibraryIsUnknown() {
        assertEquals(Detail.UNKNOWN, Detail.of(Detail.values().length));
    }

    @Test
    void textIsUtf8() {
        for (String text : List.of("", "a", "a\u00e9b", "\u07ff\u0800", "\ud7ff\ue000", "\u20ac\uffff", "\ud83d\ude00x", "\u0000\u007f\u0080")) {
            assertEquals(text, new String(Text.bytes(text, "text"), StandardCharsets.UTF_8));
        }
        for (String half : List.of("\ud800", "\udbff", "\udc00", "\udfff")) {
            assertArrayEquals(new byte[] {'a', -1, 'b'}, Text.bytes("a" + half + "b", "text"));
        }
    }

    @Test
    void internedScopesDecideAsTheirText() {
        ScopeSet scopes = engine.scopeSet("read:orbs unheard:of");
        assertTrue(engine.decide("GET", ORBS, Token.user(scopes)).isAllow());
        assertTrue(engine.decide("GET", ORBS, Token.organisation(scopes)).isAllow());
        assertFalse(engine.decide("GET", "/api/v1/external/account", Token.user(scopes)).isAllow());
        Engine other = Engine.fromYaml(POLICY);
        assertFalse(other.decideScope("read:a", Token.user(scopes)).isAllow());
    }

    @Test
    void aRouteThatTheServerKnows() {
        RouteId route = engine.findRoute("GET", ORBS).orElseThrow();
        assertEquals(engine.decide("GET", ORBS, READER), engine.decideRoute(route, READER));
        assertEquals(Reason.NO_TOKEN, engine.decideRoute(route, Token.none()).reason());
        assertEquals(Optional.empty(), engine.findRoute("GET", "/nowhere"));
        assertEquals(Reason.NO_ROUTE, Engine.fromYaml(POLICY).decideRoute(route, READER).reason());
        assertEquals(Reason.NO_ROUTE, engine.decideRoute(new RouteId(0, 0), READER).reason());
    }

    @Test
    void aScopeWithoutARoute() {
        assertTrue(engine.decideScope("read:orbs", READER).isAllow());
        assertEquals(Optional.empty(), engine.decideScope("read:orbs", READER).route());
        assertEquals(Reason.NO_ROUTE, engine.decideScope("unheard:of", READER).reason());
    }

    /** The table in JSON has them, too; decisions agree with each. */
    @Test
    void everyRouteIsListed() {
        List<Route> routes = engine.routes();
        String table = engine.ask("table", "{}");
        assertEquals(table.split("\"template\":", -1).length - 1, routes.size());
        for (Route route : routes) {
            assertEquals(Optional.of(route.id()), engine.findRoute(route.method(), route.template()));
            assertTrue(table.contains("\"" + route.method() + " " + route.template() + "\""), route.toString());
            Decision decision = engine.decideRoute(route.id(), Token.user(route.scope()));
            assertTrue(decision.isAllow(), route.toString());
            assertEquals(Optional.of(route.method() + " " + route.template()), decision.route());
            assertEquals(Optional.of(route.scope()), decision.scope());
            assertEquals(Optional.of(route.api()), decision.api());
            assertEquals(decision.charge(), route.charge());
            assertTrue(route.methods().contains(route.method()), route.toString());
            assertEquals(route.methods().stream().sorted().toList(), route.methods());
            assertThrows(UnsupportedOperationException.class, () -> route.methods().clear());
        }
        assertThrows(UnsupportedOperationException.class, routes::clear);
        Engine closed = Engine.external();
        closed.close();
        assertThrows(IllegalStateException.class, closed::routes);
        assertEquals(List.of(), Engine.fromYaml("orbgate: 1\napis: {}\n").routes());
    }

    @Test
    void routesListWhatTheyNeed() {
        String needs = "orbgate: 1\napis:\n  a: {base_path: /a, closed: [/shut], scopes: {read: {orbs: false, or: [admin, v w],"
                + " routes: [GET /x, {route: GET /y, and: w}]}, admin: {routes: []}, v: {routes: []}, w: {routes: []}}}\n";
        Engine engine = Engine.fromYaml(needs);
        List<List<List<String>>> scopes = engine.routes().stream().map(Route::scopes).toList();
        assertEquals(
                List.of(List.of(List.of("read"), List.of("admin"), List.of("v", "w")), List.of(List.of("read", "w"))), scopes);
        // A decision lists them, allow or deny, wherever it names route and scope.
        for (Route route : engine.routes()) {
            for (String held : List.of("", String.join(" ", route.scopes().get(0)))) {
                assertEquals(route.scopes(), engine.decideRoute(route.id(), Token.user(held)).scopes());
            }
            assertEquals(List.of(), engine.decide(route.method(), route.template(), Token.none()).scopes());
            assertEquals(List.of(), engine.decide("PUT", route.template(), Token.user("read")).scopes());
        }
        assertEquals(List.of(), engine.decideScope("read", Token.user("read")).scopes());
        assertEquals(List.of(), Engine.external().decide("GET", ORBS, Token.user("")).scopes());
        Decision shut = engine.decide("GET", "/a/shut", Token.user("read"));
        assertEquals(Optional.of("/a/shut"), shut.route());
        assertEquals(Optional.of("a"), shut.api());
        assertEquals(List.of(), shut.declaredMethods());
    }

    @Test
    void aRouteHasItsLocationAndItsCharge() {
        Engine small = Engine.fromYaml(POLICY);
        RouteId id = small.findRoute("GET", "/a/a").orElseThrow();
        Charge charge = new Charge(true, OptionalLong.of(Long.MAX_VALUE), false);
        Route only = new Route(id, "GET", "/a/a", "read:a", List.of(List.of("read:a")), "a", List.of("GET"), Optional.of(charge), 9, 18);
        assertEquals(List.of(only), small.routes());
        String api = "{base_path: /%s, scopes: {read:x: {orbs: false, routes: [GET /x]}}}";
        String shared = "orbgate: 1\napis:\n  b: " + api.formatted("b") + "\n  a: " + api.formatted("a") + "\n";
        List<Route> routes = Engine.fromYaml(shared).routes();
        assertEquals(List.of("read:x", "read:x"), routes.stream().map(Route::scope).toList());
        routes.forEach(route -> assertEquals("/" + route.api() + "/x", route.template()));
    }

    /** A policy of an archive that is too large is not read to its end. */
    static final class Large {
        public static void main(String[] arguments) throws Exception {
            Path archive = Path.of(System.getProperty("archive"));
            try (var files = java.nio.file.FileSystems.newFileSystem(archive, (ClassLoader) null)) {
                Engine.fromFile(files.getPath("/policy.yaml"));
            } catch (PolicyException refused) {
                System.out.println(refused.getMessage());
            }
        }
    }

    @Test
    void aFileThatIsTooLargeIsNotReadToItsEnd(@TempDir Path folder) throws Exception {
        Path archive = folder.resolve("policies.zip");
        try (var zip = new java.util.zip.ZipOutputStream(Files.newOutputStream(archive))) {
            zip.putNextEntry(new java.util.zip.ZipEntry("policy.yaml"));
            byte[] spaces = new byte[1 << 20];
            java.util.Arrays.fill(spaces, (byte) ' ');
            for (int each = 0; each < 256; each++) {
                zip.write(spaces);
            }
        }
        List<String> printed = LibraryTest.printed(
                Large.class, LibraryTest.CLASSES, "-Darchive=" + archive, "-Dorbgate.library=" + Library.path(), "-Xmx64m");
        assertEquals(1, printed.size());
        assertTrue(printed.get(0).contains("8388608"), printed.get(0));
    }

    static final String POLICY =
            """
            orbgate: 1
            name: small
            apis:
              a:
                base_path: /a
                scopes:
                  read:a:
                    orbs: 9223372036854775807
                    routes: [GET /a]
            """;

    @Test
    void aPolicyOfOnesOwn(@TempDir Path directory) throws IOException {
        Path file = Files.writeString(directory.resolve("policy.yaml"), POLICY);
        Engine fromFile = Engine.fromFile(file);
        assertEquals(Engine.fromYaml(POLICY).digest(), fromFile.digest());
        assertEquals(fromFile.digest(), Engine.fromYaml(Files.newInputStream(file)).digest());
        assertEquals(Optional.of("small"), fromFile.name());
        Charge charge = fromFile.decide("GET", "/a/a", Token.user("read:a")).charge().orElseThrow();
        assertEquals(OptionalLong.of(Long.MAX_VALUE), charge.amount());
    }

    @Test
    void everyErrorOfAPolicyHasItsLocation(@TempDir Path directory) throws IOException {
        String yaml = "orbgate: 1\ncolour: red\napis:\n  a:\n    scopes: 7\n";
        PolicyException problem = assertThrows(PolicyException.class, () -> Engine.fromYaml(yaml));
        assertEquals(2, problem.line());
        assertEquals(1, problem.column());
        assertTrue(problem.diagnostics().size() >= 2, problem.getMessage());
        Diagnostic first = problem.diagnostics().get(0);
        assertEquals(2, first.line());
        assertEquals(1, first.column());
        assertTrue(problem.getMessage().startsWith("2:1: " + first.message()), problem.getMessage());

        Path file = Files.writeString(directory.resolve("policy.yaml"), yaml);
        PolicyException named = assertThrows(PolicyException.class, () -> Engine.fromFile(file));
        assertTrue(named.getMessage().startsWith(file + ":2:1: "), named.getMessage());
        assertThrows(PolicyException.class, () -> Engine.fromYaml(""));
        assertThrows(PolicyException.class, () -> Engine.fromYaml(new byte[] {(byte) 0xff}));
    }

    @Test
    void aStreamWithoutAnEndIsRefused() {
        InputStream endless = new InputStream() {
            @Override
            public int read() {
                return ' ';
            }
        };
        PolicyException problem = assertThrows(PolicyException.class, () -> Engine.fromYaml(endless));
        assertTrue(problem.getMessage().contains("8388608"), problem.getMessage());
        Handle policy = new Handle(Engine.external());
        ConfigurationException tokens =
                assertThrows(ConfigurationException.class, () -> Gate.builder(policy, endless).build());
        assertTrue(tokens.getMessage().contains("8388608"), tokens.getMessage());
    }

    @Test
    void aFileThatIsNotThereIsNamed() {
        Path path = Path.of("/no/such.yaml");
        IOException problem = assertThrows(NoSuchFileException.class, () -> Engine.fromFile(path));
        assertTrue(problem.getMessage().contains("/no/such.yaml"), problem.getMessage());
    }

    @Test
    void aFolderIsNoPolicy(@TempDir Path folder) {
        IOException problem = assertThrows(IOException.class, () -> Engine.fromFile(folder));
        assertTrue(problem.getMessage().contains(folder.toString()), problem.getMessage());
    }

    @Test
    void anEngineKnowsWhetherItsTextHadAnEnd() {
        assertFalse(Engine.fromYaml(POLICY).hasEndMarker());
        assertTrue(Engine.fromYaml(POLICY + "...\n").hasEndMarker());
        assertTrue(Engine.external().hasEndMarker());
        assertFalse(Engine.fromYaml(POLICY + "...\n").isSealed());
        assertTrue(Engine.external().isSealed());
        String wrong = POLICY + "... # sha256:" + "0".repeat(64) + "\n";
        assertThrows(PolicyException.class, () -> Engine.fromYaml(wrong));
    }

    /** A pipe would make its reader wait. */
    @Test
    void onlyARegularFileIsRead(@TempDir Path directory) throws Exception {
        Path pipe = directory.resolve("policy.yaml");
        assertEquals(0, new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor());
        for (Path path : List.of(pipe, directory, Path.of("/dev/zero"))) {
            IOException problem = assertThrows(IOException.class, () -> Engine.fromFile(path));
            String message = problem.getMessage();
            assertTrue(message.contains("`" + path + "`: ") && message.endsWith("regular file"), message);
        }
    }

    /** The machine has another policy where the archive has its own. */
    @Test
    void aFileOfAnotherFileSystemIsReadThere(@TempDir Path directory) throws IOException {
        Path host = Files.writeString(directory.resolve("policy.yaml"), POLICY);
        String other = POLICY.replace("small", "other");
        try (FileSystem archive = FileSystems.newFileSystem(directory.resolve("a.zip"), Map.of("create", "true"))) {
            Path path = archive.getPath(host.toString());
            assertThrows(NoSuchFileException.class, () -> Engine.fromFile(path));
            Files.createDirectories(path.getParent());
            Files.writeString(path, other);
            assertEquals(Engine.fromYaml(other).digest(), Engine.fromFile(path).digest());
            assertEquals(Optional.of("small"), Engine.fromFile(host).name());
            assertThrows(IOException.class, () -> Engine.fromFile(path.getParent()));
            Files.writeString(path, "orbgate: 1\ncolour: red\nname: no\n");
            PolicyException there = assertThrows(PolicyException.class, () -> Engine.fromFile(path));
            Files.writeString(host, "orbgate: 1\ncolour: red\nname: no\n");
            PolicyException here = assertThrows(PolicyException.class, () -> Engine.fromFile(host));
            assertEquals(here.getMessage(), there.getMessage());
            assertEquals(here.diagnostics(), there.diagnostics());
            assertEquals(here.line(), there.line());
        }
    }

    @Test
    void nothingIsAskedOfAClosedEngine() {
        Engine closed = Engine.external();
        Decision before = closed.decide("GET", ORBS, READER);
        closed.close();
        closed.close();
        assertThrows(IllegalStateException.class, () -> closed.decide("GET", ORBS, READER));
        assertThrows(IllegalStateException.class, closed::digest);
        assertThrows(IllegalStateException.class, () -> closed.scopeSet(""));
        assertEquals(Optional.of("read:orbs"), before.scope());
    }

    @Test
    void theCollectorTakesEnginesBack() throws InterruptedException {
        WeakReference<Core> core = new WeakReference<>(Engine.fromYaml(POLICY).share());
        for (int round = 0; round < 100 && core.get() != null; round++) {
            System.gc();
            Thread.sleep(10);
        }
        assertEquals(null, core.get());
    }

    @Test
    void aDecisionOutlivesItsEngine() {
        Decision kept;
        Decisions batch;
        try (Engine engine = Engine.fromYaml(POLICY)) {
            kept = engine.decide("GET", "/a/a", Token.user("read:a"));
            Batch one = new Batch();
            one.add("GET", "/a/a");
            batch = engine.decide(one, Token.user("read:a"));
        }
        assertEquals(Optional.of("read:a"), kept.scope());
        assertEquals(OptionalLong.of(Long.MAX_VALUE), kept.charge().orElseThrow().amount());
        assertEquals(kept, batch.get(0));
    }
}
