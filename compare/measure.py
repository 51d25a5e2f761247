"""Measures one guard on the made-up machine: what it says of every case, what becomes of a call when it is broken, what it costs.

Only sums leave this file; single cases are listed for lazaret alone. Started by `compare/run`, inside the namespaces.
"""

import json
import random
import statistics
import subprocess
import sys
import time
import uuid
from collections import Counter
from pathlib import Path

import cases
import client
import installing
from client import Outcome, Pipes
from world import World

# Seconds that a hook has for a case, and how often its cost is measured.
LIMIT = 20
PAIRS = 31
# Characters of the message that is far larger than any that a client sends.
OVERSIZED = 8 << 20


class Run:
    """A guard, registered on the made-up machine."""

    def __init__(self, guard, work, home):
        self.guard = guard
        self.package = installing.place(guard, work)
        self.world = World(home, [self.package / part for part in guard.path], self.package)
        self.world.build()
        self.register()
        self.hooks = client.registered(self.world.settings())
        if not self.hooks:
            raise installing.NotInstalled(f"{guard.name}: no hook before a tool call is registered")
        self.world.keep()

    def register(self):
        """By the guard's own command, or with the settings of its documentation."""
        places = {"{package}": str(self.package)}
        if self.guard.settings:
            path = self.world.settings()[0]
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(cases.replaced(self.guard.settings, places))
            return
        argv = [cases.replaced(word, places) for word in self.guard.register]
        done = subprocess.run(
            argv, cwd=self.world.project, env=self.world.env, stdin=subprocess.DEVNULL, capture_output=True, text=True,
            timeout=120, check=False,
        )
        if done.returncode != 0:
            raise installing.NotInstalled(f"{self.guard.name}: {(done.stderr or done.stdout).strip()[-400:]}")

    def message(self, case):
        """The message for a case, as a call of a session of its own."""
        said = case.input(self.world.home, self.world.project)
        return client.message(case.tool, said, self.world.home, self.world.project, str(uuid.uuid4()))

    def outcome(self, said, text=None, limit=LIMIT, pipes=Pipes()):
        """What becomes of a call, on a machine where no other was made before."""
        text = json.dumps(said).encode() if text is None else text
        self.world.restore()
        return client.outcome(self.hooks, said, text, self.world.project, self.world.env, limit, pipes)


def answers(run, corpus):
    """What a guard says of every case, by case."""
    order = list(corpus)
    random.Random(17).shuffle(order)
    return {case: run.outcome(run.message(case)) for case in order}


def counted(said):
    """The sums over cases, by family and by kind of tool."""
    families, tools = {}, {}
    for case, outcome in said.items():
        side = "dangerous" if case.dangerous else "ordinary"
        kind = "shell" if case.tool == "Bash" else "others"
        for table, key in ((families, case.family), (tools, f"{side} {kind}")):
            row = table.setdefault(key, Counter())
            row["cases"] += 1
            row[outcome.value] += 1
    return {key: dict(row) for key, row in families.items()}, {key: dict(row) for key, row in tools.items()}


def stub(path, what):
    """A program that does nothing but fail, in the place of the guard's own."""
    shell = {"one": "exit 1", "abort": "kill -ABRT $$", "hang": "exec sleep 600"}
    script = {"one": "process.exit(1)", "abort": "process.abort()", "hang": "setInterval(() => {}, 1000)"}
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(script[what] if path.suffix == ".js" else f"#!/bin/sh\n{shell[what]}\n")
    path.chmod(0o755)


def broken_program(run, said, what):
    """What becomes of a call while the guard's package is away, or only a failing program is in its place."""
    away = installing.aside(run.package)
    run.package.rename(away)
    try:
        for name in run.guard.program if what != "missing" else []:
            stub(run.package / name, what)
        return run.outcome(said, limit=client.PATIENCE)
    finally:
        if run.package.exists():
            subprocess.run(["rm", "-rf", "--", run.package], check=True)
        away.rename(run.package)


def broken_messages(said):
    """Messages that no client should send, by name."""
    whole = json.dumps(said)
    nameless = {key: value for key, value in said.items() if key not in ("tool_name", "tool_input")}
    large = {**said, "tool_input": {**said["tool_input"], "description": "x" * OVERSIZED}}
    return {
        "empty": b"",
        "no JSON": b"this is no JSON\n",
        "cut off": whole[: len(whole) * 2 // 3].encode(),
        "no tool named": json.dumps(nameless).encode(),
        "bytes that are no text": b"\xff\xfe" + whole.encode(),
        "eight megabytes": json.dumps(large).encode(),
    }


def faults(run, said):
    """What becomes of a dangerous call that the guard otherwise stops, by kind of fault and fault."""
    programs = {
        "missing": "missing", "ends with 1": "one", "aborts": "abort", "hangs": "hang",
    }
    pipes = {
        "input closed": Pipes(no_input=True),
        "nobody reads the answer": Pipes(no_output=True),
        "nobody reads the errors": Pipes(no_errors=True),
        "all three": Pipes(True, True, True),
    }
    return {
        "program": {name: broken_program(run, said, what) for name, what in programs.items()},
        "message": {name: run.outcome(said, text) for name, text in broken_messages(said).items()},
        "pipes": {name: run.outcome(said, pipes=closed) for name, closed in pipes.items()},
    }


def seconds(argv, text, run):
    """How long a process takes from its start to its end."""
    before = time.perf_counter()
    process, text = client.start(argv, text, run.world.project, run.world.env)
    process.communicate(text)
    return time.perf_counter() - before


def cost(run, case):
    """How many times as long as an empty process the hooks take for an ordinary command; one of each in turn."""
    text = json.dumps(run.message(case)).encode()
    ratios = []
    for _ in range(PAIRS + 1):
        run.world.restore()
        empty = seconds(("/bin/true",), text, run)
        taken = sum(seconds(hook.argv, text, run) for hook in run.hooks if hook.matches(case.tool))
        ratios.append(taken / empty)
    # The first pair brings everything into memory.
    lower, median, upper = statistics.quantiles(ratios[1:], n=4)
    return {"median": round(median, 1), "lower": round(lower, 1), "upper": round(upper, 1), "pairs": PAIRS}


def said_of(run, corpus):
    """Answers and faults as sums, and for lazaret what it got wrong."""
    said = answers(run, corpus)
    families, tools = counted(said)
    shell = [case for case in corpus if case.dangerous and case.tool == "Bash"]
    probe = next((case for case in shell if said[case].stopped), shell[0])
    broken = faults(run, run.message(probe))
    result = {
        "tools": sorted({case.tool for case in corpus if any(hook.matches(case.tool) for hook in run.hooks)}),
        "families": families,
        "sides": tools,
        "faults": {
            kind: {"stopped": sum(outcome.stopped for outcome in found.values()), "faults": len(found)}
            for kind, found in broken.items()
        },
    }
    if run.guard.ours:
        wrong = [case for case in corpus if said[case].stopped != case.dangerous]
        result["mine"] = [f"{case.id}: {said[case].value}" for case in wrong] + [
            f"fault of the {kind}, {name}: {outcome.value}"
            for kind, found in broken.items() for name, outcome in found.items() if not outcome.stopped
        ]
    return result


def main(part, name, listed, corpus, work, home):
    """Prints one part of the measurements of one guard as JSON."""
    guards, _ = installing.read(Path(listed))
    guard = next(guard for guard in guards if guard.name == name)
    corpus = cases.load(Path(corpus))
    run = Run(guard, Path(work), Path(home))
    try:
        if part == "answers":
            result = said_of(run, corpus)
        else:
            result = cost(run, next(case for case in corpus if case.id == "git-status-log"))
    finally:
        run.world.forget()
    json.dump(result, sys.stdout)


if __name__ == "__main__":
    main(*sys.argv[1:])
