"""The cache gives what a file is now, whatever happens to it, and loads nothing that may not be read."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from core.contract.errors import ToolFailure
from core.fileops import cache as cache_module
from core.fileops import dates
from core.fileops.ahead import ReadAhead
from core.fileops.cache import FileCache
from core.fileops.neighbours import ImportNeighbours
from core.fileops.prediction import SuccessorModel
from core.workspace.batch import BatchReader
from core.workspace.workspace import Workspace

OLD, NEW = b"old bytes\n", b"new bytes\n"


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    """A workspace with a cache that believes the files' dates: its clock is an hour ahead."""
    (tmp_path / "ws").mkdir()
    made = Workspace([tmp_path / "ws"])
    made.cache = FileCache(clock=lambda: time.time() + 3600)
    return made


def cache_of(workspace: Workspace) -> FileCache:
    assert isinstance(workspace.cache, FileCache)
    return workspace.cache


def plant(workspace: Workspace, name: str = "a.txt", data: bytes = OLD) -> Path:
    path = Path(workspace.root, name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def read_one(workspace: Workspace, name: str) -> bytes:
    return workspace.read(name).data


def read_in_batch(workspace: Workspace, name: str) -> bytes:
    with BatchReader(workspace) as reader:
        return reader.read(name)[1].data


READS = pytest.mark.parametrize("read", [read_one, read_in_batch])
Read = Callable[[Workspace, str], bytes]


@READS
def test_what_did_not_change_is_not_read_again(workspace: Workspace, read: Read) -> None:
    plant(workspace)
    assert [read(workspace, "a.txt") for _ in range(3)] == [OLD] * 3
    counts = cache_of(workspace).counts
    assert counts.hits == 2 and workspace.read("a.txt").is_cached and counts.rate > 0.5


def write_over(path: Path) -> None:
    path.write_bytes(NEW)


def write_over_with_the_old_date(path: Path) -> None:
    status = path.stat()
    path.write_bytes(NEW)
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


def replace_with_the_old_date(path: Path) -> None:
    status = path.stat()
    other = path.with_name("other")
    other.write_bytes(NEW)
    os.utime(other, ns=(status.st_atime_ns, status.st_mtime_ns))
    other.rename(path)


def set_the_date_back(path: Path) -> None:
    path.write_bytes(NEW)
    os.utime(path, (1, 1))


def truncate(path: Path) -> None:
    os.truncate(path, 0)


def swap_for_a_link(path: Path) -> None:
    other = path.with_name("other")
    other.write_bytes(NEW)
    path.unlink()
    path.symlink_to("other")


def swap_the_directory(path: Path) -> None:
    path.parent.rename(path.parent.with_name("gone"))
    path.parent.mkdir()
    path.write_bytes(NEW)


@READS
@pytest.mark.parametrize(
    ("meddle", "now"),
    [
        (write_over, NEW),
        (write_over_with_the_old_date, NEW),
        (replace_with_the_old_date, NEW),
        (set_the_date_back, NEW),
        (truncate, b""),
        (swap_for_a_link, NEW),
        (swap_the_directory, NEW),
    ],
)
def test_what_changed_is_never_given_out(
    workspace: Workspace, read: Read, meddle: Callable[[Path], None], now: bytes
) -> None:
    path = plant(workspace, "d/a.txt")
    assert read(workspace, "d/a.txt") == read(workspace, "d/a.txt") == OLD
    before = path.stat().st_ctime_ns
    while time.time_ns() - before < 20_000_000:  # the system counts its dates in ticks
        os.stat(path)
    meddle(path)
    assert read(workspace, "d/a.txt") == now


@READS
def test_a_link_that_leads_out_now_is_refused(workspace: Workspace, read: Read, tmp_path: Path) -> None:
    path = plant(workspace)
    assert read(workspace, "a.txt") == OLD
    (tmp_path / "outside.txt").write_bytes(NEW)
    path.unlink()
    path.symlink_to(tmp_path / "outside.txt")
    with pytest.raises(ToolFailure):
        read(workspace, "a.txt")
    path.unlink()
    with pytest.raises(ToolFailure):
        read(workspace, "a.txt")


def test_a_file_that_was_just_changed_is_read_again_whatever_its_dates_say(workspace: Workspace) -> None:
    workspace.cache = cache = FileCache()
    path = plant(workspace)
    os.utime(path, (1, 1))
    for data in (OLD, NEW):
        path.write_bytes(data)
        assert workspace.read("a.txt").data == data
    assert cache.counts.hits == 0 and cache.size == 0


def test_dates_of_unknown_file_systems_are_not_believed(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache_module, "has_exact_dates", lambda path, device: False)
    plant(workspace)
    assert read_one(workspace, "a.txt") == read_one(workspace, "a.txt") == OLD
    assert cache_of(workspace).counts.hits == 0


def test_the_file_system_of_a_path_is_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mounts = tmp_path / "mounts"
    mounts.write_text(
        "1 1 8:1 / / rw - ext4 /dev/a rw\n2 1 0:5 / /net\\040work rw shared:1 - nfs4 host:/x rw\n"
        "3 2 0:6 / /net\\040work/fast rw - tmpfs none rw\n"
    )
    monkeypatch.setattr(dates, "_MOUNTS", str(mounts))
    monkeypatch.setattr(dates, "_known", {})
    monkeypatch.setattr("sys.platform", "linux")
    paths = ("/home/x", "/net work/x", "/net work/fast/x", "/net workshop/x")
    assert [dates.has_exact_dates(path, number) for number, path in enumerate(paths)] == [True, False, True, True]


def test_what_the_user_allowed_once_is_not_kept(workspace: Workspace) -> None:
    plant(workspace, ".env.example", b"KEY=\n")
    place = workspace.resolve(".env.example", approved=True)
    assert workspace.read(place).data == b"KEY=\n"
    assert cache_of(workspace).size == 0
    with pytest.raises(ToolFailure):
        workspace.read(".env.example")


def test_the_room_is_bounded_and_the_longest_unused_goes_first(workspace: Workspace) -> None:
    workspace.cache = cache = FileCache(10_000, clock=lambda: time.time() + 3600)
    for number in range(20):
        plant(workspace, f"{number}.txt", b"x" * 1000)
        workspace.read(f"{number}.txt")
        workspace.read("0.txt")
    assert cache.size <= 10_000
    held = [n for n in range(20) if cache.holds(str(Path(workspace.root, f"{n}.txt")))]
    assert held == [0, *range(11, 20)]
    plant(workspace, "big.txt", b"x" * 2000)
    workspace.read("big.txt")
    assert not cache.holds(str(Path(workspace.root, "big.txt")))


# --- ahead ----------------------------------------------------------------------------------------


class Ahead:
    """Read-ahead over a small project."""

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self.cache = cache_of(workspace)
        self.denied: set[str] = set()
        self.ahead = ReadAhead(workspace, self.cache, lambda path: os.path.basename(path) not in self.denied, pause=0)

    def read(self, *names: str) -> None:
        for name in names:
            self.workspace.read(name)
            assert self.ahead.settle(30)

    def forget(self) -> None:
        self.cache.__init__(clock=lambda: time.time() + 3600, on_access=self.cache.on_access)  # type: ignore[misc]

    def holds(self, name: str) -> bool:
        return self.cache.holds(str(Path(self.workspace.root, name)))


@pytest.fixture
def ahead(workspace: Workspace) -> Iterator[Ahead]:
    for name in ("a.py", "b.py", "c.py", "far.py"):
        plant(workspace, name)
    place = Ahead(workspace)
    with place.ahead:
        yield place


def test_what_came_next_before_is_loaded(ahead: Ahead) -> None:
    ahead.read("a.py", "b.py", *(["far.py", "c.py"] * 5))
    ahead.forget()
    ahead.read("a.py")
    assert ahead.holds("b.py") and ahead.cache.counts.loaded_ahead >= 1
    ahead.read("b.py")
    assert ahead.cache.counts.ahead_hits == 1


@pytest.mark.parametrize("why", ["policy", "ignored", "sensitive", "outside", "gone"])
def test_what_may_not_be_read_is_not_loaded(ahead: Ahead, why: str, tmp_path: Path) -> None:
    ahead.read("a.py", "b.py", "far.py")
    ahead.forget()
    path = Path(ahead.workspace.root, "b.py")
    if why == "policy":
        ahead.denied.add("b.py")
    elif why == "ignored":
        Path(ahead.workspace.root, ".stetignore").write_text("b.py\n")
    elif why == "gone":
        path.unlink()
    else:
        target = tmp_path / "outside.py" if why == "outside" else Path(ahead.workspace.root, "id.pem")
        target.write_bytes(NEW)
        path.unlink()
        path.symlink_to(target)
    ahead.read("a.py")
    assert not ahead.holds("b.py") and not ahead.holds("id.pem") and ahead.holds("far.py")


def test_what_a_file_imports_is_near(workspace: Workspace) -> None:
    plant(workspace, "pack/__init__.py", b"")
    plant(workspace, "pack/one.py", b"from pack import two\n")
    plant(workspace, "pack/two.py", b"import os\n")
    near = ImportNeighbours(workspace)
    root = workspace.root
    assert f"{root}/pack/two.py" in near(f"{root}/pack/one.py")
    assert near(f"{root}/pack/two.py") == [f"{root}/pack/one.py"]
    assert near(f"{root}/none.txt") == [] and near("/elsewhere/x.py") == []
    assert cache_of(workspace).counts.misses == 0
    near.end()
    assert near(f"{root}/pack/one.py") == []
    near = ImportNeighbours(workspace)
    model = SuccessorModel(near)
    model.note(f"{root}/pack/one.py")
    assert f"{root}/pack/two.py" in model.following(3)


def test_a_project_is_listed_again_after_a_while_and_left_alone_where_it_is_large(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    moment = [0.0]
    near = ImportNeighbours(workspace, lambda: moment[0])
    path = str(plant(workspace, "one.py", b"import two\n"))
    assert near(path) == []
    other = str(plant(workspace, "two.py", b""))
    assert near(path) == [], "the list is as old as a second"
    moment[0] = 61.0
    assert near(path) == [other]
    monkeypatch.setattr("core.fileops.neighbours.MAX_SOURCES", 1)
    moment[0] = 200.0
    assert near(path) == []


def test_what_always_follows_comes_before_what_sometimes_does() -> None:
    model = SuccessorModel()
    for path in ["a", "b", "x", "y"] * 5 + ["a", "z", "x", "y", "a"]:
        model.note(path)
    assert model.following(2)[0] == "b" and "a" not in model.following(9)
