"""Which model is chosen, with which key; prices; and that nothing heavy is loaded for it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from core.contract.errors import StetError
from core.contract.usage import Usage
from core.model.catalogue import choose_provider, credential_note, preload
from core.model.gemini import GeminiProvider
from core.model.gemini_access import gemini_access, is_loopback
from core.model.offline import OfflineProvider
from core.model.pricing import context_window_of, cost_of, known_models
from core.settings.models import ModelSettings, Settings

ROOT = Path(__file__).parents[3]
KEY = {"GEMINI_API_KEY": "k"}


def chosen(spec: str | None, env: dict[str, str], settings: Settings | None = None) -> tuple[str, str]:
    provider = choose_provider(spec, settings or Settings(), env)
    return provider.name, provider.model


@pytest.mark.parametrize(
    ("spec", "env", "expected"),
    [
        (None, {}, ("offline", "offline")),
        ("", {}, ("offline", "offline")),
        ("offline", KEY, ("offline", "offline")),
        (None, KEY, ("gemini", "gemini-2.5-pro")),
        (None, {"GOOGLE_API_KEY": "k"}, ("gemini", "gemini-2.5-pro")),
        ("gemini", KEY, ("gemini", "gemini-2.5-pro")),
        ("gemini/gemini-2.5-flash", KEY, ("gemini", "gemini-2.5-flash")),
        ("gemini/models/gemini-2.5-flash", KEY, ("gemini", "gemini-2.5-flash")),
        ("gemini-2.5-flash", KEY, ("gemini", "gemini-2.5-flash")),
        (None, {"OPENAI_API_KEY": "k"}, ("openai", "gpt-5")),
        (None, {**KEY, "OPENAI_API_KEY": "k"}, ("gemini", "gemini-2.5-pro")),
        ("openai", {"OPENAI_API_KEY": "k"}, ("openai", "gpt-5")),
        ("openai/org/model:8b", {"OPENAI_BASE_URL": "http://localhost:11434/v1/"}, ("openai", "org/model:8b")),
        ("openai/m", {"OPENAI_BASE_URL": "https://models.example", "OPENAI_API_KEY": "k"}, ("openai", "m")),
    ],
)
def test_the_choice(spec: str | None, env: dict[str, str], expected: tuple[str, str]) -> None:
    assert chosen(spec, env) == expected


def test_settings_and_flags() -> None:
    settings = Settings(model=ModelSettings(name="offline", gemini="gemini-2.5-flash"))
    assert chosen(None, KEY, settings) == ("offline", "offline")
    assert chosen("gemini", KEY, settings) == ("gemini", "gemini-2.5-flash")


def test_scripts(tmp_path: Path) -> None:
    path = tmp_path / "play.script"
    path.write_text("say hello\n", "utf-8")
    assert chosen(f"script/{path}", {}) == ("script", "play")


@pytest.mark.parametrize(
    ("spec", "env", "words", "hint"),
    [
        ("gemini", {}, "no key for gemini/gemini-2.5-pro", "GEMINI_API_KEY"),
        ("gemini/x", {"GEMINI_API_KEY": "  "}, "no key", "GOOGLE_API_KEY"),
        ("gemni/x", KEY, "no model 'gemni/x'", "Did you mean gemini?"),
        ("offline/x", {}, "no model 'offline/x'", "offline"),
        ("script", {}, "needs a file", "script/FILE"),
        ("script/none.script", {}, "Can't read the script", "script/FILE"),
        ("gemini/ü", KEY, "no name of a Gemini model", "gemini-2.5-pro"),
        (None, {"GEMINI_API_KEY": "a\nb"}, "characters that no key has", "GEMINI_API_KEY"),
        (None, {**KEY, "GOOGLE_GEMINI_BASE_URL": "example.com"}, "no address of a server", "https://"),
        (None, {**KEY, "GOOGLE_GEMINI_BASE_URL": "http://x:99999"}, "no address of a server", "https://"),
        (None, {"GOOGLE_GENAI_USE_VERTEXAI": "true"}, "no project", "GOOGLE_CLOUD_PROJECT"),
    ],
)
def test_what_can_not_be_used_is_explained(spec: str | None, env: dict[str, str], words: str, hint: str) -> None:
    with pytest.raises(StetError) as caught:
        choose_provider(spec, Settings(), env)
    assert words in caught.value.message
    assert hint in caught.value.hint


def test_which_key_is_used_is_told() -> None:
    both = {"GEMINI_API_KEY": "one", "GOOGLE_API_KEY": "two", "GOOGLE_GEMINI_BASE_URL": "http://127.0.0.1:1/"}
    provider = choose_provider(None, Settings(), both)
    assert credential_note(provider) == "with GEMINI_API_KEY at http://127.0.0.1:1"
    access = gemini_access(both)
    assert access is not None
    assert access.api_key == "one"
    assert "one" not in repr(access)
    assert credential_note(OfflineProvider()) == ""


def test_vertex() -> None:
    env = {"GOOGLE_GENAI_USE_VERTEXAI": "1", "GOOGLE_CLOUD_PROJECT": "p", **KEY}
    access = gemini_access(env)
    assert access is not None
    assert (access.vertex, access.project, access.location, access.api_key) == (True, "p", "global", "")
    express = gemini_access({"GOOGLE_GENAI_USE_VERTEXAI": "1", "GOOGLE_API_KEY": "k"})
    assert express is not None
    assert (express.vertex, express.api_key, express.source) == (True, "k", "GOOGLE_API_KEY")


def test_loopback() -> None:
    assert [is_loopback(f"http://{host}:1/x") for host in ("localhost", "127.0.0.9", "[::1]")] == [True] * 3
    assert not any(is_loopback(url) for url in ("http://127.example.com", "", "https://10.0.0.1"))


def test_prices_and_windows() -> None:
    usage = Usage(100_000, 1_000, 1_000, 40_000)
    assert cost_of("gemini-2.5-pro", usage) == pytest.approx(0.06 * 1.25 + 0.04 * 0.125 + 0.002 * 10)
    assert cost_of("gemini-2.5-pro", Usage(300_000)) == pytest.approx(0.3 * 2.5)
    assert cost_of("models/gemini-2.5-flash", Usage(300_000)) == pytest.approx(0.09)
    assert cost_of("gemini-9-mega", usage) is None
    assert all(context_window_of(model) == 1_048_576 for model in known_models())
    assert context_window_of("llama") == 0


def test_the_sdk_is_loaded_late_and_off_the_loop() -> None:
    code = (
        "import sys, threading\n"
        "from core.model.catalogue import choose_provider, preload\n"
        "from core.settings.models import Settings\n"
        f"provider = choose_provider(None, Settings(), {KEY!r})\n"
        "print(any(name in sys.modules for name in ('google.genai', 'httpx', 'mcp', 'textual')))\n"
        "preload(provider)\n"
        "[thread.join() for thread in threading.enumerate() if thread.name == 'gemini-import']\n"
        "print('google.genai' in sys.modules, 'core.model.gemini_client' in sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "True", "True"]
    assert done.stderr == ""


def test_preloading_another_provider_does_nothing() -> None:
    preload(OfflineProvider())
    assert isinstance(choose_provider(None, Settings(), KEY), GeminiProvider)


def test_an_openai_compatible_server_and_its_window() -> None:
    env = {"OPENAI_BASE_URL": "http://localhost:11434/v1/"}
    settings = Settings(model=ModelSettings(openai="qwen3:8b", context_window=32_768))
    provider = choose_provider(None, settings, env)
    assert (provider.name, provider.model, provider.context_window) == ("openai", "qwen3:8b", 32_768)
    assert credential_note(provider) == "with no key at http://localhost:11434/v1"
    own = choose_provider("openai", Settings(), {"OPENAI_API_KEY": "k"})
    assert credential_note(own) == "with OPENAI_API_KEY" and own.context_window == 400_000


@pytest.mark.parametrize(
    ("spec", "env", "words"),
    [
        ("openai/x", {}, "no key for openai/x"),
        ("openai/x", {"OPENAI_BASE_URL": "https://models.example"}, "not on this machine"),
        (None, {"OPENAI_BASE_URL": "http://127.0.0.1:8080"}, "no model of it is named"),
        ("openai/x", {"OPENAI_BASE_URL": "localhost:8080"}, "no address"),
        ("openai/x", {"OPENAI_API_KEY": "a b"}, "characters that no key has"),
        ("openai/a b", {"OPENAI_API_KEY": "k"}, "no name of a model"),
    ],
)
def test_servers_that_can_not_be_used(spec: str | None, env: dict[str, str], words: str) -> None:
    with pytest.raises(StetError, match=words):
        choose_provider(spec, Settings(), env)
