package io.github.orbgate;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.reflect.Field;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

/** What users hand over and get back, for any decision. */
class InterfaceTest {
    private static final String ORBS = "/api/v1/external/orbs";
    private static final Token READER = Token.user("read:orbs");

    private final Engine engine = Engine.external();

    /** Joined by hand, a bogus element would become two scopes. */
    @Test
    void scopesOfAListStayApart() {
        List<String> bogus = List.of("", "x", "read:orbs read:keys");
        List<String> held = List.of("x", "", "read:orbs");
        for (Function<List<String>, Token> make :
                List.<Function<List<String>, Token>>of(
                        Token::user, Token::organisation, list -> Token.user(engine.scopeSet(list)))) {
            assertEquals(Reason.SCOPE_MISSING, engine.decide("GET", ORBS, make.apply(bogus)).reason());
            assertEquals(Reason.SCOPE_MISSING, engine.decide("GET", ORBS, make.apply(List.of())).reason());
            assertTrue(engine.decide("GET", ORBS, make.apply(held)).isAllow());
        }
    }

    @Test
    void aDenialDeclaresTheMethodsOfItsPath() {
        String voxie = "/api/v1/external/voxies/7";
        Batch batch = new Batch();
        batch.add("PUT", voxie);
        Decision denied = engine.decide("PUT", voxie, READER);
        Decision batched = engine.decide(batch, READER).get(0);
        engine.close();
        assertEquals(List.of("DELETE", "GET", "PATCH"), denied.declaredMethods());
        assertEquals(List.of("DELETE", "GET", "PATCH"), batched.declaredMethods());
        Engine other = Engine.external();
        assertEquals(List.of(), other.decide("GET", voxie, READER).declaredMethods());
        assertEquals(List.of(), other.decide("GET", "/nowhere", READER).declaredMethods());
        assertEquals(List.of(), Decision.of(Reason.METHOD_NOT_DECLARED).declaredMethods());
    }

    @Test
    void whatThingsSay() {
        assertEquals("Token[user, read:orbs]", Token.user("read:orbs").toString());
        assertEquals("Token[organisation, interned]", Token.organisation(engine.scopeSet("read:orbs")).toString());
        assertEquals("Token[none]", Token.none().toString());
        assertEquals("Engine[" + engine.digest() + "]", engine.toString());
        assertEquals("Handle[" + engine.digest() + "]", new Handle(engine).toString());
        Engine closed = Engine.external();
        closed.close();
        assertEquals("Engine[closed]", closed.toString());
        assertEquals("user unknown scope_missing", TokenKind.USER + " " + TokenKind.UNKNOWN + " " + Reason.SCOPE_MISSING);
        assertEquals(
                "deny: scope_missing, GET " + ORBS + ", read:orbs",
                engine.decide("GET", ORBS, Token.user("")).toString());
    }

    @Test
    void aPolicyCanBeFaked() {
        Policy fake = (method, target, token, bonus) ->
                Decision.of(target.length == 1 ? Reason.SCOPE_HELD : Reason.METHOD_NOT_DECLARED);
        assertTrue(fake.decide("GET", "/", READER).isAllow());
        Decision denied = fake.decide("GET", "/a", READER, BonusOrbs.ALLOW);
        assertEquals(405, denied.httpStatus());
        assertEquals(Optional.empty(), denied.charge());
        assertEquals("deny: method_not_declared", denied.toString());
        assertFalse(Decision.of(Reason.UNKNOWN).isAllow());
        for (Policy real : List.<Policy>of(engine, new Handle(engine))) {
            assertTrue(real.decide("GET", ORBS, READER).isAllow());
        }
    }

    /** Reasons and details have their numbers by their order. */
    @Test
    void codesHaveTheNumbersOfTheLibrary() throws ReflectiveOperationException {
        int count = 0;
        for (Field code : Layout.class.getDeclaredFields()) {
            String name = code.getName();
            if (name.startsWith("REASON_") && code.getInt(null) != Layout.REASON_NONE) {
                assertEquals(name, "REASON_" + Reason.of(code.getInt(null)).name());
                count++;
            } else if (name.startsWith("DETAIL_") && code.getInt(null) != Layout.DETAIL_NONE) {
                assertEquals(name, "DETAIL_" + Detail.of(code.getInt(null)).name());
                count++;
            }
        }
        assertEquals(Reason.values().length + Detail.values().length - 2, count);
    }

    @Test
    void textsOfAnyLengthAreAskedAlike() {
        RouteId route = engine.findRoute("GET", ORBS).orElseThrow();
        for (int length : new int[] {0, 1, 16_000, 16_384, 16_385, 1 << 20}) {
            Token held = Token.user("x".repeat(length) + " read:orbs");
            assertTrue(engine.decide("GET", ORBS, held).isAllow());
            assertTrue(engine.decideRoute(route, held).isAllow());
            assertTrue(engine.decideScope("read:orbs", held).isAllow());
            assertEquals(length == 0, engine.decide("GET", ORBS, Token.user("x".repeat(length) + "read:orbs")).isAllow());
            Decision target = engine.decide("GET", ORBS + "?" + "x".repeat(length), READER);
            assertEquals(length < 8_000 ? Reason.SCOPE_HELD : Reason.MALFORMED_REQUEST, target.reason());
            assertEquals(Reason.NO_ROUTE, engine.decideScope("y".repeat(length), READER).reason());
        }
    }

    /** Three bytes for each of these characters would be more than an array can have. */
    @Test
    void aTextOfHundredsOfMillionsOfCharactersIsDenied() {
        String much = "\u00e9".repeat(800_000_000);
        assertEquals(Optional.of(Detail.LENGTH), engine.decide("GET", much, READER).detail());
        assertEquals(Optional.of(Detail.METHOD), engine.decide(much, ORBS, READER).detail());
        assertEquals(Reason.NO_ROUTE, engine.decideScope(much, READER).reason());
        assertEquals(Optional.empty(), engine.findRoute("GET", much));
        Batch batch = new Batch();
        batch.add("GET", much);
        assertEquals(Optional.of(Detail.LENGTH), engine.decide(batch, READER).get(0).detail());
        byte[] large = new byte[9 << 20];
        String says = assertThrows(PolicyException.class, () -> Engine.fromYaml(large)).getMessage();
        assertEquals(says, assertThrows(PolicyException.class, () -> Engine.fromYaml(much)).getMessage());
    }

    /** Scopes are never cut: the beginning of one may be another scope. */
    @Test
    void scopesAreReadToTheirEnd() {
        for (int length : new int[] {1 << 16, 1 << 24}) {
            String padding = "\u20ac".repeat(length - 10) + " ";
            assertFalse(engine.decide("GET", ORBS, Token.user(padding + "read:orbs\u00e9")).isAllow());
            assertTrue(engine.decide("GET", ORBS, Token.user(padding + "\ud800 read:orbs")).isAllow());
            assertTrue(engine.decide("GET", ORBS, Token.user(engine.scopeSet(padding + "read:orbs"))).isAllow());
        }
        assertEquals(7, Text.checked(7, "scopes"));
        long many = 2L << 30;
        String says = assertThrows(IllegalArgumentException.class, () -> Text.checked(many, "scopes")).getMessage();
        assertEquals("scopes has more than 2 GiB", says);
    }

    /** Another thread collects while a call looks through a long text, and is done long before it. */
    @Test
    void aLongTextDoesNotStopTheCollector() throws Exception {
        Token token = Token.user(" ".repeat(64 << 20)); // some tenths of a second
        long before = 0;
        for (int attempt = 0; attempt < 5 && before < 50; attempt++) {
            CountDownLatch begun = new CountDownLatch(1);
            AtomicLong ended = new AtomicLong();
            Thread caller = new Thread(() -> {
                begun.countDown();
                engine.decide("GET", ORBS, token);
                ended.set(System.nanoTime());
            });
            caller.start();
            begun.await();
            Thread.sleep(20);
            System.gc();
            long collected = System.nanoTime();
            caller.join();
            before = TimeUnit.NANOSECONDS.toMillis(ended.get() - collected);
        }
        assertTrue(before >= 50, "the collector waited for the call, each time");
    }

    @Test
    void nullIsRefused() {
        byte[] text = new byte[1];
        Map<Executable, String> named = new LinkedHashMap<>();
        named.put(() -> engine.decide(null, ORBS, READER), "method");
        named.put(() -> engine.decide("GET", (String) null, READER), "target");
        named.put(() -> engine.decide("GET", ORBS, null), "token");
        named.put(() -> engine.decide("GET", ORBS, READER, null), "bonus");
        named.put(() -> engine.decide(null, text, READER, BonusOrbs.ALLOW), "method");
        named.put(() -> engine.decide(text, null, READER, BonusOrbs.ALLOW), "target");
        named.put(() -> new Handle(engine).decide("GET", ORBS, null), "token");
        named.put(() -> new Handle(null), "engine");
        named.put(() -> new Handle(engine).store(null), "engine");
        named.put(() -> engine.decideRoute(null, READER), "route");
        named.put(() -> engine.decideScope(null, READER), "scope");
        named.put(() -> engine.decideScope("a", null), "token");
        named.put(() -> engine.findRoute(null, "/"), "method");
        named.put(() -> engine.findRoute("GET", null), "template");
        named.put(() -> engine.scopeSet((String) null), "scopes");
        named.put(() -> engine.scopeSet((List<String>) null), "scopes");
        named.put(() -> Token.user((ScopeSet) null), "scopes");
        named.put(() -> Token.of(null, ""), "kind");
        named.put(() -> Token.of(null, engine.scopeSet("")), "kind");
        named.put(() -> Token.user((String) null), "scopes");
        named.put(() -> Engine.fromYaml((String) null), "yaml");
        named.put(() -> Engine.fromYaml((byte[]) null), "yaml");
        named.put(() -> Engine.fromFile(null), "path");
        named.put(() -> engine.decide((Batch) null), "batch");
        named.put(() -> engine.decide(new Batch(), null), "token");
        named.put(() -> new Batch().add("GET", null), "target");
        named.put(() -> new Batch().add(text, text, null, BonusOrbs.ALLOW), "token");
        named.put(() -> Decision.of(null), "reason");
        named.forEach((call, name) -> assertEquals(name, assertThrows(NullPointerException.class, call).getMessage()));
    }
}
