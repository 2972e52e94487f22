package io.github.orbgate;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.URL;
import java.net.URLClassLoader;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.tools.JavaCompiler;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Every program in the README compiles, runs and prints what it should. */
class GuideTest {
    private static final Pattern PROGRAM = Pattern.compile("```java\n(.*?class (\\w+) .*?)```", Pattern.DOTALL);

    private static final String PORT = freePort();

    private static final List<String> PRINTED =
            List.of(
                    "Bearer ",
                    "public_route\ntrue\nfalse\n",
                    "allowed, and consumes orbs\n",
                    "policy.yaml:1:1: the policy is missing the key `apis`\npolicy.yaml:2:1: unknown key `colour`",
                    "true\nscope_held\nscope_missing\n",
                    "no_route\ntrue\n");

    @Test
    void everyProgramInTheGuideRuns(@TempDir Path directory) throws Exception {
        String guide = Files.readString(Path.of("README.md"));
        List<MatchResult> programs = PROGRAM.matcher(guide).results().toList();
        assertEquals(PRINTED.size(), programs.size());
        for (int at = 0; at < PRINTED.size(); at++) {
            String printed = run(directory, programs.get(at).group(2), programs.get(at).group(1).replace("8080", PORT));
            assertTrue(printed.startsWith(PRINTED.get(at)), printed);
            if (at == 0) {
                answersAsTheGuideSays(guide.replace("8080", PORT), printed.lines().toList());
            }
        }
    }

    /** The server of the guide, asked as it says: without a token, with the first that it has printed, with the second. */
    private static void answersAsTheGuideSays(String guide, List<String> bearers) throws Exception {
        Matcher url = Pattern.compile("curl -i (\\S+)").matcher(guide);
        assertTrue(url.find());
        assertEquals(401, status(url.group(1), Optional.empty()));
        assertEquals(403, status(url.group(1), Optional.of(bearers.get(0))));
        assertEquals(204, status(url.group(1), Optional.of(bearers.get(1))));
    }

    private static int status(String url, Optional<String> bearer) throws Exception {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(url));
        bearer.ifPresent(value -> request.header("Authorization", value));
        return HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build().send(request.build(), HttpResponse.BodyHandlers.ofString()).statusCode();
    }

    /** The guide's port may be in use here. */
    private static String freePort() {
        try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return String.valueOf(free.getLocalPort());
        } catch (IOException problem) {
            throw new UncheckedIOException(problem);
        }
    }

    private static String run(Path directory, String name, String program) throws Exception {
        Path source = Files.writeString(directory.resolve(name + ".java"), program);
        String classes = Path.of(Engine.class.getProtectionDomain().getCodeSource().getLocation().toURI()).toString();
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        assertEquals(0, compiler.run(null, null, null, "-cp", classes, source.toString()));
        PrintStream console = System.out;
        ByteArrayOutputStream printed = new ByteArrayOutputStream();
        try (URLClassLoader loader = new URLClassLoader(new URL[] {directory.toUri().toURL()})) {
            System.setOut(new PrintStream(printed, true, StandardCharsets.UTF_8));
            var main = loader.loadClass(name).getDeclaredMethod("main", String[].class);
            main.setAccessible(true);
            main.invoke(null, (Object) new String[0]);
        } finally {
            System.setOut(console);
        }
        return printed.toString(StandardCharsets.UTF_8).replace(System.lineSeparator(), "\n");
    }
}
