package io.github.orbgate;

import java.util.ResourceBundle;

/** A logger that never throws, unlike those that fail if their file cannot be written: no answer depends on it. */
final class QuietLogger implements System.Logger {
    private final System.Logger logger;

    QuietLogger(System.Logger logger) {
        this.logger = logger;
    }

    @Override
    public String getName() {
        return logger.getName();
    }

    @Override
    public boolean isLoggable(Level level) {
        try {
            return logger.isLoggable(level);
        } catch (RuntimeException | Error failed) {
            return false;
        }
    }

    @Override
    public void log(Level level, ResourceBundle bundle, String message, Throwable thrown) {
        quietly(() -> logger.log(level, bundle, message, thrown));
    }

    @Override
    public void log(Level level, ResourceBundle bundle, String format, Object... parameters) {
        quietly(() -> logger.log(level, bundle, format, parameters));
    }

    private static void quietly(Runnable log) {
        try {
            log.run();
        } catch (RuntimeException | Error failed) {
            // Whoever reads the log will miss this line, and whatever else could not be written.
            return;
        }
    }
}
