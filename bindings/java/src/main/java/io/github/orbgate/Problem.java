package io.github.orbgate;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/** An error of the library as an exception. */
final class Problem {
    private Problem() {}

    /** Throws what a call has left in the error that it gives, and frees that; or else what its status says, if it is not OK. */
    static void check(int status, long error) throws IOException {
        if (error == 0) {
            Core.check(status);
            return;
        }
        try {
            NativeBuffer info = NativeBuffer.struct(Layout.ErrorInfo.SIZE);
            Core.check(Library.ABI.call("orbgate_error_info", error, info.address));
            String message = info.text(Layout.ErrorInfo.MESSAGE);
            if (status == Layout.STATUS_IO) {
                throw new IOException(message);
            }
            int line = info.bytes.getInt(Layout.ErrorInfo.LINE);
            int column = info.bytes.getInt(Layout.ErrorInfo.COLUMN);
            List<Fault> faults = faults(error, info.bytes.getLong(Layout.ErrorInfo.FAULT_COUNT));
            throw switch (status) {
                case Layout.STATUS_INVALID_POLICY -> new PolicyException(message, line, column, faults);
                case Layout.STATUS_INVALID_CONFIGURATION -> new ConfigurationException(message, line, column, faults);
                default -> new OrbgateException(message);
            };
        } finally {
            Library.ABI.call("orbgate_error_free", error);
        }
    }

    /** What a call that reads no file cannot throw. */
    static OrbgateException withoutFile(IOException impossible) {
        return new OrbgateException("a text needs no file", impossible);
    }

    private static List<Fault> faults(long error, long count) {
        List<Fault> faults = new ArrayList<>();
        NativeBuffer fault = NativeBuffer.struct(Layout.Fault.SIZE);
        for (long index = 0; index < count; index++) {
            Core.check(Library.ABI.call("orbgate_error_fault", error, index, fault.address));
            faults.add(
                    new Fault(
                            fault.bytes.getInt(Layout.Fault.LINE),
                            fault.bytes.getInt(Layout.Fault.COLUMN),
                            fault.text(Layout.Fault.MESSAGE)));
        }
        return faults;
    }
}
