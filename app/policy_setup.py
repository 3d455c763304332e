"""The policy of a directory as a session there would have it: settings, rules, trust. For all that needs no session."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from core.policy.engine import PolicyEngine
from core.policy.rule_files import RuleFiles
from core.policy.rules import Rule
from core.policy.trust import FOLDER, ProjectTrust, TrustState, TrustStore
from core.settings.load import LoadedSettings, load_settings
from core.settings.models import Settings
from core.settings.paths import Folders, find_folders
from core.tools.mcp.names import SEPARATOR, server_prefixes

TRUST_PRIORITY = 1
"""Of the rule that `trust = true` of a server stands for: any rule of the user's is stronger."""


@dataclass(frozen=True, slots=True)
class DirectoryPolicy:
    engine: PolicyEngine
    loaded: LoadedSettings
    trust: ProjectTrust
    problems: tuple[str, ...]
    """What is wrong in rules."""


def find_trust(folders: Folders, directory: Path, *, granted: bool = False) -> ProjectTrust:
    """Return the trust in a directory's project. Blocks."""
    return ProjectTrust(directory, TrustStore(folders.state / "trust.json"), granted=granted)


def rule_files(folders: Folders, directory: Path, trust: ProjectTrust) -> RuleFiles:
    """Return where the rules of a session in a directory stand."""
    return RuleFiles(
        folders.config / "policies",
        directory / FOLDER / "policies",
        trusted=trust.is_trusted,
        on_project_changed=trust.follow_own_change,
    )


def trusting_rules(settings: Settings) -> list[Rule]:
    """Return the rules that `trust = true` of servers stands for."""
    prefixes = server_prefixes(settings.mcp_servers)
    return [
        Rule(
            f"{prefixes[name]}{SEPARATOR}*",
            "allow",
            priority=TRUST_PRIORITY,
            modes=("default", "auto_edit", "yolo"),
            source=f"mcp_servers.{name}.trust",
        )
        for name, server in settings.mcp_servers.items()
        if server.trust
    ]


def policy_of(directory: Path, mode: str = "") -> DirectoryPolicy:
    """Return the policy of a directory. Blocks.

    Args:
        mode: an approval mode other than the settings'.
    """
    folders = find_folders(os.environ)
    trust = find_trust(folders, directory)
    loaded = load_settings(folders, os.environ, project=directory, trusted=trust.is_trusted)
    rules, problems = rule_files(folders, directory, trust).load()
    settings = loaded.settings
    engine = PolicyEngine(
        [*rules, *trusting_rules(settings)],
        root=directory,
        mode=mode or settings.policy.approval_mode,
        allowed_sensitive=settings.tools.ignore_path_filter,
        looking_allowed=True,
    )
    return DirectoryPolicy(engine, loaded, trust, tuple(str(problem) for problem in problems))


def untrusted_notice(trust: ProjectTrust) -> list[str]:
    """Return what people should know where a project's own things are not used."""
    if trust.content.problem:
        return [f"The project's settings and tools are not used: {trust.content.problem}."]
    if trust.state is TrustState.UNKNOWN:
        return [
            f"The project is not trusted, so these are not used: {', '.join(trust.content.files[:5])}."
            " --trust uses them for this session."
        ]
    return []
