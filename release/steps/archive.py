"""One archive: the binaries, install.sh, the manual, completions, licences and the bill of materials."""

import json
import re

from .dependencies import Dependencies
from .pack import sums, tgz
from .project import ROOT, Refused, run

COMPLETIONS = {
    "bash": "share/bash-completion/completions/lazaret",
    "zsh": "share/zsh/site-functions/_lazaret",
    "fish": "share/fish/vendor_completions.d/lazaret.fish",
}
# The first is what the clients run, the second what people look at.
BINARIES = ["lazaret", "lazaret-view"]
TEXTS = ["install.sh", "README.md", "CHANGELOG.md", "SECURITY.md", "LICENSE-APACHE", "LICENSE-MIT"]


def shared(binary):
    """The manual and the completions, said by a binary that runs here. They are the same for every system."""
    files = {path: run(binary, "completions", shell).encode() for shell, path in COMPLETIONS.items()}
    left = [[]]
    while left:
        words = left.pop()
        page = run(binary, "man", *words)
        name = "-".join(["lazaret", *words])
        files[f"share/man/man1/{name}.1"] = page.encode()
        # The page names those of its subcommands.
        below = re.findall(rf"^{name}-(\S+)\(1\)$", page.replace("\\-", "-"), re.MULTILINE)
        left += [[*words, word] for word in below]
    if len(files) < 30:
        raise Refused(f"the manual has only {len(files)} pages: does clap name subcommands otherwise now?")
    return files


def contents(project, target, binary, pages):
    """All that is in an archive, by name."""
    found = Dependencies(target)
    bill = json.dumps(found.bill(project, target), indent=1).encode() + b"\n"
    files = {name: (ROOT / name).read_bytes() for name in TEXTS}
    files |= pages
    for name in BINARIES:
        files[name] = binary.with_name(name).read_bytes()
    files["LICENSES-DEPENDENCIES.txt"] = found.licences(target).encode()
    files["lazaret.cdx.json"] = bill
    files["SHA256SUMS"] = sums(files)
    return files


def archive(project, target, files):
    return tgz(project.stem(target), files, project.epoch)
