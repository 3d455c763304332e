"""The policy files of a session, the user's and the project's: loading, saving a grant, taking a rule back."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from core.contract.errors import StetError
from core.policy.load import PolicyProblem, load_policies, parse_policy, write_policy
from core.policy.rules import Rule

USER, PROJECT = "user", "project"
SAVED = "saved.toml"
"""The file that grants are saved to, in either folder."""
_TABLE = re.compile(r"^\s*\[", re.MULTILINE)


class RuleFiles:
    """Where rules come from and go to.

    Args:
        user: the policies folder of the user's configuration.
        project: that of the project.
        trusted: the project's rules may allow, and rules may be saved there.
        on_project_changed: called after we have changed a file of the project (its trust is bound to its content).
    """

    def __init__(
        self,
        user: Path,
        project: Path,
        *,
        trusted: bool = False,
        on_project_changed: Callable[[], None] = lambda: None,
    ) -> None:
        self._folders = {USER: user, PROJECT: project}
        self.trusted = trusted
        self._on_project_changed = on_project_changed

    @property
    def scopes(self) -> tuple[str, ...]:
        """Where a rule may be saved."""
        return (USER, PROJECT) if self.trusted else (USER,)

    def load(self) -> tuple[list[Rule], list[PolicyProblem]]:
        """Return all rules, and what is wrong in the files. Blocks."""
        rules, problems = load_policies(self._folders[USER])
        own, own_problems = load_policies(self._folders[PROJECT], tighten_only=not self.trusted)
        return [*rules, *own], [*problems, *own_problems]

    def save(self, rule: Rule, scope: str = USER) -> Rule:
        """Append a rule to the saved ones, and return it with where it stands now. Blocks.

        Raises:
            StetError: it can't be written, or the project is not trusted.
        """
        if scope not in self.scopes:
            raise StetError(f"A rule can't be saved for the {scope}.", f"Possible: {', '.join(self.scopes)}.")
        path = self._folders[scope] / SAVED
        try:
            old = path.read_text(encoding="utf-8") if path.exists() else ""
            if old and not old.endswith("\n\n"):
                old = old.rstrip("\n") + "\n\n"
            write_policy(path, old + rule.as_toml())
        except (OSError, UnicodeDecodeError) as error:
            raise StetError(f"The rule can't be saved to {path}: {error}", "It holds for this session.") from error
        if scope == PROJECT:
            self._on_project_changed()
        line = old.count("\n") + 1
        return replace(rule, source=f"{path}:{line}")

    def forget(self, rule: Rule) -> None:
        """Take a rule out of its file. Blocks.

        Raises:
            StetError: it does not stand in a file of ours, or the file has changed since.
        """
        name, _, line = rule.source.rpartition(":")
        scope = next((scope for scope in self.scopes if Path(name).parent == self._folders[scope]), None)
        if scope is None or not line.isdigit():
            raise StetError(f"The rule does not stand in a policy file ({rule.source}).", "Rules of a mode can't go.")
        path = Path(name)
        try:
            text = path.read_text(encoding="utf-8-sig")
        except (OSError, UnicodeDecodeError) as error:
            raise StetError(f"{path} can't be read: {error}") from error
        before = parse_policy(text, str(path))[0]
        found = next((each for each in before if each.source == rule.source), None)
        if found is None or found.as_toml() != rule.as_toml():
            raise StetError(f"{path} has changed since it was read.", "Start again, or edit the file.")
        lines = text.splitlines(keepends=True)
        start = int(line) - 1
        end = next((at for at in range(start + 1, len(lines)) if _TABLE.match(lines[at])), len(lines))
        while end < len(lines) and end - 1 > start and lines[end - 1].lstrip().startswith("#"):
            end -= 1  # a comment above the next rule is that one's
        rest = "".join([*lines[:start], *lines[end:]])
        kept = [each.as_toml() for each in before if each is not found]
        if [each.as_toml() for each in parse_policy(rest, str(path))[0]] != kept:
            raise StetError(f"The rule can't be told apart from what stands around it in {path}.", "Edit the file.")
        try:
            write_policy(path, rest)
        except OSError as error:
            raise StetError(f"{path} can't be written: {error}") from error
        if scope == PROJECT:
            self._on_project_changed()
