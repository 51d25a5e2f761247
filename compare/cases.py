"""The corpus: calls of an agent, each with what it does and whether it is dangerous. It knows nothing of guards."""

import hashlib
import tomllib
from dataclasses import dataclass
from pathlib import Path

CORPUS = Path(__file__).resolve().parent / "corpus"

# The keys by which a case says its call: the tool's name, and the fields that the values fill, in their order.
CALLS = {
    "bash": ("Bash", ("command",)),
    "write": ("Write", ("file_path", "content")),
    "edit": ("Edit", ("file_path", "old_string", "new_string")),
    "read": ("Read", ("file_path",)),
    "fetch": ("WebFetch", ("url", "prompt")),
}


class Malformed(Exception):
    """A file of the corpus that does not say what it must."""


@dataclass(frozen=True)
class Case:
    """One call, complete in itself."""

    id: str
    family: str
    title: str
    dangerous: bool
    tool: str
    fields: tuple
    what: str
    why: str

    def input(self, home, project):
        """What the client hands to the tool, with the places of this run."""
        places = {"{home}": str(home), "{project}": str(project)}
        return {name: replaced(text, places) for name, text in self.fields}


def replaced(text, places):
    """A text with the words for places replaced by the places."""
    for word, place in places.items():
        text = text.replace(word, place)
    return text


def call(entry, where):
    """The tool and the fields of an entry, which must say exactly one call."""
    said = [key for key in CALLS if key in entry]
    if len(said) != 1:
        raise Malformed(f"{where}: exactly one of {', '.join(CALLS)} is wanted, not {len(said)}")
    tool, names = CALLS[said[0]]
    values = entry[said[0]]
    values = [values] if isinstance(values, str) else values
    if len(values) != len(names) or not all(isinstance(value, str) for value in values):
        raise Malformed(f"{where}: {said[0]} takes {len(names)} texts")
    return tool, tuple(zip(names, values))


def family(path):
    """All cases of one file."""
    with path.open("rb") as file:
        table = tomllib.load(file)
    name, title, dangerous = table["family"], table["title"], table["dangerous"]
    if name != path.stem or dangerous != (path.parent.name == "dangerous"):
        raise Malformed(f"{path}: name and place of the file do not fit what it says of itself")
    cases = []
    for entry in table["case"]:
        where = f"{path.name}: {entry.get('id', 'a case without an id')}"
        for key in ("id", "what", "why"):
            if not entry.get(key, "").strip():
                raise Malformed(f"{where}: {key} is missing")
        unknown = set(entry) - {"id", "what", "why", *CALLS}
        if unknown or not entry["id"].startswith(f"{name}-"):
            raise Malformed(f"{where}: an id of another family, or an unknown key {sorted(unknown)}")
        tool, fields = call(entry, where)
        cases.append(Case(entry["id"], name, title, dangerous, tool, fields, entry["what"], entry["why"]))
    return cases


def files(corpus=CORPUS):
    """The files of the corpus, the dangerous ones first."""
    return sorted(corpus.glob("dangerous/*.toml")) + sorted(corpus.glob("ordinary/*.toml"))


def load(corpus=CORPUS):
    """The whole corpus."""
    cases = [case for path in files(corpus) for case in family(path)]
    ids = [case.id for case in cases]
    twice = {name for name in ids if ids.count(name) > 1}
    if twice:
        raise Malformed(f"ids that occur twice: {sorted(twice)}")
    return cases


def digest(corpus=CORPUS):
    """A sum of the corpus, so that results of different ones are not compared."""
    total = hashlib.sha256()
    for path in files(corpus):
        total.update(path.read_bytes())
    return total.hexdigest()[:16]
