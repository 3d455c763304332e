"""TypeScript and TSX by their syntax trees."""

from __future__ import annotations

from core.fileops.languages.javascript import TYPESCRIPT_OUTLINE, JavaScript
from core.fileops.languages.syntax import SourceText


class TypeScript(JavaScript):
    name = "typescript"
    extensions = (".ts", ".tsx", ".mts", ".cts")
    outline = TYPESCRIPT_OUTLINE

    def parse_file(self, path: str, data: bytes) -> SourceText:
        return SourceText.parse(path, data, "tsx" if path.lower().endswith(".tsx") else "typescript")
