"""What Gemini demands of a conversation; the stand-in server refuses requests that break it, as the real one does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

Content = Mapping[str, Any]


def fault_in(contents: Sequence[Content]) -> str:
    """Return what is wrong with the contents of a request; empty where nothing is."""
    if not contents or contents[0].get("role") != "user":
        return "the first content is not the user's"
    for number, content in enumerate(contents):
        if not content.get("parts"):
            return f"contents[{number}] has no parts"
        if number and content["role"] == contents[number - 1]["role"]:
            return f"contents[{number}] repeats the role {content['role']}"
        calls = named(contents[number - 1], "functionCall") if number else []
        responses = named(content, "functionResponse")
        if [call["name"] for call in calls] != [response["name"] for response in responses]:
            return (
                "the number of function response parts is not equal to the number of function call parts "
                f"of the function call turn before contents[{number}]"
            )
        if [call.get("id") for call in calls] != [response.get("id") for response in responses]:
            return f"contents[{number}] answers other call ids than were given"
    ids = [call["id"] for content in contents for call in named(content, "functionCall") if "id" in call]
    if len(ids) != len(set(ids)):
        return "a call id stands twice"
    return "a call has no answer" if named(contents[-1], "functionCall") else ""


def named(content: Content, key: str) -> list[dict[str, Any]]:
    """Return the values of all parts of one kind."""
    return [part[key] for part in content.get("parts", []) if key in part]
