package io.github.orbgate;

import java.util.List;

/** An invalid policy or configuration. The message has a line for each error. */
public abstract sealed class DiagnosticsException extends OrbgateException permits PolicyException, ConfigurationException {
    private static final long serialVersionUID = 1;

    private final transient List<Diagnostic> diagnostics;
    private final int line;
    private final int column;

    DiagnosticsException(String message, int line, int column, List<Diagnostic> diagnostics) {
        super(message);
        this.line = line;
        this.column = column;
        this.diagnostics = List.copyOf(diagnostics);
    }

    /** The line of the first error, from 1; 0 if it has no location. */
    public int line() {
        return line;
    }

    /** The column of the first error in characters, from 1; 0 if it has no location. */
    public int column() {
        return column;
    }

    /** Every error, in the order of the file; empty after deserialisation. */
    public List<Diagnostic> diagnostics() {
        return diagnostics == null ? List.of() : diagnostics;
    }
}
