"""The system prompt: the page, what is remembered, and the facts of the session."""

from __future__ import annotations

from datetime import date
from pathlib import Path

from core.agent.system_prompt import session_facts, system_prompt
from core.contract.events import ApprovalMode


def test_the_facts_of_the_session_stand_at_the_end() -> None:
    facts = session_facts([Path("/a"), Path("/b")], ApprovalMode.PLAN, today=date(2026, 11, 20))
    assert "- Workspace: /a\n- Also in the workspace: /b\n" in facts
    assert "- Date: 2026-11-20\n- Mode: Plan mode" in facts
    prompt = system_prompt([Path("/a"), Path("/b")], ApprovalMode.PLAN, today=date(2026, 11, 20))
    assert prompt.endswith(facts) and "remember" not in prompt


def test_memory_stands_between_the_page_and_the_facts() -> None:
    prompt = system_prompt([Path("/a")], ApprovalMode.DEFAULT, "## About you\n\n[t] likes tabs\n")
    before, _, after = prompt.partition("[t] likes tabs")
    assert "# What you remember" in before and "# This session" in after
