"""The ladder: from exact to forgiving, the first rung that finds the wanted number of places is taken.

It only reads and returns text. It refuses rather than guess: several places, a moved block, a placeholder.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from core.contract.errors import ToolErrorType, ToolFailure
from core.contract.visible import make_visible_line
from core.fileops.matching import layout, transcription
from core.fileops.matching.carry import Carrier
from core.fileops.matching.exact import Folding, find_exact, find_other_breaks, fold_breaks
from core.fileops.matching.merge import merge
from core.fileops.matching.nearest import describe_miss
from core.fileops.matching.placeholders import find_placeholder
from core.fileops.matching.similar import find_similar
from core.fileops.matching.text import Ambiguous, Edit, FileText, Place, Unsure
from core.fileops.matching.tokens import find_tokens
from core.fileops.matching.transcription import Reading

_SHOWN_LINES = 12
Finder = Callable[[FileText, Edit], list[Place]]
_LITERAL: tuple[tuple[str, Finder], ...] = (
    ("exact", find_exact),
    ("line endings", find_other_breaks),
)
_LAYOUT: tuple[tuple[str, Finder], ...] = (
    ("trailing white space", layout.find_trailing_space),
    ("blank lines", layout.find_blank_lines),
)
LIKENESS = "lines that read otherwise there, and stay so"
_LIKENESS: tuple[tuple[str, Finder], ...] = ((LIKENESS, find_similar),)
_SHIFT: tuple[tuple[str, Finder], ...] = (("indentation", layout.find_indentation),)


@dataclass(frozen=True, slots=True)
class EditOutcome:
    """An edit that can be made."""

    content: str
    """The whole new text."""
    rung: str
    """How old_string was found: `exact`, or the difference that was looked past."""
    lines: tuple[int, ...]
    """The lines (from 1) of the old text at which the replaced places begin."""

    @property
    def is_exact(self) -> bool:
        return self.rung in ("exact", "line endings")


def find_edit(
    content: str, old: str, new: str, expected: int | None = 1, path: str = "", *, by_likeness: bool = False
) -> EditOutcome:
    """Return what replacing `old` by `new` makes of a text.

    Args:
        content: the file's text, line breaks as they stand in it.
        expected: how many places must be found; none for any number.
        path: the file's name, for messages and as a hint at its kind.
        by_likeness: as a last rung, look past lines that read otherwise in the file and that new_string leaves alone.

    Raises:
        ToolFailure: edit_no_occurrence_found, edit_expected_occurrence_mismatch, edit_no_change or
            edit_omission_placeholder; with line numbers, and what stands in the file instead.
    """
    name = make_visible_line(path) or "the file"
    if old == new:
        raise ToolFailure(
            ToolErrorType.EDIT_NO_CHANGE,
            f"No changes to apply: old_string and new_string are identical in file: {name}",
        )
    check_arguments(content, old, new, path)
    text, edit = FileText(content), Edit(old, new)
    try:
        outcome = _climb(text, edit, expected, path, name)
        if outcome is None and by_likeness and expected in (1, None):
            outcome = _Search(text, expected, name).first(edit, _LIKENESS)
    except Ambiguous as found:
        raise _mismatch(expected, found.lines, name, "at least ") from None
    if outcome is None:
        raise ToolFailure(
            ToolErrorType.EDIT_NO_OCCURRENCE_FOUND,
            f"Failed to edit, 0 occurrences found. Could not find an exact match for old_string in {name}.",
            describe_miss(text, edit),
        )
    if outcome.content == content:
        raise ToolFailure(
            ToolErrorType.EDIT_NO_CHANGE, f"No changes to apply: {name} already reads as new_string does."
        )
    return outcome


def check_arguments(content: str, old: str, new: str, path: str) -> None:
    """Refuse arguments that must not reach a file, wherever old_string stands.

    Raises:
        ToolFailure: edit_omission_placeholder, or edit_preparation_failure.
    """
    placeholder = find_placeholder(old, new, path)
    if placeholder:
        raise ToolFailure(
            ToolErrorType.EDIT_OMISSION_PLACEHOLDER,
            "`new_string` contains an omission placeholder (for example 'rest of methods ...')."
            " Provide exact literal replacement text.",
            f"It is: {make_visible_line(placeholder)}",
        )
    mark = transcription.conflict_mark(Edit(old, new))
    if mark and mark not in content:
        raise ToolFailure(
            ToolErrorType.EDIT_PREPARATION_FAILURE,
            f"The arguments hold a search/replace mark: {make_visible_line(mark)}",
            "Give the text alone, without marks.",
        )


def _climb(text: FileText, edit: Edit, expected: int | None, path: str, name: str) -> EditOutcome | None:
    search = _Search(text, expected, name)
    outcome = search.first(edit, _LITERAL)
    if outcome is not None:
        _check_applied(text, edit, outcome, name)
        return outcome
    if not transcription.has_diff_marks(edit):
        tokens: tuple[tuple[str, Finder], ...] = (
            ("white space between tokens", lambda text, edit: find_tokens(text, edit, path)),
        )
        outcome = search.first(edit, (*_LAYOUT, *_SHIFT, *tokens))
    outcome = outcome or _transcribed(search, edit)
    if outcome is None and search.found:
        raise _mismatch(expected, search.found, name)
    return outcome


def _check_applied(text: FileText, edit: Edit, outcome: EditOutcome, name: str) -> None:
    """Refuse to apply again what only adds to old_string and already stands there."""
    content, old, new = (fold_breaks(part).text for part in (text.content, edit.old, edit.new))
    before = new.find(old)
    grows = before >= 0 and "\n" in new and (new[:before] + new[before + len(old) :]).strip()
    if len(outcome.lines) == 1 and grows and content.startswith(new, max(0, content.find(old) - before)):
        raise ToolFailure(
            ToolErrorType.EDIT_NO_CHANGE,
            f"Already applied: new_string stands at line {outcome.lines[0]} of {name}.",
            "If it shall stand there twice, give more context in old_string.",
        )


def _transcribed(search: _Search, edit: Edit) -> EditOutcome | None:
    """Try the readings of each kind; those of one kind that fit must come to the same."""
    for readings in _kinds(edit):
        outcomes: dict[str, EditOutcome] = {}
        for reading in readings:
            outcome = search.read(reading, edit)
            if outcome is not None:
                outcomes.setdefault(outcome.content, outcome)
                if reading.name == "line numbers":
                    break  # the likeliest separator comes first
        if len(outcomes) == 1:
            return next(iter(outcomes.values()))
        if outcomes:
            return None
    return None


def _kinds(edit: Edit) -> Iterator[Iterable[Reading]]:
    yield transcription.unnumbered(edit)
    for reading in transcription.unfenced(edit):
        yield [reading]
        yield transcription.unnumbered(reading.edit)
    yield transcription.unmarked(edit)
    yield transcription.unescaped(edit)
    yield transcription.without_entities(edit)
    yield transcription.plain(edit)
    yield transcription.in_entities(edit)


class _Search:
    """Looks for one edit on several rungs, and remembers where too few places were found."""

    def __init__(self, text: FileText, expected: int | None, name: str) -> None:
        self.text = text
        self.expected = expected
        self.name = name
        self.found: list[int] = []

    def first(self, edit: Edit, rungs: Sequence[tuple[str, Finder]]) -> EditOutcome | None:
        """Return the outcome on the first rung with the expected number of places.

        Raises:
            ToolFailure: there are more on one of them.
        """
        for rung, find in rungs:
            places = find(self.text, edit)
            if self._is_wanted(self.text, places):
                try:
                    return self._outcome(edit, places, rung, None)
                except Unsure:
                    return None
        return None

    def read(self, reading: Reading, as_given: Edit) -> EditOutcome | None:
        """Return the outcome for another reading of the arguments, or of the file."""
        text, folding = self.text, None
        carrier = reading.carrier
        if carrier is not None:
            pattern, spell = carrier.pattern, carrier.spell
            if reading.edit.old == as_given.old and not pattern.search(self.text.content):
                return None
            # Look before the way back is worked out: of a large file that takes a second.
            wanted = [reading.edit.old_lines[index].strip() for index in reading.edit.wanted]
            folded = pattern.sub(lambda match: spell(match[0]), self.text.content)
            if not all(line in folded for line in wanted[:100]):
                return None
            folding = Folding(self.text.content, pattern, spell)
            text = FileText(folding.text)
        rungs = (*_LITERAL, *_LAYOUT, *(_SHIFT if reading.may_shift else ()))
        for _, find in rungs:
            places = find(text, reading.edit)
            if not self._is_wanted(text, places):
                continue
            if folding is not None:
                places = [_unfolded(place, folding) for place in places]
            try:
                return self._outcome(reading.edit, places, reading.name, carrier)
            except Unsure:
                return None
        return None

    def _is_wanted(self, text: FileText, places: Sequence[Place]) -> bool:
        lines = [text.line_at(place.start) for place in places]
        overlap = any(a.stop > b.start for a, b in zip(places, places[1:], strict=False))
        wanted = len(places) if self.expected is None else self.expected
        if len(places) > wanted or (overlap and len(places) == wanted):
            raise _mismatch(self.expected, lines, self.name)
        if places and len(places) == wanted:
            return True
        self.found = self.found or lines
        return False

    def _outcome(self, edit: Edit, places: Sequence[Place], rung: str, carrier: Carrier | None) -> EditOutcome:
        content = self.text.content
        parts: list[str] = []
        position = 0
        has_returns = "\r" in content
        merged: dict[tuple[str, str, str, object], tuple[str, int]] = {}
        for place in places:
            line = self.text.line_at(place.start)
            before = content[self.text.starts[line] : place.start] if len(edit.old_lines) > 1 else ""
            ending = self.text.ending_near(line) if has_returns else ""
            key = (before, content[place.start : place.stop], ending, place.groups)
            if key not in merged:
                merged[key] = merge(self.text, edit, place, carrier)
            written, taken = merged[key]
            parts += (content[position : place.start - taken], written)
            position = place.stop
        parts.append(content[position:])
        return EditOutcome("".join(parts), rung, tuple(self.text.line_at(place.start) + 1 for place in places))


def _unfolded(place: Place, folding: Folding) -> Place:
    start, stop = folding.origin(place.start), folding.origin(place.stop)
    return Place(start, stop, place.groups, place.is_literal, place.whole_lines)


def _mismatch(expected: int | None, lines: Sequence[int], name: str, qualifier: str = "") -> ToolFailure:
    numbers = sorted({line + 1 for line in lines})
    shown = ", ".join(map(str, numbers[:_SHOWN_LINES])) + (", …" if len(numbers) > _SHOWN_LINES else "")
    count = len(lines)
    if expected is None:
        return ToolFailure(
            ToolErrorType.EDIT_EXPECTED_OCCURRENCE_MISMATCH,
            f"Failed to edit, the occurrences overlap or are too many (lines {shown}) in {name}.",
            "Give more context in old_string.",
        )
    return ToolFailure(
        ToolErrorType.EDIT_EXPECTED_OCCURRENCE_MISMATCH,
        f"Failed to edit, expected {expected} occurrences but found {qualifier}{count}"
        f" (line{'s' if len(numbers) != 1 else ''} {shown}) in {name}.",
        "Give more context in old_string, or the right number in expected_replacements.",
    )
