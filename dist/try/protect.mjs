// The service of a guide's ten lines, which runs in this folder: protect.mjs URL RIGHT_SCOPE PROGRAM…. An issuer on this machine has its tokens.
// Prints what the service answers without a token, with a wrong scope and with the right one.
import { spawn } from "node:child_process";
import { generateKeyPairSync, sign } from "node:crypto";
import { once } from "node:events";
import fs from "node:fs";
import http from "node:http";
import { setTimeout as wait } from "node:timers/promises";

const [url, scope, ...program] = process.argv.slice(2);
const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
const keys = JSON.stringify({ keys: [{ ...publicKey.export({ format: "jwk" }), kid: "1" }] });
const server = http.createServer((_, response) => response.end(keys)).listen(0, "127.0.0.1");
await once(server, "listening");
const iss = `http://127.0.0.1:${server.address().port}`;
fs.writeFileSync("tokens.yaml", JSON.stringify({ // JSON is YAML
  orbgate_token: 1, issuers: [{ issuer: iss, audience: "api", kind: "user", algorithms: ["ES256"], jwks_uri: `${iss}/keys` }],
}));

const part = (value) => Buffer.from(value).toString("base64url");
const claims = { iss, aud: "api", sub: "ada", client_id: "app", exp: Math.floor(Date.now() / 1000) + 600 };
function token(scopes) {
  const signed = [{ alg: "ES256", kid: "1", typ: "at+jwt" }, { ...claims, scope: scopes }].map((it) => part(JSON.stringify(it))).join(".");
  return `${signed}.${sign("sha256", signed, { key: privateKey, dsaEncoding: "ieee-p1363" }).toString("base64url")}`;
}

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
  for (const scopes of ["write:other", scope]) found.push(await status({ authorization: `Bearer ${token(scopes)}` }));
  console.log(found.join(" "));
} finally {
  service.kill();
  server.close();
}
