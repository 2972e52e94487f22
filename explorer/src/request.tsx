// The request: method, target, and the token's kind and scopes.
import { useRef, useState } from "preact/hooks";

import { hasToken } from "./secret.js";
import type { Call, TokenKind } from "./state.js";

const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"];

const KINDS: [TokenKind, string][] = [
  ["user", "A user’s"],
  ["organisation", "An organisation’s"],
  ["unknown", "Of an unknown kind"],
  ["none", "No token"],
];

interface Properties {
  call: Call;
  /** Those of the policy. */
  scopes: readonly string[];
  change(call: Call): void;
  refuse(): void;
}

/** A text field that takes no token. */
export function Field({ id, label, value, list, change, refuse }: {
  id: string;
  label: string;
  value: string;
  list?: string;
  change(value: string): void;
  refuse(): void;
}) {
  const input = (event: Event) => {
    const field = event.currentTarget as HTMLInputElement;
    if (hasToken(field.value)) {
      field.value = value;
      refuse();
    } else {
      change(field.value);
    }
  };
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input id={id} value={value} list={list} onInput={input} spellcheck={false} autocomplete="off" autocapitalize="off" />
    </div>
  );
}

export function Request({ call, scopes, change, refuse }: Properties) {
  const set = (some: Partial<Call>) => change({ ...call, ...some });
  const by = (kind: Call["by"]) => () => set({ by: kind });
  return (
    <form class="request" onSubmit={(event) => event.preventDefault()}>
      <fieldset class="choice">
        <legend>Ask about</legend>
        <label><input type="radio" name="by" checked={call.by === "call"} onChange={by("call")} /> a call</label>
        <label><input type="radio" name="by" checked={call.by === "scope"} onChange={by("scope")} /> a scope, without a route</label>
      </fieldset>
      {call.by === "call"
        ? (
          <div class="subject">
            <Field id="method" label="Method" value={call.method} list="methods" change={(method) => set({ method })} refuse={refuse} />
            <Field id="target" label="Target (path and query)" value={call.target} change={(target) => set({ target })} refuse={refuse} />
          </div>
        )
        : <Field id="scope" label="Scope" value={call.scope} list="scopes" change={(scope) => set({ scope })} refuse={refuse} />}
      <div class="token">
        <div class="field">
          <label for="kind">Token</label>
          <select id="kind" value={call.kind} onChange={(event) => set({ kind: event.currentTarget.value as TokenKind })}>
            {KINDS.map(([kind, label]) => <option value={kind}>{label}</option>)}
          </select>
        </div>
        {call.kind !== "none" && <Chips scopes={call.scopes} change={(chosen) => set({ scopes: chosen })} refuse={refuse} />}
      </div>
      <label class="check">
        <input type="checkbox" checked={call.bonus} onChange={(event) => set({ bonus: event.currentTarget.checked })} /> The request allows bonus orbs
      </label>
      <datalist id="methods">{METHODS.map((method) => <option value={method} />)}</datalist>
      <datalist id="scopes">{scopes.slice(0, 500).map((scope) => <option value={scope} />)}</datalist>
    </form>
  );
}

/** The token's scopes: a space or Enter ends one, Backspace in the empty field removes the last. */
function Chips({ scopes, change, refuse }: { scopes: readonly string[]; change(scopes: string[]): void; refuse(): void }) {
  const [typed, setTyped] = useState("");
  const field = useRef<HTMLInputElement>(null);
  const add = (text: string) => {
    const added = text.split(" ").filter((scope) => scope !== "");
    setTyped("");
    if (added.length > 0) {
      change([...new Set([...scopes, ...added])]);
    }
  };
  const input = (event: Event) => {
    const { value } = event.currentTarget as HTMLInputElement;
    if (hasToken(value)) {
      (event.currentTarget as HTMLInputElement).value = typed;
      refuse();
    } else if (value.includes(" ")) {
      add(value);
    } else {
      setTyped(value);
    }
  };
  const key = (event: KeyboardEvent) => {
    if (event.key === "Enter") {
      event.preventDefault();
      add(typed);
    } else if (event.key === "Backspace" && typed === "" && scopes.length > 0) {
      change(scopes.slice(0, -1));
    }
  };
  const remove = (scope: string) => {
    change(scopes.filter((other) => other !== scope));
    field.current?.focus();
  };
  return (
    <div class="field grow">
      <label for="held">Its scopes</label>
      <div class="chips">
        {scopes.map((scope) => (
          <span class="chip" key={scope}>
            <code>{scope}</code>
            <button type="button" aria-label={`Remove ${scope}`} onClick={() => remove(scope)}>×</button>
          </span>
        ))}
        <input
          id="held" ref={field} value={typed} list="scopes" placeholder={scopes.length === 0 ? "none yet" : "add"} aria-describedby="held-hint"
          onInput={input} onKeyDown={key} onBlur={() => add(typed)} spellcheck={false} autocomplete="off" autocapitalize="off"
        />
      </div>
      <span id="held-hint" class="hint">Enter or a space adds a scope.</span>
    </div>
  );
}
