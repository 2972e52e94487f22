// Completion of a policy from its JSON Schema.
import type { Completion, CompletionContext, CompletionResult } from "@codemirror/autocomplete";
import type { Text } from "@codemirror/state";

import schema from "../../policy/policy.schema.json";

interface Node {
  $ref?: string;
  description?: string;
  properties?: Record<string, Node>;
  additionalProperties?: Node | boolean;
  items?: Node;
  anyOf?: Node[];
  enum?: unknown[];
  const?: unknown;
  type?: string | string[];
}

const root = schema as unknown as Node & { $defs: Record<string, Node> };

/** A node and all that it may be instead. */
function every(node: Node | undefined): Node[] {
  if (node === undefined) {
    return [];
  }
  const named = node.$ref === undefined ? [] : every(root.$defs[node.$ref.replace("#/$defs/", "")]);
  return [node, ...named, ...(node.anyOf ?? []).flatMap(every)];
}

function child(node: Node, key: string): Node[] {
  return every(node).flatMap((one) => {
    const extra = typeof one.additionalProperties === "object" ? one.additionalProperties : undefined;
    return every(one.properties?.[key] ?? extra ?? (key === "-" ? one.items : undefined));
  });
}

/** How many lines above are read: a policy has its keys nearby, and nonsense of megabytes may have none. */
const MOST_LINES = 5_000;

/** The keys above a line that is indented by so many characters. */
export function keysAbove(text: Text, number: number, indent: number): string[] {
  const keys: string[] = [];
  for (let at = number - 1, rest = indent; at > 0 && at > number - MOST_LINES && rest > 0; at -= 1) {
    const match = /^( *)(- )?("?)([^\s"#][^"#]*?)\3:(\s|$)/.exec(text.line(at).text);
    const column = match === null ? rest : (match[1]?.length ?? 0);
    if (match !== null && column < rest) {
      keys.unshift(match[4] ?? "");
      rest = column;
    }
  }
  return keys;
}

/** The nodes that may be where these keys lead. */
const below = (keys: readonly string[]) => keys.reduce<Node[]>((nodes, key) => nodes.flatMap((node) => child(node, key)), every(root));

export function complete(context: CompletionContext): CompletionResult | null {
  const line = context.state.doc.lineAt(context.pos);
  const before = line.text.slice(0, context.pos - line.from);
  const match = /^( *)(?:([A-Za-z_]+):\s+)?([A-Za-z_]*)$/.exec(before);
  if (match === null || (match[3] === "" && !context.explicit)) {
    return null;
  }
  const [, blanks = "", key, word = ""] = match;
  const keys = keysAbove(context.state.doc, line.number, blanks.length);
  const nodes = below(key === undefined ? keys : [...keys, key]);
  const options = key === undefined ? names(nodes) : values(nodes);
  return options.length === 0 ? null : { from: context.pos - word.length, options: unique(options), validFor: /^\w*$/ };
}

const info = (node: Node | undefined) => every(node).find((one) => one.description !== undefined)?.description ?? "";

const names = (nodes: readonly Node[]) => nodes.flatMap((node) => Object.entries(node.properties ?? {}).map(([name, of]): Completion => ({
  label: name,
  apply: `${name}: `,
  type: "property",
  info: info(of),
})));

const values = (nodes: readonly Node[]) => nodes.flatMap((node): Completion[] => {
  const booleans = node.type === "boolean" ? [true, false] : [];
  const known = [...(node.enum ?? []), ...(node.const === undefined ? [] : [node.const]), ...booleans];
  return known.map((value) => ({ label: String(value), type: "constant", info: node.description ?? "" }));
});

function unique(options: Completion[]): Completion[] {
  const seen = new Map(options.map((option) => [option.label, option]));
  return [...seen.values()];
}
