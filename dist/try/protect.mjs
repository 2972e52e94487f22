// The service of a guide's ten lines, which runs in this folder: protect.mjs URL RIGHT_SCOPE PROGRAM…. An issuer on this machine has its tokens.
// Prints what the service answers without a token, with a wrong scope and with the right one. With the scope `-`, the program prints both tokens.
import { spawn } from "node:child_process";
import fs from "node:fs";
import { setTimeout as wait } from "node:timers/promises";
import { startIssuer } from "../../bindings/node/testing.js";

const [url, scope, ...program] = process.argv.slice(2);
const issuer = await startIssuer();
fs.writeFileSync("tokens.yaml", issuer.tokens);

// In minutes: `cargo run` waits for another step's build, and may have to build anew what that step left.
const end = Date.now() + 10 * 60_000;

async function status(headers) {
  for (;;) {
    try {
      return (await fetch(url, { headers })).status;
    } catch (error) {
      if (Date.now() > end || service.exitCode !== null) throw error;
      await wait(100); // it starts
    }
  }
}

async function tokens() {
  if (scope !== "-") return ["write:other", scope].map((scopes) => issuer.bearer("user", scopes));
  for (;; await wait(100)) {
    const own = printed.match(/Bearer \S+(?=\s)/g);
    if (own?.length === 2) return own;
    if (service.exitCode !== null) throw new Error(printed);
  }
}

let printed = "";
const service = spawn(program[0], program.slice(1), { stdio: ["ignore", "pipe", "inherit"] });
service.stdout.setEncoding("utf8").on("data", (text) => (printed += text));
try {
  const statuses = [await status({})];
  for (const authorization of await tokens()) statuses.push(await status({ authorization }));
  console.log(statuses.join(" "));
} finally {
  service.kill();
  issuer.close();
}
