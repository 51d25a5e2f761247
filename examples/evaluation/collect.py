#!/usr/bin/env python3
"""Collects the command lines of ordinary development out of directories full of unpacked packages.

    collect.py DIRECTORY... > commands.jsonl

Looks at CI files (`run:`, `script:`), package.json scripts, recipes of Makefiles, RUN lines of Dockerfiles, and the shell blocks
of documentation; archives (.tar.gz, .tgz, .crate) are looked into. Writes each command once: {"id", "source", "command"}.
The output is other people's text: keep it out of the repository. docs/evaluation.md says how it is used.
"""

import json
import os
import re
import subprocess
import sys
import tarfile

CI = re.compile(r"(^|/)(\.github/workflows/[^/]*\.ya?ml|\.gitlab-ci\.ya?ml|\.circleci/config\.yml|\.travis\.yml|appveyor\.yml|azure-pipelines\.yml)$")
DOCUMENT = re.compile(r"\.(md|markdown|mdx|rst|txt)$", re.I)
FENCE = re.compile(r"^(\s*)(```+|~~~+)\s*\{?\.?(sh|bash|shell|console|zsh|shell-session|terminal|shellsession)\b[^\n]*\n(.*?)^\s*\2\s*$", re.M | re.S | re.I)
RST = re.compile(r"^(\s*)\.\. (?:code-block|sourcecode|code)::\s*(?:bash|sh|shell|console|zsh|text)?\s*\n((?:\1[ \t]+[^\n]*\n|\s*\n)+)", re.M)
LARGEST = 400_000
LONGEST = 4_000


def lines_joined(text):
    """Logical lines: continuations joined, comments and blank lines dropped."""
    joined = re.sub(r"\\\n\s*", " ", text)
    return [line.rstrip() for line in joined.split("\n") if line.strip() and not line.strip().startswith("#")]


def compound(text):
    return re.search(r"<<-?\s*['\"]?\w|(^|\n)\s*(if|for|while|until|case|function)\b|\(\)\s*\{|(^|\n)\s*\(?\{?\s*$|'[^']*\n", text)


def of_block(text, prompts):
    """The commands of a block of shell text."""
    shown = [line for line in text.split("\n") if re.match(r"\s*[$%#>❯]\s+\S", line)]
    marked = [line for line in shown if re.match(r"\s*[$❯%]\s+\S", line)]
    if marked:
        logical = []
        lines = iter(text.split("\n"))
        for line in lines:
            found = re.match(r"\s*[$❯%]\s+(\S.*)", line)
            if not found:
                continue
            command = found.group(1)
            while command.endswith("\\"):
                command = command[:-1] + " " + re.sub(r"^\s*>?\s*", "", next(lines, ""))
            logical.append(command)
        return logical
    if prompts:
        return []
    return [text.strip()] if compound(text) else lines_joined(text)


def dedent(text):
    lines = text.split("\n")
    margins = [len(line) - len(line.lstrip()) for line in lines if line.strip()]
    margin = min(margins, default=0)
    return "\n".join(line[margin:] for line in lines)


def of_document(text):
    for found in FENCE.finditer(text):
        prompts = found.group(3).lower() not in ("sh", "bash", "zsh", "shell")
        yield from of_block(dedent(found.group(4)), prompts)
    for found in RST.finditer(text):
        yield from of_block(dedent(found.group(2)), True)


def of_ci(text):
    lines = text.split("\n")
    at = 0
    while at < len(lines):
        line = lines[at]
        at += 1
        found = re.match(r"(\s*)(?:- )?(?:run|script|before_script|after_script|install|before_install|command)\s*:\s*(.*)$", line)
        if not found:
            continue
        margin, value = len(found.group(1)), found.group(2).strip()
        if value and not re.match(r"[|>][-+]?\d*$", value):
            if value[0] in "\"'" and value[-1] == value[0] and len(value) > 1:
                value = value[1:-1]
            if not re.match(r"[\[{&*]", value):
                yield value
            continue
        block = []
        while at < len(lines) and (not lines[at].strip() or len(lines[at]) - len(lines[at].lstrip()) > margin or (not value and re.match(rf"\s{{{margin}}}- ", lines[at]))):
            block.append(lines[at])
            at += 1
        text = dedent("\n".join(block)).strip("\n")
        if value.startswith(">"):
            yield " ".join(text.split())
        elif value:
            yield from [text] if compound(text) else lines_joined(text)
            if not compound(text) and text.count("\n"):
                yield text
        else:
            for item in re.findall(r"^- (?!\|)(.*)$", text, re.M):
                item = item.strip()
                if item and item[0] in "\"'" and item[-1] == item[0] and len(item) > 1:
                    item = item[1:-1]
                if item and item[0] not in "{[&*":
                    yield item


def of_makefile(text):
    for line in re.sub(r"\\\n\s*", " ", text).split("\n"):
        if line.startswith("\t"):
            line = line.strip().lstrip("@-+ ")
            # What a variable of make holds is not said here.
            if line and not line.startswith("#") and not re.search(r"(?<!\$)\$[({<@^*?]", line):
                yield line.replace("$$", "$")


def of_dockerfile(text):
    for line in re.sub(r"\\\n(\s*#[^\n]*\n)*\s*", " ", text).split("\n"):
        found = re.match(r"\s*RUN\s+((?:--\S+\s+)*)([^\[].*)", line)
        if found:
            yield found.group(2)


def of_package(text):
    try:
        scripts = json.loads(text).get("scripts")
    except (ValueError, AttributeError):
        return
    if isinstance(scripts, dict):
        yield from (script for script in scripts.values() if isinstance(script, str))


def commands(path, text):
    name = os.path.basename(path)
    if CI.search(path):
        return "CI file", of_ci(text)
    if name == "package.json":
        return "package script", of_package(text)
    if name in ("Makefile", "makefile", "GNUmakefile") or name.endswith(".mk"):
        return "Makefile", of_makefile(text)
    if name.startswith("Dockerfile") or name.endswith(".Dockerfile"):
        return "Dockerfile", of_dockerfile(text)
    if DOCUMENT.search(name):
        return "documentation", of_document(text)
    return None, ()


def wanted(path):
    return bool(CI.search(path) or DOCUMENT.search(path) or re.search(r"(^|/)(package\.json|[Mm]akefile|GNUmakefile|Dockerfile[^/]*|[^/]*\.(mk|Dockerfile))$", path))


def files(root):
    for directory, names, found in os.walk(root):
        names.sort()
        for name in sorted(found):
            path = os.path.join(directory, name)
            if re.search(r"\.(tar\.gz|tgz|crate)$", name):
                try:
                    with tarfile.open(path) as archive:
                        for member in archive:
                            if member.isfile() and member.size < LARGEST and wanted(member.name):
                                yield member.name, archive.extractfile(member).read()
                except (tarfile.TarError, OSError, EOFError):
                    print(f"{path}: cannot be read", file=sys.stderr)
            elif wanted(path) and os.path.isfile(path) and os.path.getsize(path) < LARGEST:
                with open(path, "rb") as file:
                    yield path, file.read()


def cleaned(command):
    """Holes that somebody fills before running it: `${{ x }}`, `{{ x }}`, `<name>`."""
    command = re.sub(r"\$?\{\{\s*([^}]*?)\s*\}\}", lambda hole: re.sub(r"\W+", "-", hole.group(1)).strip("-") or "value", command)
    command = re.sub(r"(?<![<\w])<([A-Za-z][\w .:/-]*)>", lambda hole: re.sub(r"\W+", "-", hole.group(1)), command)
    return command.strip()


def is_shell(command):
    """Whether a shell can read it: much in shell blocks is output, or another system's language. It is not run (`-n`)."""
    return subprocess.run(["bash", "-n"], input=command, text=True, capture_output=True, check=False).returncode == 0


def main():
    seen = set()
    for root in sys.argv[1:]:
        for path, data in files(root):
            source, found = commands(path, data.decode("utf-8", "replace").replace("\r\n", "\n"))
            for command in found:
                command = cleaned(command)
                key = " ".join(command.split())
                # A word alone, or prose, is no command that says anything.
                if key in seen or len(command) > LONGEST or "�" in command or not re.match(r"[\w./~$({\"'\[:!]", command):
                    continue
                seen.add(key)
                if not is_shell(command):
                    continue
                print(json.dumps({"id": len(seen), "source": source, "command": command}, ensure_ascii=False))


if __name__ == "__main__":
    main()
