"""The path guard: nothing outside is read or written, whatever the path looks like and whoever swaps links."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from core.contract.errors import ToolErrorType, ToolFailure
from core.workspace import beneath
from core.workspace.workspace import Workspace

OUTSIDE_TEXT = b"outside"


@pytest.fixture(params=["kernel", "stepwise"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Both ways to open: the kernel's, and the one for kernels that can't."""
    if request.param == "stepwise":
        monkeypatch.setattr(beneath, "_kernel_support", False)
    elif not beneath.has_kernel_support():
        pytest.skip("this kernel has no openat2")
    return str(request.param)


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    root, outside, twin = tmp_path / "ws", tmp_path / "outside", tmp_path / "ws-evil"
    for directory in (root, outside, twin, root / "dir" / "deep"):
        directory.mkdir(parents=True)
    for file in (outside / "file", twin / "file"):
        file.write_bytes(OUTSIDE_TEXT)
    (root / "file").write_bytes(b"inside")
    (root / "dir" / "deep" / "file").write_bytes(b"deep")
    links: dict[str, str | Path] = {
        "link_out": outside,
        "link_file_out": outside / "file",
        "chain1": "chain2",
        "chain2": "dir/../../outside",
        "dangling_out": outside / "not-there",
        "loop1": "loop2",
        "loop2": "loop1",
        "proc_root": "/proc/self/root",
        "proc_cwd": "/proc/self/cwd",
        "link_in": "dir/deep",
        "absolute_in": root / "dir",
        "dir/up": "..",
    }
    for name, target in links.items():
        (root / name).symlink_to(target)
    return Workspace([root])


REFUSED = [
    "../outside/file",
    "../ws-evil/file",
    "../../../../../../../../../../etc/passwd",
    "/etc/passwd",
    "//etc/passwd",
    "dir/../../outside/file",
    "link_out/file",
    "link_file_out",
    "chain1/file",
    "dangling_out",
    "link_out/new/file",
    "loop1",
    "loop1/file",
    "proc_root/etc/passwd",
    "proc_cwd/x",
    "/proc/self/root/etc/passwd",
    "/proc/self/cwd/x",
    "dir/up/../../outside/file",
]


@pytest.mark.parametrize("path", REFUSED)
def test_outside_is_refused_for_reading_and_writing(workspace: Workspace, path: str) -> None:
    for action in (
        lambda: workspace.read(path),
        lambda: workspace.write(path, b"x", create=True),
        lambda: workspace.write(path, b"x"),
        lambda: workspace.status(path),
        lambda: workspace.resolve(path),
    ):
        with pytest.raises(ToolFailure) as caught:
            action()
        assert caught.value.type is ToolErrorType.PATH_NOT_IN_WORKSPACE
        assert "Path is not within workspace" in caught.value.message


def test_refusals_change_nothing_outside(workspace: Workspace, tmp_path: Path) -> None:
    for path in REFUSED:
        with pytest.raises(ToolFailure):
            workspace.write(path, b"x", create=True)
    assert sorted(os.listdir(tmp_path / "outside")) == ["file"]
    assert (tmp_path / "outside" / "file").read_bytes() == OUTSIDE_TEXT


@pytest.mark.parametrize(
    ("path", "content"),
    [
        ("file", b"inside"),
        ("./file", b"inside"),
        ("dir//deep/./file", b"deep"),
        ("link_in/file", b"deep"),
        ("absolute_in/deep/file", b"deep"),
        ("dir/up/file", b"inside"),
        ("dir/up/dir/up/link_in/file", b"deep"),
        ("nothing/../file", b"inside"),
    ],
)
def test_links_that_stay_inside_work(workspace: Workspace, path: str, content: bytes, way: str) -> None:
    assert workspace.read(path).data == content
    absolute = os.path.join(workspace.root, path)
    assert workspace.read(absolute).data == content
    workspace.write(path, b"new")
    assert workspace.read(path).data == b"new"


@pytest.mark.parametrize(
    "path", ["", "\0", "a\0b", "x" * 256, "x" * 5000, "a/" * 500_000, "\ud800", "missing/" * 300 + "x"]
)
def test_impossible_paths_are_refused_clearly(workspace: Workspace, path: str) -> None:
    with pytest.raises(ToolFailure) as caught:
        workspace.read(path)
    assert caught.value.message and len(caught.value.message) < 6000


@pytest.mark.parametrize(
    "name", ["a\nb", "\x1b[31m", "\u202etxt", "-rf", "~", "$HOME", "*", "?", "a b", "\udcff\udcfe", "ä", "a\u0308"]
)
def test_odd_names_are_openable_and_shown_harmless(workspace: Workspace, name: str) -> None:
    workspace.write(name, b"odd", create=True)
    assert workspace.read(name).data == b"odd"
    assert os.listdir(os.fsencode(workspace.root)).count(os.fsencode(name)) == 1
    shown = workspace.resolve(name).shown
    assert not set(shown) & {"\n", "\x1b", "\u202e"}


def test_special_files_are_refused_at_once(workspace: Workspace, way: str) -> None:
    root = Path(workspace.root)
    os.mkfifo(root / "fifo")
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(os.path.relpath(root / "sock"))
    with listener:
        for name, type in (
            ("fifo", ToolErrorType.TARGET_IS_SPECIAL),
            ("sock", ToolErrorType.TARGET_IS_SPECIAL),
            ("dir", ToolErrorType.TARGET_IS_DIRECTORY),
        ):
            for action in (lambda: workspace.read(name), lambda: workspace.write(name, b"x")):  # noqa: B023  run here
                began = time.monotonic()
                with pytest.raises(ToolFailure) as caught:
                    action()
                assert caught.value.type is type
                assert time.monotonic() - began < 2


def test_a_device_is_refused(tmp_path: Path) -> None:
    for device in ("zero", "tty", "null"):
        with pytest.raises(ToolFailure) as caught:
            Workspace([tmp_path], read_only_roots=["/dev"]).read(f"/dev/{device}")
        assert caught.value.type is ToolErrorType.TARGET_IS_SPECIAL


def test_read_only_and_scratch_directories(tmp_path: Path) -> None:
    for name in ("ws", "docs", "scratch"):
        (tmp_path / name).mkdir()
    (tmp_path / "docs" / "page").write_text("text")
    workspace = Workspace([tmp_path / "ws"], scratch=tmp_path / "scratch", read_only_roots=[tmp_path / "docs"])
    page = str(tmp_path / "docs" / "page")
    assert workspace.read(page).data == b"text"
    with pytest.raises(ToolFailure, match="reading only"):
        workspace.write(page, b"x")
    workspace.write(str(tmp_path / "scratch" / "secret-note"), b"x", create=True)


SWAPPER = """
import os, sys
root, outside = sys.argv[1:]
os.chdir(root)
os.symlink(outside, "evil")
print("ready", flush=True)
while True:
    os.rename("target", "aside"); os.rename("evil", "target")
    os.rename("target", "evil"); os.rename("aside", "target")
"""


@pytest.fixture
def swapped(tmp_path: Path) -> Iterator[Workspace]:
    """A workspace where another process swaps the directory `target` with a link that leads out."""
    root, outside = tmp_path / "race", tmp_path / "race-outside"
    (root / "target").mkdir(parents=True)
    outside.mkdir()
    (root / "target" / "file").write_bytes(b"inside")
    (outside / "file").write_bytes(OUTSIDE_TEXT)
    with subprocess.Popen([sys.executable, "-c", SWAPPER, root, outside], stdout=subprocess.PIPE) as swapper:
        assert swapper.stdout is not None
        swapper.stdout.readline()
        yield Workspace([root])
        swapper.kill()


def test_a_swapped_link_never_leads_out(swapped: Workspace, way: str) -> None:
    attempts: list[Callable[[int], bytes]] = [
        lambda _: swapped.read("target/file").data,
        lambda _: swapped.read_listed(swapped.locate("."), "target/file"),
    ]
    inside = 0
    for number in range(5_000):
        try:
            data = attempts[number % 2](number)
        except ToolFailure:
            continue
        assert data == b"inside"
        inside += 1
    assert inside
    outside = Path(swapped.root + "-outside")
    for number in range(200):
        try:
            swapped.write(f"target/new{number}", b"x", create=True)
        except ToolFailure:
            continue
    assert os.listdir(outside) == ["file"]
