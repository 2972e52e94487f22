package io.github.orbgate.conformance;

import io.github.orbgate.BonusOrbs;
import io.github.orbgate.Charge;
import io.github.orbgate.Decision;
import io.github.orbgate.Engine;
import io.github.orbgate.Token;
import io.github.orbgate.TokenKind;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;

/**
 * Puts every row of policy/cases through the Java interface: see policy/cases/README.md. Takes the folder, prints every
 * failed case and then {@code ran N cases}; exits 1 if a case failed.
 */
public final class Conformance {
    private static final List<String> COLUMNS =
            List.of(
                    ("name policy method target by_scope kind scopes bonus decision status reason detail api route"
                                    + " scope orbs")
                            .split(" "));

    private final Path cases;
    private final Map<String, List<Engine>> engines = new HashMap<>();
    private int ran;
    private int failed;

    public Conformance(Path cases) {
        this.cases = cases;
    }

    public static void main(String[] arguments) throws IOException {
        Conformance conformance = new Conformance(Path.of(arguments[0]));
        boolean passed = conformance.run();
        System.out.println("ran " + conformance.ran() + " cases");
        System.exit(passed ? 0 : 1);
    }

    /** Runs every case, and says whether there are some and none failed. */
    public boolean run() throws IOException {
        List<Path> files;
        try (Stream<Path> all = Files.list(cases)) {
            files = all.filter(path -> path.toString().endsWith(".tsv")).sorted().toList();
        }
        for (Path file : files) {
            runFile(file);
        }
        return failed == 0 && ran > 0;
    }

    /** How many cases ran. */
    public int ran() {
        return ran;
    }

    private void runFile(Path path) throws IOException {
        boolean header = false;
        Set<String> names = new HashSet<>();
        int number = 0;
        // Cells keep every character, so lines end at LF and nowhere else.
        for (String line : Files.readString(path).split("\n")) {
            number++;
            String position = path.getFileName() + ":" + number;
            if (line.isEmpty() || !header && line.startsWith("#")) {
                continue;
            }
            List<String> cells = List.of(line.split("\t", -1));
            require(cells.size() == COLUMNS.size(), position + ": not 16 cells");
            if (!header) {
                require(cells.equals(COLUMNS), position + ": not the header row");
                header = true;
                continue;
            }
            Map<String, String> row = new LinkedHashMap<>();
            for (int column = 0; column < cells.size(); column++) {
                row.put(COLUMNS.get(column), cells.get(column));
            }
            require(names.add(row.get("name")), position + ": the name is taken");
            for (Engine engine : engines(row.get("policy"))) {
                runCase(position, row, engine);
            }
        }
    }

    /** A case, with its scopes as text and interned. */
    private void runCase(String position, Map<String, String> row, Engine engine) {
        String scopes = text(row.get("scopes"));
        TokenKind kind = TokenKind.of(row.get("kind"));
        boolean none = row.get("kind").isEmpty();
        Token byText = none ? Token.none() : Token.of(kind, scopes);
        Token bySet = none ? Token.none() : Token.of(kind, engine.scopeSet(scopes));
        String about = row.get("by_scope").isEmpty() ? about(ask(engine, row, Token.user(""))) : "";
        boolean passed = true;
        for (Token token : List.of(byText, bySet)) {
            Decision decision = ask(engine, row, token);
            passed &= judge(position, row, decision);
            if (!decision.about().orElse("").equals(about)) {
                System.out.printf("%s: %s: it is about `%s`, not `%s`%n", position, row.get("name"), decision.about(), about);
                passed = false;
            }
        }
        ran++;
        failed += passed ? 0 : 1;
    }

    /** What a request is about: the route that it is decided by when its token is some user's, as here. */
    private static String about(Decision decision) {
        return decision.scope().isEmpty() ? "" : decision.route().orElse("");
    }

    /** The engines of a policy; the specification's policy has two: read from its file, and compiled in. */
    private List<Engine> engines(String name) throws IOException {
        if (!engines.containsKey(name)) {
            Path other = cases.resolve("policies").resolve(name + ".yaml");
            engines.put(
                    name,
                    name.equals("external")
                            ? List.of(Engine.fromFile(cases.resolve("../external.yaml")), Engine.external())
                            : List.of(Engine.fromFile(other)));
        }
        return engines.get(name);
    }

    private static Decision ask(Engine engine, Map<String, String> row, Token token) {
        BonusOrbs bonus = row.get("bonus").equals("yes") ? BonusOrbs.ALLOW : BonusOrbs.REFUSE;
        if (!row.get("by_scope").isEmpty()) {
            return engine.decideScope(text(row.get("by_scope")), token, bonus);
        }
        return engine.decide(unescape(row.get("method")), unescape(row.get("target")), token, bonus);
    }

    private static boolean judge(String position, Map<String, String> row, Decision decision) {
        Map<String, String> found = new LinkedHashMap<>();
        found.put("decision", decision.isAllow() ? "allow" : "deny");
        found.put("status", decision.isAllow() ? "" : String.valueOf(decision.httpStatus()));
        found.put("reason", decision.reason().toString());
        found.put("detail", decision.detail().map(Object::toString).orElse(""));
        found.put("api", decision.api().orElse(""));
        found.put("route", decision.route().orElse(""));
        found.put("scope", decision.scope().orElse(""));
        found.put("orbs", decision.charge().map(Conformance::orbs).orElse(""));
        boolean passed = true;
        for (Map.Entry<String, String> field : found.entrySet()) {
            String wanted = row.get(field.getKey());
            if (!field.getValue().equals(wanted)) {
                System.out.printf(
                        "%s: %s: %s is `%s`, not `%s`%n",
                        position, row.get("name"), field.getKey(), field.getValue(), wanted);
                passed = false;
            }
        }
        return passed;
    }

    private static String orbs(Charge charge) {
        if (!charge.consumes()) {
            return charge.amount().orElse(-1) == 0 && !charge.bonusAllowed() ? "free" : "free with an amount";
        }
        String amount = charge.amount().isPresent() ? String.valueOf(charge.amount().getAsLong()) : "unstated";
        return amount + (charge.bonusAllowed() ? " bonus" : "");
    }

    private static String text(String cell) {
        return new String(unescape(cell), StandardCharsets.UTF_8);
    }

    /** {@code \xNN} is a byte and {@code \\} a backslash. */
    private static byte[] unescape(String cell) {
        byte[] raw = cell.getBytes(StandardCharsets.UTF_8);
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        for (int at = 0; at < raw.length; at++) {
            if (raw[at] != '\\') {
                bytes.write(raw[at]);
            } else if (raw[at + 1] == '\\') {
                bytes.write('\\');
                at++;
            } else {
                require(raw[at + 1] == 'x', "bad escape in `" + cell + "`");
                String digits = new String(raw, at + 2, 2, StandardCharsets.US_ASCII);
                bytes.write(Integer.parseInt(digits, 16));
                at += 3;
            }
        }
        return bytes.toByteArray();
    }

    private static void require(boolean holds, String otherwise) {
        if (!holds) {
            throw new IllegalStateException(otherwise);
        }
    }
}
