"""A server on this machine that answers as the Hugging Face Hub does, as far as `HfFileSystem` asks."""

from __future__ import annotations

import contextlib
import json
import re
import threading
from collections.abc import Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, unquote, urlsplit

REPOSITORY = "me/data"


@contextlib.contextmanager
def hub(files: Mapping[str, bytes]) -> Iterator[str]:
    """Serves a repository of a data set, `me/data`; yields the URL of the server."""
    api, content = f"/api/datasets/{REPOSITORY}", f"/datasets/{REPOSITORY}/resolve/main/"
    folders = {path.rpartition("/")[0] for path in files} - {""}

    def entry(path: str) -> dict[str, object]:
        if path in files:
            return {"type": "file", "path": path, "size": len(files[path]), "oid": f"{len(path):040x}"}
        return {"type": "directory", "path": path, "oid": f"{len(path):040x}"}

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: object) -> None:
            pass

        def do_GET(self) -> None:
            url = urlsplit(self.path)
            path, recursive = unquote(url.path), "True" in parse_qs(url.query).get("recursive", [])
            if path in (api, f"{api}/revision/main"):
                self.answer({"id": REPOSITORY, "sha": "0" * 40, "private": False, "tags": [], "siblings": []})
            elif path.startswith(f"{api}/tree/main"):
                below = path.removeprefix(f"{api}/tree/main").strip("/")
                known = [
                    one for one in (*files, *sorted(folders)) if one.startswith(f"{below}/" if below else "")
                ]
                near = [one for one in known if recursive or "/" not in one[len(below) :].strip("/")]
                self.answer([entry(one) for one in near])
            elif path.startswith(content) and path.removeprefix(content) in files:
                data = files[path.removeprefix(content)]
                if asked := re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range", "")):
                    self.answer(data[int(asked[1]) : int(asked[2]) + 1], 206)
                else:
                    self.answer(data)
            else:
                self.answer({"error": "Repository not found"}, 404)

        def do_POST(self) -> None:
            asked = parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
            known = [path for path in asked.get("paths", []) if path in files or path in folders]
            self.answer([entry(path) for path in known])

        def answer(self, value: object, status: int = 200) -> None:
            data = value if isinstance(value, bytes) else json.dumps(value).encode()
            self.send_response(status)
            if status == 404:
                self.send_header("X-Error-Code", "RepoNotFound")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
