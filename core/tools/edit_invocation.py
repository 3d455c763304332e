"""What the calls that change one file share: the proposal that is shown, and the writing of exactly what was approved.

How a new text comes about is the subclass's part; it works on text alone and touches no disk.
"""

from __future__ import annotations

import asyncio
import copy
import os
from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Self, TypeVar

from core.contract.confirmation import ConfirmationDetails, EditConfirmation
from core.contract.diff import DiffStat
from core.contract.display import FileDiff
from core.contract.errors import ToolErrorType, ToolFailure
from core.contract.events import FileChanged
from core.contract.requests import ApprovalReply
from core.contract.tool import ToolResult
from core.contract.visible import has_hidden
from core.diff.stats import diff_stat
from core.diff.unified import unified_diff
from core.fileops.single import write_single
from core.tools.abort import AbortSignal
from core.tools.declarative import ShellConfig, UpdateOutput
from core.tools.edit_report import describe_review, snippet
from core.tools.path_invocation import PathInvocation
from core.workspace.encoding import TextFile, decode
from core.workspace.files import Fingerprint
from core.workspace.listing import Stop
from core.workspace.paths import WorkspacePath

P = TypeVar("P")


@dataclass(frozen=True, slots=True)
class Change:
    """What a call makes of a file's text."""

    text: str
    headline: str
    """What is said when it is done, without the final stop."""
    notes: tuple[str, ...] = ()
    """What the reviewer and the model should know about how it came about."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """A change of a file as it is now."""

    place: WorkspacePath
    file: TextFile | None
    """None where there is no such file yet."""
    fingerprint: Fingerprint | None
    change: Change
    is_stale: bool

    @property
    def known_text(self) -> str | None:
        """The text before; none where there is no such file yet."""
        return self.file.text if self.file is not None else None

    @property
    def original(self) -> str:
        return self.known_text or ""


class EditInvocation(PathInvocation[P]):
    """A call that writes one file. The proposal that was shown is the one that is written, or nothing is."""

    writes = True
    title = "Confirm Edit"

    _proposal: Proposal | None = None
    _reply: ApprovalReply | None = None

    @abstractmethod
    def change(self, file: TextFile | None, place: WorkspacePath) -> Change:
        """Return the new text.

        Args:
            file: the file now; none if it does not exist.

        Raises:
            ToolFailure: nothing can or may be changed.
        """

    @property
    @abstractmethod
    def given_path(self) -> str:
        """The path as the model gave it."""

    @cached_property
    def raw_path(self) -> str:
        """The path as given; without the `@` that marks paths in prompts, unless something begins with it."""
        path = self.given_path
        top = path.split("/", 1)[0]
        if len(path) > 1 and path.startswith("@") and not os.path.lexists(os.path.join(self._root, top)):
            return path[1:]
        return path

    @property
    def _root(self) -> str:
        return self.context.workspace.root

    # --- before it runs ---------------------------------------------------------------------------

    async def reason_to_ask(self) -> str:
        reasons = [await super().reason_to_ask()]
        if await asyncio.to_thread(self._is_stale):
            reasons.append("the file changed on disk since the model last read it")
        return "; ".join(filter(None, reasons))

    def _is_stale(self) -> bool:
        workspace = self.context.workspace
        try:
            return workspace.ledger.is_stale(workspace.locate(self.raw_path, for_write=True).path)
        except ToolFailure:
            return False  # the run refuses it, with the reason

    async def get_confirmation_details(self, abort: AbortSignal) -> ConfirmationDetails | None:
        proposal, diff = await asyncio.to_thread(self._propose_and_show)
        notes = [*proposal.change.notes]
        if proposal.is_stale:
            notes.append("The file changed on disk since the model last read it.")
        if proposal.file is not None and (proposal.file.encoding != "utf-8" or proposal.file.bom):
            notes.append(f"Written as {proposal.file.label}, as the file is.")
        if has_hidden(proposal.change.text) and not has_hidden(proposal.original):
            notes.append("The new text holds control or invisible characters.")
        return EditConfirmation(
            f"{self.title}: {proposal.place.shown}",
            proposal.place.name,
            proposal.place.path,
            diff,
            proposal.known_text,
            proposal.change.text,
            notes=tuple(notes),
        )

    def _propose_and_show(self) -> tuple[Proposal, str]:
        proposal = self._propose(approved=True)
        self._proposal = proposal
        return proposal, unified_diff(proposal.place.relative, proposal.known_text, proposal.change.text)

    def _propose(self, *, approved: bool) -> Proposal:
        """Return the change of the file as it is now. Blocks; for `approved` see `Workspace.resolve`."""
        workspace = self.context.workspace
        place = workspace.resolve(self.raw_path, for_write=True, approved=approved)
        is_stale = workspace.ledger.is_stale(place.path)
        try:
            content = workspace.read(place)
        except ToolFailure as failure:
            if failure.type is not ToolErrorType.FILE_NOT_FOUND:
                raise
            return Proposal(place, None, None, self.change(None, place), is_stale)
        file = decode(content.data)
        return Proposal(place, file, content.fingerprint, self.change(file, place), is_stale)

    def is_outdated(self) -> bool:
        proposal = self._proposal
        if proposal is None:
            return False
        path, shown = proposal.place.path, proposal.fingerprint
        try:
            status = os.stat(path, follow_symlinks=False)
        except OSError:
            return shown is not None
        if shown is None:
            return True
        if (status.st_ino, status.st_size, status.st_mtime_ns) == (shown.inode, shown.size, shown.mtime_ns):
            return False
        return not shown.same_content(self.context.workspace.fingerprint(proposal.place))

    def amended(self, reply: ApprovalReply) -> Self:
        invocation = copy.copy(self)
        invocation.approved = True
        invocation._reply = reply
        return invocation

    # --- running ----------------------------------------------------------------------------------

    async def execute(
        self, abort: AbortSignal, update_output: UpdateOutput | None = None, shell_config: ShellConfig | None = None
    ) -> ToolResult:
        stop = Stop()
        if abort.aborted:
            stop.set()
        work = asyncio.ensure_future(asyncio.to_thread(self._run, stop))
        try:
            result, event = await asyncio.shield(work)
        except asyncio.CancelledError:
            # Either it stops before it writes, or what it wrote is told: never a change that nobody hears of.
            stop.set()
            await asyncio.wait({work})
            if not work.cancelled() and work.exception() is None:
                await self.context.publish(work.result()[1])
            raise
        await self.context.publish(event)
        return result

    def _run(self, stop: Stop) -> tuple[ToolResult, FileChanged]:
        proposal = self._proposal if self._reply is not None else None
        if proposal is None:
            proposal = self._propose(approved=self.approved)
            if proposal.is_stale and not self.approved:
                raise ToolFailure(
                    ToolErrorType.FILE_CHANGED,
                    f"File changed on disk since it was last read: {proposal.place.shown}",
                    "Read it again, then repeat the edit.",
                )
        final = proposal.change.text
        if self._reply is not None and self._reply.new_content is not None:
            final = self._reply.new_content
        if final == proposal.original and (proposal.file is not None or final != proposal.change.text):
            raise self._nothing_left(proposal)
        data = (proposal.file or TextFile("")).encode(final)
        if stop.is_set:
            raise ToolFailure(ToolErrorType.CANCELLED, f"Cancelled before it was written: {proposal.place.shown}")
        self._write(proposal, data)
        stat = diff_stat(proposal.original, proposal.change.text, final)
        return self._result(proposal, final, stat), FileChanged(
            proposal.place.path, stat, created=proposal.file is None
        )

    def _nothing_left(self, proposal: Proposal) -> ToolFailure:
        shown = proposal.place.shown
        if self._reply is None:
            return ToolFailure(ToolErrorType.EDIT_NO_CHANGE, f"No changes to apply: {shown} already reads like that.")
        review = describe_review(proposal.known_text, proposal.change.text, proposal.original, self._reply)
        message = f"Nothing was written to {shown}: the user took none of the proposal."
        return ToolFailure(ToolErrorType.DENIED_BY_USER, message, review)

    def _write(self, proposal: Proposal, data: bytes) -> None:
        workspace, journals = self.context.workspace, self.context.journals
        try:
            if journals is not None:
                write_single(workspace, journals, proposal.place, data, proposal.fingerprint)
            else:
                workspace.write(proposal.place, data, expect=proposal.fingerprint, create=proposal.file is None)
        except ToolFailure as failure:
            if failure.type is not ToolErrorType.ATTEMPT_TO_CREATE_EXISTING_FILE:
                raise
            raise ToolFailure(
                ToolErrorType.FILE_CHANGED,
                f"File changed on disk: {proposal.place.shown} (someone else made it)",
                "Read it, then repeat the edit.",
            ) from failure

    def _result(self, proposal: Proposal, final: str, stat: DiffStat) -> ToolResult:
        parts = [f"{proposal.change.headline}. Here is the updated code:\n{snippet(proposal.original, final)}"]
        parts += [f"[{note}]" for note in proposal.change.notes]
        if self._reply is not None:
            parts.append(describe_review(proposal.known_text, proposal.change.text, final, self._reply))
        diff = unified_diff(proposal.place.relative, proposal.known_text, final)
        whole = diff_stat(proposal.original, final)
        display = FileDiff(proposal.place.name, proposal.place.path, diff, proposal.known_text, final, stat)
        return ToolResult(
            _joined(parts),
            display,
            data={
                "summary": f"+{whole.model_added_lines} −{whole.model_removed_lines}",
                "path": proposal.place.path,
                "created": proposal.file is None,
            },
        )


def _joined(parts: list[str]) -> str:
    filled = [part for part in parts if part]
    text = filled[0]
    for part in filled[1:]:
        text += ("" if text.endswith("\n") else "\n") + part
    return text
