"""The made-up machine that a guard sees: a developer's home directory and a project under git, laid anew for every call.

Where the kernel lets us, all of it is in namespaces of its own: no network but loopback, no right but a user's, a process tree
that ends with the run. Nothing of the corpus is ever run here or elsewhere: hooks are given messages.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

USER = "adalee"
PROJECT = "shop"

# Small stand-ins for what a developer has. The keys are words, not keys.
HOME_FILES = {
    ".bashrc": "# aliases\nalias ll='ls -l'\n",
    ".profile": "[ -f ~/.bashrc ] && . ~/.bashrc\n",
    ".gitconfig": "[user]\n\tname = Ada Lee\n\temail = ada@shop.example\n[init]\n\tdefaultBranch = main\n",
    ".ssh/config": "Host git.example\n\tUser git\n",
    ".ssh/id_ed25519": "a made-up private key\n",
    ".ssh/id_ed25519.pub": "ssh-ed25519 AAAA-made-up ada@shop.example\n",
    ".aws/credentials": "[default]\naws_access_key_id = made-up\naws_secret_access_key = made-up\n",
    ".kube/config": "apiVersion: v1\nkind: Config\n",
    ".npmrc": "//registry.example/:_authToken=made-up\n",
    "Documents/letter.txt": "Dear Ada,\n",
    "work/blog/index.md": "# Blog\n",
}

# Installers look which version of the client there is, and register what it understands.
CLIENT = ".local/bin/claude"
CLIENT_SAYS = "#!/bin/sh\necho '2.1.329 (Claude Code)'\n"

PROJECT_FILES = {
    "README.md": "# shop\n\n## Usage\n\nnpm start\n",
    "CHANGELOG.md": "# Changes\n",
    "package.json": '{\n  "name": "shop",\n  "version": "1.4.0",\n  "scripts": {\n    "build": "webpack",\n    "test": "jest",\n    "lint": "eslint src"\n  }\n}\n',
    "package-lock.json": '{"name": "shop", "lockfileVersion": 3}\n',
    "tsconfig.json": '{"compilerOptions": {"strict": true}}\n',
    "Makefile": "all:\n\tnpm run build\n\ntest:\n\tnpm test\n\nclean:\n\trm -rf dist\n",
    "Dockerfile": "FROM node:20-alpine\n",
    "compose.yaml": "services:\n  db:\n    image: postgres:16\n",
    ".env.example": "DATABASE_URL=postgres://user:password@localhost/shop\n",
    ".gitignore": "node_modules/\ndist/\n.env\nlogs/\nbuild/\n",
    "src/index.js": "import { total } from './cart.js';\n",
    "src/cart.js": "export function total(price, n) {\n  return price * n;\n}\n",
    "src/poll.js": "setTimeout(poll, 500)\n",
    "tests/cart.test.js": "test('total', () => {});\n",
    "tests/fixtures/order.json": '{"lines": []}\n',
    "docs/security.md": "# Security\n\nReport holes to security@shop.example.\n",
    "docs/contributing.md": "# Contributing\n",
    "scripts/release-notes.sh": "#!/bin/sh\ngit log --oneline \"$1\"\n",
    "config/dev.yml": "port: 3000\n",
    "infra/main.tf": 'resource "x" "y" {\n  instance_type = "t3.small"\n}\n',
    "locales/de.json": '{\n  "cart": "Wagen"\n}\n',
}

IGNORED_FILES = {
    ".env": "DATABASE_URL=postgres://shop:made-up@localhost/shop_dev\n",
    "dist/app.js": "1\n",
    "logs/dev.log": "started\n",
    "node_modules/lodash/package.json": '{"name": "lodash", "version": "4.17.21"}\n',
}

# What the namespaces are made with: mounts as their root, and then a user without rights. The words after it are run there.
ENTER = """set -eu
ip link set lo up 2>/dev/null || true
stage=$1 user=$2; shift 2
mkdir -p "$stage/homes"
mount -t tmpfs -o mode=755 none "$stage/homes"
for home in /home/*; do
    if [ -d "$home" ] && [ "$home" != "/home/$user" ]; then
        mkdir "$stage/homes/${home#/home/}"
        mount --rbind "$home" "$stage/homes/${home#/home/}"
    fi
done
mkdir "$stage/homes/$user"
{ echo "$user:x:1000:1000::/home/$user:/bin/sh"; cat /etc/passwd; } >"$stage/passwd"
mount --bind "$stage/passwd" /etc/passwd
mount --rbind "$stage/homes" /home
exec unshare --user --map-user=1000 --map-group=1000 -- "$@"
"""

NAMESPACES = ["unshare", "--user", "--map-root-user", "--net", "--mount", "--pid", "--fork", "--mount-proc", "--kill-child", "--"]


def confined(stage, argv):
    """The words that run something on the made-up machine in namespaces of its own."""
    return [*NAMESPACES, "/bin/sh", "-c", ENTER, "sh", str(stage), USER, *argv]


def can_confine(stage):
    """Whether this machine lets us make such namespaces."""
    stage.mkdir(parents=True, exist_ok=True)
    try:
        done = subprocess.run(confined(stage, ["test", "-d", f"/home/{USER}"]), capture_output=True, check=False)
    except FileNotFoundError:
        return False
    return done.returncode == 0


def write(root, files):
    """Files below a directory."""
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


class World:
    """One home directory with its project."""

    def __init__(self, home, path, package):
        self.home = home
        self.project = home / PROJECT
        # Outside of the home directory, so that no guard takes it for the person's.
        self.template = Path(tempfile.mkdtemp(prefix="compare-"))
        self.package = package
        # Real programs of this machine are found after the guard's own.
        self.env = {
            "HOME": str(home),
            "USER": USER,
            "LOGNAME": USER,
            "SHELL": "/bin/bash",
            "LANG": "C.UTF-8",
            "TERM": "xterm-256color",
            "PATH": os.pathsep.join([*map(str, path), str((home / CLIENT).parent), *search_path()]),
            "CLAUDE_PROJECT_DIR": str(self.project),
            "CLAUDE_CODE_ENTRYPOINT": "cli",
        }

    def settings(self):
        """The files in which the client looks for hooks."""
        return [
            self.home / ".claude/settings.json",
            self.project / ".claude/settings.json",
            self.project / ".claude/settings.local.json",
        ]

    def build(self):
        """Lays everything out for the first time."""
        write(self.home, {**HOME_FILES, CLIENT: CLIENT_SAYS})
        (self.home / CLIENT).chmod(0o755)
        write(self.project, PROJECT_FILES)
        for words in (
            ["init", "-q", "-b", "main"],
            ["remote", "add", "origin", "git@git.example:shop/shop.git"],
            ["add", "."],
            *(["commit", "-q", "--allow-empty", "-m", f"shop 1.{minor}.0"] for minor in range(5)),
            ["update-ref", "refs/remotes/origin/main", "HEAD"],
            ["branch", "-q", "feature/search"],
            ["switch", "-q", "-c", "feature/cart"],
            ["update-ref", "refs/remotes/origin/feature/cart", "HEAD"],
        ):
            self.git(*words)
        self.change("src/poll.js", "// put aside\n")
        self.git("stash", "push", "-q")
        write(self.project, IGNORED_FILES)
        self.change("src/cart.js", "// a change that is not committed\n")

    def git(self, *words):
        """A step of the project's history."""
        subprocess.run(["git", *words], cwd=self.project, env=self.env, check=True, capture_output=True)

    def change(self, name, line):
        """A line at the end of a file of the project."""
        with (self.project / name).open("a") as file:
            file.write(line)

    def keep(self):
        """Remembers everything as it is now, the guard's registration included."""
        shutil.rmtree(self.template, ignore_errors=True)
        shutil.copytree(self.home, self.template, symlinks=True)

    def restore(self):
        """Brings everything back to what was kept, so that no call sees what a hook did at an earlier one."""
        for entry in self.home.iterdir():
            shutil.rmtree(entry) if entry.is_dir() and not entry.is_symlink() else entry.unlink()
        shutil.copytree(self.template, self.home, symlinks=True, dirs_exist_ok=True)

    def forget(self):
        """Removes what was kept."""
        shutil.rmtree(self.template, ignore_errors=True)


def search_path():
    """Where the machine's own programs are, the interpreters that guards are written in included."""
    found = [shutil.which(program) for program in ("node", "git")]
    places = [str(Path(program).parent) for program in [sys.executable, *filter(None, found)]]
    return list(dict.fromkeys([*places, "/usr/local/bin", "/usr/bin", "/bin"]))
