"""What all approvals of one call share: once, session, save, reject, and acceptance only after the end was seen."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from textual.binding import Binding, BindingType

from core.contract.confirmation import ToolConfirmationOutcome
from core.contract.requests import ApprovalReply, ApprovalRequest
from core.contract.visible import make_visible_line
from widgets.approval.dialog import DecisionScreen
from widgets.approval.guard import TypeAheadGuard
from widgets.approval.text_view import Passage, TextView

_ACCEPTING = frozenset({"accept", "accept_always", "accept_server", "accept_save", "accept_note"})


class ApprovalDialog(DecisionScreen[ApprovalReply]):
    """Base: a subclass composes a `TextView` with `passages()` and a heading.

    Args:
        request: what is asked, with the grant and the rule that are offered.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y,1", "accept", "once", id="approval.accept"),
        Binding("s,2", "accept_always", "this session", id="approval.accept_always"),
        Binding("p,3", "accept_save", "save rule", id="approval.accept_save"),
        Binding("P", "accept_save('project')", "save for the project", key_display="P", id="approval.accept_project"),
        Binding("n,4,escape", "reject", "reject", key_display="n", id="approval.reject"),
        Binding("r", "reject_reason", "reject, why", id="approval.reject_reason"),
        Binding("c", "accept_note", "once, note", id="approval.accept_note"),
        Binding("v,G,end", "show_end", "see the end", key_display="v", id="approval.show_end"),
        Binding("j,down", "scroll(1)", "down", show=False),
        Binding("k,up", "scroll(-1)", "up", show=False),
    ]

    def __init__(
        self, request: ApprovalRequest, *, guard: TypeAheadGuard | None = None, place: tuple[int, int] = (1, 1)
    ) -> None:
        super().__init__(guard=guard, place=place)
        self.request = request

    @property
    def body(self) -> TextView:
        return self.query_one(TextView)

    def key(self, action: str) -> str:
        """Return the key of an action of every approval, as it is in force."""
        binding = next(each for each in ApprovalDialog.BINDINGS if isinstance(each, Binding) and each.action == action)
        keys = self.app._keymap.get(binding.id or "") or binding.key
        return self.app.get_key_display(binding.with_key(keys.split(",")[0].strip(), key_display=None))

    def passages(self) -> list[Passage]:
        """Return all that is shown."""
        raise NotImplementedError

    def asker_passages(self) -> list[Passage]:
        """Return who asks, where it is not the session's agent."""
        return [Passage(self.request.asker_in_words, "plain", "from    ")] if self.request.asker else []

    def grant_passages(self) -> list[Passage]:
        """Return what the wider answers would allow."""
        shown = []
        if self.request.grant:
            shown.append(Passage(self.request.grant, "plain", f"{self.key('accept_always')} allows "))
        if self.request.rule:
            shown.append(Passage(self.request.rule.strip(), "code", f"{self.key('accept_save')} saves  "))
        if self.request.would_have_allowed:
            shown.append(Passage("so far it would have let through:", "muted", "         "))
            shown.append(Passage("\n".join(self.request.would_have_allowed), "muted", "         "))
        return shown

    def on_mount(self) -> None:
        self.focus_body()

    def focus_body(self) -> None:
        self.body.focus()

    def on_resize(self) -> None:
        self.body.fit()

    @property
    def held_actions(self) -> frozenset[str]:
        return frozenset() if self.is_mounted and self.body.end_seen else _ACCEPTING

    def on_text_view_end_seen(self) -> None:
        self.refresh_bindings()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "accept_always" and not self.request.grant:
            return False
        if action == "accept_save" and (not self.request.rule or not set(parameters) <= set(self.request.scopes)):
            return False
        if action == "show_end" and self.is_mounted and self.body.end_seen:
            return False
        return super().check_action(action, parameters)

    def approval(self, outcome: ToolConfirmationOutcome, note: str) -> ApprovalReply:
        """Return the reply of an acceptance."""
        return ApprovalReply(outcome, note)

    def _accept(self, outcome: ToolConfirmationOutcome, note: str = "", scope: str = "") -> None:
        if self.body.end_seen:
            self.decide(replace(self.approval(outcome, note), scope=scope))
        else:
            self.say(f"Not seen to the end yet: {self.key('show_end')} goes there.")

    def action_accept(self) -> None:
        self._accept(ToolConfirmationOutcome.PROCEED_ONCE)

    def action_accept_always(self) -> None:
        self._accept(ToolConfirmationOutcome.PROCEED_ALWAYS)

    def action_accept_save(self, scope: str = "") -> None:
        """Accept, and save the rule: for the user, or for the project."""
        self._accept(ToolConfirmationOutcome.PROCEED_ALWAYS_AND_SAVE, scope=scope)

    def action_accept_note(self) -> None:
        """Accept once, and tell the model something with it."""
        if self.body.end_seen:
            self.ask_entry("note", "accept with a note (enter accepts, esc back):")
        else:
            self._accept(ToolConfirmationOutcome.PROCEED_ONCE)

    def action_reject(self) -> None:
        self._reject("")

    def action_reject_reason(self) -> None:
        self.ask_entry("reason", "reject because (enter rejects, esc back):")

    def on_entry(self, purpose: str, text: str) -> None:
        if purpose == "note":
            self._accept(ToolConfirmationOutcome.PROCEED_ONCE, text)
        else:
            self._reject(text)

    def _reject(self, reason: str) -> None:
        self.decide(ApprovalReply(ToolConfirmationOutcome.CANCEL, reason))

    def action_show_end(self) -> None:
        self.body.go_to_end()

    def action_scroll(self, step: int) -> None:
        self.body.scroll_relative(y=step, animate=False)


def title_line(*parts: str) -> str:
    """Return the parts that are not empty in one line, safe to show."""
    return make_visible_line(" \u00b7 ".join(part for part in parts if part))
