"""The signature over the sums, by the key that is given."""

import os
import subprocess

from .project import Refused

PASSWORD = "LAZARET_MINISIGN_PASSWORD"


def password():
    """The key's password, taken away: nothing that is started later sees it."""
    return os.environ.pop(PASSWORD, "")


def sign(project, key, password):
    """Whoever has the sums has the rest. The comment is fixed, so that a signature too is the same bytes each time."""
    words = ["minisign", "-S", "-s", key, "-m", "SHA256SUMS", "-t", f"{project.name} {project.version} {project.commit}"]
    done = subprocess.run(words, cwd=project.out, input=password + "\n", stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        raise Refused(f"minisign: {done.stdout.strip()}")
