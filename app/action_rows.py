"""The rows of the action catalogue, by scope.

Two maps meet in the prompt. The application's keys win over four of readline's (ctrl+b, ctrl+f, ctrl+p, ctrl+t): their
work is on alt+b, alt+f, alt+p and the arrows. All other readline keys keep their meaning: ctrl+a d e k n r u w y and
ctrl+_. Nothing stands on ctrl+h, ctrl+i, ctrl+m or ctrl+[ (Backspace, Tab, Enter and Esc in many terminals), nor on
ctrl+s or ctrl+q (flow control); no single chord allows the agent more, or throws something away.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Scope(StrEnum):
    """Where a key works: what has the focus."""

    APP = "application"
    PROMPT = "prompt"
    COMPLETION = "completion"
    TRANSCRIPT = "chat"
    TODO = "todo"
    CHANGES = "changes"
    SHELL = "shell"
    REVIEW = "review"
    DIALOG = "dialog"


class When(StrEnum):
    """When the footer shows an action."""

    ALWAYS = "always"
    IDLE = "idle"
    BUSY = "busy"


@dataclass(frozen=True, slots=True)
class Action:
    """One thing that people can do with a key."""

    id: str
    """`pane.verb`, lower case; stands in `keys.toml`."""
    keys: tuple[str, ...]
    """Textual's names; the first is the one that the footer shows, so it has to work in every terminal."""
    label: str
    help: str
    """One sentence."""
    group: str
    """Heading in the help."""
    scope: Scope
    method: str = ""
    """Of the scope's widget, without `action_`; by default the id's last part."""
    footer: int = 0
    """Place in the footer from 1; 0 is not shown."""
    footer_label: str = ""
    """Where the footer needs it shorter than `label`."""
    footer_scope: Scope | None = None
    """The only scope in whose footer it stands, where that is not all in which it works."""
    when: When = When.ALWAYS
    palette: bool = False

    def __post_init__(self) -> None:
        if not self.method:
            object.__setattr__(self, "method", self.id.rpartition(".")[2])


def _rows(
    scope: Scope, group: str, rows: tuple[tuple[str, str, str, str], ...], palette: bool = False
) -> tuple[Action, ...]:
    """Return plain actions from `(id, keys with blanks between, label, help)`."""
    return tuple(
        Action(id_, tuple(keys.split()), label, text, group, scope, palette=palette) for id_, keys, label, text in rows
    )


_APP = (
    Action(
        "agent.stop", ("escape",), "Stop the agent",
        "Stop the turn and its tools; a second time kills their processes.",
        "Agent", Scope.APP, footer=2, footer_label="stop", when=When.BUSY, palette=True,
    ),
    Action(
        "app.interrupt", ("ctrl+c",), "Copy, clear, stop or quit",
        "Copy the selection; else clear the prompt (it stays in the history); else stop the agent; else ask to quit.",
        "Application", Scope.APP,
    ),
    Action(
        "mode.cycle", ("shift+tab",), "Next approval mode",
        "Ask, accept edits, plan. The mode without questions is set with a command only.",
        "Agent", Scope.APP, footer=60, footer_label="mode", palette=True,
    ),
    Action(
        "app.palette", ("ctrl+p",), "Command palette", "Find every action and command by name.",
        "Application", Scope.APP, footer=55, footer_label="palette",
    ),
    Action(
        "app.help", ("f1", "alt+h"), "Help", "All keys, searchable.",
        "Application", Scope.APP, footer=50, footer_label="keys", palette=True,
    ),
    *_rows(
        Scope.APP, "Application",
        (
            ("app.redraw", "ctrl+l", "Redraw the screen", "Paint everything anew."),
            ("app.suspend", "ctrl+z", "Suspend", "Back to the shell that started stet; `fg` returns."),
        ),
        palette=True,
    ),
    *_rows(
        Scope.APP, "Panes",
        (
            ("pane.chat", "f3 alt+1", "Chat", "Focus the chat."),
            ("pane.todo", "f4 alt+2", "Todo list", "Show and focus the todo list."),
            ("pane.changes", "f5 alt+3", "Changes", "Show what each turn changed on disk, and take it back."),
            ("pane.shell", "f6 alt+4", "Shell pane", "Show the shell; again hides it."),
            ("context.show", "f7 alt+5", "Context", "What fills the model's window; drop, pin, bring back."),
            ("settings.show", "f2 alt+6", "Settings", "All settings with their values and where each came from."),
            ("pane.side", "ctrl+b", "Side column", "Show or hide the column at the right."),
            ("pane.maximise", "f11 alt+m", "Maximise", "Give the focused pane the whole screen; again gives it back."),
            ("shell.height", "alt+t", "Shell height", "A third of the screen, two thirds, none."),
        ),
        palette=True,
    ),
    *_rows(
        Scope.APP, "Panes",
        (
            ("approval.show", "f8 alt+a", "Pending approval", "Show the question that was put aside."),
            ("shell.next", "alt+j", "Next job", "Show the next job in the shell pane."),
            ("shell.background", "", "Job to the background, or back",
             "Let the agent go on while the command keeps running; again takes it back."),
            ("shell.restart", "", "Restart job", "Run the command that is shown again, in the same directory."),
            ("shell.read", "alt+u", "Read back in the shell", "Move, search and copy in what it shows and has shown."),
            ("shell.kill", "", "Kill job", "End the command that is shown, and all that it has started."),
        ),
        palette=True,
    ),
    Action(
        "shell.focus", ("ctrl+t",), "Type into the shell", "Focus the shell; ctrl+] leaves it.",
        "Panes", Scope.APP, footer=45, footer_label="shell", palette=True,
    ),
    *_rows(
        Scope.APP, "Prompt",
        (("prompt.editor", "ctrl+g", "Open in $EDITOR", "Edit the prompt, large pastes included, in your editor."),),
        palette=True,
    ),
    Action(
        "chat.previous", ("ctrl+up", "alt+up"), "Previous block", "Move the block cursor up.",
        "Chat", Scope.APP, footer=3, footer_label="block", footer_scope=Scope.TRANSCRIPT, palette=True,
    ),
    *_rows(
        Scope.APP, "Chat",
        (
            ("chat.next", "ctrl+down alt+down", "Next block", "Move the block cursor down."),
            ("chat.page_up", "pageup", "Page up", "Scroll up by what is visible."),
            ("chat.page_down", "pagedown", "Page down", "Scroll down by what is visible."),
            ("chat.fold_tools", "ctrl+o", "Fold tool output", "Open or close the output of all tool calls."),
        ),
        palette=True,
    ),
    Action(
        "chat.find", ("ctrl+f",), "Search the chat", "Find text in the chat, also in folded output.",
        "Chat", Scope.APP, footer=4, footer_label="find", footer_scope=Scope.TRANSCRIPT, palette=True,
    ),
)  # fmt: skip

_PROMPT: tuple[Action, ...] = (
    Action(
        "prompt.send", ("enter",), "Send", "Send the prompt; while the agent works it is queued.",
        "Prompt", Scope.PROMPT, footer=1, footer_label="send",
    ),
    Action(
        "prompt.newline", ("ctrl+j", "shift+enter", "alt+enter"), "New line",
        "Insert a line break; ctrl+j works in every terminal, and so does a backslash before Enter.",
        "Prompt", Scope.PROMPT, footer=3, footer_label="line",
    ),
    Action(
        "prompt.steer", ("alt+s", "ctrl+enter"), "Steer",
        "Send to the agent while it works: it reads it with the next tool results.",
        "Prompt", Scope.PROMPT, footer=4, footer_label="steer", when=When.BUSY,
    ),
    Action(
        "prompt.search", ("ctrl+r",), "Search the history", "Find an earlier prompt of this project.",
        "Prompt", Scope.PROMPT, footer=40, footer_label="history", palette=True,
    ),
    *_rows(
        Scope.PROMPT, "Prompt",
        (
            ("prompt.up", "up", "Up, or earlier prompt", "On the first line: the prompt before. Your draft is kept."),
            ("prompt.down", "down ctrl+n", "Down, or later prompt", "On the last line: the prompt after."),
            ("prompt.look", "alt+v", "Look into a paste",
             "Open the large paste at the cursor: read it, change it, remove it, or make it text."),
            ("prompt.queue", "alt+q", "Queue", "See, edit, move, remove or send at once what waits for the agent."),
            ("prompt.earlier", "alt+p", "Earlier prompt", "The prompt before, from any line."),
            ("prompt.later", "alt+n", "Later prompt", "The prompt after, from any line."),
            ("prompt.leave", "escape", "Leave shell or command mode", "Back to the agent; the text stays."),
            ("prompt.delete_left", "backspace shift+backspace", "Delete left", "At the start it leaves the mode."),
        ),
    ),
    *_rows(
        Scope.PROMPT, "Editing",
        (
            ("prompt.cursor_line_start", "home ctrl+a", "Start of line", "Move to the start of the line."),
            ("prompt.cursor_line_end", "end ctrl+e", "End of line", "Move to the end of the line."),
            ("prompt.cursor_left", "left", "Left", "Move one character to the left."),
            ("prompt.cursor_right", "right", "Right", "Move one character to the right."),
            ("prompt.cursor_word_left", "ctrl+left alt+b alt+left", "Word left", "Move one word to the left."),
            ("prompt.cursor_word_right", "ctrl+right alt+f alt+right", "Word right", "Move one word to the right."),
            ("prompt.cursor_page_up", "pageup", "Page up", "Up by what is visible; where all is, the chat scrolls."),
            ("prompt.cursor_page_down", "pagedown", "Page down", "The same downwards."),
            ("prompt.delete_right", "delete ctrl+d", "Delete right", "Delete the character under the cursor."),
            ("prompt.kill_line_end", "ctrl+k", "Kill to the end", "Cut to the end of the line; ctrl+y brings it back."),
            ("prompt.kill_line_start", "ctrl+u", "Kill to the start", "Cut to the start of the line."),
            ("prompt.kill_word_left", "ctrl+w alt+backspace ctrl+backspace", "Kill the word before",
             "Cut back to the blank before."),
            ("prompt.kill_word_right", "alt+d", "Kill the word after", "Cut to the end of the word."),
            ("prompt.yank", "ctrl+y", "Yank", "Insert what was cut last."),
            ("prompt.undo", "ctrl+underscore", "Undo", "Take back the last edit of the prompt."),
            ("prompt.redo", "alt+r", "Redo", "Do the edit again."),
            ("prompt.paste", "ctrl+v", "Paste", "Insert the clipboard, also an image; a large paste becomes a chip."),
        ),
    ),
    *(
        Action(
            f"prompt.select_{name}", (keys,), f"Select {name.replace('_', ' ')}", "Extend the selection.",
            "Editing", Scope.PROMPT, method=f"cursor_{name}(True)",
        )
        for name, keys in (
            ("left", "shift+left"), ("right", "shift+right"), ("up", "shift+up"), ("down", "shift+down"),
            ("word_left", "ctrl+shift+left"), ("word_right", "ctrl+shift+right"),
            ("line_start", "shift+home"), ("line_end", "shift+end"),
        )
    ),
)  # fmt: skip

_COMPLETION = tuple(
    Action(
        f"completion.{name}", tuple(keys.split()), label, text, "Completion", Scope.COMPLETION, f"completion_{name}",
        footer=footer, footer_label=short,
    )
    for footer, short, name, keys, label, text in (
        (1, "take", "accept", "tab", "Accept", "Insert the marked candidate, or the first."),
        (4, "send", "accept_moved", "enter", "Accept after moving",
         "Insert the candidate that you moved to; else send."),
        (2, "choose", "next", "down ctrl+n", "Next candidate", "Move into the list."),
        (0, "", "previous", "up", "Previous candidate", "Move up in the list."),
        (3, "close", "close", "escape", "Close", "Close the list; it stays closed for this word."),
    )
)  # fmt: skip

_TRANSCRIPT = (
    Action("chat.toggle", ("space", "enter"), "Open or fold", "Open or fold the block under the cursor.",
           "Chat", Scope.TRANSCRIPT, footer=1, footer_label="open"),
    Action("chat.copy", ("y",), "Copy block", "Copy the block under the cursor.",
           "Chat", Scope.TRANSCRIPT, footer=2, footer_label="copy"),
    Action("chat.previous_turn", ("left_square_bracket",), "Previous prompt", "To your previous message.",
           "Chat", Scope.TRANSCRIPT, footer=5, footer_label="turn"),
    Action("chat.previous_call", ("left_parenthesis",), "Previous call", "To the tool call before.",
           "Chat", Scope.TRANSCRIPT, footer=6, footer_label="call"),
    Action("chat.find_next", ("n",), "Next match", "To the next place that the search found.",
           "Chat", Scope.TRANSCRIPT, footer=7, footer_label="match"),
    *_rows(Scope.TRANSCRIPT, "Chat", (
        ("chat.next_turn", "right_square_bracket", "Next prompt", "To your next message."),
        ("chat.previous_edit", "left_curly_bracket", "Previous edit", "To the edit before."),
        ("chat.next_edit", "right_curly_bracket", "Next edit", "To the edit after."),
        ("chat.next_call", "right_parenthesis", "Next call", "To the next tool call."),
        ("chat.find_previous", "N", "Previous match", "To the place before."),
        ("chat.previous_error", "exclamation_mark", "Previous error", "To the failure before."),
        ("chat.copy_code", "Y", "Copy code", "Copy the code in the block under the cursor."),
        ("chat.copy_turn", "T", "Copy turn", "Copy the turn under the cursor: what was said, a line for each call."),
        ("chat.follow", "end", "To the end", "Show the end and follow it."),
        ("chat.home", "home", "To the start", "Show the start."),
    )),
)  # fmt: skip

_TODO = (
    Action("todo.tick", ("space", "enter"), "Tick", "Mark the item as done, or as open again.",
           "Todo list", Scope.TODO, footer=1, footer_label="tick"),
    Action("todo.add", ("a", "insert"), "Add", "Add an item after the marked one.",
           "Todo list", Scope.TODO, footer=2, footer_label="add"),
    Action("todo.edit", ("e",), "Edit", "Change the item's text.",
           "Todo list", Scope.TODO, footer=3, footer_label="edit"),
    Action("todo.remove", ("delete", "d"), "Remove", "Remove the item; u brings it back.",
           "Todo list", Scope.TODO, footer=4, footer_label="remove"),
    Action("todo.restore", ("u",), "Restore", "Bring back what was removed last.", "Todo list", Scope.TODO),
    Action("todo.move_up", ("shift+up", "K"), "Move up", "Move the item up.",
           "Todo list", Scope.TODO, footer=5, footer_label="move"),
    Action("todo.move_down", ("shift+down", "J"), "Move down", "Move the item down.", "Todo list", Scope.TODO),
    *_rows(
        Scope.TODO, "Todo list",
        (
            ("todo.up", "up k", "Up", "Mark the item above."),
            ("todo.down", "down j", "Down", "Mark the item below."),
            ("todo.first", "home g", "First", "Mark the first item."),
            ("todo.last", "end G", "Last", "Mark the last item."),
        ),
    ),
)  # fmt: skip

_CHANGES = (
    Action("changes.undo", ("enter", "u"), "Take back", "Show what would come back of this turn or file, and take it.",
           "Changes", Scope.CHANGES, footer=1, footer_label="take back"),
    *_rows(
        Scope.CHANGES, "Changes",
        (
            ("changes.up", "up k", "Up", "Mark the line above."),
            ("changes.down", "down j", "Down", "Mark the line below."),
            ("changes.first", "home g", "First", "Mark the first line."),
            ("changes.last", "end G", "Last", "Mark the last line."),
        ),
    ),
)  # fmt: skip

_SHELL = (
    Action("shell.leave", ("ctrl+right_square_bracket",), "Leave the shell",
           "Back to the prompt; every other key goes to the program.",
           "Shell", Scope.SHELL, footer=1, footer_label="leave the shell"),
)  # fmt: skip

ROWS: tuple[Action, ...] = (*_PROMPT, *_COMPLETION, *_APP, *_TRANSCRIPT, *_TODO, *_CHANGES, *_SHELL)
"""All actions; the help shows them in this order."""
