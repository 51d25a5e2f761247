"""What package registries and clients are given, filled with this release's version, addresses and sums."""

import json
import re
import tempfile
from pathlib import Path

from .archive import BINARIES
from .pack import lay, sha256, tgz
from .project import ROOT, Refused, run

NPM = {
    "x86_64-unknown-linux-musl": ("linux", "x64"),
    "aarch64-unknown-linux-musl": ("linux", "arm64"),
    "x86_64-apple-darwin": ("darwin", "x64"),
    "aarch64-apple-darwin": ("darwin", "arm64"),
}
# What makes each form of those for Linux.
LINUX = {"deb": "dpkg-deb", "rpm": "rpmbuild"}
LICENCES = ["LICENSE-APACHE", "LICENSE-MIT"]
PLUGIN = [
    ".claude-plugin/marketplace.json",
    ".claude-plugin/plugin.json",
    "adapters/claude-code/agents/quarantine-reviewer.md",
    "hooks/fetch.sh",
    "hooks/hooks.json",
    *LICENCES,
]
BIN_LINE = 'const BIN = "@LAZARET_BIN@"\n'
# Without it the plugin must be loaded all the same: OpenCode drops one that throws, and then nothing is asked.
BIN_FOUND = """const BIN = packaged()

// The binary that npm put beside this package for this system; without one there is nothing to run, and every call is blocked.
function packaged() {
  try {
    const main = createRequire(import.meta.url).resolve("lazaret/package.json")
    return createRequire(main).resolve(`@lazaret/${process.platform}-${process.arch}/bin/lazaret`)
  } catch {
    return "/nonexistent/lazaret"
  }
}
"""


def texts(*names):
    return {name: (ROOT / name).read_bytes() for name in names}


def as_json(value):
    return json.dumps(value, indent=2).encode() + b"\n"


def make(project, inside, published):
    """Writes all of them beside the archives."""
    npm(project, inside)
    fill(project, published)
    plugin(project, published, inside)


def linux(project, files):
    """The packages for Debian and for rpm, by their names, of what an archive holds."""
    with tempfile.TemporaryDirectory() as work:
        unpacked, made = Path(work) / "unpacked", Path(work) / "made"
        lay(unpacked, files)
        run(ROOT / "packages/linux/build", *["--trial"] * project.trial, unpacked, made)
        # Of a version before the release GitHub would make a dot of the tilde, and then no sum would name it.
        return {path.name.replace("~", "."): path.read_bytes() for path in made.iterdir()}


def manifest(project, name, description, **more):
    said = {
        "name": name,
        "version": project.version,
        "description": description,
        "license": "(MIT OR Apache-2.0)",
        "homepage": project.homepage,
        "repository": {"type": "git", "url": f"git+{project.repository}.git"},
        "bugs": {"url": f"{project.repository}/issues"},
        **more,
    }
    if project.trial:
        # Where nobody listens.
        said["publishConfig"] = {"registry": "http://127.0.0.1:9/"}
    else:
        # Trusted publishing attests by itself; asked for here, it would refuse what is published by hand.
        said["publishConfig"] = {"access": "public"}
    return said


def npm(project, inside):
    out = project.out / "npm"
    out.mkdir()
    ours = texts(*LICENCES)

    def write(name, files):
        stem = name.replace("@", "").replace("/", "-")
        (out / f"{stem}-{project.version}.tgz").write_bytes(tgz("package", files | ours, project.epoch))

    exact = {}
    for target, files in inside.items():
        system, processor = NPM[target]
        name = f"@lazaret/{system}-{processor}"
        exact[name] = project.version
        said = manifest(
            project, name, f"lazaret's binary for {system} on {processor}",
            os=[system], cpu=[processor], preferUnplugged=True, files=["bin", "LICENSE*", "lazaret.cdx.json"],
        )
        taken = {name: files[name] for name in ("LICENSES-DEPENDENCIES.txt", "lazaret.cdx.json")}
        write(name, taken | {f"bin/{program}": files[program] for program in BINARIES} | {"package.json": as_json(said)})
    main = ROOT / "packages/npm/lazaret"
    said = manifest(
        project, project.name, project.description, keywords=project.keywords, bin={project.name: "bin/lazaret.js"},
        files=["bin", "LICENSE*"], engines={"node": ">=16"}, optionalDependencies=exact,
    )
    script, readme = (main / "bin/lazaret.js").read_bytes(), (main / "README.md").read_bytes()
    write(project.name, {"bin/lazaret.js": script, "README.md": readme, "package.json": as_json(said)})
    said = manifest(
        project, "@lazaret/opencode", "lazaret's gate as a plugin of OpenCode", keywords=project.keywords, type="module",
        main="index.js", exports={".": "./index.js"}, files=["index.js", "LICENSE*"], dependencies={project.name: project.version},
    )
    readme = (ROOT / "packages/npm/opencode/README.md").read_bytes()
    write("@lazaret/opencode", {"index.js": opencode(), "README.md": readme, "package.json": as_json(said)})


def opencode():
    """The plugin that `install` writes, but for where its binary is."""
    text = (ROOT / "adapters/opencode/lazaret.js").read_text()
    imports = 'import { spawn, spawnSync } from "node:child_process"\n'
    if text.count(BIN_LINE) != 1 or text.count(imports) != 1:
        raise Refused("adapters/opencode/lazaret.js: it names its binary otherwise now; change release/steps/packages.py")
    more = imports + 'import { createRequire } from "node:module"\n'
    return text.replace(imports, more).replace(BIN_LINE, BIN_FOUND).encode()


def values(project, published):
    """What a template may ask for, by its name."""
    found = {
        "VERSION": project.version,
        "DESCRIPTION": project.description,
        "HOMEPAGE": project.homepage,
        "REPOSITORY": project.repository,
        "DOWNLOADS": project.downloads,
        "COMMIT": project.commit,
    }
    for target in NPM:
        content = published.get(f"{project.stem(target)}.tar.gz")
        system, processor = NPM[target]
        # A trial of some targets leaves the rest as what nothing has.
        found[f"SHA256_{system}_{processor}".upper()] = sha256(content) if content else "0" * 64
    return found


def fill(project, published):
    said = values(project, published)
    for template in sorted((ROOT / "packages").rglob("*.in")):
        text = re.sub(r"@([A-Z0-9_]+)@", lambda found: said[found[1]], template.read_text())
        place = project.out / template.parent.name / template.stem
        place.parent.mkdir(exist_ok=True)
        place.write_text(text)


def plugin(project, published, inside):
    """The plugin for Claude Code with what it needs to fetch its binary: a directory that is a marketplace of its own."""
    files = texts(*PLUGIN)
    lines = []
    for target in inside:
        name = f"{project.stem(target)}.tar.gz"
        system, processor = NPM[target]
        lines.append(f"{system}-{processor} {sha256(published[name])} {project.downloads}/{name}\n")
    files["hooks/release"] = "".join(lines).encode()
    for name in (".claude-plugin/plugin.json", ".claude-plugin/marketplace.json"):
        said = json.loads(files[name])
        if "version" in said:
            said["version"] = project.version
        files[name] = as_json(said)
    lay(project.out / "claude-code-plugin", files)
