#!/usr/bin/env python3
"""What the example of a gate must answer, PROGRAM and its arguments: over a real socket, with keys from an issuer on this machine.
With --guide GUIDE PROGRAM: what the service of a guide's first example answers, with the policy that the guide has."""
import base64, http.client, http.server, json, pathlib, socket, subprocess, sys, tempfile, threading, time

home = pathlib.Path(tempfile.mkdtemp())


def openssl(*arguments, data=b""):
    return subprocess.run(["openssl", *arguments], input=data, capture_output=True, check=True).stdout


def text(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


openssl("genrsa", "-out", str(home / "key.pem"), "2048")
modulus = openssl("rsa", "-in", str(home / "key.pem"), "-noout", "-modulus").decode().strip().split("=")[1]
KEYS = {"keys": [{"kty": "RSA", "kid": "1", "use": "sig", "n": text(bytes.fromhex(modulus)), "e": "AQAB"}]}


class Issuer(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        body = json.dumps(KEYS if self.path == "/keys" else {"issuer": issuer, "jwks_uri": issuer + "/keys"}).encode()
        self.send_response(200)
        self.send_header("Cache-Control", "max-age=900")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Issuer)
threading.Thread(target=server.serve_forever, daemon=True).start()
issuer = f"http://127.0.0.1:{server.server_port}"
(home / "tokens.yaml").write_text(
    f"orbgate_token: 1\nissuers:\n  - issuer: {issuer}\n    audience: api\n    kind: user\n")


def token(scope, **claims):
    now = int(time.time())
    claims = {"iss": issuer, "aud": "api", "sub": "me", "iat": now, "exp": now + 600, "scope": scope, **claims}
    parts = [{"alg": "RS256", "kid": "1", "typ": "at+jwt"}, claims]
    signed = ".".join(text(json.dumps(part).encode()) for part in parts)
    return signed + "." + text(openssl("dgst", "-sha256", "-sign", str(home / "key.pem"), data=signed.encode()))


def answer(method, target, *bearers, **headers):
    connection = http.client.HTTPConnection(address, timeout=60)
    connection.putrequest(method, target)
    for bearer in bearers:
        connection.putheader("Authorization", "Bearer " + bearer)
    for name, value in headers.items():
        connection.putheader(name.replace("_", "-"), value)
    connection.endheaders()
    response = connection.getresponse()
    body = response.read()
    return response.status, response.getheader("WWW-Authenticate"), response.getheader("Allow"), body


if sys.argv[1] == "--guide":
    policy = pathlib.Path(sys.argv[2]).read_text().split("```yaml\n")[1].split("```")[0]
    (home / "policy.yaml").write_text(policy)
    address = "127.0.0.1:8080"
    program = subprocess.Popen([sys.argv[3]], cwd=home)
    try:
        for _ in range(300):
            assert program.poll() is None, program.returncode
            try:
                socket.create_connection(("127.0.0.1", 8080)).close()
                break
            except ConnectionRefusedError:
                time.sleep(0.1)
        found = [answer("GET", "/orders", *bearers)[:2] for bearers in ([], [token("write:other")], [token("read:orders")])]
        assert found == [(401, "Bearer"), (403, "Bearer"), (200, None)], found
        assert answer("GET", "/orders", token("read:orders"))[3] == b"hello, me\n"
    finally:
        program.terminate()
    sys.exit()

program = subprocess.Popen(
    [*sys.argv[1:], "--listen", "127.0.0.1:0", "--policy", "policy/external.yaml", "--tokens", str(home / "tokens.yaml")],
    stdout=subprocess.PIPE, text=True)
word, address = program.stdout.readline().split()
assert word == "listening", word


good, orbs = token("read:orbs"), "/api/v1/external/orbs"
DENIED = b""
table = [
    (answer("GET", orbs), (401, "Bearer", None, DENIED)),
    (answer("GET", orbs, token("read:account")), (403, "Bearer", None, DENIED)),
    (answer("GET", orbs, good, good), (401, "Bearer", None, DENIED)),
    (answer("GET", orbs, good[:-8] + "AAAAAAAA"), (401, "Bearer", None, DENIED)),
    (answer("GET", orbs, token("read:orbs", exp=1)), (401, "Bearer", None, DENIED)),
    (answer("PUT", orbs, good), (405, None, "GET", DENIED)),
    (answer("GET", "/api/v1/external/%6frbs", good), (400, None, None, DENIED)),
    (answer("GET", "/nowhere", good), (404, None, None, DENIED)),
    (answer("POST", "/api/v1/external/voxies", token("write:voxies"), X_HTTP_Method_Override="DELETE"), (400, None, None, DENIED)),
]
for number, (found, expected) in enumerate(table):
    assert found == expected, f"{number}: {found}, and not {expected}"
status, _, _, body = answer("GET", orbs + "?x=1", good)
expected = {"method": "GET", "target": orbs + "?x=1", "route": "GET " + orbs, "scope": "read:orbs", "kind": "user", "consumes": True}
assert (status, json.loads(body)) == (200, expected), (status, body)

program.terminate()
said = program.stdout.read()
assert program.wait(60) == 0, program.returncode
assert json.loads(said) == expected and "Bearer" not in said, said
