"""What the client does with hooks: which it starts for a call, how, and what becomes of the call by their answers.

The rules are those of Claude Code (docs/clients.md): exit code 2 refuses; with 0 the JSON on standard output decides; with
anything else, a time-out included, the call runs, unless the entry says `onFailure: "block"`.
"""

import json
import os
import re
import signal
import subprocess
from dataclasses import dataclass
from enum import Enum

# How long the client waits for a hook that names no time of its own.
PATIENCE = 60


class Outcome(Enum):
    """What becomes of the call."""

    DENIED = "denied"
    ASKED = "asked"
    REWRITTEN = "rewritten"
    PASSED = "passed"
    UNANSWERED = "unanswered"

    @property
    def stopped(self):
        """Whether the call does not run as it was said, unless a person wants it."""
        return self in (Outcome.DENIED, Outcome.ASKED, Outcome.REWRITTEN)


# From the mildest to the strictest: of several hooks the strictest decides.
STRICTNESS = [Outcome.PASSED, Outcome.UNANSWERED, Outcome.REWRITTEN, Outcome.ASKED, Outcome.DENIED]


@dataclass(frozen=True)
class Hook:
    """One entry of a registration."""

    matcher: str
    argv: tuple
    timeout: float
    closed: bool

    def matches(self, tool):
        """Whether the client starts it for calls of this tool."""
        return self.matcher in ("", "*") or re.fullmatch(self.matcher, tool) is not None


@dataclass(frozen=True)
class Pipes:
    """Which of the hook's streams are closed at the client's end."""

    no_input: bool = False
    no_output: bool = False
    no_errors: bool = False


def hooks(settings):
    """The hooks before a tool call that settings register."""
    found = []
    for group in settings.get("hooks", {}).get("PreToolUse", []):
        for entry in group["hooks"]:
            if entry.get("type", "command") != "command":
                continue
            command = entry["command"]
            argv = (command, *entry["args"]) if "args" in entry else ("/bin/sh", "-c", command)
            closed = entry.get("onFailure") == "block"
            found.append(Hook(group.get("matcher", ""), argv, entry.get("timeout", PATIENCE), closed))
    return found


def registered(paths):
    """The hooks that the client finds in its settings files."""
    return [hook for path in paths if path.is_file() for hook in hooks(json.loads(path.read_text()))]


def message(tool, tool_input, home, project, session):
    """The message with which the client asks before a call."""
    return {
        "session_id": session,
        "transcript_path": f"{home}/.claude/projects/shop/{session}.jsonl",
        "cwd": str(project),
        "permission_mode": "default",
        "hook_event_name": "PreToolUse",
        "tool_name": tool,
        "tool_input": tool_input,
        "tool_use_id": f"toolu_{session}",
    }


def answer(code, out, tool_input):
    """What a hook that ended says of the call; nothing where the client can't tell."""
    if code == 2:
        return Outcome.DENIED
    if code != 0:
        return None
    try:
        said = json.loads(out) if out.strip().startswith(b"{") else {}
    except ValueError:
        return Outcome.PASSED
    specific = said.get("hookSpecificOutput") or {}
    decision = specific.get("permissionDecision")
    if decision == "deny" or said.get("decision") == "block" or said.get("continue") is False:
        return Outcome.DENIED
    if decision == "ask":
        return Outcome.ASKED
    if decision not in (None, "allow", "defer"):
        return None
    changed = specific.get("updatedInput")
    return Outcome.REWRITTEN if changed not in (None, tool_input) else Outcome.PASSED


def start(argv, text, cwd, env, pipes=Pipes()):
    """A hook that has been started, its own streams, and what is to be written to it."""

    def broken():
        reader, writer = os.pipe()
        os.close(reader)
        return writer

    out = broken() if pipes.no_output else subprocess.PIPE
    err = broken() if pipes.no_errors else subprocess.PIPE
    try:
        return subprocess.Popen(
            argv,
            cwd=cwd,
            env=env,
            stdin=None if pipes.no_input else subprocess.PIPE,
            stdout=out,
            stderr=err,
            start_new_session=True,
            preexec_fn=(lambda: os.close(0)) if pipes.no_input else None,
        ), (None if pipes.no_input else text)
    finally:
        for end in (out, err):
            if end != subprocess.PIPE:
                os.close(end)


def ask(hook, text, tool_input, cwd, env, limit, pipes=Pipes()):
    """What becomes of a call by one hook."""
    failed = Outcome.DENIED if hook.closed else Outcome.UNANSWERED
    try:
        process, text = start(hook.argv, text, cwd, env, pipes)
    except OSError:
        return failed
    try:
        out, _ = process.communicate(text, timeout=min(limit, hook.timeout))
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return failed
    return answer(process.returncode, out or b"", tool_input) or failed


def outcome(found, said, text, cwd, env, limit, pipes=Pipes()):
    """What becomes of a call by all hooks that are started for it."""
    answers = [
        ask(hook, text, said["tool_input"], cwd, env, limit, pipes)
        for hook in found
        if hook.matches(said["tool_name"])
    ]
    return max(answers, key=STRICTNESS.index, default=Outcome.PASSED)
