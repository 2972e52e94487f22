package io.github.orbgate;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A library that is not there or does not fit, in a Java of its own: this one has loaded it. */
final class LibraryTest {
    @TempDir Path folder;

    /** What is started: it asks twice. */
    static final class Asks {
        public static void main(String[] arguments) {
            for (int time = 0; time < 2; time++) {
                try {
                    Engine.external();
                } catch (OrbgateException exception) {
                    System.out.println(exception.getMessage());
                }
            }
        }
    }

    @Test
    void aLibraryThatIsNotThereIsOneException() throws Exception {
        String message =
                "cannot load the orbgate library `" + System.mapLibraryName("orbgate")
                        + "`: install it, or name its file with -Dorbgate.library=FILE; looked in -Djava.library.path="
                        + folder + " and where the system's loader looks";
        List<String> printed = asked("-Djava.library.path=" + folder);
        assumeFalse(printed.isEmpty(), "this machine has it installed");
        assertEquals(List.of(message, message), printed);
    }

    @Test
    void aFileThatIsNoLibraryIsNamed() throws Exception {
        Path file = folder.resolve("liborbgate.so");
        String named = "cannot load the orbgate library: `" + file + "`, named by -Dorbgate.library, ";
        String missing = named + "is not there";
        assertEquals(List.of(missing, missing), asked("-Dorbgate.library=" + file));
        Files.writeString(file, "no library");
        String unfit = named + "is no library for this Java";
        assertEquals(List.of(unfit, unfit), asked("-Dorbgate.library=" + file));
    }

    /** The lines that it printed. */
    private List<String> asked(String option) throws Exception {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.add(option);
        if (Runtime.version().feature() >= 22) {
            command.add("--enable-native-access=ALL-UNNAMED");
        }
        String tests = System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
        command.addAll(List.of("-cp", tests, Asks.class.getName()));
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
