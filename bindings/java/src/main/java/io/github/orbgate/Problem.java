package io.github.orbgate;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;

/** An error of the library as an exception. */
final class Problem {
    private Problem() {}

    /**
     * Throws the error that a call has returned, and frees it; without one, an exception for its status if that is not OK. Only a call that
     * reads a file can cause an {@link UncheckedIOException}.
     */
    static void check(int status, long error) {
        if (error == 0) {
            Core.check(status);
            return;
        }
        try {
            NativeBuffer info = NativeBuffer.struct(Layout.ErrorInfo.SIZE);
            Core.check(Library.ABI.call("orbgate_error_info", error, info.address));
            String message = info.text(Layout.ErrorInfo.MESSAGE);
            if (status == Layout.STATUS_IO) {
                throw new UncheckedIOException(new IOException(message));
            }
            int line = info.bytes.getInt(Layout.ErrorInfo.LINE);
            int column = info.bytes.getInt(Layout.ErrorInfo.COLUMN);
            List<Diagnostic> diagnostics = diagnostics(error, info.bytes.getLong(Layout.ErrorInfo.DIAGNOSTIC_COUNT));
            throw of(status, message, line, column, diagnostics);
        } finally {
            Library.ABI.call("orbgate_error_free", error);
        }
    }

    /** The errors of a configuration or an option. */
    static OrbgateException of(Messages.Failed failed) {
        return of(failed.status, failed.message, failed.diagnostics);
    }

    /** Why a version of a policy is rejected. */
    static OrbgateException of(Messages.Loaded rejected) {
        return of(rejected.status, rejected.reason, rejected.diagnostics);
    }

    private static OrbgateException of(long status, String message, List<Messages.Diagnostic> diagnostics) {
        List<Diagnostic> all = diagnostics.stream()
                .map(one -> new Diagnostic(Math.toIntExact(one.line), Math.toIntExact(one.column), one.message))
                .toList();
        Diagnostic first = all.isEmpty() ? new Diagnostic(0, 0, "") : all.get(0);
        return of(status, message, first.line(), first.column(), all);
    }

    private static OrbgateException of(long status, String message, int line, int column, List<Diagnostic> diagnostics) {
        if (status == Layout.STATUS_INVALID_POLICY) {
            return new PolicyException(message, line, column, diagnostics);
        }
        boolean isConfiguration = status == Layout.STATUS_INVALID_CONFIGURATION;
        return isConfiguration ? new ConfigurationException(message, line, column, diagnostics) : new OrbgateException(message);
    }

    private static List<Diagnostic> diagnostics(long error, long count) {
        List<Diagnostic> diagnostics = new ArrayList<>();
        NativeBuffer diagnostic = NativeBuffer.struct(Layout.Diagnostic.SIZE);
        for (long index = 0; index < count; index++) {
            Core.check(Library.ABI.call("orbgate_error_diagnostic", error, index, diagnostic.address));
            diagnostics.add(
                    new Diagnostic(
                            diagnostic.bytes.getInt(Layout.Diagnostic.LINE),
                            diagnostic.bytes.getInt(Layout.Diagnostic.COLUMN),
                            diagnostic.text(Layout.Diagnostic.MESSAGE)));
        }
        return diagnostics;
    }
}
