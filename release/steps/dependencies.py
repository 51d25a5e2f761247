"""What is linked into a binary: its crates by `cargo metadata`, their licences, and the bill of materials (CycloneDX)."""

import datetime
import json
import re
import tomllib
import uuid
from pathlib import Path

from .project import ROOT, Refused, run

FILES = re.compile(r"(licen[cs]e|copying|copyright|unlicense|notice)", re.IGNORECASE)
# Texts of what comes without one in its package, by its name.
OURS = ROOT / "release/licences"


class Dependencies:
    def __init__(self, package, target):
        # Fetches what is not there yet; the lock says what.
        told = run("cargo", "metadata", "--format-version=1", "--locked", f"--filter-platform={target}", cwd=ROOT)
        metadata = json.loads(told)
        packages = {package["id"]: package for package in metadata["packages"]}
        nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}
        # All members' features together would say more than is linked into this one.
        tree = ("--edges=normal,no-proc-macro", "--prefix=none", "--format={p}", f"--target={target}")
        lines = run("cargo", "tree", "--locked", f"--package={package}", *tree, cwd=ROOT).splitlines()
        linked_here = {tuple(line.split()[:2]) for line in lines if line}
        self.root = next(one for one in metadata["workspace_members"] if packages[one]["name"] == package)
        self.uses = {}
        left = [self.root]
        while left:
            one = left.pop()
            if one in self.uses:
                continue
            # Neither tests nor what only builds is in the binary.
            linked = [dep["pkg"] for dep in nodes[one]["deps"] if any(kind["kind"] is None for kind in dep["dep_kinds"])]
            linked = [dep for dep in linked if (packages[dep]["name"], "v" + packages[dep]["version"]) in linked_here]
            self.uses[one] = sorted(linked)
            left += linked
        key = lambda package: (package["name"], package["version"])
        self.crates = sorted((packages[one] for one in self.uses if one != self.root), key=key)
        self.of = packages
        lock = tomllib.loads((ROOT / "Cargo.lock").read_text())
        self.checksums = {(p["name"], p["version"]): p["checksum"] for p in lock["package"] if "checksum" in p}

    def licences(self, target):
        """One text with the licence of everything in the binary; that one is missing is an error."""
        system = ["rust-std"] + (["musl"] if target.endswith("musl") else [])
        said = [(f"{name}, of Rust's toolchain", [(OURS / name).read_text()]) for name in system]
        missing = []
        for crate in self.crates:
            place = Path(crate["manifest_path"]).parent
            own = OURS / crate["name"]
            # Also of what a package took from others.
            found = place.rglob("*") if crate["source"] else place.iterdir()
            files = sorted(file for file in found if file.is_file() and FILES.match(file.name) and file.suffix != ".rs")
            texts = [file.read_text(errors="replace") for file in files or [own] if file.is_file()]
            if not texts or not crate["license"]:
                missing.append(f"{crate['name']} {crate['version']}")
            said.append((f"{crate['name']} {crate['version']} ({crate['license']})", texts))
        if missing:
            raise Refused(f"no licence text of {', '.join(missing)}: write it to release/licences/NAME")
        # Most bring the same texts.
        of = {}
        for name, texts in said:
            for text in texts:
                of.setdefault("\n".join(line.rstrip() for line in text.strip().splitlines()), []).append(name)
        line = "=" * 100
        parts = [f"{line}\n{'; '.join(names)}\n{line}\n\n{text}\n" for text, names in of.items()]
        begin = f"What is linked into {self.of[self.root]['name']} (itself MIT OR Apache-2.0), and under which licence each is used:\n\n"
        return begin + "\n".join(f"  {name}" for name, _ in said) + "\n\n" + "\n".join(parts)

    def bill(self, project, target):
        """The bill of materials."""
        ref = lambda one: f"pkg:cargo/{self.of[one]['name']}@{self.of[one]['version']}"
        when = datetime.datetime.fromtimestamp(project.epoch, datetime.timezone.utc)
        package = self.of[self.root]["name"]
        seed = f"{project.repository} {project.commit} {package} {project.version} {target}"
        return {
            "$schema": "http://cyclonedx.org/schema/bom-1.5.schema.json",
            "bomFormat": "CycloneDX",
            "specVersion": "1.5",
            "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, seed)}",
            "version": 1,
            "metadata": {
                "timestamp": when.strftime("%Y-%m-%dT%H:%M:%SZ"),
                "component": {
                    "type": "application",
                    "bom-ref": ref(self.root),
                    "name": package,
                    "version": project.version,
                    "description": self.of[self.root]["description"],
                    "licenses": [{"expression": project.license}],
                    "purl": ref(self.root),
                    "externalReferences": [{"type": "vcs", "url": project.repository}],
                },
                "properties": [{"name": "cdx:rustc:target", "value": target}, {"name": "vcs:commit", "value": project.commit}],
            },
            "components": [self.component(crate, ref(crate["id"])) for crate in self.crates],
            "dependencies": [
                {"ref": ref(one), "dependsOn": sorted(ref(used) for used in self.uses[one])} for one in sorted(self.uses, key=ref)
            ],
        }

    def component(self, crate, ref):
        name = (crate["name"], crate["version"])
        if crate["source"] and name not in self.checksums:
            raise Refused(f"Cargo.lock: no checksum of {crate['name']}")
        # The older spelling of a choice is no expression of SPDX.
        licence = re.sub(r" */ *", " OR ", crate["license"])
        said = {
            "type": "library",
            "bom-ref": ref,
            "name": crate["name"],
            "version": crate["version"],
            "licenses": [{"expression": licence}],
            "purl": ref,
        }
        # What lies in this checkout has none: its commit says what it is.
        if crate["source"]:
            said["hashes"] = [{"alg": "SHA-256", "content": self.checksums[name]}]
        if crate["repository"]:
            said["externalReferences"] = [{"type": "vcs", "url": crate["repository"]}]
        return said

