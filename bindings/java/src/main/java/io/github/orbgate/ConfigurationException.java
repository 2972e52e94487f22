package io.github.orbgate;

import java.util.List;

/** A configuration of tokens, or an option of a gate, that cannot be. It names every error; the message has a line for each. */
public final class ConfigurationException extends DiagnosticsException {
    private static final long serialVersionUID = 1;

    ConfigurationException(String message, int line, int column, List<Diagnostic> diagnostics) {
        super(message, line, column, diagnostics);
    }
}
