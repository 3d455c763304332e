"""A session as a document: Markdown, JSON or HTML, made from its record alone."""

from __future__ import annotations

import html
import json
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from core.bus.codec import encode
from core.contract.conversation import CallPart, MediaPart, Message, Part, ResultPart, Role, TextPart
from core.contract.envelope import SCHEMA_VERSION, Envelope
from core.contract.events import (
    ChangesKept,
    ContextCompacted,
    HistoryReplaced,
    MessageAdded,
    SessionStarted,
    SubagentMessageAdded,
    TurnFailed,
)
from core.contract.visible import make_visible, make_visible_line

MAX_RESULT = 20_000
"""Characters of one tool's result in a document; JSON has all of it."""


class ExportFormat(StrEnum):
    MARKDOWN = "markdown"
    JSON = "json"
    HTML = "html"


@dataclass(frozen=True, slots=True)
class Entry:
    """One thing that was said or done."""

    kind: str
    """`user`, `assistant`, `call`, `result` or `note`."""
    title: str
    text: str
    is_code: bool = False
    speaker: str = ""
    """The sub-agent whose conversation it is of; empty for the session's."""


def export_session(envelopes: Sequence[Envelope], format: ExportFormat, title: str) -> str:
    """Return the session as a document."""
    if format is ExportFormat.JSON:
        return _as_json(envelopes, title)
    entries = list(entries_of(envelopes))
    started = next((e.ts for e in envelopes if isinstance(e.payload, SessionStarted)), 0.0)
    when = time.strftime("%Y-%m-%d %H:%M", time.localtime(started)) if started else ""
    shown = make_visible_line(title) or "Session"
    if format is ExportFormat.HTML:
        return _as_html(entries, shown, when)
    return _as_markdown(entries, shown, when)


def entries_of(envelopes: Iterable[Envelope]) -> Iterator[Entry]:
    """Return what was said and done, in order."""
    for envelope in envelopes:
        payload = envelope.payload
        if isinstance(payload, MessageAdded):
            yield from _message(payload.message)
        elif isinstance(payload, SubagentMessageAdded):
            yield from (replace(entry, speaker=payload.name) for entry in _message(payload.message))
        elif isinstance(payload, TurnFailed):
            yield Entry("note", "Failed", payload.message)
        elif isinstance(payload, ContextCompacted):
            tokens = f"{payload.before_tokens} to {payload.after_tokens} tokens"
            yield Entry("note", "Context", f"The context was compacted from {tokens}.")
        elif isinstance(payload, HistoryReplaced) and payload.reason != "compacted":
            yield Entry("note", "Context", f"The conversation was changed: {payload.reason}.")
        elif isinstance(payload, ChangesKept) and payload.changes:
            names = ", ".join(f"{change.shown} (+{change.added} −{change.removed})" for change in payload.changes)
            yield Entry("note", "Changed", names)


def _message(message: Message) -> Iterator[Entry]:
    for part in message.parts:
        yield from _part(message, part)


def _part(message: Message, part: Part) -> Iterator[Entry]:
    if isinstance(part, TextPart) and part.text.strip():
        yield Entry("user" if message.role is Role.USER else "assistant", "", part.text.strip())
    elif isinstance(part, CallPart):
        yield Entry("call", part.name, json.dumps(dict(part.args), indent=2, ensure_ascii=False, default=str), True)
    elif isinstance(part, ResultPart):
        text = part.text if len(part.text) <= MAX_RESULT else f"{part.text[:MAX_RESULT]}\n[… cut …]"
        yield Entry("result", f"{part.name}{' failed' if part.is_error else ''}", text, True)
    elif isinstance(part, MediaPart):
        yield Entry("note", "Attached", part.name or part.mime_type)


_HEADINGS = {"user": "You", "assistant": "Assistant", "call": "Call of", "result": "Result of", "note": "Note:"}


def _heading(entry: Entry) -> str:
    heading = f"{_HEADINGS[entry.kind]} {make_visible_line(entry.title)}".strip()
    if not entry.speaker:
        return heading
    heading = {"user": "Task", "assistant": "Says"}.get(entry.kind, heading)
    return f'Sub-agent "{make_visible_line(entry.speaker)}": {heading}'


def _as_markdown(entries: Sequence[Entry], title: str, when: str) -> str:
    blocks = [f"# {title}", when]
    for entry in entries:
        text = make_visible(entry.text)
        if entry.is_code:
            fence = "`" * max(3, _longest_run(text) + 1)
            text = f"{fence}\n{text}\n{fence}"
        blocks.append(f"### {_heading(entry)}\n\n{text}" if entry.kind != "note" else f"*{_heading(entry)} {text}*")
    return "\n\n".join(filter(None, blocks)) + "\n"


def _longest_run(text: str) -> int:
    """Return the length of the longest run of backticks."""
    longest = run = 0
    for character in text:
        run = run + 1 if character == "`" else 0
        longest = max(longest, run)
    return longest


_PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>{title}</title>
<style>
body {{ max-width: 52rem; margin: 2rem auto; padding: 0 1rem; font: 16px/1.5 system-ui, sans-serif;
  color: #1c1c1c; background: #fcfcfc; }}
section {{ margin: 1.2rem 0; }}
.user {{ border-left: 4px solid #3b6ea8; padding-left: .8rem; }}
.note {{ color: #666; font-style: italic; }}
.text, pre {{ white-space: pre-wrap; overflow-wrap: anywhere; }}
pre {{ background: #f0f0f0; padding: .6rem; border-radius: .3rem; font-size: .85rem; }}
summary {{ cursor: pointer; color: #555; }}
h2 {{ font-size: .9rem; margin: 0; color: #555; }}
@media (prefers-color-scheme: dark) {{ body {{ color: #ddd; background: #181818; }} pre {{ background: #262626; }}
  h2, summary, .note {{ color: #aaa; }} }}
</style>
<h1>{title}</h1>
<p class="note">{when}</p>
{body}
</html>
"""


def _as_html(entries: Sequence[Entry], title: str, when: str) -> str:
    sections = []
    for entry in entries:
        text, heading = html.escape(make_visible(entry.text)), html.escape(_heading(entry))
        if entry.is_code:
            inside = f"<details><summary>{heading}</summary><pre>{text}</pre></details>"
        elif entry.kind == "note":
            inside = f"{heading} {text}"
        else:
            inside = f'<h2>{heading}</h2><div class="text">{text}</div>'
        sections.append(f'<section class="{entry.kind}">{inside}</section>')
    return _PAGE.format(title=html.escape(title), when=html.escape(when), body="\n".join(sections))


def _as_json(envelopes: Sequence[Envelope], title: str) -> str:
    messages = [json.loads(encode(envelope)) for envelope in envelopes]
    document = {"schema_version": SCHEMA_VERSION, "title": title, "messages": messages}
    return json.dumps(document, ensure_ascii=False, indent=1) + "\n"
