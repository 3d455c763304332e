"""The directories that a transaction opens: one that was moved or swapped between two steps leads nowhere."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from core.contract.errors import ToolFailure
from core.fileops.roots import Roots
from core.fileops.steps import Step, StepKind
from core.fileops.transaction import Transaction
from core.workspace import beneath
from tests.core.fileops.trees import file_seen, snapshot


@pytest.fixture(params=["kernel", "stepwise"], autouse=True)
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both ways to open: the kernel's, and the one for kernels that can't."""
    if request.param == "stepwise":
        monkeypatch.setattr(beneath, "_kernel_support", False)
    elif not beneath.has_kernel_support():
        pytest.skip("this kernel has no openat2")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for place in ("tree", "outside"):
        inner = tmp_path / place / "pack" / "inner"
        inner.mkdir(parents=True)
        for name in ("a.txt", "b.txt", "c.txt"):
            (inner / name).write_text("old\n")
    return tmp_path / "tree"


@pytest.fixture
def roots() -> Iterator[Roots]:
    with Roots() as opened:
        yield opened


@pytest.mark.parametrize("moved", ["pack", "pack/inner"])
def test_another_directory_in_its_place_is_what_is_found(root: Path, roots: Roots, moved: str) -> None:
    with roots.parent(str(root), "pack/inner/a.txt") as (former, _):
        os.rename(root / moved, root / "gone")
        (root / "pack" / "inner").mkdir(parents=True)
        with roots.parent(str(root), "pack/inner/a.txt") as (fd, name):
            assert (os.listdir(fd), name) == ([], "a.txt")
        assert "a.txt" in os.listdir(former), "who uses the former one still has it"


@pytest.mark.parametrize("swapped", ["pack", "pack/inner"])
@pytest.mark.parametrize("leads_back", [False, True])
def test_a_link_in_its_place_is_refused(root: Path, roots: Roots, swapped: str, leads_back: bool) -> None:
    os.rename(root / swapped, root / "gone")
    (root / swapped).symlink_to(root / "gone" if leads_back else root.parent / "outside" / swapped)
    with pytest.raises(OSError) as failure:
        roots.parent(str(root), "pack/inner/a.txt")
    assert failure.value.errno in (errno.ELOOP, errno.ENOTDIR)


def test_nothing_stays_open(root: Path) -> None:
    before = os.listdir("/dev/fd")
    with Roots() as roots:
        for name in ("a.txt", "b.txt"):
            with roots.parent(str(root), f"pack/inner/{name}"):
                pass
            assert len(os.listdir("/dev/fd")) == len(before) + 1, "the root alone"
    assert os.listdir("/dev/fd") == before


def swap_for_link(root: Path, path: str) -> None:
    os.rename(root / path, root / "gone")
    (root / path).symlink_to(root.parent / "outside" / path)


def move_out(root: Path, path: str) -> None:
    os.rename(root / path, root.parent / "taken")


@pytest.mark.parametrize("path", ["pack", "pack/inner"])
@pytest.mark.parametrize("meddle", [swap_for_link, move_out])
@pytest.mark.parametrize("after", [1, 2])
def test_what_is_swapped_between_two_steps_leads_nowhere(
    root: Path, tmp_path: Path, path: str, meddle: Callable[[Path, str], None], after: int
) -> None:
    names = ["pack/inner/a.txt", "pack/inner/b.txt", "pack/inner/c.txt"]
    steps = [Step(StepKind.REPLACE, str(root), name, file_seen(root / name), data=b"new\n") for name in names]
    outside = snapshot(tmp_path / "outside")
    done: list[str] = []

    def note(step: Step) -> None:
        done.append(step.path)
        if len(done) == after:
            meddle(root, path)

    with pytest.raises(ToolFailure), Transaction(tmp_path / "journals") as transaction:
        transaction.apply(steps, on_step=note)
    assert done == names[:after]
    assert snapshot(tmp_path / "outside") == outside
    away = root / "gone" if meddle is swap_for_link else tmp_path / "taken"
    folder = away / "inner" if path == "pack" else away
    assert [(folder / Path(name).name).read_text() for name in names[after:]] == ["old\n"] * (3 - after)
