// The map: routes by api and scope, what a token opens, and what it costs. As a picture, and as a table.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";

import type { Answered } from "./protocol.js";
import { type Places, type RouteRow, type ScopeRow, cost, count, enough, sample } from "./words.js";

interface Properties {
  places: Places | null;
  reach: Answered["reach"];
  /** The route that decides the request. */
  route: string | null;
  ask(method: string, target: string): void;
  reveal(line: number, column: number): void;
}

/** Routes of a group and of a search that are shown at once. */
const MOST = 60;

export function Routes({ places, reach, route, ask, reveal }: Properties) {
  const [search, setSearch] = useState("");
  const open = useMemo(() => new Set(reach?.allowed.flatMap((allowed) => allowed.route ?? [])), [reach]);
  const words = search.toLowerCase().split(/\s+/).filter((word) => word !== "");
  if (places === null) {
    return <p class="quiet">The policy has errors.</p>;
  }
  const all = [...places.routes.values()];
  const opened = all.filter((row) => open.has(row.route));
  const paid = opened.filter((row) => row.orbs?.consumes === true).length;
  const groups = places.table.apis.flatMap((api) => api.scopes.map((scope) => ({
    api: api.name,
    scope,
    routes: scope.routes.filter((row) => {
      const text = `${row.route} ${scope.scope} ${row.scopes?.flat().join(" ") ?? ""} ${api.name} ${scope.permits ?? ""}`.toLowerCase();
      return words.every((word) => text.includes(word));
    }),
  }))).filter((group) => words.length === 0 || group.routes.length > 0);
  const closed = places.table.apis.flatMap((api) => api.closed?.map(({ template }) => template) ?? []);
  const shown = groups.reduce((sum, group) => sum + group.routes.length, 0);
  return (
    <>
      <p class="lead">
        The token opens <strong>{opened.length.toLocaleString("en")}</strong> of {count(all.length, "route")}: {(opened.length - paid).toLocaleString("en")} without
        orbs, <strong class="orbs">{paid.toLocaleString("en")}</strong> for orbs.
      </p>
      <Picture places={places} open={open} route={route} />
      <ul class="legend" aria-hidden="true">
        <li class="free">open, no orbs</li>
        <li class="paid">open, for orbs</li>
        <li class="closed">closed</li>
      </ul>
      <div class="field">
        <label for="search">Search routes</label>
        <input id="search" type="search" value={search} onInput={(event) => setSearch(event.currentTarget.value)} spellcheck={false} autocomplete="off" />
      </div>
      <p class="quiet" role="status">{words.length === 0 ? "" : `${count(shown, "route")} found`}</p>
      {closed.length > 0 && <p class="quiet">Closed in the policy, with no method: {closed.join(", ")}</p>}
      <div class="groups">
        {groups.map(({ api, scope, routes }) => (
          <Group
            key={`${api} ${scope.scope}`} api={api} scope={scope} routes={routes} open={open} route={route} ask={ask} reveal={reveal}
            unfolded={words.length > 0 && shown <= MOST}
          />
        ))}
      </div>
    </>
  );
}

function Group({ api, scope, routes, open, route, ask, reveal, unfolded }: Omit<Properties, "places" | "reach"> & {
  api: string;
  scope: ScopeRow;
  routes: readonly RouteRow[];
  open: ReadonlySet<string>;
  unfolded: boolean;
}) {
  const [chosen, setChosen] = useState<boolean | null>(null);
  const [whole, setWhole] = useState(false);
  useEffect(() => setChosen(null), [unfolded]);
  const shown = chosen ?? unfolded;
  const opened = routes.filter((row) => open.has(row.route)).length;
  const here = routes.some((row) => row.route === route);
  return (
    <details class={here ? "here" : ""} open={shown} onToggle={(event) => setChosen(event.currentTarget.open)}>
      <summary>
        <span class="names"><code>{scope.scope}</code> <span class="quiet">{api}{scope.permits === null ? "" : ` · ${scope.permits}`}</span></span>
        <span class="cost">{cost(scope.orbs)}</span>
        <span class="share">{routes.length === 0 ? "no routes" : `${opened} of ${routes.length} open`}</span>
      </summary>
      {shown && (
        <div class="table" role="region" aria-label={`Routes of ${scope.scope}`} tabIndex={0}>
          <table>
            <thead><tr><th scope="col">Route</th><th scope="col">Token</th><th scope="col">Cost</th><th scope="col">Line</th></tr></thead>
            <tbody>
              {routes.slice(0, whole ? routes.length : MOST).map((row) => (
                <tr class={row.route === route ? "here" : ""}>
                  <td><button class="link" onClick={() => ask(row.method, sample(row.template))} title="Ask about a call of this route"><code>{row.method} {row.template}</code></button>{row.scopes !== undefined && <div class="quiet">needs {enough(row.scopes)}</div>}</td>
                  <td class={open.has(row.route) ? "open" : "closed"}>{open.has(row.route) ? "open" : "closed"}</td>
                  <td>{cost(row.orbs)}</td>
                  <td><button class="link" aria-label={`Line ${row.location.line}`} onClick={() => reveal(row.location.line, row.location.column)}>{row.location.line}</button></td>
                </tr>
              ))}
            </tbody>
          </table>
          {!whole && routes.length > MOST && <button onClick={() => setWhole(true)}>Show all {routes.length}</button>}
          {routes.length === 0 && <p class="quiet">No route is listed under it.</p>}
        </div>
      )}
    </details>
  );
}

const SIDE = 11;
const STEP = 15;
const LINE = 22;

/** One mark for each route: three paths, however many routes there are. */
function Picture({ places, open, route }: { places: Places; open: ReadonlySet<string>; route: string | null }) {
  const box = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(640);
  useEffect(() => {
    const observer = new ResizeObserver(([entry]) => setWidth(Math.max(200, Math.floor(entry?.contentRect.width ?? 640))));
    if (box.current !== null) {
      observer.observe(box.current);
    }
    return () => observer.disconnect();
  }, []);
  const drawn = useMemo(() => draw(places, open, route, width), [places, open, route, width]);
  return (
    <div class="picture" ref={box}>
      <svg role="img" aria-label="Each route as a mark, by api and scope. The table below has the same." width={width} height={drawn.height} viewBox={`0 0 ${width} ${drawn.height}`}>
        {drawn.labels.map(({ y, text }) => <text x={0} y={y}>{text}</text>)}
        <path class="free" d={drawn.free} />
        <path class="paid" d={drawn.paid} />
        <path class="closed" d={drawn.closed} />
        {drawn.ring !== null && <rect class="ring" x={drawn.ring.x - 2.5} y={drawn.ring.y - 2.5} width={SIDE + 5} height={SIDE + 5} rx={3} />}
      </svg>
    </div>
  );
}

function draw(places: Places, open: ReadonlySet<string>, current: string | null, width: number) {
  const paths = { free: "", paid: "", closed: "" };
  const labels: { y: number; text: string }[] = [];
  let ring: { x: number; y: number } | null = null;
  let y = 0;
  for (const api of places.table.apis) {
    const none = api.scopes.every((scope) => scope.routes.length === 0);
    labels.push({ y: y + 12, text: none ? `${api.name}: scopes without routes` : api.name });
    y += LINE;
    if (none) {
      continue;
    }
    let x = 3;
    for (const scope of api.scopes) {
      for (const row of scope.routes) {
        if (x + SIDE + 3 > width) {
          [x, y] = [3, y + STEP];
        }
        const isOpen = open.has(row.route);
        if (!isOpen) {
          paths.closed += `M${x + 0.5} ${y + 0.5}h${SIDE - 1}v${SIDE - 1}h${1 - SIDE}z`;
        } else if (row.orbs?.consumes === true) {
          const half = SIDE / 2;
          paths.paid += `M${x + half} ${y}l${half} ${half}l${-half} ${half}l${-half} ${-half}z`;
        } else {
          paths.free += `M${x} ${y}h${SIDE}v${SIDE}h${-SIDE}z`;
        }
        if (row.route === current) {
          ring = { x, y };
        }
        x += STEP;
      }
      x += scope.routes.length > 0 ? 7 : 0;
    }
    y += STEP + 8;
  }
  return { ...paths, labels, ring, height: Math.max(y, LINE) };
}
