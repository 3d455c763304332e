"""What is wrong with one setting, so that its writer finds it; knows neither the model nor the layers."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SettingsProblem:
    """A setting, or a whole file, that was left out; everything else counts."""

    file: str
    """The path, `environment` or `command line`."""
    line: int | None = None
    """From 1."""
    column: int | None = None
    """From 1, in characters."""
    key: str = ""
    """As its writer spelled it; empty where the whole file is meant."""
    found: str = ""
    """The value, as in TOML; for a whole file what it is."""
    expected: str = ""
    nearest: str = ""
    """The known key that is most like an unknown one."""

    def __str__(self) -> str:
        place = ":".join(str(part) for part in (self.file, self.line, self.column) if part is not None)
        found = f" = {self.found}" if self.key and self.found else self.found
        text = f"{place}: {self.key}{found}: expected {self.expected}"
        return f"{text}; did you mean {self.nearest}?" if self.nearest else text
