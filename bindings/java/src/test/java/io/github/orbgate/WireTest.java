package io.github.orbgate;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Messages of gates as bytes. */
class WireTest extends WithIssuer {
    private static final Path FOLDER = Path.of("../../crates/orbgate-capi");

    private static List<String[]> rows(String file) throws Exception {
        return Files.readAllLines(FOLDER.resolve(file)).stream()
                .filter(line -> !line.startsWith("#"))
                .map(line -> line.split("\t", -1))
                .toList();
    }

    /** Answers of the library of any release, valid and invalid ones: see the file. */
    @Test
    void answersAreReadOrRefused() throws Exception {
        Map<String, String> numbers = new HashMap<>();
        for (String[] row : rows("messages.tsv")) {
            if (row[0].equals("answer")) {
                numbers.put(row[2], row[1]);
            }
        }
        List<String> expected = new ArrayList<>();
        List<String> read = new ArrayList<>();
        for (String[] row : rows("testdata/answers.tsv")) {
            expected.add(row[0] + ": " + row[2] + " with status " + row[3]);
            String number = "refused";
            long status = 0;
            try {
                Messages.Reply reply = Messages.Reply.read(HexFormat.of().parseHex(row[1]));
                number = numbers.get(reply.getClass().getSimpleName());
                status = reply instanceof Messages.Answer answer ? answer.httpStatus : 0;
            } catch (OrbgateException refused) {
                // As expected, or not.
            }
            read.add(row[0] + ": " + number + " with status " + status);
        }
        assertEquals(expected, read);
        assertTrue(read.size() >= 50, read.size() + " rows");
    }

    /** A question that is longer than the memory of a step, and than the memory that a step keeps. */
    @Test
    void aQuestionCanBeLong() {
        List<String> names = new ArrayList<>();
        for (int number = 0; number < 10_000; number++) {
            names.add("x-header-" + number);
        }
        Map<String, List<String>> headers = new HashMap<>(Map.of("Authorization", List.of(reader)));
        names.forEach(name -> headers.put(name, List.of("x")));
        try (Gate gate = Gate.of(new Handle(Engine.external()), issuer.tokens())) {
            for (int count : new int[] {10_000, 100, 0, 10_000}) {
                headers.keySet().removeAll(names.subList(count, names.size()));
                names.subList(0, count).forEach(name -> headers.put(name, List.of("x")));
                assertTrue(gate.ask(new GateRequest("GET", ORBS, headers)).isAllow());
                headers.put("x-http-method-override", List.of("x"));
                assertEquals(Reason.MALFORMED_REQUEST, gate.ask(new GateRequest("GET", ORBS, headers)).decision().reason());
                headers.remove("x-http-method-override");
            }
        }
    }
}
