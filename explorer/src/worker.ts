// Decides: the engine as a WebAssembly module, away from the page's thread.
import { type Engine, Orbgate, OrbgateError } from "../../crates/orbgate-wasm/npm/index.js";
import type { Answered, Asked, FromWorker, Kind, Slot, ToWorker } from "./protocol.js";

const MOST_BYTES = 8 * 1024 * 1024;

/** A longer policy gets no fixes: while they are tested, decisions wait. */
const MOST_FIXED = 300_000;

let compiled: WebAssembly.Module;
let orbgate: Orbgate;
const sources: Record<Slot, string | null> = { policy: null, other: null };
const engines: Record<Slot, Engine | null> = { policy: null, other: null };

const say = (message: FromWorker) => postMessage(message);

async function start(packed: ArrayBuffer) {
  const unpacked = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  compiled = await WebAssembly.compile(await new Response(unpacked).arrayBuffer());
  orbgate = new Orbgate(compiled);
  say({ about: orbgate.about() });
}

/** An instance that trapped is good for nothing. */
function again() {
  orbgate = new Orbgate(compiled);
  for (const slot of ["policy", "other"] as const) {
    engines[slot] = null;
    const text = sources[slot];
    if (text !== null) {
      engines[slot] = orbgate.load(text);
    }
  }
}


const answers: { [K in Kind]: (given: Asked[K]) => Answered[K] } = {
  read({ slot, text }) {
    engines[slot]?.close();
    engines[slot] = null;
    sources[slot] = null;
    // What the engine would refuse takes no copy of ten megabytes.
    if (text.length > MOST_BYTES) {
      const message = `the text has ${text.length.toLocaleString("en")} characters; a policy has at most 8 MiB`;
      return { slot, digest: null, diagnostics: [{ location: { line: 1, column: 1 }, message }], findings: [], table: null };
    }
    try {
      const engine = orbgate.load(text);
      [engines[slot], sources[slot]] = [engine, text];
      const findings = engine.ask("lint", { policy: text }).files.flatMap((file) => file.findings);
      return { slot, digest: engine.policy, diagnostics: [], findings, table: engine.ask("table") };
    } catch (error) {
      if (error instanceof OrbgateError && error.status === "invalid_policy") {
        return { slot, digest: null, diagnostics: [...error.diagnostics], findings: [], table: null };
      }
      throw error;
    }
  },
  fixes({ slot }) {
    const text = sources[slot];
    return text === null || text.length > MOST_FIXED ? [] : orbgate.fixes(text);
  },
  explain({ request }) {
    const of = (engine: Engine | null) => engine?.ask("explain", { request }) ?? null;
    return { policy: of(engines.policy), other: of(engines.other) };
  },
  reach: ({ token }) => engines.policy?.ask("reach", { token }) ?? null,
  test({ file }) {
    try {
      return engines.policy?.test(file) ?? null;
    } catch (error) {
      if (error instanceof OrbgateError) {
        return { errors: error.diagnostics };
      }
      throw error;
    }
  },
  compare() {
    if (sources.other === null || engines.policy === null) {
      return null;
    }
    try {
      return engines.policy.ask("diff", { policy: sources.other });
    } catch (error) {
      if (error instanceof OrbgateError) {
        return { refused: error.message };
      }
      throw error;
    }
  },
};

function answer<K extends Kind>(kind: K, number: number, given: Asked[K]) {
  const told = { kind, number, answer: answers[kind](given) };
  say(told as unknown as FromWorker);
}

addEventListener("message", async ({ data }: MessageEvent<ToWorker>) => {
  try {
    if ("start" in data) {
      await start(data.start);
    } else {
      answer(data.kind, data.number, data.given);
    }
  } catch (error) {
    say({ failed: String(error) });
    if (error instanceof WebAssembly.RuntimeError) {
      again();
    }
  }
});
