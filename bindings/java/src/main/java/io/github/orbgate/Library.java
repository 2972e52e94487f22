package io.github.orbgate;

import java.io.File;
import java.lang.ref.Cleaner;
import java.nio.file.Files;
import java.nio.file.Path;

/** The native library: found, loaded and checked when it is first needed. */
final class Library {
    /** The property that names the library's file. */
    static final String PROPERTY = "orbgate.library";

    static final Abi ABI = load();

    /** Frees what nobody can reach any more. */
    static final Cleaner CLEANER = Cleaner.create();

    /** The ABI that this package was written for: {@code ORBGATE_ABI_VERSION} of the header. */
    private static final int ABI_VERSION = 1 << 16;

    private Library() {}

    /** The file where the property or the library path has it; else its name, for the system to find. */
    static String path() {
        String stated = System.getProperty(PROPERTY);
        if (stated != null) {
            return Path.of(stated).toAbsolutePath().toString();
        }
        String name = System.mapLibraryName("orbgate");
        for (String directory : System.getProperty("java.library.path", "").split(File.pathSeparator)) {
            Path file = Path.of(directory, name);
            if (!directory.isEmpty() && Files.exists(file)) {
                return file.toAbsolutePath().toString();
            }
        }
        return name;
    }

    private static Abi load() {
        if (!System.getProperty("sun.arch.data.model", "64").equals("64")) {
            throw new OrbgateException("only a 64-bit Java can use the library");
        }
        Abi abi;
        try {
            abi = open();
        } catch (ReflectiveOperationException | LinkageError | RuntimeException problem) {
            String message = "cannot load `" + path() + "`: install the C library, or name its file with -D";
            throw new OrbgateException(message + PROPERTY + "=FILE", problem);
        }
        int version = abi.abiVersion();
        if (version >> 16 != ABI_VERSION >> 16 || version < ABI_VERSION) {
            throw new OrbgateException("`" + path() + "` has another ABI: " + (version >> 16) + "." + (version & 0xffff));
        }
        return abi;
    }

    /** The better way, where this Java has it. */
    private static Abi open() throws ReflectiveOperationException {
        Class<?> foreign;
        try {
            foreign = Class.forName("io.github.orbgate.FfmAbi");
        } catch (ClassNotFoundException | UnsupportedClassVersionError older) {
            return new JnaAbi(path());
        }
        return (Abi) foreign.getDeclaredConstructor().newInstance();
    }
}
