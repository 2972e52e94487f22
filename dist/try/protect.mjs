// The service of a guide's ten lines, which runs in this folder: protect.mjs URL RIGHT_SCOPE PROGRAM…. An issuer on this machine has its tokens.
// Prints what the service answers without a token, with a wrong scope and with the right one.
import { spawn } from "node:child_process";
import fs from "node:fs";
import { setTimeout as wait } from "node:timers/promises";
import { startIssuer } from "../../bindings/node/testing.js";

const [url, scope, ...program] = process.argv.slice(2);
const issuer = await startIssuer();
fs.writeFileSync("tokens.yaml", issuer.tokens);

async function status(headers) {
  for (let left = 300; ; left--) {
    try {
      return (await fetch(url, { headers })).status;
    } catch (error) {
      if (left === 0 || service.exitCode !== null) throw error;
      await wait(100); // it starts
    }
  }
}

const service = spawn(program[0], program.slice(1), { stdio: ["ignore", "ignore", "inherit"] });
try {
  const found = [await status({})];
  for (const scopes of ["write:other", scope]) found.push(await status({ authorization: issuer.bearer("user", scopes) }));
  console.log(found.join(" "));
} finally {
  service.kill();
  issuer.close();
}
