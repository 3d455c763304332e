"""The keys that a dialog's line of keys names: those in force, the user's own among them."""

from __future__ import annotations

from textual.binding import Binding
from textual.dom import DOMNode


def shown_keys(node: DOMNode, *ids: str) -> str:
    """Return the first key of each of a widget's bindings, by their ids, as people read them."""
    keymap = node.app._keymap
    bindings = {each.id: each for each in type(node).BINDINGS if isinstance(each, Binding)}
    keys = ((bindings[id_], (keymap.get(id_) or bindings[id_].key).split(",")[0].strip()) for id_ in ids)
    return " ".join(node.app.get_key_display(binding.with_key(key, key_display=None)) for binding, key in keys)
