package io.github.orbgate;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.orbgate.conformance.Conformance;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

class ConformanceTest {
    @Test
    void everyCaseGetsItsDecision() throws IOException {
        Conformance conformance = new Conformance(Path.of(System.getProperty("orbgate.cases")));
        assertTrue(conformance.run());
        assertTrue(conformance.ran() > 2_600);
    }
}
