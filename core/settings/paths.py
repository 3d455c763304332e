"""Where stet keeps its own files, by the convention of the platform; knows nothing of their content."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from core.contract.errors import StetError


@dataclass(frozen=True, slots=True)
class Folders:
    """Our folders; they need not exist yet (`make_private`)."""

    config: Path
    """Settings, policies, keys, commands, tools, themes, memory."""
    state: Path
    """Sessions, journal, logs."""
    cache: Path
    """What can be made again."""

    @property
    def settings_file(self) -> Path:
        return self.config / "settings.toml"


def project_settings_file(project: Path) -> Path:
    """Return the settings file of a project; it counts only where the project is trusted."""
    return project / ".stet" / "settings.toml"


_XDG = {"CONFIG": ".config", "STATE": ".local/state", "CACHE": ".cache"}
_MAC = {"CONFIG": "Application Support/stet", "STATE": "Application Support/stet/state", "CACHE": "Caches/stet"}


def find_folders(environment: Mapping[str, str]) -> Folders:
    """Return our folders.

    `STET_CONFIG_DIR`, `STET_STATE_DIR` and `STET_CACHE_DIR` win; then the XDG base directories (freedesktop.org; a
    relative path in `XDG_…_HOME` is ignored, as that specification says), on macOS `~/Library`.

    Raises:
        StetError: there is no home folder.
    """
    return Folders(*(_find_folder(kind, environment) for kind in ("CONFIG", "STATE", "CACHE")))


def _find_folder(kind: str, environment: Mapping[str, str]) -> Path:
    own = environment.get(f"STET_{kind}_DIR", "")
    if own:
        return Path(own).absolute()
    base = environment.get(f"XDG_{kind}_HOME", "")
    if os.path.isabs(base):
        return Path(base, "stet")
    if sys.platform == "darwin":
        return _find_home(environment) / "Library" / _MAC[kind]
    return _find_home(environment) / _XDG[kind] / "stet"


def _find_home(environment: Mapping[str, str]) -> Path:
    home = environment.get("HOME", "")
    if os.path.isabs(home):
        return Path(home)
    try:
        return Path.home()
    except RuntimeError:
        raise StetError(
            "There is no home folder to keep settings and sessions in.",
            "Set HOME, or STET_CONFIG_DIR, STET_STATE_DIR and STET_CACHE_DIR.",
        ) from None


def make_private(folder: Path) -> Path:
    """Make a folder of ours that only its owner may enter (mode 0700, whatever the umask), and return it.

    A folder that exists already keeps its mode: it may be shared on purpose.

    Raises:
        StetError: it can't be made.
    """
    try:
        for part in reversed([part for part in (folder, *folder.parents) if not part.exists()]):
            part.mkdir(exist_ok=True)
            part.chmod(0o700)
        if not folder.is_dir():
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
    except OSError as error:
        raise StetError(
            f"The folder {folder} can't be made: {error.strerror}.",
            "Make it writable, or name others by STET_CONFIG_DIR, STET_STATE_DIR and STET_CACHE_DIR.",
        ) from error
    return folder
