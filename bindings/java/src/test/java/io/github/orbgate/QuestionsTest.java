package io.github.orbgate;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.OptionalLong;
import java.util.function.Function;
import org.junit.jupiter.api.Test;

class QuestionsTest {
    private static final Path CASES = Path.of(System.getProperty("orbgate.cases"));

    private final Engine engine = Engine.external();

    /** Each answer is the command's, byte for byte: as JSON, and as a typed value that is written as JSON again. */
    @Test
    void questionsAreAnsweredAsByTheCommand() throws Exception {
        List<String> rows = Files.readAllLines(CASES.resolve("questions.jsonl"));
        for (String row : rows) {
            String name = row.contains("\"engine\":\"") ? between(row, "\"engine\":\"", "\"") : null;
            try (Engine engine = name == null ? Engine.external() : Engine.fromFile(CASES.resolve("policies/" + name + ".yaml"))) {
                String question = between(row, "{\"question\":\"", "\"");
                String arguments = between(row, "\"arguments\":", ",\"command\":");
                String answer = row.substring(row.indexOf(",\"answer\":") + 10, row.length() - 1);
                assertEquals(answer, engine.ask(question, arguments), row);
                assertEquals(answer, typed(engine, question, arguments), row);
            }
        }
        assertEquals(40, rows.size());
    }

    private static String typed(Engine engine, String question, String json) {
        switch (question) {
            case "check":
                return typed(json, Questions.CheckArguments.class, engine::check);
            case "diff":
                return typed(json, Questions.DiffArguments.class, engine::diff);
            case "explain":
                return typed(json, Questions.ExplainArguments.class, engine::explain);
            case "lint":
                return typed(json, Questions.LintArguments.class, engine::lint);
            case "needs":
                return typed(json, Questions.NeedsArguments.class, engine::needs);
            case "reach":
                return typed(json, Questions.ReachArguments.class, engine::reach);
            case "table":
                return typed(json, Questions.TableArguments.class, none -> engine.table());
            case "unused":
                return typed(json, Questions.UnusedArguments.class, engine::unused);
            default:
                return typed(json, Questions.WhoArguments.class, engine::who);
        }
    }

    private static <T> String typed(String json, Class<T> type, Function<T, Object> ask) {
        return Json.write(ask.apply(JsonArguments.read(json, type)));
    }

    private static String between(String row, String before, String after) {
        int start = row.indexOf(before) + before.length();
        return row.substring(start, row.indexOf(after, start));
    }

    @Test
    void aQuestionInRecords() {
        Questions.RequestToken token = new Questions.RequestToken("user", "read:voxies");
        Questions.Request request = new Questions.Request().withMethod("POST").withTarget("/api/v1/external/voxies").withToken(token);
        Questions.Explanation explanation = engine.explain(new Questions.ExplainArguments(request).withDeclared("write:voxies"));
        assertEquals("scope_missing", explanation.reason());
        assertEquals("not_known", explanation.missingStep().orElseThrow());
        assertEquals(OptionalLong.empty(), explanation.orbsIfAllowed().orElseThrow().amount());
    }

    @Test
    void whatCannotBeAnsweredIsSaid() {
        assertTrue(assertThrows(OrbgateException.class, () -> engine.ask("why", "{}")).getMessage().contains("`why`"));
        assertTrue(assertThrows(OrbgateException.class, () -> engine.ask("reach", "{}")).getMessage().contains("`token`"));
        assertThrows(OrbgateException.class, () -> engine.ask("table", "\ud800"));
        Questions.DiffArguments half = new Questions.DiffArguments("orbgate: 2\n");
        assertEquals(1, assertThrows(PolicyException.class, () -> engine.diff(half)).diagnostics().get(0).line());
    }

    /** A field of an answer: the numbers of its head have one byte that isn't 0. */
    private static byte[] field(int number, byte[]... parts) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        int size = Arrays.stream(parts).mapToInt(part -> part.length).sum();
        bytes.writeBytes(new byte[] {(byte) number, 0, 0, 0, (byte) size, 0, 0, 0});
        Arrays.stream(parts).forEach(bytes::writeBytes);
        return bytes.toByteArray();
    }

    @Test
    void fieldsAreReadWholeOrNotAtAll() {
        // `kind` is 22, `scopes` 23, `consumes` 28, `amount` 29, and 120 is unknown.
        byte[] none = {};
        byte[] kind = field(22, "\u0001\ud83d\ude00\n\"\\".getBytes(StandardCharsets.UTF_8));
        byte[] text = field(0, kind, field(120, none), field(23, new byte[] {'a'}));
        text = Arrays.copyOfRange(text, 8, text.length);
        Questions.RequestToken token = Fields.read(text, Questions.RequestToken.class);
        assertEquals("{\"kind\":\"\\u0001\ud83d\ude00\\n\\\"\\\\\",\"scopes\":\"a\"}", Json.write(token));
        for (int size = 0; size < text.length; size++) {
            byte[] cut = Arrays.copyOf(text, size);
            assertThrows(OrbgateException.class, () -> Fields.read(cut, Questions.RequestToken.class));
        }
        byte[] twice = Arrays.copyOfRange(field(0, field(28, none), field(28, none)), 8, 24);
        for (byte[] bad : List.of(field(29, none), field(28, new byte[] {1}), twice)) {
            assertThrows(OrbgateException.class, () -> Fields.read(bad, Questions.Orbs.class));
        }
    }
}
