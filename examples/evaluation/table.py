#!/usr/bin/env python3
"""The table of what was stopped: table.py commands.jsonl answers.jsonl

The second is what `lazaret check --batch commands.jsonl` printed. Prints, as Markdown, how many commands of each source were
let through, warned about, asked about and blocked, and the stopped ones by the rule that stops them; `--rows` lists them all.
`--judged=docs/evaluation-rows.md` prints that page again instead: one line for each stopped command, with the judgement that it
has there already; one that has none says so.
"""

import json
import re
import sys
from collections import Counter

ORDER = {"allow": 0, "warn": 1, "modify": 2, "block": 3}


SHORT = 96
UNJUDGED = "**not looked at yet**"


def shortened(command):
    """The command on one line that fits a table: addresses and everything behind the first words left out."""
    text = re.sub(r"(?:\w+:)?//[^\s'\"`|]+", "URL", " ".join(command.split()))
    text = text if len(text) <= SHORT else text[: SHORT - 1].rstrip() + "…"
    return text.replace("|", "\\|").replace("`", "'").replace("](", "] (")


def part(command, matched):
    """What of the command is stopped: the whole of a short one, what the rule names of a long one."""
    return shortened(matched if len(command) > 2 * SHORT and 3 < len(matched) < len(command) else command)


def judged(path, rows):
    with open(path, encoding="utf-8") as file:
        head, _, old = file.read().partition("| command |")
    cells = [re.split(r"(?<!\\) \| ", line.strip("| \n")) for line in old.split("\n")[2:] if line.startswith("| ")]
    known = {tuple(row[:4]): row[4] for row in cells if len(row) == 5}
    print(head + "| command | from | rule | verdict | judgement |\n|---|---|---|---|---|")
    lines = Counter((f"`{part(command, matched)}`", source, f"`{rule}`", {"modify": "asked", "block": "blocked"}[verdict]) for verdict, rule, source, command, matched in rows)
    for key in sorted(lines, key=lambda key: (key[2], key[3], key[0])):
        times = f" ({lines[key]} times)" if lines[key] > 1 else ""
        print("| " + " | ".join(key) + " | " + re.sub(r" \(\d+ times\)$", "", known.get(key, UNJUDGED)) + times + " |")


def main():
    files = [word for word in sys.argv[1:] if not word.startswith("--")]
    with open(files[0], encoding="utf-8") as file:
        commands = {row["id"]: row for row in map(json.loads, file)}
    with open(files[1], encoding="utf-8") as file:
        answers = [json.loads(line) for line in file]
    sources, rules, rows = Counter(), Counter(), []
    for answer in answers:
        row = commands[answer["id"]]
        sources[row["source"], answer["verdict"]] += 1
        if ORDER[answer["verdict"]] >= 2:
            told = [reason["rule"] for reason in answer["reasons"] if not reason["rule"].startswith(("matrix.", "effect."))]
            rule = (told or [reason["rule"] for reason in answer["reasons"]])[0]
            matched = next((reason.get("matched") or "" for reason in answer["reasons"] if reason["rule"] == rule), "")
            place = "Dockerfile" if row["source"] == "Dockerfile" else "elsewhere"
            rules[rule, answer["verdict"], place] += 1
            rows.append((answer["verdict"], rule, row["source"], row["command"], matched))
    page = next((word.split("=", 1)[1] for word in sys.argv[1:] if word.startswith("--judged=")), None)
    if page:
        judged(page, rows)
        return
    print("| source | commands | let through | warned | asked | blocked |\n|---|--:|--:|--:|--:|--:|")
    for source in sorted({source for source, _ in sources}):
        counts = [sources[source, verdict] for verdict in ORDER]
        print(f"| {source} | {sum(counts)} | " + " | ".join(map(str, counts)) + " |")
    counts = [sum(sources[source, verdict] for source, _ in {(s, 0) for s, _ in sources}) for verdict in ORDER]
    print(f"| **all** | {sum(counts)} | " + " | ".join(map(str, counts)) + " |")
    print("\n| rule | verdict | in Dockerfiles | elsewhere |\n|---|---|--:|--:|")
    for rule, verdict in sorted({(rule, verdict) for rule, verdict, _ in rules}):
        print(f"| `{rule}` | {verdict} | {rules[rule, verdict, 'Dockerfile']} | {rules[rule, verdict, 'elsewhere']} |")
    if "--rows" in sys.argv:
        for verdict, rule, source, command, _ in sorted(rows):
            print(verdict, rule, source, json.dumps(command, ensure_ascii=False), sep="\t")


if __name__ == "__main__":
    main()
