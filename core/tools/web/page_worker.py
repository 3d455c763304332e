"""The process that turns a page into Markdown, so that hostile HTML can at worst end it. It opens no socket.

A line of JSON on stdin says what is wanted, the rest is the page in UTF-8; the Markdown goes to stdout.
"""

from __future__ import annotations

import json
import logging
import resource
import sys

MAX_MEMORY = 2 * 1024**3
MAX_MAIN = 1_500_000
"""Characters of a page in which the main content is looked for: that takes more time than it is long."""
MIN_MAIN = 200
"""Characters of a main content that is worth having."""
MIN_SHARE = 0.1
"""Of the page: a smaller main content is likely a miss."""


def convert(html: str, url: str, is_full: bool) -> str:
    """Return the Markdown of a page, or of its main content; `url` makes links absolute."""
    whole = markdown_of(html, url, is_full)
    if is_full or len(html) > MAX_MAIN:
        return whole
    title, main = find_main(html)
    text = markdown_of(main, url, True) if main else ""
    if len(text) < MIN_MAIN or len(text) < MIN_SHARE * len(whole):
        return whole
    return text if not title or text.startswith("# ") else f"# {title}\n\n{text}"


def markdown_of(html: str, url: str, is_full: bool) -> str:
    """Return the Markdown of HTML; without menus and forms, unless it `is_full`."""
    from html_to_markdown import ConversionOptions, PreprocessingOptions, convert

    cleaning = PreprocessingOptions(remove_navigation=not is_full, remove_forms=not is_full)
    options = ConversionOptions(extract_metadata=False, preprocessing=cleaning, base_url=url)
    return str(convert(html, options).content or "").strip()


def find_main(html: str) -> tuple[str, str]:
    """Return the title and the HTML of the main content; empty where none is found."""
    from readability import Document
    from readability.readability import Unparseable

    logging.disable(logging.CRITICAL)
    try:
        document = Document(html)
        return " ".join(document.short_title().split()), document.summary(html_partial=True)
    except (Unparseable, ValueError, AttributeError, TypeError, RecursionError):
        return "", ""


def strip(html: str) -> str:
    """Return the bare text of a page that can't be converted."""
    import lxml.etree
    import lxml.html

    try:
        root = lxml.html.document_fromstring(html)
    except (lxml.etree.ParserError, ValueError):  # nothing but comments, for one
        return ""
    for element in root.xpath("//script|//style|//template"):
        element.drop_tree()
    lines = (" ".join(line.split()) for line in root.text_content().splitlines())
    return "\n".join(line for line in lines if line)


def main() -> None:
    """Convert one page."""
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    if hard == resource.RLIM_INFINITY or hard > MAX_MEMORY:
        resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY, hard))
    job = json.loads(sys.stdin.buffer.readline())
    html = sys.stdin.buffer.read().decode("utf-8", "replace")
    text = strip(html) if job["strip"] else convert(html, job["url"], job["full"])
    sys.stdout.buffer.write(text.encode("utf-8", "replace"))


if __name__ == "__main__":
    main()
