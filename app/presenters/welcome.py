"""The first words of a fresh session: where it works, with which model, and the keys. They are not recorded."""

from __future__ import annotations

from pathlib import Path

from app.actions import show_key
from app.stage import Presenter
from core.tools.path_invocation import as_code
from core.workspace.paths import path_from_home
from stet import __version__
from widgets.transcript.view import TranscriptView

_OFFLINE = (
    "No model is connected. The offline assistant takes plain commands: `find`, `show`, `replace`, `rename`, `create`, "
    "`run`, `test`. Type **help** and press Enter to see them all. With `GEMINI_API_KEY` or `OPENAI_API_KEY` set, the "
    "next start uses a model; `stet demo` is a guided tour."
)


class WelcomePresenter(Presenter):
    """Greets in an empty chat; a session that goes on, or a guided one, has its own beginning."""

    def register(self) -> None:
        stage = self.stage
        if stage.engine.resumed or stage.app.options.guide:
            return
        chat = stage.workspace.query_one("#chat", TranscriptView)
        block = chat.start_answer()
        chat.append_answer(block, "\n\n".join(self._paragraphs()))
        chat.finish_answer(block)

    def _paragraphs(self) -> list[str]:
        engine = self.stage.engine
        root = path_from_home(Path(engine.workspace.root))
        paragraphs = [f"**stet** {__version__} in {as_code(root)}"]
        provider = engine.agent.provider
        if provider.name == "offline":
            paragraphs.append(_OFFLINE)
        else:
            paragraphs.append(f"{as_code(f'{provider.name}/{provider.model}')} answers.")
        if files := engine.instructions.files:
            names = ", ".join(as_code(file.path.name) for file in files[:4])
            more = f" and {len(files) - 4} more" if len(files) > 4 else ""
            paragraphs.append(f"The model is told what stands in {names}{more}.")
        paragraphs.append("Every edit and every command is shown to you first, and you decide.")
        keys = f"{self._key('app.help')} every key · {self._key('app.palette')} every action"
        paragraphs.append(f"{keys} · `/sessions` earlier sessions · {self._key('app.interrupt')} twice leaves")
        return paragraphs

    def _key(self, action: str) -> str:
        keys = self.stage.app.catalogue[action].keys
        return as_code(show_key(keys[0])) if keys else "`/help`"
