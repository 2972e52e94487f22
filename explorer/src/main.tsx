// The page: an editor, a request, its decision, the map and the comparison, over one engine in a worker.
import { render } from "preact";
import { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";

import { expected, file, request as shown, token as carried } from "./cases.js";
import { Changes } from "./compare.js";
import { Decision, Documented, Ticked } from "./decision.js";
import { type Editor, edit, fixOf, meant } from "./editor.js";
import { Engine } from "./engine.js";
import { follow } from "./follow.js";
import { GALLERY } from "./gallery.js";
import { Routes } from "./map.js";
import type { About, Answered, Fix, Read, Slot } from "./protocol.js";
import { Request } from "./request.js";
import { REFUSED } from "./secret.js";
import { type Call, FIRST, type State, asked, called, read as readLink, write as writeLink } from "./state.js";
import "./style.css";
import { Tests } from "./tests.js";
import { Places, count, differs } from "./words.js";

/** How long after the last key stroke a policy is read, in milliseconds. */
const PAUSE = 120;
/** The same for the address, which is of no use before. */
const ADDRESS_PAUSE = 400;
/** The same for fixes after a policy was read: each is tested, which takes as long as reading. */
const FIXES_PAUSE = 200;

function App({ engine, about, start, notice: first }: { engine: Engine; about: About; start: State; notice: string }) {
  const [state, setState] = useState(start);
  const [reads, setReads] = useState<Record<Slot, (Read & { text: string }) | null>>({ policy: null, other: null });
  const [fixes, setFixes] = useState<Record<Slot, Fix[]>>({ policy: [], other: [] });
  const [explained, setExplained] = useState<Answered["explain"] & { call: Call | null; reads: unknown }>({ policy: null, other: null, call: null, reads: null });
  const [reach, setReach] = useState<Answered["reach"]>(null);
  const [compared, setCompared] = useState<Answered["compare"]>(null);
  const [notice, setNotice] = useState(first);
  const [onDisk, setOnDisk] = useState<string | null>(null);
  const editors = useRef<Record<Slot, Editor | null>>({ policy: null, other: null });
  const newest = useRef(state);
  newest.current = state;

  const refuse = useCallback((why = REFUSED) => setNotice(why), []);
  const change = useCallback((some: Partial<State>) => setState((old) => ({ ...old, ...some })), []);
  const setCall = useCallback((call: Call) => change({ call }), [change]);
  const setPolicy = useCallback((policy: string) => change({ policy }), [change]);
  const setOther = useCallback((other: string) => change({ other }), [change]);

  // What is typed stays in the address, so that a reload keeps it.
  const keepAddress = useCallback(async (push: boolean) => {
    const link = await writeLink(newest.current);
    const address = "fragment" in link ? `#${link.fragment}` : location.pathname + location.search;
    history[push ? "pushState" : "replaceState"](null, "", address);
    return link;
  }, []);
  useEffect(() => {
    const timer = setTimeout(() => void keepAddress(false), ADDRESS_PAUSE);
    return () => clearTimeout(timer);
  }, [state, keepAddress]);

  const load = useCallback((loaded: State) => {
    setState(loaded);
    editors.current.policy?.replace(loaded.policy);
    editors.current.other?.replace(loaded.other ?? "");
  }, []);
  useEffect(() => {
    const back = async () => {
      const link = await readLink(location.hash);
      if (link !== null) {
        load(link.state);
      }
    };
    addEventListener("popstate", back);
    return () => removeEventListener("popstate", back);
  }, [load]);

  /** A step that the browser's back button undoes. */
  const step = useCallback(async (some: Partial<State>) => {
    await keepAddress(false);
    newest.current = { ...newest.current, ...some };
    change(some);
    await keepAddress(true);
  }, [change, keepAddress]);

  /** Reads a policy, and then looks for fixes; returns what stops that. */
  const look = useCallback((slot: Slot, text: string | null) => {
    let [timer, isOld] = [0, false];
    setFixes((old) => ({ ...old, [slot]: [] }));
    if (text !== null) {
      void engine.ask("read", { slot, text }).then((read) => {
        const words = meant(text, read.diagnostics);
        setReads((old) => ({ ...old, [slot]: { ...read, text } }));
        setFixes((old) => ({ ...old, [slot]: words }));
        editors.current[slot]?.mark(text, read, words);
        if (!isOld && read.findings.some(({ suppressed }) => suppressed === null)) {
          timer = setTimeout(async () => {
            const answer = await engine.ask("fixes", { slot });
            if (!isOld) {
              setFixes((old) => ({ ...old, [slot]: answer }));
              editors.current[slot]?.mark(text, read, answer);
            }
          }, FIXES_PAUSE);
        }
      });
    }
    return () => {
      isOld = true;
      clearTimeout(timer);
    };
  }, [engine]);
  useEffect(() => look("policy", state.policy), [look, state.policy]);
  useEffect(() => look("other", state.other), [look, state.other]);
  // Asked before the next frame is drawn.
  useLayoutEffect(() => {
    const { call } = state;
    void engine.ask("explain", { request: asked(call) }).then((answer) => setExplained({ ...answer, call, reads }));
  }, [engine, state.call, reads]);
  const held = state.call.kind === "none" ? "" : state.call.scopes.join(" ");
  useEffect(() => {
    const kind = state.call.kind === "none" ? "unknown" : state.call.kind;
    void engine.ask("reach", { token: { kind, scopes: held } }).then(setReach);
  }, [engine, state.call.kind, held, reads.policy]);
  useEffect(() => {
    if (state.other !== null) {
      void engine.ask("compare", {}).then(setCompared);
    }
  }, [engine, reads, state.other === null]);

  const disk = useRef<string | null>(null);
  useEffect(() => follow((text) => {
    const before = disk.current;
    disk.current = text;
    setOnDisk(text);
    // What a person has changed is not overwritten, also before the pause after which it is read.
    const own = editors.current.policy?.text() ?? newest.current.policy;
    if (before === null || own === before) {
      change({ policy: text });
      editors.current.policy?.replace(text);
    } else if (own !== text) {
      setNotice("The file has changed on disk. Your changes here are kept.");
    }
  }), [change]);

  const places = useMemo(() => (reads.policy?.table == null ? null : new Places(reads.policy.table)), [reads.policy]);
  const current = explained.policy;
  const busy = explained.call !== state.call || explained.reads !== reads || reads.policy?.text !== state.policy;
  const line = current === null ? null : places?.of(current)?.line ?? null;
  useEffect(() => editors.current.policy?.light(line), [line, reads.policy]);

  // The second policy shows where it differs: in what decides the call or, if that is the same, in its text.
  const there = useMemo(() => {
    const { policy, other } = explained;
    if (state.other === null || reads.other?.table == null || policy === null || other === null) {
      return null;
    }
    const told = ({ decision, reason, detail, scope, orbs }: typeof other) => [decision, reason, detail, scope, orbs?.consumes, orbs?.amount].join("\n");
    const decides = told(policy) === told(other) ? null : new Places(reads.other.table).of(other)?.line;
    return decides ?? differs(reads.other.text, state.policy);
  }, [explained, reads.other]);
  useEffect(() => editors.current.other?.light(there), [there, reads.other]);

  // A policy that has no scope of the one before it: the token loses those, too.
  const known = useRef<readonly string[]>([]);
  useEffect(() => {
    if (places !== null) {
      const before = known.current;
      known.current = places.scopes;
      const { call } = newest.current;
      const scopes = call.scopes.filter((scope) => !before.includes(scope));
      if (scopes.length < call.scopes.length && !places.scopes.some((scope) => before.includes(scope))) {
        change({ call: { ...call, scopes } });
      }
    }
  }, [places, change]);

  const reveal = useCallback((at: number, column: number) => editors.current.policy?.reveal(at, column), []);
  const ask = useCallback((method: string, target: string) => {
    void step({ call: { ...newest.current.call, by: "call", method, target } });
  }, [step]);

  const share = async () => {
    const link = await keepAddress(false);
    if ("refused" in link) {
      setNotice(link.refused === "token" ? REFUSED : "That is too much for a link: save the policy as a file.");
    } else {
      const copied = await navigator.clipboard?.writeText(location.href).then(() => true, () => false);
      setNotice(copied === true ? "The link is copied. Whoever has it can read this policy." : "The address of this page is the link.");
    }
  };
  const keep = () => {
    if (current !== null) {
      const added = { call: state.call, expected: expected(current), route: current.route };
      change({ cases: [...state.cases, added] });
    }
  };
  const open = async (name: string) => {
    const example = GALLERY.find((one) => one.name === name);
    if (example !== undefined) {
      await keepAddress(false);
      newest.current = { ...example.state, other: null, cases: [] };
      load(newest.current);
      await keepAddress(true);
    }
  };
  const shownRoute = current?.route ?? null;
  const map = useMemo(() => <Routes places={places} reach={reach} route={shownRoute} ask={ask} reveal={reveal} />, [places, reach, shownRoute, ask, reveal]);
  const differ = onDisk !== null && onDisk !== state.policy;

  return (
    <>
      <header>
        <h1>Orbgate <span>explorer</span></h1>
        <nav aria-label="Parts">
          {PARTS.map(([id, name]) => <a href={`#${id}`} onClick={(event) => { event.preventDefault(); show(id); }}>{name}</a>)}
        </nav>
        <button class="main" onClick={() => void share()}>Copy link</button>
      </header>
      <div class="notice" role="alert">
        {notice !== "" && <p>{notice} <button aria-label="Close this message" onClick={() => setNotice("")}>×</button></p>}
      </div>
      <main>
        <section id="policy" aria-labelledby="policy-title" tabIndex={-1}>
          <h2 id="policy-title">Policy</h2>
          <p class="gallery">
            <label for="gallery">Examples</label>{" "}
            <select id="gallery" value="" onChange={(event) => { void open(event.currentTarget.value); event.currentTarget.value = ""; }}>
              <option value="">Open one…</option>
              {GALLERY.map(({ name }) => <option value={name}>{name}</option>)}
            </select>
          </p>
          <Source label="Policy" text={start.policy} read={reads.policy} fixes={fixes.policy} page={about.pages.lint} change={setPolicy} refuse={refuse} made={(editor) => (editors.current.policy = editor)} />
          {differ && <button onClick={() => load({ ...state, policy: onDisk })}>Load the file from disk</button>}
        </section>
        <section id="request" aria-labelledby="request-title" tabIndex={-1}>
          <h2 id="request-title">Request</h2>
          <Request call={state.call} scopes={places?.scopes ?? []} change={setCall} refuse={refuse} />
          <Decision
            explained={current} other={state.other === null ? null : explained.other} about={about} call={state.call} places={places} busy={busy}
            reveal={reveal} change={(call) => void step({ call })} keep={keep}
          />
          {state.cases.length > 0 && <Cases state={state} change={(cases) => change({ cases })} />}
          <Tests engine={engine} reads={reads.policy} reveal={reveal} refuse={refuse} />
        </section>
        <section id="map" aria-labelledby="map-title" tabIndex={-1}>
          <h2 id="map-title">Map</h2>
          {map}
        </section>
        <section id="compare" aria-labelledby="compare-title" tabIndex={-1}>
          <h2 id="compare-title">What if</h2>
          {state.other === null
            ? (
              <>
                <p class="quiet">Change a copy of the policy, and see who may do more, who may do less, and what calls cost then.</p>
                <button onClick={() => change({ other: state.policy })}>Compare with a second policy</button>
              </>
            )
            : (
              <>
                <Source label="Second policy" text={state.other} read={reads.other} fixes={fixes.other} page={about.pages.lint} change={setOther} refuse={refuse} made={(editor) => (editors.current.other = editor)} />
                <Changes compared={compared} ask={(request) => { void step({ call: called(request) }); show("request"); }} />
                <p class="actions"><button onClick={() => change({ other: null })}>End the comparison</button></p>
              </>
            )}
        </section>
      </main>
      <footer>
        <p>
          Orbgate {about.version}. Everything is decided in this page by the engine itself; nothing is sent. Module <code>sha256:{MODULE_DIGEST.slice(0, 16)}…</code>
          {reads.policy?.digest != null && <>, policy <code>{reads.policy.digest.slice(0, 23)}…</code></>}
        </p>
      </footer>
    </>
  );
}

const PARTS = [["policy", "Policy"], ["request", "Request"], ["map", "Map"], ["compare", "What if"]] as const;

/** The fragment is the state's, so parts have none. */
function show(id: string) {
  const part = document.getElementById(id);
  part?.scrollIntoView({ behavior: matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth", block: "start" });
  part?.focus({ preventScroll: true });
}

/** An editor, and below it the errors and findings of its policy. */
function Source({ label, text, read, fixes, page, change, refuse, made }: {
  label: string;
  text: string;
  read: Read | null;
  fixes: readonly Fix[];
  /** The address of the page of lint. */
  page: string;
  change(text: string): void;
  refuse(): void;
  made(editor: Editor | null): void;
}) {
  const box = useRef<HTMLDivElement>(null);
  const own = useRef<Editor | null>(null);
  useEffect(() => {
    let timer = 0;
    const editor = edit(box.current as HTMLDivElement, label, text, () => {
      clearTimeout(timer);
      timer = setTimeout(() => change(editor.text()), PAUSE);
    }, refuse);
    own.current = editor;
    made(editor);
    return () => {
      clearTimeout(timer);
      made(null);
      editor.close();
    };
  }, []);
  const errors = read?.diagnostics ?? [];
  const findings = (read?.findings ?? []).filter((finding) => finding.suppressed === null);
  const messages = [
    ...errors.map(({ location: at, message }) => ({ at, level: "error", message, code: "", fix: fixOf(fixes, { code: "", location: at }) })),
    ...findings.map((finding) => ({ ...finding, at: finding.location, fix: fixOf(fixes, finding) })),
  ];
  return (
    <>
      <div class="editor" ref={box} />
      <p class={read !== null && read.diagnostics.length > 0 ? "broken" : "quiet"} role="status">
        {read === null ? "" : messages.length === 0 ? "No errors, and lint finds nothing." : summary(messages)}
      </p>
      {read !== null && messages.length > 0 && (
        <details class="found" open={read.diagnostics.length > 0}>
          <summary>List</summary>
          <ul>
            {messages.slice(0, 50).map(({ at, level, code, message, fix }) => (
              <li class={level}>
                <button class="link" onClick={() => own.current?.reveal(at.line, at.column)}>{level}, line {at.line}</button> <Ticked text={message} />
                {code !== "" && <> <Documented code={code} page={`${page}#${code}`} /></>}
                {fix !== undefined && <> <button class="fix" onClick={() => own.current?.fix(fix)}><Ticked text={fix.title} /></button></>}
              </li>
            ))}
          </ul>
          {messages.length > 50 && <p class="quiet">and {messages.length - 50} more</p>}
        </details>
      )}
    </>
  );
}

function summary(messages: readonly { level: string }[]): string {
  const levels = ["error", "warning", "note"].map((level) => [level, messages.filter((one) => one.level === level).length] as const);
  return levels.filter(([, number]) => number > 0).map(([level, number]) => count(number, level)).join(", ");
}

/** The kept cases, and the test file of them. */
function Cases({ state, change }: { state: State; change(cases: State["cases"]): void }) {
  const save = () => {
    const url = URL.createObjectURL(new Blob([file(state.cases, "policy.yaml")], { type: "application/yaml" }));
    const link = Object.assign(document.createElement("a"), { href: url, download: "policy.test.yaml" });
    link.click();
    setTimeout(() => URL.revokeObjectURL(url), 10_000);
  };
  return (
    <section class="cases" aria-labelledby="cases">
      <h3 id="cases">Test cases</h3>
      <ul>
        {state.cases.map(({ call, expected: words }, at) => (
          <li>
            <code>{shown(call)}</code> <span class="quiet">{carried(call)}: {words}</span>
            <button aria-label={`Remove case ${at + 1}`} onClick={() => change(state.cases.filter((_, other) => other !== at))}>×</button>
          </li>
        ))}
      </ul>
      <button onClick={save}>Save as policy.test.yaml</button> <span class="quiet">for <code>orbgate test</code></span>
    </section>
  );
}

async function start() {
  const app = document.getElementById("app") as HTMLElement;
  let failed = (message: string) => {
    app.textContent = `The engine could not start: ${message}`;
  };
  const engine = new Engine((message) => failed(message));
  const [about, link] = await Promise.all([engine.about, readLink(location.hash)]);
  failed = (message) => console.error(message);
  const other = link !== null && link.version !== about.version;
  const notice = other
    ? `This link was made with Orbgate ${link.version.slice(0, 40)}. This page has ${about.version}, and may decide otherwise.`
    : link === null && location.hash.length > 1 ? "This link can’t be read; the page shows an example." : "";
  app.textContent = "";
  render(<App engine={engine} about={about} start={link?.state ?? FIRST} notice={notice} />, app);
}

void start();
