"""An application for hypercorn: shows each request to the backend that keeps them, and answers `reached`."""

import asyncio
import os


async def show(scope, method):
    target = scope["raw_path"] + (b"?" + scope["query_string"] if scope["query_string"] else b"")
    lines = [b"%s %s HTTP/1.1" % (method.encode(), target)]
    # The keeper would answer an upgrade itself.
    lines += [name + b": " + value for name, value in scope["headers"] if name != b"upgrade"]
    reader, writer = await asyncio.open_connection("127.0.0.1", int(os.environ["KEEPER"]))
    writer.write(b"\r\n".join(lines) + b"\r\n\r\n")
    await reader.read()
    writer.close()


async def app(scope, receive, send):
    if scope["type"] == "http":
        await show(scope, scope["method"])
        headers = [(b"content-length", b"7")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": b"reached"})
    elif scope["type"] == "websocket":
        await show(scope, "GET")
        await receive()
        await send({"type": "websocket.accept"})
        while (message := await receive())["type"] == "websocket.receive":
            await send({"type": "websocket.send", "text": message["text"]})
