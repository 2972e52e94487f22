// A test file: which of its cases pass, and what of the policy none of them decides.
import { useEffect, useState } from "preact/hooks";

import { Ticked } from "./decision.js";
import type { Engine } from "./engine.js";
import type { Answered } from "./protocol.js";
import { hasToken } from "./secret.js";
import { count } from "./words.js";

const MOST_BYTES = 8 * 1024 * 1024;
/** What is listed at once. */
const MOST = 50;

export function Tests({ engine, reads, reveal, refuse }: { engine: Engine; reads: unknown; reveal(line: number, column: number): void; refuse(): void }) {
  const [file, setFile] = useState<{ name: string; text: string } | null>(null);
  const [tested, setTested] = useState<Answered["test"]>(null);
  useEffect(() => {
    if (file !== null && reads !== null) {
      void engine.ask("test", { file: file.text }).then(setTested);
    }
  }, [engine, file, reads]);
  const choose = async (event: Event) => {
    const field = event.currentTarget as HTMLInputElement;
    const [chosen] = field.files ?? [];
    const text = chosen === undefined || chosen.size > MOST_BYTES ? null : await chosen.text();
    if (text !== null && hasToken(text)) {
      field.value = "";
      refuse();
    } else if (text !== null && chosen !== undefined) {
      setTested(null);
      setFile({ name: chosen.name, text });
    }
  };
  const failed = (tested?.cases ?? []).filter(({ wrong }) => wrong.length > 0);
  return (
    <section class="cases tests" aria-labelledby="tests">
      <h3 id="tests">Test file</h3>
      <p class="field"><label for="test-file">Decide all cases of a test file</label> <input id="test-file" type="file" accept=".yaml,.yml" onChange={(event) => void choose(event)} /></p>
      {file !== null && (
        <>
          <p role="status" class={failed.length > 0 ? "broken" : "quiet"}>
            {tested === null ? "The policy has errors." : `${tested.cases.length - failed.length} of ${count(tested.cases.length, "case")} pass.`}
          </p>
          {tested !== null && tested.properties > 0 && <p class="quiet">{count(tested.properties, "property", "properties")} not proved here: run <code>orbgate test</code>.</p>}
          <ul>
            {failed.slice(0, MOST).map(({ location, name, wrong }) => (
              <li><code>{name}</code> <span class="quiet">{file.name}, line {location.line}: <Ticked text={wrong.join("; ")} /></span></li>
            ))}
          </ul>
          {tested !== null && tested.cases.length > 0 && (
            <details>
              <summary>{tested.uncovered.length === 0 ? "Each route is decided by a case." : `${count(tested.uncovered.length, "line")} of the policy that no case covers`}</summary>
              <ul>
                {tested.uncovered.slice(0, MOST).map(({ location, name }) => (
                  <li><button class="link" onClick={() => reveal(location.line, location.column)}>line {location.line}</button> <span class="quiet"><code>{name}</code></span></li>
                ))}
              </ul>
              {tested.uncovered.length > MOST && <p class="quiet">and {tested.uncovered.length - MOST} more</p>}
            </details>
          )}
        </>
      )}
    </section>
  );
}
