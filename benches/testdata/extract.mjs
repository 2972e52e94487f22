// Writes github-routes.tsv: the methods and path templates of GitHub's public REST API.
//
//     npm pack @octokit/openapi@23.0.2 && tar xzf octokit-openapi-23.0.2.tgz
//     node extract.mjs package > github-routes.tsv
import { readFileSync } from "node:fs";
import { join } from "node:path";

const directory = process.argv[2] ?? "package";
const read = (...path) => JSON.parse(readFileSync(join(directory, ...path), "utf8"));
const { name, version, license } = read("package.json");
const { paths } = read("generated", "api.github.com.json");

const METHODS = ["delete", "get", "head", "options", "patch", "post", "put"];
// A policy's parameters are whole segments; `{base}...{head}` is two in one.
const isWhole = (segment) => /^(\{[A-Za-z_][A-Za-z0-9_.-]*\}|[^{}]+)$/.test(segment);
const isAccepted = (path) => path === "/" || path.slice(1).split("/").every(isWhole);

const rows = [];
const dropped = [];
let count = 0;
for (const [path, item] of Object.entries(paths)) {
  const methods = METHODS.filter((method) => method in item).map((method) => method.toUpperCase());
  if (isAccepted(path)) {
    rows.push(`${methods.join(" ")}\t${path}`);
    count += methods.length;
  } else {
    dropped.push(...methods.map((method) => `${method} ${path}`));
  }
}
const header = [
  `# The ${count} methods and path templates of api.github.com, from the npm package ${name} ${version} (${license}),`,
  "# generated/api.github.com.json, https://github.com/octokit/openapi, Copyright (c) 2020 Octokit contributors.",
  "# Written by extract.mjs. Left out, because a parameter is not a whole segment:",
  ...dropped.map((row) => `#   ${row}`),
];
process.stdout.write([...header, ...rows, ""].join("\n"));
