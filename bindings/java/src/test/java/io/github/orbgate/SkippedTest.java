package io.github.orbgate;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.assumeTrue;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Disabled;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.io.TempDir;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;

/** A test that is skipped is counted, as JUnit is set up here. */
final class SkippedTest {
    @TempDir Path folder;

    static final class Samples {
        @Test
        void runs() {}

        @Test
        void aborts() {
            assumeTrue(false, "this machine\nlacks it");
        }

        @Test
        @Disabled("nobody runs it")
        void isOff() {}

        @Test
        @EnabledForJreRange(minVersion = 99)
        void isForANewerJava() {}
    }

    @Test
    void aTestThatIsSkippedIsCounted() throws Exception {
        Path file = Files.createFile(folder.resolve("skipped.txt"));
        LauncherFactory.create()
                .execute(
                        LauncherDiscoveryRequestBuilder.request()
                                .selectors(selectClass(Samples.class))
                                .configurationParameter(Skipped.FILE, file.toString())
                                .build());
        assertEquals(
                "Java: Samples.aborts: Assumption failed: this machine lacks it\nJava: Samples.isOff: nobody runs it\n",
                String.join("\n", Files.readAllLines(file).stream().sorted().toList()) + "\n");
    }
}
