package io.github.orbgate;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class BatchTest {
    private static final List<String> TARGETS =
            List.of("/api/v1/external/orbs", "/api/v1/external/account", "/nowhere", "", "/\ud800", "x".repeat(9000));

    private final Engine engine = Engine.external();

    @Test
    void aBatchDecidesAsItsRequests() {
        Batch batch = new Batch();
        for (Token token : List.of(
                Token.user("read:orbs"), Token.user(engine.scopeSet("read:account")), Token.organisation(""), Token.none())) {
            for (int rows : new int[] {1000, 1, 0}) {
                batch.clear();
                List<Decision> singles = new ArrayList<>();
                for (int row = 0; row < rows; row++) {
                    String target = TARGETS.get(row % TARGETS.size());
                    batch.add("GET", target);
                    singles.add(engine.decide("GET", target, token, BonusOrbs.ALLOW));
                }
                assertEquals(rows, batch.size());
                Decisions decisions = engine.decide(batch, token, BonusOrbs.ALLOW);
                assertEquals(singles, decisions);
                for (int row = 0; row < rows; row++) {
                    assertEquals(singles.get(row).isAllow(), decisions.isAllow(row));
                }
            }
        }
    }

    @Test
    void threadsTakeTurnsWithABatch() {
        Batch batch = new Batch();
        Token token = Token.user("read:orbs");
        IntStream.range(0, 1000).parallel().forEach(row -> {
            batch.add("GET", "/api/v1/external/orbs");
            assertTrue(engine.decide(batch, token).isAllow(0));
        });
        Decision single = engine.decide("GET", "/api/v1/external/orbs", token);
        assertEquals(Collections.nCopies(1000, single), engine.decide(batch, token));
    }

    @Test
    void eachRowMayHaveItsOwnToken() {
        List<Token> tokens = List.of(
                Token.user("read:orbs"),
                Token.user(engine.scopeSet("read:orbs")),
                Token.organisation(engine.scopeSet("read:account")),
                Token.none(),
                Token.organisation("read:account read:orbs"),
                Token.of(TokenKind.UNKNOWN, "read:orbs"));
        Batch batch = new Batch();
        for (int rows : new int[] {1000, 1, 0}) {
            batch.clear();
            List<Decision> singles = new ArrayList<>();
            for (int row = 0; row < rows; row++) {
                String target = TARGETS.get(row % TARGETS.size());
                Token token = tokens.get(row / 5 % tokens.size());
                BonusOrbs bonus = row % 7 < 3 ? BonusOrbs.ALLOW : BonusOrbs.REFUSE;
                batch.add("GET", target, token, bonus);
                singles.add(engine.decide("GET", target, token, bonus));
            }
            assertEquals(singles, engine.decide(batch));
        }
    }

    @Test
    void tokensAreThoseOfTheRowsOrOneForAll() {
        Batch own = new Batch();
        own.add("GET", "/", Token.none(), BonusOrbs.REFUSE);
        assertThrows(IllegalStateException.class, () -> own.add("GET", "/"));
        assertThrows(IllegalStateException.class, () -> engine.decide(own, Token.none()));
        assertEquals(1, own.size());
        Batch one = new Batch();
        one.add("GET", "/");
        assertThrows(IllegalStateException.class, () -> one.add("GET", "/", Token.none(), BonusOrbs.REFUSE));
        assertThrows(IllegalStateException.class, () -> engine.decide(one));
        assertThrows(NullPointerException.class, () -> own.add("GET", "/", null, BonusOrbs.REFUSE));
        assertThrows(NullPointerException.class, () -> own.add("GET", "/", Token.none(), null));
        assertThrows(NullPointerException.class, () -> own.add("GET", (String) null, Token.none(), BonusOrbs.REFUSE));
        assertEquals(1, engine.decide(own).size());
    }

    @Test
    void anEmptyBatchHasNoDecisions() {
        assertTrue(engine.decide(new Batch(), Token.none()).isEmpty());
        assertTrue(engine.decide(new Batch()).isEmpty());
    }

    @Test
    void aRowThatIsNotThere() {
        Batch batch = new Batch();
        batch.add("GET", "/");
        Decisions decisions = engine.decide(batch, Token.none());
        assertThrows(IndexOutOfBoundsException.class, () -> decisions.get(1));
        assertThrows(IndexOutOfBoundsException.class, () -> decisions.isAllow(-1));
    }

    @Test
    void aRowThatCannotBeAddedIsNotThere() {
        Batch batch = new Batch();
        assertThrows(NullPointerException.class, () -> batch.add("GET", null));
        assertEquals(0, batch.size());
    }
}
