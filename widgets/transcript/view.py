"""The transcript as presenters see it: methods that add what was said and done, and change what still runs."""

from __future__ import annotations

from core.contract.display import Display
from core.contract.state import NoticeLevel
from core.contract.tool import CallState, Kind
from widgets.common.syntax import preload
from widgets.transcript.answer_block import AnswerBlock
from widgets.transcript.block import Block, BlockId
from widgets.transcript.cursor_view import CursorView
from widgets.transcript.notice_block import NoticeBlock
from widgets.transcript.thought_block import ThoughtBlock
from widgets.transcript.tool_block import AutoOpen, ToolBlock, ToolFacts
from widgets.transcript.tool_group import GROUPED, ToolGroup
from widgets.transcript.user_block import UserBlock

_QUIET = 1.0
"""Seconds after the start at which what the first answer needs is imported."""


class TranscriptView(CursorView):
    """The conversation. Every text may be foreign; an id of a block that was cleared away is ignored."""

    auto_open: AutoOpen = "failed"
    """Which finished calls open by themselves, from the next added one on."""
    groups = True
    """Whether one line may stand for several calls that only looked."""
    _cleared = 0

    def on_mount(self) -> None:
        self.set_timer(_QUIET, self._preload)

    def _preload(self) -> None:
        self.run_worker(preload, thread=True, exit_on_error=False)

    def clear(self) -> None:
        """Remove all blocks; their ids name nothing any more."""
        self._cleared += len(self.window.blocks)
        super().clear()

    def take_over(self, other: TranscriptView) -> None:
        """Show the blocks of a view that was never on the screen, in place of all here; its ids name them.

        What is in view stays, counted from the end.
        """
        self._cleared = other._cleared
        self.adopt(other.window)

    def add_user(self, text: str, *, steering: bool = False) -> BlockId:
        """Add a prompt, or what was said while the agent works; the window goes to the end."""
        block = self._add(UserBlock(text, steering))
        self.window.following = True
        return block

    def start_answer(self) -> BlockId:
        """Add an answer without text."""
        return self._add(AnswerBlock())

    def append_answer(self, id: BlockId, text: str) -> None:
        """Add a delta to an answer; drawn with the next frame."""
        if isinstance(block := self._find(id), AnswerBlock):
            block.append(text)
            self._change(id)

    def finish_answer(self, id: BlockId, interrupted: bool = False) -> None:
        """No more text comes."""
        if isinstance(block := self._find(id), AnswerBlock):
            block.finish(interrupted)
            self._change(id)

    def start_thought(self, *, timed: bool = True) -> BlockId:
        """Add a thought; `timed` is false for one of a past session, which took an unknown time."""
        return self._add(ThoughtBlock(self._clock() if timed else None))

    def append_thought(self, id: BlockId, text: str) -> None:
        """Add a delta to a thought."""
        if isinstance(block := self._find(id), ThoughtBlock):
            block.append(text)
            self._change(id)

    def finish_thought(self, id: BlockId) -> None:
        """The thought is over."""
        if isinstance(block := self._find(id), ThoughtBlock):
            block.finish(self._clock())
            self._change(id)

    def add_tool(
        self, name: str, kind: Kind = Kind.OTHER, target: str = "", auto_open: AutoOpen | None = None, verb: str = ""
    ) -> BlockId:
        """Add a call that waits.

        Args:
            name: as people know the tool; shown where the kind has no verb.
            target: what the call is about, plain text of one line.
            auto_open: when it opens by itself, where this tool has its own setting.
            verb: shown in place of the kind's; such a call is not counted with others of its kind.
        """
        block = ToolBlock(ToolFacts(name, kind, target, verb=verb), auto_open or self.auto_open)
        if self.groups and kind in GROUPED and not verb:
            self._group_of_the_last().add(block)
        return self._add(block)

    def _group_of_the_last(self) -> ToolGroup:
        """Return the group that the latest call belongs to, if nothing came after it, or else a new one."""
        last = self.window.blocks[-1] if self.window.blocks else None
        if isinstance(last, ToolBlock) and last.group is not None and not last.group.is_full:
            return last.group
        group = ToolGroup(len(self.window.blocks))
        self._add(group)
        return group

    def update_tool(
        self,
        id: BlockId,
        state: CallState | None = None,
        *,
        description: str | None = None,
        output: Display | None = None,
        display: Display | None = None,
        summary: str | None = None,
        duration: float | None = None,
        error: str | None = None,
        ended_badly: bool = False,
    ) -> None:
        """Change what is known of a call; what is not given stays.

        Args:
            description: what the call does, Markdown of one line.
            output: live output, in place of the earlier.
            display: what the result shows.
            summary: a few words on the result.
            duration: seconds of execution.
            error: what went wrong, plain text.
            ended_badly: what it ran ended with a code other than 0, or by a signal.
        """
        if not isinstance(block := self._find(id), ToolBlock):
            return
        facts = block.facts
        folded = self._folded(block)
        facts.ended_badly = facts.ended_badly or ended_badly
        facts.description = facts.description if description is None else description
        facts.output = facts.output if output is None else output
        facts.display = facts.display if display is None else display
        facts.summary = facts.summary if summary is None else summary
        facts.duration = facts.duration if duration is None else duration
        facts.error = facts.error if error is None else error
        if state is not None:
            block.enter(state, self._clock())
        self._change(id)
        if (now := self._folded(block)) != folded and block.group is not None:
            self.touch_parts(block.group.index, only_first=bool(now and folded))

    @staticmethod
    def _folded(block: ToolBlock) -> int:
        """Return for how many calls the line before a call stands."""
        return len(block.group.folded) if block.group is not None else 0

    def add_notice(self, message: str, hint: str = "", level: NoticeLevel = NoticeLevel.INFO) -> BlockId:
        """Add a message of the application's own."""
        return self._add(NoticeBlock(message, hint, level))

    def toggle(self, id: BlockId) -> None:
        """Open or fold a block."""
        if self._find(id) is not None:
            self.toggle_block(id - self._cleared)

    def toggle_all_tools(self) -> None:
        """Open all tool calls, or fold them all where one is open."""
        calls = (ToolBlock, ToolGroup)
        tools = [(index, block) for index, block in enumerate(self.window.blocks) if isinstance(block, calls)]
        opened = not any(block.opened for _, block in tools)
        self.auto_open = "always" if opened else "never"
        before = [(block.opened, block.is_hidden) for _, block in tools]
        for _, block in tools:
            if isinstance(block, ToolGroup) or (block.can_open and block.opened != opened):
                block.is_open = opened
            if isinstance(block, ToolBlock):
                block.auto_open = self.auto_open
        for (index, block), looked in zip(tools, before, strict=True):
            if (block.opened, block.is_hidden) != looked:
                self.window.forget(index)
        self._resettle()

    def action_toggle_all_tools(self) -> None:
        """Open or fold all tool calls."""
        self.toggle_all_tools()

    def text_of(self, id: BlockId) -> str:
        """Return what copying a block gives; empty for one that is not there."""
        block = self._find(id)
        return "" if block is None else block.text()

    def _add(self, block: Block) -> BlockId:
        return BlockId(self.add_block(block) + self._cleared)

    def _find(self, id: BlockId) -> Block | None:
        index = id - self._cleared
        return self.window.blocks[index] if 0 <= index < len(self.window.blocks) else None

    def _change(self, id: BlockId) -> None:
        self.block_changed(id - self._cleared)
