package io.github.orbgate;

import java.io.File;
import java.lang.ref.Cleaner;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.nio.file.Files;
import java.nio.file.Path;

/** The native library: found, loaded and checked on first use. */
final class Library {
    /** The property with the path of the library. */
    static final String PROPERTY = "orbgate.library";

    /** Found before anything is loaded. */
    private static String path = System.mapLibraryName("orbgate");

    static final Abi ABI = load();

    /** Frees objects that are no longer reachable. */
    static final Cleaner CLEANER = Cleaner.create();

    private Library() {}

    /** What is loaded: a file, or a name that the system resolves. */
    static String path() {
        return path;
    }

    /** The file from the property, the library path or the jar; otherwise the name for the system to resolve. */
    private static String find() {
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
        return Bundled.extract().map(Path::toString).orElse(name);
    }

    /**
     * The interface to the library. If there is none, every call throws the reason. An exception thrown from here would
     * reach only the first caller, wrapped in an error of the class loader.
     */
    private static Abi load() {
        try {
            path = find();
            return checked(open());
        } catch (OrbgateException unfit) {
            return refusing(unfit.getMessage(), null);
        } catch (ExceptionInInitializerError wrapper) {
            return refusing(wrapper.getCause());
        } catch (ReflectiveOperationException | LinkageError | RuntimeException problem) {
            return refusing(problem);
        } finally {
            Bundled.remove();
        }
    }

    private static Abi checked(Abi abi) {
        int version = abi.abiVersion();
        int needed = Layout.ABI_VERSION;
        if (version >> 16 != needed >> 16 || version < needed) {
            throw new OrbgateException(
                    "the orbgate library `" + path() + "` has ABI " + (version >> 16) + "." + (version & 0xffff)
                            + ", and this package needs " + (needed >> 16) + "." + (needed & 0xffff));
        }
        return abi;
    }

    private static Abi refusing(Throwable problem) {
        return refusing(failure() + ": " + problem.toString().replaceAll("\\R\\s*", "; "), problem);
    }

    private static Abi refusing(String message, Throwable cause) {
        Class<?>[] abi = {Abi.class};
        InvocationHandler refuse =
                (proxy, method, arguments) -> {
                    throw new OrbgateException(message, cause);
                };
        return (Abi) Proxy.newProxyInstance(Library.class.getClassLoader(), abi, refuse);
    }

    /** The library to load; and the searched locations, unless a file was found. */
    private static String failure() {
        String path = path();
        String what = "cannot load the orbgate library `" + path + "`";
        if (System.getProperty(PROPERTY) != null) {
            return what + ", named by -D" + PROPERTY + (Files.exists(Path.of(path)) ? "" : " (no such file)");
        }
        if (Path.of(path).isAbsolute()) {
            return what;
        }
        return what + " (looked in -Djava.library.path=" + System.getProperty("java.library.path", "")
                + " and where the system's loader looks; if it is in neither, install it, or name its file with -D"
                + PROPERTY + "=FILE)";
    }

    /** The faster implementation, if this Java supports it. */
    private static Abi open() throws ReflectiveOperationException {
        if (!System.getProperty("sun.arch.data.model", "64").equals("64")) {
            throw new OrbgateException("only a 64-bit Java can use the library");
        }
        Class<?> foreign;
        try {
            foreign = Class.forName("io.github.orbgate.FfmAbi");
        } catch (ClassNotFoundException | UnsupportedClassVersionError older) {
            return new JnaAbi(path());
        }
        return (Abi) foreign.getDeclaredConstructor().newInstance();
    }
}
