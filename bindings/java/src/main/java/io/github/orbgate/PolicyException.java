package io.github.orbgate;

import static java.util.stream.Collectors.joining;

import java.nio.file.Path;
import java.util.List;

/** A policy that cannot be used. It names every error; the message has a line for each. */
public final class PolicyException extends DiagnosticsException {
    private static final long serialVersionUID = 1;

    PolicyException(String message, int line, int column, List<Diagnostic> diagnostics) {
        super(message, line, column, diagnostics);
    }

    /** The same, of a file. */
    PolicyException in(Path path) {
        String message = getMessage().lines().map(line -> path + ":" + line).collect(joining("\n"));
        return new PolicyException(message, line(), column(), diagnostics());
    }
}
