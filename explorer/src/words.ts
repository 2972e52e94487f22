// Answers in words.
import type { About, Explanation, Table } from "./protocol.js";

type Api = Table["apis"][number];
export type Orbs = Api["scopes"][number]["orbs"];
export type ScopeRow = Api["scopes"][number];
export type RouteRow = ScopeRow["routes"][number];

export const upper = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);

export const count = (number: number, one: string, many = `${one}s`) => `${number.toLocaleString("en")} ${number === 1 ? one : many}`;

/** What a call costs. */
export function cost(orbs: Orbs): string {
  if (orbs === null) {
    return "not stated";
  }
  if (!orbs.consumes) {
    return "free";
  }
  return orbs.amount === null ? "orbs" : `${orbs.amount.toLocaleString("en")} ${orbs.amount === 1n ? "orb" : "orbs"}`;
}

export function charge(explained: Explanation): string {
  const charged = explained.orbs ?? explained.orbs_if_allowed ?? null;
  const [start, bonus] = explained.orbs === null ? ["If it were allowed: ", ""] : ["", charged?.bonus_allowed === true ? "; bonus orbs may be used" : ""];
  if (charged === null) {
    return explained.decision === "allow" ? "The policy doesn’t state it" : "Nothing, because it is denied";
  }
  const amount = !charged.consumes ? "free" : charged.amount === null ? "orbs, and the policy states no amount" : cost(charged);
  return upper(`${start}${amount}${bonus}`);
}

/** Why, as sentences. */
export function why(explained: Explanation, about: About): string[] {
  const sentence = (text: string | undefined) => (text === undefined ? [] : [`${upper(text)}.`]);
  return [
    ...sentence(about.reasons[explained.reason]),
    ...(explained.detail === null ? [] : sentence(about.details[explained.detail])),
  ];
}

/** Where the policy has a route or, without one, a scope. */
export class Places {
  readonly routes = new Map<string, RouteRow>();
  readonly #templates = new Map<string, RouteRow>();
  readonly #scopes = new Map<string, ScopeRow>();
  readonly #closed = new Map<string, { readonly location: RouteRow["location"] }>();
  readonly scopes: string[];

  constructor(readonly table: Table) {
    for (const api of table.apis) {
      api.closed?.forEach((closed) => this.#closed.set(closed.template, closed));
      for (const scope of api.scopes) {
        this.#scopes.set(`${api.name} ${scope.scope}`, scope);
        for (const route of scope.routes) {
          this.routes.set(route.route, route);
          this.#templates.set(route.template, this.#templates.get(route.template) ?? route);
        }
      }
    }
    this.scopes = [...new Set(table.apis.flatMap((api) => api.scopes.map((scope) => scope.scope)))];
  }

  of({ route, api, scope }: { route: string | null; api: string | null; scope: string | null }) {
    const row = route === null
      ? this.#scopes.get(`${api} ${scope}`)
      : this.routes.get(route) ?? this.#templates.get(route) ?? this.#closed.get(route);
    return row?.location ?? null;
  }
}

/** The first line in which a text differs from another one, as the text counts them; null if none does. */
export function differs(text: string, from: string): number | null {
  const [lines, others] = [text.split("\n"), from.split("\n")];
  const at = lines.findIndex((line, number) => line !== others[number]);
  return at >= 0 ? at + 1 : others.length > lines.length ? lines.length : null;
}

/** The alternatives of a route, each of which is enough. */
export const enough = (scopes: readonly (readonly string[])[]) => scopes.map((alternative) => alternative.join(" ")).join(" or ");

/** A target that a template decides. */
export const sample = (template: string) => template.replaceAll(/\{[^}]*\}/g, "1");
