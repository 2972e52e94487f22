package io.github.orbgate.conformance;

import io.github.orbgate.Batch;
import io.github.orbgate.BonusOrbs;
import io.github.orbgate.Charge;
import io.github.orbgate.Decision;
import io.github.orbgate.Decisions;
import io.github.orbgate.Engine;
import io.github.orbgate.Token;
import io.github.orbgate.TokenKind;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.OptionalLong;

/** Answers the requests of policy/cases/run.py with the package. */
public final class Conformance {
    private final Engine engine;
    private final StringBuilder output = new StringBuilder();

    private Conformance(Engine engine) {
        this.engine = engine;
    }

    public static void main(String[] arguments) throws IOException {
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        int first = 0;
        for (String header = input.readLine(); header != null; header = input.readLine()) {
            String[] group = header.split("\t", -1);
            List<String[]> rows = new ArrayList<>();
            while (rows.size() < Integer.parseInt(group[0])) {
                rows.add(input.readLine().split("\t", -1));
            }
            try (Engine engine = group[1].isEmpty() ? Engine.external() : Engine.fromFile(Path.of(group[1]))) {
                Conformance conformance = new Conformance(engine);
                conformance.answer(rows, first, "");
                conformance.answer(rows, first, " set");
                new PrintStream(System.out, false, StandardCharsets.UTF_8).append(conformance.output).flush();
            }
            first += rows.size();
        }
    }

    /** One by one and in a batch, with scopes as text or interned. */
    private void answer(List<String[]> rows, int first, String way) {
        Batch batch = new Batch();
        List<Integer> numbers = new ArrayList<>();
        for (int at = 0; at < rows.size(); at++) {
            String[] row = rows.get(at);
            byte[] method = bytes(row[0]);
            byte[] target = bytes(row[1]);
            String scopes = new String(bytes(row[3]), StandardCharsets.UTF_8);
            TokenKind kind = TokenKind.of(row[4]);
            Token token = way.isEmpty() ? Token.of(kind, scopes) : Token.of(kind, engine.scopeSet(scopes));
            token = row[4].isEmpty() ? Token.none() : token;
            BonusOrbs bonus = row[5].equals("yes") ? BonusOrbs.ALLOW : BonusOrbs.REFUSE;
            if (!row[2].isEmpty()) {
                String scope = new String(bytes(row[2]), StandardCharsets.UTF_8);
                say(first + at, "single" + way, engine.decideScope(scope, token, bonus));
                continue;
            }
            say(first + at, "single" + way, engine.decide(method, target, token, bonus));
            batch.add(method, target, token, bonus);
            numbers.add(first + at);
            if (!row[6].isEmpty()) {
                say(first + at, "route" + way, engine.decideRoute(engine.findRoute(row[6], row[7]).orElseThrow(), token, bonus));
            }
        }
        Decisions decisions = engine.decide(batch);
        for (int at = 0; at < decisions.size(); at++) {
            say(numbers.get(at), "batch" + way, decisions.get(at));
        }
    }

    private void say(int number, String form, Decision decision) {
        List<Object> cells =
                List.of(
                        number,
                        form,
                        decision.isAllow() ? "allow" : "deny",
                        decision.isAllow() ? "" : decision.httpStatus(),
                        decision.reason(),
                        decision.detail().map(Object::toString).orElse(""),
                        decision.api().orElse(""),
                        decision.route().orElse(""),
                        decision.scope().orElse(""),
                        decision.charge().map(Conformance::orbs).orElse(""),
                        decision.about().orElse(""));
        output.append(String.join("\t", cells.stream().map(Object::toString).toList())).append('\n');
    }

    private static String orbs(Charge charge) {
        OptionalLong amount = charge.amount();
        return charge.consumes() + " " + (amount.isPresent() ? amount.getAsLong() : "null") + " " + charge.bonusAllowed();
    }

    private static byte[] bytes(String digits) {
        return HexFormat.of().parseHex(digits);
    }
}
