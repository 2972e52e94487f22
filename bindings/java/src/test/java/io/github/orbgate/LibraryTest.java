package io.github.orbgate;

import static java.util.stream.Collectors.joining;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeFalse;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.File;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.io.TempDir;

/** A library that is missing or does not fit, in a Java process of its own: this process has loaded the library. */
final class LibraryTest {
    static final String CLASSES =
            System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));

    @TempDir Path folder;

    /** The program that the test starts: it asks twice. */
    static final class Asks {
        public static void main(String[] arguments) {
            for (int time = 0; time < 2; time++) {
                try {
                    Engine.external();
                } catch (OrbgateException exception) {
                    System.out.println(exception.getMessage());
                    System.out.println("caused by " + String.valueOf(exception.getCause()).replaceAll("\\R\\s*", "; "));
                }
            }
        }
    }

    @Test
    void aLibraryThatIsNotThereIsOneException() throws Exception {
        List<String> parts =
                List.of(
                        "`" + System.mapLibraryName("orbgate") + "`",
                        "-Djava.library.path=" + folder,
                        "-Dorbgate.library=FILE",
                        ": java.lang.");
        List<String> printed = asked("-Djava.library.path=" + folder);
        assumeFalse(printed.isEmpty(), "this machine has it installed");
        assertSaid(parts, printed);
    }

    @Test
    void aFileThatIsNoLibraryIsNamed() throws Exception {
        Path file = folder.resolve("liborbgate.so");
        String missing = assertSaid(named(file, " (", "): java.lang."), asked("-Dorbgate.library=" + file));
        Files.writeString(file, "no library");
        String other = assertSaid(named(file, ": java.lang.", file.toString()), asked("-Dorbgate.library=" + file));
        // Only a missing file has more to it.
        String both = other.substring(0, other.indexOf(": java.lang."));
        assertTrue(missing.startsWith(both + " ("), missing);
        assertSaid(List.of("`" + file + "`: java.lang."), asked("-Djava.library.path=" + folder));
    }

    @Test
    void theJarsLibraryIsTakenAndNothingIsLeftBehind() throws Exception {
        bundle(Path.of(Library.path()), "");
        Path temporary = Files.createDirectory(folder.resolve("tmp"));
        assertEquals(List.of(), asked(CLASSES + File.pathSeparator + folder, "-Djava.library.path=", temporary(temporary)));
        try (Stream<Path> left = Files.list(temporary)) {
            assertEquals(List.of(), left.filter(file -> file.getFileName().toString().startsWith("orbgate-")).toList());
        }
    }

    @Test
    void anotherLibraryThanTheJarListsIsRefused() throws Exception {
        bundle(Path.of(Library.path()), "0");
        List<String> printed = asked(CLASSES + File.pathSeparator + folder, "-Djava.library.path=", temporary(folder));
        assertEquals(4, printed.size(), printed::toString);
        String name = "/" + System.mapLibraryName("orbgate") + "`";
        assertTrue(printed.get(0).contains(name), printed::toString);
        assertFalse(printed.get(0).contains("-Djava.io.tmpdir"), printed::toString);
    }

    @Test
    void aJarsLibraryThatCannotBeWrittenSaysWhere() throws Exception {
        bundle(Path.of(Library.path()), "");
        Path nowhere = folder.resolve("nowhere");
        List<String> printed = asked(CLASSES + File.pathSeparator + folder, "-Djava.library.path=", temporary(nowhere));
        assertEquals(4, printed.size(), printed::toString);
        assertTrue(printed.get(0).contains(" below " + nowhere + ": "), printed::toString);
        assertTrue(printed.get(0).contains("-Djava.io.tmpdir"), printed::toString);
    }

    private static String temporary(Path folder) {
        return "-Djava.io.tmpdir=" + folder;
    }

    /** Lays a library out as in the jar, listed with its digest and something before it. */
    private void bundle(Path library, String before) throws Exception {
        String processor = System.getProperty("os.arch").equals("amd64") ? "x86_64" : System.getProperty("os.arch");
        String name = System.getProperty("os.name") + "/" + processor + "/" + System.mapLibraryName("orbgate");
        Path root = folder.resolve("io/github/orbgate/native");
        Files.createDirectories(root.resolve(name).getParent());
        Files.copy(library, root.resolve(name));
        byte[] digest = MessageDigest.getInstance("SHA-256").digest(Files.readAllBytes(library));
        Files.writeString(root.resolve("SHA256SUMS"), before + HexFormat.of().formatHex(digest) + "  " + name + "\n");
    }

    @Test
    void aLibraryThatLacksAFunctionIsNotThisOne() throws Exception {
        Path other = Path.of(System.getProperty("java.home"), "lib", System.mapLibraryName("java"));
        List<String> parts = named(other, ": java.lang.UnsatisfiedLinkError: ", "orbgate_");
        assertSaid(parts, asked("-Dorbgate.library=" + other));
    }

    /** This library, patched to say that it has another ABI. */
    @Test
    void aLibraryOfAnotherAbiIsRefusedWithBothNumbers() throws Exception {
        assumeTrue(System.getProperty("os.arch").equals("amd64"), "the patch is of this processor's instructions");
        // mov eax, NUMBER; ret
        String instructions = "b8%sc3";
        String library = HexFormat.of().formatHex(Files.readAllBytes(Path.of(Library.path())));
        String own = String.format(instructions, number(Layout.ABI_VERSION));
        // Another function may give the same number; it is not asked.
        assertTrue(library.contains(own));
        Path other = folder.resolve("liborbgate.so");
        String patched = library.replace(own, String.format(instructions, number(0x20001)));
        Files.write(other, HexFormat.of().parseHex(patched));
        List<String> printed = asked("-Dorbgate.library=" + other);
        String needed = (Layout.ABI_VERSION >> 16) + "." + (Layout.ABI_VERSION & 0xffff);
        assertInOrder(List.of("`" + other + "`", " ABI 2.1", " " + needed), printed.get(0));
    }

    /** As it is in memory. */
    private static String number(int number) {
        return String.format("%08x", Integer.reverseBytes(number));
    }

    /** Older ones forbid nothing. */
    @Test
    @EnabledForJreRange(minVersion = 24)
    void aJavaThatForbidsTheLibrarySaysSo() throws Exception {
        Path file = Path.of(Library.path());
        List<String> printed = asked(CLASSES, "-Dorbgate.library=" + file, "--illegal-native-access=deny");
        assertSaid(named(file, ": java.lang.IllegalCallerException: ", "native access"), printed);
    }

    @Test
    void aJavaWithoutAWayIntoTheLibrarySaysWhatItMisses() throws Exception {
        Path file = Path.of(Library.path());
        Stream<String> parts = Stream.of(CLASSES.split(File.pathSeparator));
        Stream<String> rest =
                parts.filter(part -> !Path.of(part).endsWith("META-INF/versions/22"))
                        .filter(part -> !Path.of(part).getFileName().toString().startsWith("jna-"));
        List<String> printed = asked(rest.collect(joining(File.pathSeparator)), "-Dorbgate.library=" + file);
        assertSaid(named(file, ": java.lang.NoClassDefFoundError: com/sun/jna/"), printed);
    }

    /** What a message has if this file is named: the file, the property, and more. */
    private static List<String> named(Path file, String... more) {
        return Stream.concat(Stream.of("`" + file + "`", "-Dorbgate.library"), Stream.of(more)).toList();
    }

    /** It has these parts both times, with the same cause. */
    private static String assertSaid(List<String> parts, List<String> printed) {
        assertEquals(4, printed.size(), printed::toString);
        assertEquals(printed.subList(0, 2), printed.subList(2, 4));
        String message = printed.get(0);
        assertInOrder(parts, message);
        assertTrue(message.endsWith(": " + printed.get(1).substring("caused by ".length())), printed::toString);
        return message;
    }

    private static void assertInOrder(List<String> parts, String message) {
        int from = 0;
        for (String part : parts) {
            int at = message.indexOf(part, from);
            assertTrue(at >= 0, () -> part + ": " + message);
            from = at + part.length();
        }
    }

    /** What is known without the library. */
    static final class Knows {
        public static void main(String[] arguments) {
            System.out.println(Reason.METHOD_NOT_DECLARED + " " + Reason.METHOD_NOT_DECLARED.httpStatus());
            System.out.println(Decision.of(Reason.NO_TOKEN) + " " + Token.user(List.of("a", "b")));
        }
    }

    @Test
    void reasonsNeedNoLibrary() throws Exception {
        List<String> printed = printed(Knows.class, CLASSES, "-Dorbgate.library=" + folder.resolve("none.so"));
        assertEquals(List.of("method_not_declared 405", "deny: no_token Token[user, a b]"), printed);
    }

    private List<String> asked(String option) throws Exception {
        return Runtime.version().feature() >= 22
                ? asked(CLASSES, option, "--enable-native-access=ALL-UNNAMED")
                : asked(CLASSES, option);
    }

    private static List<String> asked(String classes, String... options) throws Exception {
        return printed(Asks.class, classes, options);
    }

    /** The lines that a program prints in a Java process of its own. */
    static List<String> printed(Class<?> program, String classes, String... options) throws Exception {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(List.of(options));
        command.addAll(List.of("-cp", classes, program.getName()));
        // A virtual machine may warn of a file of no use to it.
        ProcessBuilder builder = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.DISCARD);
        // A library that this machine has installed is not meant.
        builder.environment().remove("LD_LIBRARY_PATH");
        Process process = builder.start();
        String printed = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertEquals(0, process.waitFor(), printed);
        return printed.lines().toList();
    }
}
