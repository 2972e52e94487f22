package io.github.orbgate;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Locale;
import java.util.Optional;

/**
 * The library of this platform, if the jar contains it. It can only be loaded from a file, so it is written into a new
 * folder that no other user can open, and removed as soon as it is loaded.
 */
final class Bundled {
    /** The folder of the libraries and of the list of their digests. */
    private static final String FOLDER = "native/";

    private static Path extracted;

    private Bundled() {}

    /** Writes it into a new folder; empty if the jar has none for this platform. */
    static Optional<Path> extract() {
        String name = platform() + "/" + System.mapLibraryName("orbgate");
        try (InputStream library = Bundled.class.getResourceAsStream(FOLDER + name)) {
            if (library == null) {
                return Optional.empty();
            }
            byte[] bytes = library.readAllBytes();
            if (!digest(bytes).equals(listed(name))) {
                throw new OrbgateException("the jar's library `" + name + "` does not have the listed digest: download the jar again");
            }
            // Only its owner may enter it.
            Path folder = Files.createTempDirectory("orbgate-");
            extracted = folder.resolve(System.mapLibraryName("orbgate"));
            return Optional.of(Files.write(extracted, bytes));
        } catch (IOException problem) {
            throw new OrbgateException(
                    "cannot write the jar's library `" + name + "` below " + System.getProperty("java.io.tmpdir") + ": " + problem
                            + "; name another folder with -Djava.io.tmpdir, or the library's file with -D"
                            + Library.PROPERTY + "=FILE",
                    problem);
        }
    }

    /** Removes the file, which stays loaded. If the system refuses that, the file is removed when Java exits. */
    static void remove() {
        if (extracted == null) {
            return;
        }
        Path folder = extracted.getParent();
        try {
            Files.deleteIfExists(extracted);
            Files.deleteIfExists(folder);
        } catch (IOException held) {
            folder.toFile().deleteOnExit();
            extracted.toFile().deleteOnExit();
        }
    }

    /** Named as in sqlite-jdbc and others: {@code Linux/x86_64}, {@code Linux-Musl/aarch64}. */
    private static String platform() {
        String system = System.getProperty("os.name", "");
        String processor = System.getProperty("os.arch", "").toLowerCase(Locale.ROOT);
        if (system.equals("Linux") && isMusl()) {
            system = "Linux-Musl";
        }
        return system + "/" + (processor.equals("amd64") ? "x86_64" : processor);
    }

    /** Whether this Java runs on musl, whose loader is mapped into every process. */
    private static boolean isMusl() {
        try {
            return Files.readString(Path.of("/proc/self/maps"), StandardCharsets.ISO_8859_1).contains("/ld-musl-");
        } catch (IOException unknown) {
            return false;
        }
    }

    /** The digest of a name in the list. The list is in the jar, so a signature of the jar also covers it. */
    private static String listed(String name) throws IOException {
        try (InputStream list = Bundled.class.getResourceAsStream(FOLDER + "SHA256SUMS")) {
            String text = list == null ? "" : new String(list.readAllBytes(), StandardCharsets.UTF_8);
            return text.lines()
                    .filter(line -> line.endsWith("  " + name))
                    .map(line -> line.substring(0, line.indexOf(' ')))
                    .findFirst()
                    .orElse("");
        }
    }

    private static String digest(byte[] bytes) {
        try {
            return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(bytes));
        } catch (NoSuchAlgorithmException impossible) {
            throw new OrbgateException("this Java has no SHA-256", impossible);
        }
    }
}
