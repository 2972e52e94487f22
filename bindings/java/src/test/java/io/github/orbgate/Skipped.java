package io.github.orbgate;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Optional;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.TestWatcher;
import org.junit.platform.commons.support.AnnotationSupport;

/**
 * Tells {@code cargo xtask test}, which counts them, which tests are skipped: a line each, in the file that it names. A test of
 * newer versions of Java lacks nothing in an older one, so it is not counted.
 */
public final class Skipped implements TestWatcher {
    static final String FILE = "ORBGATE_SKIPPED";

    @Override
    public void testAborted(ExtensionContext test, Throwable why) {
        note(test, why.getMessage());
    }

    @Override
    public void testDisabled(ExtensionContext test, Optional<String> why) {
        if (!AnnotationSupport.isAnnotated(test.getElement(), EnabledForJreRange.class)) {
            note(test, why.orElse(""));
        }
    }

    private static void note(ExtensionContext test, String why) {
        String file = test.getConfigurationParameter(FILE).orElseGet(() -> System.getenv(FILE));
        if (file == null || file.isEmpty()) {
            return;
        }
        String name = test.getRequiredTestClass().getSimpleName() + "." + test.getRequiredTestMethod().getName();
        String line = "Java: " + name + ": " + String.valueOf(why).replaceAll("\\R\\s*", " ") + "\n";
        try {
            Files.writeString(Path.of(file), line, StandardOpenOption.APPEND);
        } catch (IOException exception) {
            throw new UncheckedIOException(exception);
        }
    }
}
