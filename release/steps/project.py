"""What is released: the checkout, its commit, and what Cargo.toml says of it."""

import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PLACEHOLDER = "example.invalid"
TARGETS = [
    "x86_64-unknown-linux-musl",
    "aarch64-unknown-linux-musl",
    "x86_64-apple-darwin",
    "aarch64-apple-darwin",
]


class Refused(Exception):
    """Why there is no release; said to the person in one line."""


def run(*words, **options):
    """What a program printed; that it failed ends the release."""
    try:
        done = subprocess.run([str(word) for word in words], stdout=subprocess.PIPE, text=True, **options)
    except OSError as error:
        raise Refused(f"{words[0]}: {error.strerror}")
    if done.returncode != 0:
        # It may have said why among what it would have printed.
        print(done.stdout, file=sys.stderr, end="")
        raise Refused(f"{' '.join(map(str, words[:3]))} … ended with {done.returncode}")
    return done.stdout


def needed(*tools):
    """Refuses what would end for want of a program."""
    missing = [tool for tool in tools if not shutil.which(tool)]
    if missing:
        raise Refused(f"{', '.join(missing)}: not installed here (on a Debian-like machine: release/prepare)")


def git(*words):
    return run("git", "-C", ROOT, *words).strip()


def tracked(*places):
    """The files of the checkout below these directories, without what an editor left there."""
    return git("ls-files", "--", *places).splitlines()


class Project:
    def __init__(self, trial, out):
        self.trial = trial
        package = tomllib.loads((ROOT / "Cargo.toml").read_text())["package"]
        self.name = package["name"]
        self.description = package["description"]
        self.license = package["license"]
        self.rust = package["rust-version"]
        self.keywords = package["keywords"]
        self.repository = package["repository"].rstrip("/")
        self.homepage = package["homepage"]
        self.documentation = package["documentation"]
        self.security = package["metadata"][self.name]["security"]
        # Of a trial the number itself says that it is one: neither files nor packages can be taken for the release.
        self.binary_version = package["version"]
        self.version = package["version"] + ("-trial" if trial else "")
        self.commit = git("rev-parse", "HEAD")
        self.epoch = int(git("show", "-s", "--format=%ct", "HEAD"))
        self.out = Path(out) if out else ROOT / "dist" / self.version
        self.downloads = f"{self.repository}/releases/download/v{self.version}"

    def check(self):
        """A release is of a commit, and says who made it."""
        fleet = tomllib.loads((ROOT / "fleet/Cargo.toml").read_text())["package"]["version"]
        if fleet != self.binary_version:
            raise Refused(f"Cargo.toml says version {self.binary_version}; fleet/Cargo.toml says version {fleet}")
        if self.trial:
            return
        unsaid = [
            key
            for key in ("repository", "homepage", "documentation", "security")
            if PLACEHOLDER in getattr(self, key)
        ]
        if unsaid:
            raise Refused(f"Cargo.toml: {', '.join(unsaid)}: still a placeholder; fill it in, or try with --trial")
        if git("status", "--porcelain"):
            raise Refused("the checkout has changes that are not committed; commit them, or try with --trial")
        tag = os.environ.get("LAZARET_TAG")
        if tag and tag != f"v{self.version}":
            raise Refused(f"the tag is {tag}, and Cargo.toml says v{self.version}")

    def stem(self, target, package=None):
        return f"{package or self.name}-{self.version}-{target}"
