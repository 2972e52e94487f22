package io.github.orbgate;

import static java.util.stream.Collectors.joining;

import java.nio.file.Path;
import java.util.List;

/** An invalid policy. The message has a line for each error. */
public final class PolicyException extends DiagnosticsException {
    private static final long serialVersionUID = 1;

    PolicyException(String message, int line, int column, List<Diagnostic> diagnostics) {
        super(message, line, column, diagnostics);
    }

    /** The same, with the path of its file. */
    PolicyException in(Path path) {
        String message = getMessage().lines().map(line -> path + ":" + line).collect(joining("\n"));
        return new PolicyException(message, line(), column(), diagnostics());
    }
}
