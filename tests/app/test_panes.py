"""Panes that are made late."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest
from textual import events
from textual.geometry import Size
from textual.widget import Widget

import app.screens.workspace as workspace_module
from app.application import StetApp
from app.options import SessionOptions
from app.panes import pane_of

pytestmark = pytest.mark.anyio


class Probe(Widget):
    """Notes the sizes that it is told."""

    def __init__(self) -> None:
        super().__init__(id="todo")
        self.sizes: list[Size] = []

    def on_resize(self, event: events.Resize) -> None:
        self.sizes.append(event.size)


async def test_a_new_pane_hears_its_size_even_if_someone_asks_for_places_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for kind in ("CONFIG", "STATE", "CACHE"):
        monkeypatch.setenv(f"STET_{kind}_DIR", str(tmp_path / kind.lower()))
    probe = Probe()
    row = replace(pane_of("todo"), make=lambda catalogue: probe)
    monkeypatch.setattr(workspace_module, "pane_of", lambda id: row if id == "todo" else pane_of(id))
    app = StetApp(SessionOptions(directory=tmp_path, offline=True, interactive=True))
    async with app.run_test(size=(120, 40)) as pilot:
        while app.host is None:
            await pilot.pause()
        await app.host.ready.wait()
        making = asyncio.create_task(app.workspace.pane("todo"))
        async with asyncio.timeout(30):
            while not (making.done() and probe.size):
                # As a dirty widget and a question for a region do, which come in any order.
                app.workspace._compositor._full_map_invalidated = True
                assert app.workspace._compositor.full_map
                await asyncio.sleep(0)
        async with asyncio.timeout(30):
            while probe.sizes[-1:] != [probe.size]:
                await pilot.pause()
