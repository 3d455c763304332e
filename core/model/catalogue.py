"""Which model is used: by name, else by what the environment has keys for. No SDK is imported here."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from pathlib import Path

from core.contract.errors import StetError
from core.contract.model import Provider
from core.model.gemini import GeminiProvider
from core.model.gemini_access import KEY_VARIABLES, gemini_access
from core.model.offline import OfflineProvider
from core.model.openai import OpenAIProvider
from core.model.openai_access import KEY_VARIABLE, OWN_MODEL, URL_VARIABLE, openai_access
from core.model.pricing import known_models
from core.model.script import ScriptProvider, load_script
from core.settings.models import Settings

PROVIDERS = ("gemini", "openai", "offline", "script")
_FORMS = "gemini/NAME, openai/NAME, offline, or script/FILE"


def choose_provider(
    spec: str | None, settings: Settings, env: Mapping[str, str], *, script_speed: float = 1.0
) -> Provider:
    """Return the model to use.

    Args:
        spec: `PROVIDER/NAME` or `PROVIDER` as the user gave it; none (or empty) takes the setting `model.name`, and
            where that is empty the provider that the environment has a key for, else the offline assistant.
        script_speed: factor for the delays of a script.

    Raises:
        StetError: the model, its key or its script is not there; the hint says what to do.
    """
    spec = (spec or settings.model.name).strip()
    if not spec:
        if gemini_access(env):
            return _gemini(settings.model.gemini, settings, env)
        return _openai(settings.model.openai, settings, env) if openai_access(env) else OfflineProvider()
    provider, _, name = spec.partition("/")
    match provider:
        case "gemini":
            return _gemini(name or settings.model.gemini, settings, env)
        case "openai":
            return _openai(name or settings.model.openai, settings, env)
        case "offline" if not name:
            return OfflineProvider()
        case "script" if name:
            return ScriptProvider(load_script(Path(name).expanduser()), speed=script_speed)
        case "script":
            raise StetError("The script model needs a file.", "Give it as script/FILE; docs/script.md has the form.")
        case _ if provider.startswith(("gemini-", "models")):
            return _gemini(spec, settings, env)
    near = difflib.get_close_matches(provider, PROVIDERS, 1, 0.6)
    guess = f"Did you mean {near[0]}? " if near else ""
    raise StetError(f"There is no model {spec!r}.", f"{guess}Models are named {_FORMS}.")


def preload(provider: Provider) -> None:
    """Import what the provider needs, in a thread. To be called after the first paint."""
    if isinstance(provider, GeminiProvider | OpenAIProvider):
        provider.preload()


def credential_note(provider: Provider) -> str:
    """Return where a provider's key comes from and where its requests go, in words; empty where it needs neither."""
    if not isinstance(provider, GeminiProvider | OpenAIProvider):
        return ""
    place = f" at {provider.base_url}" if provider.base_url else ""
    return f"with {provider.credential}{place}"


def _gemini(model: str, settings: Settings, env: Mapping[str, str]) -> GeminiProvider:
    access = gemini_access(env)
    if access is None:
        raise StetError(
            f"There is no key for gemini/{model}.",
            f"Set {' or '.join(KEY_VARIABLES)} (Google AI Studio gives one), or use the model offline.",
        )
    name = model.removeprefix("models/")
    if not name or not name.isascii() or not name.isprintable() or " " in name:
        raise StetError(f"{model!r} is no name of a Gemini model.", f"For example {', '.join(known_models()[:3])}.")
    return GeminiProvider(access, name, idle_limit=settings.agent.idle_timeout)


def _openai(model: str, settings: Settings, env: Mapping[str, str]) -> OpenAIProvider:
    access = openai_access(env)
    if access is None:
        raise StetError(
            f"There is no key for openai/{model or OWN_MODEL}.",
            f"Set {KEY_VARIABLE}, or {URL_VARIABLE} to a server on this machine, or use the model offline.",
        )
    name = model or (OWN_MODEL if access.is_own else "")
    if not name:
        raise StetError(
            f"{URL_VARIABLE} names a server, but no model of it is named.",
            "Name one with --model openai/NAME or the setting model.openai; `stet doctor` lists what the server has.",
        )
    if not name.isprintable() or " " in name:
        raise StetError(f"{name!r} is no name of a model.", f"For example {OWN_MODEL}.")
    window, idle = settings.model.context_window, settings.agent.idle_timeout
    return OpenAIProvider(access, name, window=window, idle_limit=idle)
