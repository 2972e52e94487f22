// A test file: which of its cases pass, which of its properties hold, and what of the policy no case decides.
import { useEffect, useState } from "preact/hooks";

import { Ticked } from "./decision.js";
import type { Engine } from "./engine.js";
import type { Answered, Tested } from "./protocol.js";
import { hasToken } from "./secret.js";
import { count } from "./words.js";

const MOST_BYTES = 8 * 1024 * 1024;
/** What is listed at once, and of each. */
const [MOST, MOST_REASONS] = [50, 3];

export function Tests({ engine, reads, reveal, refuse }: { engine: Engine; reads: unknown; reveal(line: number, column: number): void; refuse(why?: string): void }) {
  const [file, setFile] = useState<{ name: string; text: string } | null>(null);
  const [tested, setTested] = useState<Answered["test"] | undefined>(undefined);
  useEffect(() => {
    if (file !== null && reads !== null) {
      void engine.ask("test", { file: file.text }).then(setTested);
    }
  }, [engine, file, reads]);
  const choose = async (event: Event) => {
    const field = event.currentTarget as HTMLInputElement;
    const [chosen] = field.files ?? [];
    if (chosen === undefined) {
      return;
    }
    const text = chosen.size > MOST_BYTES ? null : await chosen.text();
    if (text === null || hasToken(text)) {
      field.value = "";
      refuse(text === null ? "A test file has at most 8 MiB." : undefined);
    } else {
      setTested(undefined);
      setFile({ name: chosen.name, text });
    }
  };
  return (
    <section class="tests" aria-labelledby="tests">
      <h3 id="tests">Test file</h3>
      <p class="field"><label for="test-file">Decide the cases of a test file, and prove its properties</label> <input id="test-file" type="file" accept=".yaml,.yml" onChange={(event) => void choose(event)} /></p>
      {file !== null && <Status tested={tested} />}
      {file !== null && tested != null && ("errors" in tested
        ? (
          <>
            <ul>{tested.errors.slice(0, MOST).map(({ location, message }) => <li>line {location.line}: <Ticked text={message} /></li>)}</ul>
            <More of={tested.errors} />
          </>
        )
        : <Results name={file.name} tested={tested} reveal={reveal} />)}
    </section>
  );
}

const isWrong = ({ wrong }: { wrong: readonly string[] }) => wrong.length > 0;

function Status({ tested }: { tested: Answered["test"] | undefined }) {
  if (tested == null || "errors" in tested) {
    const why = tested === undefined ? "" : tested === null ? "The policy has errors." : `The test file has ${count(tested.errors.length, "error")}.`;
    return <p role="status" class="broken">{why}</p>;
  }
  const { cases, properties } = tested;
  const good = (name: string, all: typeof cases) => (all.length === 0 ? [] : [`${name}: ${all.filter((one) => !isWrong(one)).length} of ${all.length}.`]);
  const text = [...good("Cases that pass", cases), ...good("Properties that hold", properties)].join(" ");
  return <p role="status" class={[...cases, ...properties].some(isWrong) ? "broken" : "quiet"}>{text}</p>;
}

function Results({ name: file, tested: { cases, properties, uncovered }, reveal }: { name: string; tested: Tested; reveal(line: number, column: number): void }) {
  const told = [...[...cases, ...properties].filter(isWrong), ...properties.filter(({ warning }) => warning !== null)];
  return (
    <>
      <ul>
        {told.slice(0, MOST).map(({ location, name, wrong, warning }) => (
          <li>
            <code>{name}</code>
            <span class="quiet">{file}, line {location.line}: <Ticked text={warning === null ? wrong.slice(0, MOST_REASONS).join("; ") : `it holds, but ${warning}`} /></span>
            {wrong.length > MOST_REASONS && <span class="quiet">and {wrong.length - MOST_REASONS} more</span>}
          </li>
        ))}
      </ul>
      <More of={told} />
      {cases.length > 0 && (
        <details>
          <summary>{uncovered.length === 0 ? "Each line of the policy is covered by a case." : `${count(uncovered.length, "line")} of the policy that no case covers`}</summary>
          <ul>
            {uncovered.slice(0, MOST).map(({ location, name }) => (
              <li><button class="link" onClick={() => reveal(location.line, location.column)}>line {location.line}</button> <code>{name}</code></li>
            ))}
          </ul>
          <More of={uncovered} />
        </details>
      )}
    </>
  );
}

const More = ({ of }: { of: readonly unknown[] }) => (of.length > MOST ? <p class="quiet">and {of.length - MOST} more</p> : null);
