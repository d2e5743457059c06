"""The page's own files: read once, named by their content, so that browsers may keep them."""

from __future__ import annotations

import hashlib
import mimetypes
import re
from dataclasses import dataclass
from importlib.resources import files
from importlib.resources.abc import Traversable

from starlette.requests import Request
from starlette.responses import Response

from loopspan.playground.answers import Problem

_REFERENCE = re.compile(
    rb"""(?P<quote>["'])(?P<path>(?:\./|\.\./|static/)[\w./-]+\.(?:js|css|svg))(?P=quote)"""
)
_TEXTS = (".css", ".html", ".js", ".svg")
_TYPES = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}


@dataclass(frozen=True, slots=True)
class Asset:
    """A file as it is sent."""

    content: bytes
    media_type: str


class Assets:
    """All files of `static/`; references between them carry the hash of all of them."""

    def __init__(self, folder: Traversable | None = None) -> None:
        found = _read(folder or files("loopspan.playground") / "static")
        digest = hashlib.sha256()
        for name, content in sorted(found.items()):
            digest.update(f"{name}\0{len(content)}\0".encode() + content)
        self.version = digest.hexdigest()[:16]
        self._files = {name: self._asset(name, content) for name, content in found.items()}

    def shell(self, request: Request) -> Response:
        """Answer with the page, which holds no data."""
        return self._answer("index.html", "no-cache")

    def static(self, request: Request) -> Response:
        """Answer with a file; one that is asked for by its hash may be kept for good."""
        asked = request.query_params.get("v") == self.version
        kept = "public, max-age=31536000, immutable" if asked else "no-cache"
        return self._answer(request.path_params["path"], kept)

    def _answer(self, name: str, kept: str) -> Response:
        asset = self._files.get(name)
        if asset is None:
            raise Problem(404, "not_found", "the page has no such file")
        headers = {"cache-control": kept}
        return Response(asset.content, media_type=asset.media_type, headers=headers)

    def _asset(self, name: str, content: bytes) -> Asset:
        suffix = f".{name.rpartition('.')[2]}"
        if suffix in _TEXTS:
            version = f"?v={self.version}".encode()
            content = _REFERENCE.sub(rb"\g<quote>\g<path>" + version + rb"\g<quote>", content)
        guessed = mimetypes.guess_type(name)[0] or "application/octet-stream"
        return Asset(content, _TYPES.get(suffix, guessed))


def _read(folder: Traversable, prefix: str = "") -> dict[str, bytes]:
    found: dict[str, bytes] = {}
    for each in folder.iterdir():
        name = prefix + each.name
        if each.is_dir():
            found |= _read(each, f"{name}/")
        else:
            found[name] = each.read_bytes()
    return found
