// The editor of a policy: CodeMirror with what the engine found in the text. Tab leaves it.
import { autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { yaml } from "@codemirror/lang-yaml";
import { HighlightStyle, bracketMatching, syntaxHighlighting } from "@codemirror/language";
import { type Diagnostic as Mark, lintGutter, nextDiagnostic, setDiagnostics } from "@codemirror/lint";
import { highlightSelectionMatches, searchKeymap } from "@codemirror/search";
import { Annotation, Compartment, EditorState, StateEffect, StateField, type Text } from "@codemirror/state";
import { Decoration, type DecorationSet, EditorView, drawSelection, highlightActiveLine, keymap, lineNumbers } from "@codemirror/view";
import { tags } from "@lezer/highlight";

import { complete } from "./complete.js";
import type { Fix, PolicyDiagnostic, Read } from "./protocol.js";
import { hasToken } from "./secret.js";

/** A text that comes from elsewhere than the keyboard. */
const Loaded = Annotation.define<boolean>();

const light = StateEffect.define<number | null>();

/** The line that decides. */
const lit = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(marks, transaction) {
    let moved = marks.map(transaction.changes);
    for (const effect of transaction.effects) {
      if (effect.is(light)) {
        const { doc } = transaction.state;
        const there = effect.value !== null && effect.value >= 1 && effect.value <= doc.lines;
        moved = there ? Decoration.set([Decoration.line({ class: "cm-deciding" }).range(doc.line(effect.value).from)]) : Decoration.none;
      }
    }
    return moved;
  },
  provide: (field) => EditorView.decorations.from(field),
});

const colours = HighlightStyle.define([
  { tag: [tags.definition(tags.propertyName), tags.propertyName], class: "tok-key" },
  { tag: [tags.string, tags.content], class: "tok-text" },
  { tag: [tags.number, tags.bool, tags.keyword], class: "tok-value" },
  { tag: [tags.lineComment, tags.comment], class: "tok-comment" },
  { tag: [tags.punctuation, tags.separator, tags.meta], class: "tok-mark" },
]);

const nonce = document.querySelector<HTMLMetaElement>("meta[name=orbgate-nonce]")?.content ?? "";

/** A longer document has no colours, which would take longer than a frame. */
const MOST_COLOURED = 2_000_000;

export interface Editor {
  text(): string;
  replace(text: string): void;
  /** Marks the errors and findings of these contents, with the fixes of some. */
  mark(text: string, read: Read, fixes: readonly Fix[]): void;
  fix(fix: Fix): void;
  light(line: number | null): void;
  reveal(line: number, column: number): void;
  focus(): void;
  close(): void;
}

export function edit(parent: HTMLElement, label: string, text: string, changed: (typed: boolean) => void, refused: () => void): Editor {
  // What the fixes are of. They are of no use once the text has changed.
  let fixes: { of: Text | null; list: readonly Fix[] } = { of: null, list: [] };
  const apply = (fix: Fix) => {
    const { doc } = view.state;
    if (doc !== fixes.of) {
      return;
    }
    const bytes = new TextEncoder().encode(doc.toString());
    const at = (end: number) => new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes.subarray(0, end)).length;
    view.dispatch({ changes: { from: at(fix.span.start), to: at(fix.span.end), insert: fix.new }, userEvent: "input.fix" });
    view.focus();
  };
  /** Applies the fix for the line of the cursor. */
  const applyHere = () => {
    const { doc, selection } = view.state;
    const { number } = doc.lineAt(selection.main.head);
    const here = fixes.list.find((fix) => fix.finding.location.line === number);
    if (here !== undefined) {
      apply(here);
    }
    return here !== undefined;
  };
  const wrapping = new Compartment();
  const narrow = matchMedia("(max-width: 560px)");
  const wrapped = () => (narrow.matches ? EditorView.lineWrapping : []);
  const wrap = () => view.dispatch({ effects: wrapping.reconfigure(wrapped()) });
  narrow.addEventListener("change", wrap);
  const view = new EditorView({
    parent,
    state: EditorState.create({
      doc: text,
      extensions: [
        EditorView.cspNonce.of(nonce),
        lineNumbers(),
        history(),
        drawSelection(),
        bracketMatching(),
        closeBrackets(),
        highlightActiveLine(),
        highlightSelectionMatches(),
        autocompletion({ override: [complete], activateOnTyping: true }),
        lintGutter(),
        lit,
        wrapping.of(wrapped()),
        text.length < MOST_COLOURED ? [yaml(), syntaxHighlighting(colours)] : [],
        EditorView.contentAttributes.of({ "aria-label": label, tabindex: "0", spellcheck: "false", autocapitalize: "off", autocorrect: "off" }),
        // No Tab: it leaves the editor.
        keymap.of([...closeBracketsKeymap, ...defaultKeymap, ...searchKeymap, ...historyKeymap, ...completionKeymap, { key: "F8", run: nextDiagnostic }, { key: "Mod-.", run: applyHere }]),
        EditorState.changeFilter.of((transaction) => {
          if (!transaction.docChanged || transaction.annotation(Loaded) === true || !bringsToken(transaction.changes, transaction.newDoc)) {
            return true;
          }
          queueMicrotask(refused);
          return false;
        }),
        EditorView.updateListener.of((update) => {
          if (update.docChanged) {
            changed(update.transactions.every((transaction) => transaction.annotation(Loaded) !== true));
          }
        }),
      ],
    }),
  });
  return {
    text: () => view.state.doc.toString(),
    replace(insert) {
      const { doc } = view.state;
      if (doc.length !== insert.length || doc.toString() !== insert) {
        view.dispatch({ changes: { from: 0, to: doc.length, insert }, annotations: Loaded.of(true) });
      }
    },
    mark(text, { diagnostics, findings }, list) {
      const { doc } = view.state;
      fixes = { of: list.length > 0 && doc.toString() === text ? doc : null, list };
      const actions = (fix: Fix | undefined) => (fix === undefined ? [] : [{ name: fix.title.replaceAll("`", ""), apply: () => apply(fix) }]);
      const errors = diagnostics.map(({ location, message }): Mark => ({
        ...word(doc, location.line, location.column), severity: "error", message, actions: actions(fixOf(list, { code: "", location })),
      }));
      const marks = findings.filter((finding) => finding.suppressed === null).map((finding): Mark => {
        const { location, message, level, code } = finding;
        return {
          ...word(doc, location.line, location.column),
          severity: level === "error" || level === "warning" ? level : "info",
          source: code,
          message,
          actions: actions(fixOf(list, finding)),
        };
      });
      // CodeMirror draws each of them.
      view.dispatch(setDiagnostics(view.state, [...errors, ...marks].slice(0, 200)));
    },
    fix: apply,
    light(line) {
      const { doc } = view.state;
      const there = line !== null && line >= 1 && line <= doc.lines;
      // Under a person's cursor nothing moves.
      const scroll = there && !view.hasFocus ? [EditorView.scrollIntoView(doc.line(line).from, { y: "center" })] : [];
      view.dispatch({ effects: [light.of(line), ...scroll] });
    },
    reveal(line, column) {
      const { from } = word(view.state.doc, line, column);
      view.dispatch({ selection: { anchor: from }, effects: EditorView.scrollIntoView(from, { y: "center" }) });
      view.focus();
    },
    focus: () => view.focus(),
    close() {
      narrow.removeEventListener("change", wrap);
      view.destroy();
    },
  };
}

/** The fix of a finding, if it has one. */
export function fixOf(fixes: readonly Fix[], { code, location }: Pick<Fix["finding"], "code" | "location">): Fix | undefined {
  const same = ({ finding }: Fix) => finding.code === code && finding.location.line === location.line && finding.location.column === location.column;
  return fixes.find(same);
}

/** The fixes of errors whose message proposes another word than the one at their location. */
export function meant(text: string, diagnostics: readonly PolicyDiagnostic[]): Fix[] {
  const lines = text.split("\n");
  const bytes = (part: string) => new TextEncoder().encode(part).length;
  return diagnostics.slice(0, 50).flatMap(({ location, message }) => {
    const [, wrong = "", word = ""] = /`([^`]+)`.*did you mean `([^`]+)`\?/.exec(message) ?? [];
    const characters = Array.from(lines[location.line - 1] ?? "");
    const before = characters.slice(0, location.column - 1).join("");
    const rest = characters.slice(location.column - 1).join("");
    const quote = /^["']/.exec(rest)?.[0] ?? "";
    if (wrong === "" || !rest.startsWith(quote + wrong)) {
      return [];
    }
    const start = bytes([...lines.slice(0, location.line - 1), before + quote].join("\n"));
    const finding = { code: "", level: "error", location, message, suppressed: null } as unknown as Fix["finding"];
    return [{ finding, title: `Write \`${word}\``, span: { start, end: start + bytes(wrong) }, new: word }];
  });
}

/** Only lines that a change touches are searched, so a key stroke costs one line. */
function bringsToken(changes: { iterChangedRanges(f: (fromA: number, toA: number, fromB: number, toB: number) => void): void }, doc: Text): boolean {
  let hasOne = false;
  changes.iterChangedRanges((_fromA, _toA, from, to) => {
    hasOne ||= to > from && hasToken(doc.sliceString(doc.lineAt(from).from, doc.lineAt(to).to));
  });
  return hasOne;
}

/** The word at a location; the engine counts characters, and CodeMirror UTF-16. */
function word(doc: Text, number: number, column: number): { from: number; to: number } {
  const line = doc.line(Math.min(Math.max(number, 1), doc.lines));
  const before = Array.from(line.text.slice(0, 4 * column)).slice(0, column - 1).join("").length;
  const length = /^[^\s,\]}#]+/.exec(line.text.slice(before, before + 300))?.[0].length ?? 0;
  return { from: line.from + before, to: line.from + before + length };
}
