// The decision: what it is and why, and what would have made it another one.
import type { About, Explanation } from "./protocol.js";
import type { Call } from "./state.js";
import { type Places, charge, upper, why } from "./words.js";

interface Properties {
  explained: Explanation | null;
  /** The same call under the policy to compare with. */
  other: Explanation | null;
  about: About;
  call: Call;
  places: Places | null;
  /** What is shown is not yet of what was typed. */
  busy: boolean;
  reveal(line: number, column: number): void;
  change(call: Call): void;
  keep(): void;
}

export function Decision({ explained, other, about, call, places, busy, reveal, change, keep }: Properties) {
  if (explained === null) {
    return <div class="decision idle" role="status" aria-busy={busy}><p>The policy has errors. While it has, nothing is decided.</p></div>;
  }
  const allowed = explained.decision === "allow";
  const location = places?.of(explained) ?? null;
  const { scope } = explained;
  const alternatives = explained.alternatives ?? [];
  // What the owner's alternative lacks, or the scope.
  const lacking = alternatives[0]?.lacking ?? (scope === null ? [] : [scope]);
  const added = explained.reason === "scope_missing" ? lacking.filter((name) => !call.scopes.includes(name)) : [];
  const step = explained.missing_step === null ? undefined : about.missing_steps[explained.missing_step];
  return (
    <div class={`decision ${allowed ? "allow" : "deny"}`} aria-busy={busy}>
      <div role="status" aria-live="polite">
        <p class="verdict"><span class="sign" aria-hidden="true">{allowed ? "✓" : "✕"}</span> {allowed ? "Allowed" : `Denied with ${explained.status}`}</p>
        {why(explained, about).map((sentence) => <p class="why"><Ticked text={sentence} /></p>)}
      </div>
      {explained.in_order !== undefined && <InOrder target={call.target} bytes={explained.in_order} />}
      {step !== undefined && explained.reason === "scope_missing" && <p class="quiet">Which step is missing: {step}.</p>}
      <dl class="facts">
        {explained.route !== null && <div><dt>Route</dt><dd><code>{explained.route}</code></dd></div>}
        {scope !== null && <div><dt>Scope</dt><dd><code>{scope}</code></dd></div>}
        <div><dt>Charge</dt><dd>{charge(explained)}</dd></div>
        {explained.api !== null && <div><dt>Api</dt><dd><code>{explained.api}</code></dd></div>}
        <div><dt>Reason</dt><dd>
          <Documented code={explained.reason} page={`${about.pages.codes}#reasons`} />
          {explained.detail !== null && <> · <Documented code={explained.detail} page={`${about.pages.codes}#details`} /></>}
        </dd></div>
        {location !== null && (
          <div><dt>Policy</dt><dd><button class="link" onClick={() => reveal(location.line, location.column)}>line {location.line}</button></dd></div>
        )}
      </dl>
      {alternatives.length > 0 && (
        <section class="alternatives" aria-labelledby="alternatives">
          <h3 id="alternatives">{alternatives.length === 1 ? "The route needs all of these scopes" : "Each of these is enough for the route"}</h3>
          <ul>
            {alternatives.map(({ scopes, lacking: left }) => (
              <li><code>{scopes.join(" ")}</code> <span class="quiet">{left.length === 0 ? "the token has it" : <>the token lacks <code>{left.join(" ")}</code></>}</span></li>
            ))}
          </ul>
        </section>
      )}
      <p class="actions">
        {added.length > 0 && <button onClick={() => change({ ...call, scopes: [...call.scopes, ...added] })}>Add <code>{added.join(" ")}</code> to the token</button>}
        <button onClick={keep}>Keep as a test case</button>
      </p>
      {other !== null && (
        <p class={`other ${other.decision}`}>
          With the second policy: <strong>{other.decision === "allow" ? "allowed" : `denied with ${other.status}`}</strong>, <code>{other.reason}</code>
          {other.decision === "allow" && <>. Charge: {charge(other)}</>}
        </p>
      )}
      {explained.near !== undefined && explained.near.length > 0 && (
        <section class="near" aria-labelledby="near">
          <h3 id="near">Routes that nearly decide it</h3>
          <ul>
            {explained.near.map(({ route, location: at, why: reason, meant }) => (
              <li>
                <button class="link" onClick={() => reveal(at.line, at.column)}><code>{route}</code></button>
                <p><Ticked text={upper(reason)} />.</p>
                {meant !== null && <button onClick={() => change({ ...call, target: meant })}>Use <code>{meant}</code></button>}
              </li>
            ))}
          </ul>
        </section>
      )}
      {explained.rules !== undefined && <Rules rules={explained.rules} about={about} />}
    </div>
  );
}

/** Text with code in backticks. */
export function Ticked({ text }: { text: string }) {
  return <>{text.split("`").map((part, at) => (at % 2 === 1 ? <code>{part}</code> : part))}</>;
}

/** A code, with a link to the page that describes it. Another tab opens it, so that what was typed stays. */
export function Documented({ code, page }: { code: string; page: string }) {
  return <a href={page} target="_blank" rel="noreferrer"><code>{code}</code></a>;
}

const SHOWN = 60;

/** Where a target stops being in order. */
function InOrder({ target, bytes }: { target: string; bytes: number }) {
  const encoded = new TextEncoder().encode(target);
  const decode = (part: Uint8Array) => new TextDecoder().decode(part);
  const [before, behind] = [decode(encoded.subarray(0, bytes)), decode(encoded.subarray(bytes))];
  return (
    <p class="target">
      <code>{before.length > SHOWN ? `…${before.slice(-SHOWN)}` : before}</code>
      <code><mark>{behind === "" ? "here it ends" : behind.slice(0, SHOWN)}{behind.length > SHOWN ? "…" : ""}</mark></code>
    </p>
  );
}

const STATES: Record<string, string> = { pass: "in order", fail: "broken", not_reached: "not reached" };

function Rules({ rules, about }: { rules: NonNullable<Explanation["rules"]>; about: About }) {
  const passed = rules.filter((rule) => rule.state === "pass").length;
  return (
    <details class="rules">
      <summary>{passed} of {rules.length} rules of a target are kept</summary>
      <ul>
        {rules.map((rule) => (
          <li class={rule.state}><span class="number">{rule.rule}</span> <span><Ticked text={about.details[rule.detail] ?? rule.detail} /></span> <em>{STATES[rule.state] ?? rule.state}</em></li>
        ))}
      </ul>
    </details>
  );
}
