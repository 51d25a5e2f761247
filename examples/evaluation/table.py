#!/usr/bin/env python3
"""The table of what was stopped: table.py commands.jsonl answers.jsonl

The second is what `lazaret check --batch commands.jsonl` printed. Prints, as Markdown, how many commands of each source were
let through, warned about, asked about and blocked, and the stopped ones by the rule that stops them; `--rows` lists them all.
"""

import json
import sys
from collections import Counter

ORDER = {"allow": 0, "warn": 1, "modify": 2, "block": 3}


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
            place = "Dockerfile" if row["source"] == "Dockerfile" else "elsewhere"
            rules[rule, answer["verdict"], place] += 1
            rows.append((answer["verdict"], rule, row["source"], row["command"]))
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
        for verdict, rule, source, command in sorted(rows):
            print(verdict, rule, source, json.dumps(command, ensure_ascii=False), sep="\t")


if __name__ == "__main__":
    main()
