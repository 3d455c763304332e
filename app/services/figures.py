"""What a session used and did, in words: for the screen, and for the session in lines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.session.statistics import draw_section

if TYPE_CHECKING:
    from app.bootstrap import Engine


def describe_figures(engine: Engine) -> str:
    """Return the figures of the session and of its parts, a section after the other."""
    record = engine.store.path_of(engine.bus.session) if engine.is_recorded else "not written"
    own = [given for ask in engine.context.statistics if (given := ask()) is not None]
    running = sum(job.running for job in engine.jobs)
    lines = [f"Session {engine.bus.session}", f"Record: {record}", f"Running commands: {running}"]
    for section in (*engine.statistics.sections(), *own):
        lines += ["", *draw_section(section)]
    return "\n".join(lines)
