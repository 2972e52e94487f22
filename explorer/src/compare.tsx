// What if: what a second policy changes, each change with a call that shows it.
import type { Answered, Comparison, Request } from "./protocol.js";
import { cost, count, enough } from "./words.js";

type Change = Comparison["changes"][number];

/** Changes of a kind that are shown at once. */
const MOST = 40;

const KINDS: [name: string, about: string, of: (change: Change) => Request | null | undefined][] = [
  ["Wider", "allowed to more callers", (change) => change.wider],
  ["Cheaper", "the same call consumes less", (change) => (change.cost === "less" ? change.payer : null)],
  ["Costlier", "the same call consumes more", (change) => (change.cost === "more" ? change.payer : null)],
  ["Other cost", "an amount is not stated", (change) => (change.cost === "unknown" ? change.payer : null)],
  ["Narrower", "allowed to fewer callers", (change) => change.narrower],
];

export function Changes({ compared, ask }: { compared: Answered["compare"]; ask(request: Request): void }) {
  if (compared === null) {
    return <p class="quiet" role="status">One of the two policies has errors.</p>;
  }
  if ("refused" in compared) {
    return <p role="status">{compared.refused}</p>;
  }
  const groups = KINDS.map(([name, about, of]) => {
    const matches = compared.changes.flatMap((change) => {
      const request = of(change);
      return request == null ? [] : [{ change, request }];
    });
    return { name, about, matches };
  });
  const none = groups.every((group) => group.matches.length === 0);
  return (
    <>
      <p class="lead" role="status">
        {none && "Both policies decide every call alike."}
        {!none && compared.widens && "The second policy opens something, or lets a call consume less."}
        {!none && !compared.widens && "The second policy opens nothing."}
      </p>
      {!none && (
        <ul class="tallies">
          {groups.map(({ name, matches }) => <li class={matches.length > 0 ? name.toLowerCase().replace(" ", "-") : "none"}><strong>{matches.length}</strong> {name.toLowerCase()}</li>)}
        </ul>
      )}
      {groups.filter((group) => group.matches.length > 0).map(({ name, about, matches }) => (
        <section class="changes" aria-labelledby={`changes-${name}`}>
          <h3 id={`changes-${name}`}>{name} <span class="quiet">{about}</span></h3>
          <ul>
            {matches.slice(0, MOST).map(({ change, request }) => (
              <li>
                <button onClick={() => ask(request)}>Try</button>
                <div>
                  <code>{request.scope !== undefined ? `scope ${request.scope}` : `${request.method} ${request.target}`}</code> <span class="quiet">{carried(request)}</span>
                  <div class="sides">{rule(change.before)} <span aria-label="becomes">→</span> {rule(change.after)}</div>
                </div>
              </li>
            ))}
          </ul>
          {matches.length > MOST && <p class="quiet">and {matches.length - MOST} more</p>}
        </section>
      ))}
      {compared.left_out > 0 && <p class="quiet">{count(compared.left_out, "more change")} not listed.</p>}
    </>
  );
}

function carried({ token }: Request): string {
  if (token == null) {
    return "without a token";
  }
  return `${token.kind === "user" ? "a user" : "an organisation"}, ${token.scopes === "" ? "no scopes" : token.scopes}`;
}

function rule(side: Change["before"]) {
  return side === null ? <span class="quiet">nothing decides it</span> : <span><code>{side.scopes === undefined ? side.scope : enough(side.scopes)}</code>, {cost(side.orbs)}</span>;
}
