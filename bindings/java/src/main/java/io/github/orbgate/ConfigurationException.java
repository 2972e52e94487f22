package io.github.orbgate;

import java.util.List;

/** An invalid token configuration or gate option. The message has a line for each error. */
public final class ConfigurationException extends DiagnosticsException {
    private static final long serialVersionUID = 1;

    ConfigurationException(String message, int line, int column, List<Diagnostic> diagnostics) {
        super(message, line, column, diagnostics);
    }
}
