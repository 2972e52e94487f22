package io.github.orbgate.exchange;

import io.github.orbgate.Call;
import io.github.orbgate.Challenge;
import io.github.orbgate.Charge;
import io.github.orbgate.DiagnosticsException;
import io.github.orbgate.Engine;
import io.github.orbgate.Gate;
import io.github.orbgate.Handle;
import io.github.orbgate.OrbgateException;
import io.github.orbgate.Route;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/** The gate program of Java: {@code FRAMEWORK --listen ADDR --policy FILE --tokens FILE [--ungated]}; see policy/cases/gate/README.md. */
public final class Program {
    private static final Map<String, Server> SERVERS =
            Map.of("httpserver", new JdkServer(), "servlet", new ServletServer(), "spring", new SpringServer());
    // The driver's: logs go to standard error.
    private static final PrintStream OUT = new PrintStream(System.out, true, StandardCharsets.UTF_8);

    /** A framework's server, around a service that says what it saw. */
    interface Server {
        /** Starts it on this port of loopback, or on a free one for 0; which port it is. The gate is none where it has none. */
        int start(int port, List<String> templates, Optional<Gate> gate) throws Exception;
    }

    private Program() {}

    /** Starts the server of a framework. */
    public static void main(String[] arguments) throws Exception {
        System.setOut(System.err);
        Map<String, String> given = new HashMap<>();
        List<String> open = new ArrayList<>();
        Set<String> flags = new HashSet<>();
        for (int at = 1; at < arguments.length; at++) {
            if (Set.of("--ungated", "--debug", "--refuse-wider").contains(arguments[at])) {
                flags.add(arguments[at]);
            } else if (arguments[at].equals("--public")) {
                open.add(arguments[++at]);
            } else {
                given.put(arguments[at], arguments[++at]);
            }
        }
        Path policy = Path.of(given.get("--policy"));
        Counted counted = new Counted();
        String listen = given.get("--listen");
        try {
            Engine engine = Engine.fromFile(policy);
            String tokens = Files.readString(Path.of(given.get("--tokens")));
            Gate.Builder builder = Gate.builder(new Handle(engine), tokens)
                    .publicRoutes(open)
                    .challenge(Challenge.of(Challenge.Extent.valueOf(
                            given.getOrDefault("--challenge", "minimal").toUpperCase(Locale.ROOT))))
                    .count(counted)
                    .audit(line -> say("audited " + line));
            if (flags.contains("--debug")) {
                builder.debug();
            }
            if (flags.contains("--refuse-wider")) {
                builder.refuseWider();
            }
            Gate gate = builder.build();
            if (given.containsKey("--watch")) {
                gate.watch(policy, Duration.ofMillis(Long.parseLong(given.get("--watch"))));
            }
            int port = Integer.parseInt(listen.substring(listen.lastIndexOf(':') + 1));
            List<String> templates = Stream.concat(
                            engine.routes().stream().map(Route::template),
                            open.stream().map(route -> route.substring(route.indexOf(' ') + 1)))
                    .distinct()
                    .toList();
            port = SERVERS.get(arguments[0]).start(port, templates, flags.contains("--ungated") ? Optional.empty() : Optional.of(gate));
            say("listening 127.0.0.1:" + port);
            obey(gate, policy, counted);
        } catch (DiagnosticsException problem) {
            System.err.println(problem.getMessage());
            System.exit(2);
        }
    }

    /** A whole line at once. */
    private static synchronized void say(String line) {
        OUT.println(line);
    }

    /** What the service saw; said before it is answered. */
    static byte[] saw(String method, String target, Optional<Call> call) {
        String text = "{\"method\":" + json(method) + ",\"target\":" + json(target)
                + ",\"route\":" + json(call.flatMap(known -> known.decision().route()).orElse(null))
                + ",\"scope\":" + json(call.flatMap(known -> known.decision().scope()).orElse(null))
                + ",\"kind\":" + json(call.flatMap(Call::bearer).map(known -> known.kind().toString()).orElse(null))
                + ",\"consumes\":" + call.flatMap(known -> known.decision().charge()).map(Charge::consumes).orElse(null) + "}";
        say(text);
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static String json(String text) {
        if (text == null) {
            return "null";
        }
        StringBuilder json = new StringBuilder("\"");
        for (char each : text.toCharArray()) {
            boolean isPlain = each >= ' ' && each < 0x7f && each != '"' && each != '\\';
            json.append(isPlain ? String.valueOf(each) : String.format("\\u%04x", (int) each));
        }
        return json.append('"').toString();
    }

    private static void obey(Gate gate, Path policy, Counted counted) throws IOException, InterruptedException {
        BufferedReader commands = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String command = commands.readLine(); command != null; command = commands.readLine()) {
            if (command.equals("count")) {
                say("counted " + counted);
            } else if (command.equals("reload")) {
                say(reloads(gate, policy) ? "reloaded" : "kept");
            }
        }
        Thread.currentThread().join(); // The end of standard input means nothing.
    }

    private static boolean reloads(Gate gate, Path policy) {
        try {
            gate.reload(policy);
            return true;
        } catch (OrbgateException | IOException problem) {
            return false;
        }
    }
}
