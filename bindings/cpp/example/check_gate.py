#!/usr/bin/env python3
"""What the example of a gate must answer, PROGRAM and its arguments: over a real socket, with keys from an issuer on this machine.
With --guide GUIDE ISSUER PROGRAM…: what the services of a guide answer to the tokens of its issuer, with the policy that the guide has.
With --service PROGRAM: that nothing gets around the gate of tests/service.cpp, and that connections are kept."""
import base64, http.client, http.server, json, os, pathlib, socket, subprocess, sys, tempfile, threading, time, urllib.parse

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

    def do_POST(self):
        form = urllib.parse.parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode(), strict_parsing=True)
        assert self.headers["Content-Type"] == "application/x-www-form-urlencoded" and self.headers["Expect"] is None
        assert self.headers["Authorization"] == "Basic " + base64.b64encode(b"gate:s3cr3t").decode()
        token, = form["token"]
        scopes = {"opaque": "read:orbs", "moved": "read:orbs", "poor": "read:account", "long" * 1000: "read:orbs"}
        answer = {"active": token in scopes, "aud": "api", "exp": int(time.time()) + 600, "scope": scopes.get(token, "")}
        self.send_response(307 if token == "moved" else 500 if token == "down" else 200)
        self.send_header("Location", "/introspect")
        self.end_headers()
        self.wfile.write(json.dumps({**answer, "padding": "x" * (300_000 if token == "huge" else 0)}).encode())

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


def listening(command):
    """A program that listens on a port of its environment, and its address: on another port, if somebody took this one first."""
    while True:
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        program = subprocess.Popen(command, cwd=home, env={**os.environ, "PORT": str(port)})
        while program.poll() is None:
            try:
                socket.create_connection(("127.0.0.1", port)).close()
                return program, f"127.0.0.1:{port}"
            except ConnectionRefusedError:
                time.sleep(0.05)
        assert program.returncode == 0, program.returncode


POLICY = """orbgate: 1
apis:
  shop:
    base_path: ""
    scopes:
      orders:
        orbs: false
        routes:
          - GET /orders
          - POST /orders
          - GET /orders/{id}
          - HEAD /orders/{id}
          - DELETE /orders/{id}
          - GET /a/{x}/c
          - GET /a/b/{y}
          - GET /a.b/{x}
          - GET /axb/{x}
          - GET /missing/{id}
          - GET /throws
          - POST /uploads
          - PUT /ignored
      export: { orbs: false, routes: [GET /orders/export] }
      files: { orbs: false, routes: ["GET /files/{name}", "HEAD /files/{name}"] }
...
"""


def exchange(address, *requests):
    """Writes each request once the answer to the one before has come. The answers that come: each a status, its headers and its body."""
    with socket.create_connection(address, timeout=60) as connection:
        stream, answers = connection.makefile("rb"), []
        try:
            for sent in requests:
                connection.sendall(sent)
                line = stream.readline()
                if not line:
                    return [*answers, "closed"]
                head = dict(field.decode().strip().lower().split(": ", 1) for field in iter(stream.readline, b"\r\n"))
                body = b"" if sent.startswith(b"HEAD") else stream.read(int(head["content-length"]))
                answers.append((int(line.split()[1]), head, body.decode()))
        except (BrokenPipeError, ConnectionResetError):
            answers.append("closed")
    return answers


def request(line, bearer=None, *fields, body=""):
    fields = [f"Authorization: Bearer {bearer}"] * (bearer is not None) + list(fields)
    return "\r\n".join([line + " HTTP/1.1", "Host: localhost", *fields, "", body]).encode()


def unclear_heads(head, size):
    """A request with one more line, for each way in which that could be a length or a coding."""
    def lines(name, value):
        word = name.encode()
        return [
            ("a space before the colon", word + b" : " + value + b"\r\n"), ("a tab before the colon", word + b"\t: " + value + b"\r\n"),
            ("bare LF", word + b": " + value + b"\n"), ("bare LF before it", b"X: y\n" + word + b": " + value + b"\r\n"),
            ("bare CR", b"X: y\r" + word + b": " + value + b"\r\n"), ("bare CR before the value", word + b":\r" + value + b"\r\n"),
            ("folded", word + b":\r\n " + value + b"\r\n"), ("folded by a tab", word + b":\r\n\t" + value + b"\r\n"),
            ("folded into it", b"X: y\r\n " + word + b": " + value + b"\r\n"), ("folded after the value", word + b": " + value + b"\r\n 0\r\n"),
            ("NUL in the name", word + b"\0: " + value + b"\r\n"), ("NUL before the name", b"\0" + word + b": " + value + b"\r\n"),
            ("NUL before the value", word + b": \0" + value + b"\r\n"), ("NUL after the value", word + b": " + value + b"\0\r\n"),
            ("a vertical tab", word + b":\x0b" + value + b"\r\n"), ("DEL", word + b": " + value + b"\x7f\r\n"), ("no colon", word + b" " + value + b"\r\n"),
            ("no value", word + b":\r\n"), ("escaped", word + b": %%%02x" % value[0] + value[1:] + b"\r\n"), ("no name", b": y\r\n" + word + b" " + value + b"\r\n"),
            ("quoted", b'"' + word + b'": ' + value + b"\r\n"), ("in brackets", b"(" + word + b"): " + value + b"\r\n"),
            ("high bytes", b"\xa0" + word + b": " + value + b"\r\n"),
        ]
    for name, value in [("Content-Length", b"%d" % size), ("Transfer-Encoding", b"chunked")]:
        for how, line in lines(name, value):
            yield f"{name}, {how}", head[:-2] + line + b"\r\n"


def brief(answers):
    return [answer if answer == "closed" else (answer[0], answer[2]) for answer in answers]


if sys.argv[1] == "--guide":
    guide = pathlib.Path(sys.argv[2]).read_text()
    (home / "policy.yaml").write_text(guide.split("```yaml\n")[1].split("```")[0])
    programs = []

    def started(program):
        process, address = listening([program])
        programs.append(process)
        host, port = address.split(":")
        return host, int(port)

    def fetched(target):
        status, _, body = exchange(issuing, request("GET " + target))[0]
        assert status == 200, (target, status, body)
        return body.strip()

    try:
        issuing = started(sys.argv[3])
        (home / "tokens.yaml").write_text(fetched("/tokens.yaml"))
        wrong, right = [fetched("/token?scope=" + scope) for scope in ("write:orders", "a%20read:orders+b")]
        organisation = fetched("/token?kind=organisation&scope=read:orders")
        recipes = 0
        for service in sys.argv[4:]:
            address = started(service)
            actual = brief(exchange(address, *[request("GET /orders", bearer) for bearer in (None, wrong, right)]))
            assert actual == [(401, ""), (403, ""), (200, "hello, subject\n")], actual
            # The guide trusts tokens of both kinds.
            assert exchange(address, request("GET /orders", organisation))[0][0] == 200
            health = brief(exchange(address, request("GET /healthz")))
            if health == [(401, "")]:
                continue
            recipes += 1
            assert health == [(200, "fine\n")], health
            browser = ["Origin: https://app.example.com", "Access-Control-Request-Method: GET"]
            [(status, head, _)] = exchange(address, request("OPTIONS /orders", None, *browser))
            assert (status, head["access-control-allow-origin"]) == (204, browser[0].split(" ")[1]), head
            assert exchange(address, request("GET /orders", right, browser[0]))[0][1]["access-control-allow-origin"] == head["access-control-allow-origin"]
            for target, fields in [("/orders", browser[:1]), ("/orders", [browser[0], "Access-Control-Request-Method: PUT"]), ("/nowhere", browser)]:
                assert exchange(address, request("OPTIONS " + target, None, *fields))[0][0] == 401, (target, fields)
        assert recipes == 1, recipes
    finally:
        for program in programs:
            program.terminate()
    sys.exit()

if sys.argv[1] == "--service":
    (home / "policy.yaml").write_text(POLICY)
    (home / "files").mkdir()
    (home / "files" / "a.txt").write_text("a file")
    program = subprocess.Popen([*sys.argv[2:], str(home / "policy.yaml"), str(home / "tokens.yaml"), str(home / "files")],
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    protected, forgetful, deaf, careless, plain = [("127.0.0.1", int(program.stdout.readline())) for _ in range(5)]
    orders, export, files = token("orders"), token("export"), token("files")
    inner = request("DELETE /orders/7", orders)  # a body that must not become a request
    size = f"Content-Length: {len(inner)}"
    chunked = b"%x\r\n%s\r\n0\r\n\r\n" % (len(inner), inner)
    page, page_of_nobody = "an error page for me\n", "an error page for ?\n"
    browser = ["Origin: https://app.example.com", "Access-Control-Request-Method: GET"]
    table = [
        # Another route's token reaches no handler: the server would have taken `/orders/{id}`.
        ("export", [request("GET /orders/export", export)], [(404, "")]),
        ("export with orders", [request("GET /orders/export", orders)], [(403, "")]),
        ("order", [request("GET /orders/1", orders)], [(200, "order 1 for me\n")]),
        ("the most specific", [request("GET /a/b/c", orders)], [(200, "narrow c for me\n")]),
        ("the less specific", [request("GET /a/x/c", orders)], [(200, "wide x for me\n")]),
        ("a dot", [request("GET /a.b/1", orders), request("GET /axb/1", orders)],
         [(200, "dotted 1 for me\n"), (404, page)]),
        ("undeclared", [request("GET /undeclared/1", orders)], [(404, "")]),
        ("HEAD", [request("HEAD /orders", orders), request("HEAD /orders/1", orders)], [(405, ""), (200, "")]),
        # Files.
        ("file", [request("GET /files/a.txt", files), request("HEAD /files/a.txt", files)], [(200, "a file"), (200, "")]),
        ("file without a token", [request("GET /files/a.txt"), request("GET /files/a.txt", orders)], [(401, ""), (403, "")]),
        ("file without a route", [request("GET /hidden/a.txt", files)], [(404, "")]),
        # Handlers of errors.
        ("error page", [request("GET /missing/1", orders)], [(404, page)]),
        ("no error page", [request("GET /missing/1"), request("GET /nowhere", orders)], [(401, ""), (404, "")]),
        ("exception", [request("GET /throws", orders)], [(500, page)]),
        ("nobody's error page", [b"NONSENSE\r\n\r\n", request("GET /orders", orders)], [(400, ""), "closed"]),
        # Connections are kept, whatever the answer, unless a body was left on them.
        ("kept", [request("GET /orders", orders), request("GET /orders"), request("DELETE /orders", orders), request("GET /orders", orders)],
         [(200, "orders for me\n"), (401, ""), (405, ""), (200, "orders for me\n")]),
        ("kept after a body", [request("POST /orders", orders, "Content-Length: 2", body="xy"), request("GET /orders", orders)],
         [(200, "made xy for me\n"), (200, "orders for me\n")]),
        ("closed", [request("GET /orders", orders, "Connection: Upgrade, Close"), request("GET /orders", orders)],
         [(200, "orders for me\n"), "closed"]),
        ("no length", [request("POST /orders", orders), request("GET /orders", orders)], [(200, "made  for me\n"), (200, "orders for me\n")]),
        ("denied with a body", [request("POST /orders", None, size), inner], [(401, ""), "closed"]),
        ("GET with a body", [request("GET /orders", orders, size), inner], [(400, page), "closed"]),
        ("HEAD with a body", [request("HEAD /orders/1", orders, size), inner], [(400, ""), "closed"]),
        ("DELETE in chunks", [request("DELETE /orders/1", orders, "Transfer-Encoding: chunked"), chunked], [(400, page), "closed"]),
        ("two lengths", [request("POST /orders", orders, "Content-Length: 0", size), inner], [(400, page), "closed"]),
        ("length and chunks", [request("POST /orders", orders, size, "Transfer-Encoding: chunked"), chunked], [(400, page), "closed"]),
        ("no number", [request("POST /orders", orders, "Content-Length: +1"), inner], [(400, page), "closed"]),
        ("broken chunks", [request("POST /orders", orders, "Transfer-Encoding: chunked", body="x\r\n"), inner],
         [(400, page), "closed"]),
        ("chunks", [request("POST /orders", orders, "Transfer-Encoding: chunked", body="2\r\nxy\r\n0\r\n\r\n"), request("GET /orders", orders)],
         [(200, "made xy for me\n"), (200, "orders for me\n")]),
        ("extensions of chunks", [request("POST /orders", orders, "Transfer-Encoding: chunked", body="2;a=\"b c\"\r\nxy\r\n00;d\r\n\r\n"), request("GET /orders", orders)],
         [(200, "made xy for me\n"), (200, "orders for me\n")]),
        ("chunks of HTTP/1.0", [request("POST /orders", orders, "Transfer-Encoding: chunked").replace(b"1.1", b"1.0"), chunked], [(400, page), "closed"]),
        ("a large body", [request("POST /orders", orders, "Content-Length: 100000", body="x" * 100_000), request("GET /orders", orders)],
         [(200, "made " + "x" * 100_000 + " for me\n"), (200, "orders for me\n")]),
        ("a large head", [request("GET /orders", orders, *["X-Large: " + "x" * 7000] * 8), request("GET /orders", orders, *["X-Large: " + "x" * 7000] * 10)],
         [(200, "orders for me\n"), (400, "")]),
        # What the server would decode, or answer before the gate.
        ("escaped in a header", [request("GET /orders").replace(b"\r\n\r\n", b"\r\nAuthorization: Bearer%20" + orders.encode() + b"\r\n\r\n"),
                                 request("GET /orders", orders.replace(".", "%2e")), request("GET /orders", orders, "X-Method%2dOverride: x"),
                                 request("GET /orders", orders, "X-Method-Override:")],
         [(401, ""), (401, ""), (200, "orders for me\n"), (400, "")]),
        ("an empty token", [request("GET /orders", ""), request("GET /orders", orders, "Authorization:")], [(401, ""), (401, "")]),
        ("a fragment", [request("GET /orders#1", orders)], [(400, "")]),
        *[(f"Range: {value}", [request("GET /orders", bearer, f"Range: {value}") for bearer in (None, export, orders)], [(401, ""), (403, ""), allowed])
          for value, allowed in [("bytes=x", (200, "orders for me\n")), ("bytes=0-5", (206, "orders")), ("bytes=99999999999999999999-", (200, "orders for me\n")),
                                 ("bytes=" + "0-1," * 2000 + "0-1", (200, "orders for me\n")), ("bytes=5-2", (200, "orders for me\n"))]],
        ("two ranges", [request("GET /orders", orders, "Range: bytes=x", "Range: bytes=0-5"), request("POST /orders", orders, "Range: bytes=x")],
         [(200, "orders for me\n"), (200, "made  for me\n")]),
        ("expected, and denied", [request("POST /orders", None, size, "Expect: 100-continue"), inner], [(401, ""), "closed"]),
        ("expected without a body", [request("GET /orders", orders, "Expect: 100-continue"), request("GET /orders", None, "Expect: 100-Continue")],
         [(200, "orders for me\n"), (401, "")]),
        ("another expectation", [request("POST /orders", orders, "Content-Length: 2", "Expect: x", body="xy")], [(200, "made xy for me\n")]),
        ("expected of HTTP/1.0", [request("POST /orders", orders, "Content-Length: 2", "Expect: 100-continue", body="xy").replace(b"1.1", b"1.0")],
         [(200, "made xy for me\n")]),
        ("a length of 65 bits", [request("POST /orders", orders, "Content-Length: 18446744073709551618", body="xy"), inner], [(400, page), "closed"]),
        ("a length of 64 bits", [request("POST /orders", orders, "Content-Length: 9223372036854775808", body="xy"), inner], [(400, page), "closed"]),
        ("a negative length", [request("POST /orders", orders, "Content-Length: -2", body="xy"), inner], [(400, page), "closed"]),
        ("zeros before a length", [request("POST /orders", orders, "Content-Length: " + "0" * 30 + "2", body="xy"), request("GET /orders", orders)],
         [(200, "made xy for me\n"), (200, "orders for me\n")]),
        ("upload", [request("POST /uploads", orders, "Content-Length: 2", body="xy"), request("GET /orders", orders)],
         [(200, "uploaded for me\n"), (200, "orders for me\n")]),
        ("half an upload", [request("POST /uploads", orders, "Content-Length: 9999", body="x" * 9000), inner],
         [(200, "uploaded for me\n"), "closed"]),
        # Without a token: a health check, and a browser's question about a declared route.
        ("public", [request("GET /healthz"), request("GET /healthz", "wrong"), request("HEAD /healthz"), request("POST /healthz", None, "Content-Length: 0")],
         [(200, "fine for ?\n"), (200, "fine for ?\n"), (401, ""), (401, "")]),
        ("preflight", [request("OPTIONS /orders", None, *browser), request("OPTIONS /orders/1", None, *browser), request("OPTIONS /healthz", None, *browser),
                       request("OPTIONS /nowhere", None, *browser)],
         [(200, "preflight for ?\n"), (404, page_of_nobody), (404, page_of_nobody), (401, "")]),
        ("no preflight", [request("OPTIONS /orders"), request("OPTIONS /orders", orders), request("OPTIONS /orders", None, browser[0]),
                          request("OPTIONS /orders", None, *browser, browser[1]), request("OPTIONS /orders", None, browser[0], "Access-Control-Request-Method: PUT")],
         [(401, ""), (405, ""), (401, ""), (401, ""), (401, "")]),
        ("ignored body", [request("PUT /ignored", orders, size), inner], [(200, "ignored for me\n"), "closed"]),
    ]
    # Heads that a proxy might read in another way. The server itself skips such lines, or reads a part of them.
    for method in ("GET", "POST"):
        for name, head in unclear_heads(request(method + " /orders", orders), len(inner)):
            body = chunked if b"chunked" in head.lower() else inner
            table += [(f"{method}, {name}", [head, body], [(400, ""), "closed"]), (f"{method}, {name}, at once", [head + body, b""], [(400, ""), "closed"])]
    for line in (" GET /orders HTTP/1.1", "\tGET /orders HTTP/1.1", "GET  /orders HTTP/1.1", "GET /orders  HTTP/1.1", "GET\t/orders HTTP/1.1", "GET /orders\tHTTP/1.1",
                 "GET /orders HTTP/1.1 ", "GET /orders x HTTP/1.1", "GET /orders", "GET  HTTP/1.1", "GET /orders HTTP/1.2", "GET /orders HTTP/2.0", "GET /orders http/1.1",
                 "GE(T /orders HTTP/1.1", "GET /orders HTTP/1.1\r\n X: y"):
        table.append((repr(line), [request("GET /orders", orders).replace(b"GET /orders HTTP/1.1", line.encode()), inner], [(400, ""), "closed"]))
    # Chunks that a proxy might read in another way, with a request after them.
    for name, body in [
        ("a prefix", b"0x2\r\nxy\r\n0\r\n\r\n"), ("a sign", b"+2\r\nxy\r\n0\r\n\r\n"), ("a minus", b"-2\r\nxy\r\n0\r\n\r\n"),
        ("a space before", b" 2\r\nxy\r\n0\r\n\r\n"), ("a space after", b"2 \r\nxy\r\n0\r\n\r\n"), ("no size", b"\r\nxy\r\n0\r\n\r\n"), ("another letter", b"2g\r\nxy\r\n0\r\n\r\n"),
        ("a size of 65 bits", b"10000000000000002\r\nxy\r\n0\r\n\r\n"), ("bare LF", b"2\nxy\r\n0\r\n\r\n"), ("bare LF after data", b"2\r\nxy\n0\r\n\r\n"),
        ("bare LF in an extension", b"2;a\nxy\r\n0\r\n\r\n"), ("bare CR in an extension", b"2;a\rb\r\nxy\r\n0\r\n\r\n"), ("NUL", b"2\0\r\nxy\r\n0\r\n\r\n"),
        ("data that is too long", b"2\r\nxyz\r\n0\r\n\r\n"), ("bare LF at the end", b"2\r\nxy\r\n0\n\n"), ("trailers", b"2\r\nxy\r\n0\r\nContent-Length: 9\r\n\r\n"),
    ]:
        table.append((f"chunks, {name}", [request("POST /orders", orders, "Transfer-Encoding: chunked") + body, inner], [(400, page), "closed"]))
    for name, requests, expected in table:
        actual = brief(exchange(protected, *requests))
        assert actual == expected, f"{name}: {actual}, and not {expected}"
    # A client that holds its body back is asked for it once, and only when a handler of an allowed request wants it.
    with socket.create_connection(protected, timeout=60) as connection:
        connection.sendall(request("POST /orders", orders, "Content-Length: 2", "Expect: x, 100-Continue"))
        stream = connection.makefile("rb")
        assert [stream.readline(), stream.readline()] == [b"HTTP/1.1 100 Continue\r\n", b"\r\n"]
        connection.sendall(b"xy" + request("GET /orders", None, "Connection: close"))
        rest = stream.read()
        assert rest.startswith(b"HTTP/1.1 200 OK") and b"made xy for me" in rest and b"HTTP/1.1 401" in rest and b"100" not in rest.split(b"\r\n\r\n")[0], rest
    headers = exchange(protected, request("GET /throws", orders))[0][1]
    assert "secret" not in str(headers), headers
    assert exchange(protected, request("GET /files/a.txt", files))[0][1]["caller"] == "me"
    denied = exchange(protected, request("POST /orders", None, size))[0][1]
    assert denied == {"cache-control": "no-store", "www-authenticate": "bearer", "content-length": "0", "connection": "close"}, denied
    # Whatever the server does, a handler runs only if the gate has allowed its request for it. Without a gate, it learns of no caller.
    for address, bearer in [(forgetful, orders), (forgetful, None), (deaf, None), (careless, orders), (plain, orders), (plain, None)]:
        answers = exchange(address, request("GET /orders", bearer, "Connection: close"))
        assert answers[0][0] == 500 and "for" not in answers[0][2], answers
    program.stdin.close()
    reported = sorted(program.stderr)
    assert program.wait(60) == 0, program.returncode
    # Its hooks throw at every request, which changes no answer, and each is reported once.
    assert reported == [
        "orbgate: the audit failed: a full disk\n",
        "orbgate: the logger of answers failed: a counter that fails\n",
        "orbgate: the logger of requests failed: it threw something else than an exception\n",
    ], reported
    sys.exit()

with (home / "tokens.yaml").open("a") as tokens:
    tokens.write(f"  - issuer: https://opaque.example\n    audience: api\n    kind: user\n    opaque: {{ endpoint: '{issuer}/introspect', "
                 f"client_id: gate, client_secret_file: '{home / 'secret'}' }}\n")
(home / "secret").write_text("s3cr3t\n")
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
    *[(answer("GET", orbs, opaque), (401, "Bearer", None, DENIED)) for opaque in ("other", "moved", "huge", "down")],
    (answer("GET", orbs, "poor"), (403, "Bearer", None, DENIED)),
    (answer("POST", "/api/v1/external/voxies", token("write:voxies"), X_HTTP_Method_Override="DELETE"), (400, None, None, DENIED)),
]
for number, (actual, expected) in enumerate(table):
    assert actual == expected, f"{number}: {actual}, and not {expected}"
expected = {"method": "GET", "target": orbs + "?x=1", "route": "GET " + orbs, "scope": "read:orbs", "kind": "user", "consumes": True}
bearers = good, "opaque", "long" * 1000
for bearer in bearers:
    status, _, _, body = answer("GET", orbs + "?x=1", bearer)
    assert (status, json.loads(body)) == (200, expected), (status, body)

program.terminate()
output = program.stdout.read()
assert program.wait(60) == 0, program.returncode
served = [line for line in output.splitlines() if not line.startswith("audited ")]
assert [json.loads(line) for line in served] == [expected] * len(bearers) and "Bearer" not in output, output
