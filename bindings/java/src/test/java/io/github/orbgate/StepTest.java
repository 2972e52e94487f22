package io.github.orbgate;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Steps and gates by their handles: one that is over, ended twice or another gate's is refused. */
class StepTest extends WithIssuer {
    private final Handle policy = new Handle(Engine.external());
    private final NativeGate nativeGate = nativeGate();

    static NativeGate nativeGate() {
        Messages.Make make = new Messages.Make();
        make.tokens = issuer.tokens().getBytes();
        return new NativeGate(make);
    }

    private Messages.Reply ask(NativeGate gate, Messages.Question question, Step step) {
        return policy.during((engine, table) -> gate.ask(engine, question, step));
    }

    /** Of a request that waits for keys, which nobody fetches. */
    private Step waiting() {
        Step step = new Step();
        assertTrue(ask(nativeGate, GateTest.get(ORBS, reader).question(), step) instanceof Messages.Wait);
        assertFalse(step.isOver());
        return step;
    }

    @Test
    void aStepThatIsOverIsRefused() {
        for (int time = 0; time < 3; time++) {
            Step step = waiting();
            assertTrue(nativeGate.ask(0, new Messages.IsOver(), step) instanceof Messages.Over);
            assertFalse(step.isOver());
            step.close();
            assertTrue(step.isOver());
            step.close();
            Step other = waiting();
            assertThrows(OrbgateException.class, () -> nativeGate.ask(0, new Messages.IsOver(), step));
            assertTrue(nativeGate.ask(0, new Messages.IsOver(), other) instanceof Messages.Over);
            other.close();
        }
        Step answered = new Step();
        assertTrue(ask(nativeGate, GateTest.get(ORBS).question(), answered) instanceof Messages.Answer);
        assertTrue(answered.isOver());
    }

    @Test
    void whatIsRefusedIsOver() throws Exception {
        Step otherQuestion = waiting();
        assertThrows(OrbgateException.class, () -> nativeGate.ask(0, new Messages.Status(), otherQuestion));
        assertTrue(otherQuestion.isOver());
        NativeGate other = nativeGate();
        Step ofAnother = waiting();
        assertThrows(OrbgateException.class, () -> other.ask(0, new Messages.IsOver(), ofAnother));
        assertTrue(ofAnother.isOver());
        other.close();
        Leaving.awaitNoStep("after the test");
    }

    @Test
    void aClosedGateIsRefusedByTheLibraryToo() throws Exception {
        Step step = waiting();
        nativeGate.close();
        nativeGate.close();
        assertThrows(IllegalStateException.class, () -> nativeGate.ask(0, new Messages.IsOver(), step));
        assertThrows(OrbgateException.class, () -> new Step().ask(nativeGate.handle, 0, new Messages.Status()));
        assertThrows(OrbgateException.class, () -> step.ask(nativeGate.handle, 0, new Messages.IsOver()));
        Leaving.awaitNoStep("after the test");
    }

    @Test
    void anAnswerThatIsLongerThanTheRoomIsWhole() throws Exception {
        List<ServiceRoute> routes = new ArrayList<>();
        Set<String> expected = new HashSet<>();
        for (int number = 0; number < 3_000; number++) {
            String template = "/no/such/route/" + number + "/of/the/policy";
            routes.add(new ServiceRoute("GET", template));
            expected.add("GET " + template);
        }
        try (Gate gate = Gate.of(policy, issuer.tokens())) {
            for (int count : new int[] {3_000, 1, 30, 3_000}) {
                RoutesException differ = assertThrows(RoutesException.class, () -> gate.checkRoutes(routes.subList(0, count)));
                Set<String> listed = new HashSet<>();
                differ.undeclared().forEach(undeclared -> listed.add(undeclared.route()));
                assertEquals(count, listed.size());
                assertTrue(expected.containsAll(listed));
            }
        }
        Leaving.awaitNoStep("after the test");
    }
}
