"""The page, and the same overview as a table for a terminal or a document. It is given sums and knows no case."""

from html import escape

import plots
import rates

STYLE = """
:root { color-scheme: light dark; --ink: #1d2430; --soft: #5a6473; --paper: #ffffff; --line: #d5dae1; --head: #f1f4f8;
  --danger: #1f6fb2; --plain: #b4540a; --ours: #0b3d66; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e9ee; --soft: #a3adba; --paper: #14181e; --line: #39424e; --head: #1f262f;
  --danger: #6cb4f0; --plain: #f0a35c; --ours: #a9d4f8; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1.5rem 1rem 4rem; max-width: 62rem; background: var(--paper); color: var(--ink);
  font: 1rem/1.55 system-ui, sans-serif; }
h1 { font-size: 1.7rem; line-height: 1.2; } h2 { font-size: 1.25rem; margin-top: 2.5rem; }
.scroll { overflow-x: auto; } table { border-collapse: collapse; margin: 1rem 0; min-width: 100%; font-variant-numeric: tabular-nums; }
caption { text-align: left; color: var(--soft); padding-bottom: .4rem; }
th, td { border-bottom: 1px solid var(--line); padding: .3rem .6rem; text-align: right; vertical-align: top; }
th { background: var(--head); font-weight: 600; } tbody th { background: none; }
th:first-child, .words { text-align: left; } td:not(.words) { white-space: nowrap; } tbody th { min-width: 9rem; } tr.ours th { color: var(--ours); font-weight: 700; }
svg { width: 100%; height: auto; margin: 1rem 0; } svg text { fill: var(--ink); font: 13px system-ui, sans-serif; }
svg .tick { fill: var(--soft); font-size: 11px; } svg .grid { stroke: var(--line); } svg .ours { font-weight: 700; }
.danger circle { fill: var(--danger); } .danger line { stroke: var(--danger); stroke-width: 2; }
.plain circle { fill: var(--paper); stroke: var(--plain); stroke-width: 2; } .plain line { stroke: var(--plain); stroke-width: 2; }
.bar rect { fill: var(--danger); } .bar line { stroke: var(--ink); stroke-width: 2; }
"""

OVERVIEW = ["guard", "version", "dangerous stopped", "of these denied", "ordinary stopped", "faults held", "cost"]

FAULTS = {
    "program": "the program is missing, ends with 1, aborts or hangs",
    "message": "the message is empty, no JSON, cut off, without a tool, no text, or eight megabytes long",
    "pipes": "input closed, nobody reads the answer, nobody reads the errors, all three",
}


def overview(guard):
    """A guard's row in the first table."""
    dangerous = rates.side(guard, "dangerous")
    return [
        guard["name"],
        guard["version"],
        str(rates.of(dangerous)),
        str(rates.of(dangerous, ("denied",))),
        str(rates.of(rates.side(guard, "ordinary"))),
        f"{rates.held(guard).part} of {rates.held(guard).whole}",
        f"{guard['cost']['median']}× ({guard['cost']['lower']}–{guard['cost']['upper']})",
    ]


def by_tool(guard):
    """A guard's row in the table that keeps the shell apart."""
    cells = [guard["name"], ", ".join(guard["tools"])]
    for side in ("dangerous", "ordinary"):
        cells += [str(rates.of(rates.side(guard, side, (kind,)))) for kind in ("shell", "others")]
    return cells + [str(rates.side(guard, "dangerous").get("unanswered", 0) + rates.side(guard, "ordinary").get("unanswered", 0))]


def by_fault(guard):
    """A guard's row in the table of faults."""
    return [guard["name"]] + [f"{guard['faults'][kind]['stopped']} of {guard['faults'][kind]['faults']}" for kind in FAULTS]


def by_family(results, dangerous):
    """The table of families: head and rows."""
    guards = results["guards"]
    families = {name: row for name, row in results["corpus"]["families"].items() if row["dangerous"] == dangerous}
    rows = [
        [row["title"], str(row["cases"])] + [f"{rates.of(guard['families'][name]).percent:.0f}" for guard in guards]
        for name, row in families.items()
    ]
    return ["family", "calls", *(guard["name"] for guard in guards)], rows


def table(caption, head, rows, ours=(), words=()):
    """A table whose first column names its rows; the columns in `words` hold text."""
    columns = "".join(
        f'<th scope="col"{" class=words" if number in words else ""}>{escape(cell)}</th>' for number, cell in enumerate(head)
    )
    body = ""
    for row in rows:
        cells = "".join(
            f'<td{" class=words" if number in words else ""}>{escape(cell)}</td>' for number, cell in enumerate(row[1:], 1)
        )
        kind = ' class="ours"' if row[0] in ours else ""
        body += f'<tr{kind}><th scope="row">{escape(row[0])}</th>{cells}</tr>'
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{escape(caption)}"><table><caption>{escape(caption)}</caption>'
        f"<thead><tr>{columns}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def said_of_corpus(results):
    """How many cases there are, in words."""
    rows = results["corpus"]["families"].values()
    dangerous = sum(row["cases"] for row in rows if row["dangerous"])
    ordinary = sum(row["cases"] for row in rows if not row["dangerous"])
    return f"{dangerous} dangerous and {ordinary} ordinary calls"


def sections(results):
    """What is on the page, one section after the other."""
    guards, ours = results["guards"], [guard["name"] for guard in results["guards"] if guard["ours"]]
    yield "Overview", (
        "<p>Stopped is denied, put to a person, or changed. Denied alone is the second column. A dangerous call that is not stopped "
        "runs; an ordinary one that is stopped is a false alarm. Cost is how many times as long as an empty process one hook call "
        "takes: the median, and between what half of the calls lie.</p>"
        + table("Rates, faults and cost", OVERVIEW, [overview(guard) for guard in guards], ours)
        + plots.stopped(guards)
        + plots.cost(guards)
    )
    yield "The shell and other tools", (
        "<p>Some guards are registered for the shell alone, or do not ask about every tool; what they are not asked about counts as let through, because it "
        "runs. Unanswered: the hook failed or took too long.</p>"
        + table(
            "Calls stopped, the shell apart from Write, Edit, Read and WebFetch",
            ["guard", "asked about", "dangerous: shell", "other tools", "ordinary: shell", "other tools", "unanswered"],
            [by_tool(guard) for guard in guards], ours, (1,),
        )
    )
    for title, dangerous in (("Dangerous calls by family", True), ("Ordinary calls by family", False)):
        head, rows = by_family(results, dangerous)
        yield title, table(f"{title}: stopped, in percent", head, rows)
    yield "Faults", (
        "<p>A dangerous call that the guard otherwise stops, while something is broken. Held: the call does not run.</p>"
        + table("Faults held", ["guard", *FAULTS.values()], [by_fault(guard) for guard in guards], ours)
    )
    yield "Guards", table(
        "What was run", ["guard", "version", "from", "licence", "what it is"],
        [[guard["name"], guard["version"], guard["registry"], guard["licence"], guard["about"]] for guard in guards], ours, (2, 3, 4),
    ) + table(
        "What was left out", ["guard", "version", "from", "licence", "why"],
        [[row["name"], row["version"], row["registry"], row["licence"], row["reason"]] for row in results["left_out"]]
        + [[name, "", "", "", f"it could not be run here: {reason}"] for name, reason in results["failed"].items()],
        (), (2, 3, 4),
    )


LIMITS = """<h2>What it does not show</h2><ul>
<li>The corpus was written by the people who write lazaret. They did not look at any guard while they wrote it, but they know what they think of as dangerous.</li>
<li>Guards have different aims: one that wants to catch a few mistakes is measured here by all that could go wrong.</li>
<li>Every guard runs with its defaults, as its own installer or documentation registers it, on one client's messages. Most can be made stricter.</li>
<li>Each call stands alone; what a guard makes of several calls in a row is not measured.</li>
<li>There is no network and no model: what a guard would ask of one is not asked.</li>
<li>No single case is shown for other guards, so that the page tells nobody how to get past one.</li>
</ul>"""


def page(results):
    """The whole page."""
    where = "without a network, as a user without rights" if results["confined"] else "in no namespaces of its own"
    body = "".join(f"<h2>{escape(title)}</h2>{content}" for title, content in sections(results))
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>Guards for coding agents, compared</title><style>{STYLE}</style></head><body><main>"
        f"<h1>Guards for coding agents, compared</h1>"
        f"<p>{said_of_corpus(results)}, given to the hooks of {len(results['guards'])} guards as Claude Code would give them, {where}. "
        f"{escape(results['date'])}, {escape(results['machine'])}, corpus {escape(results['corpus']['sum'])}.</p>"
        f"{body}{LIMITS}</main></body></html>\n"
    )


def text(results):
    """The overview and the table of tools, as Markdown."""
    guards = results["guards"]
    lines = [f"{said_of_corpus(results)}; {results['date']}, corpus {results['corpus']['sum']}", ""]
    heads = [(OVERVIEW, overview), (["guard", "asked about", "dangerous: shell", "other tools", "ordinary: shell", "other tools", "unanswered"], by_tool),
             (["guard", *FAULTS], by_fault)]
    for head, row in heads:
        lines += [f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
        lines += [f"| {' | '.join(row(guard))} |" for guard in guards] + [""]
    lines += [f"failed: {name}: {reason}" for name, reason in results["failed"].items()]
    return "\n".join(lines)
