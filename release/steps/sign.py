"""The signature over the sums, by the key that is given."""

import os
import subprocess

from .project import Refused


def sign(project, key):
    """Whoever has the sums has the rest. The comment is fixed, so that a signature too is the same bytes each time."""
    words = ["minisign", "-S", "-s", key, "-m", "SHA256SUMS", "-t", f"{project.name} {project.version} {project.commit}"]
    given = os.environ.get("LAZARET_MINISIGN_KEY")
    ours = given and not key.exists()
    if ours:
        # Where a key is a secret of the machine that builds: for this moment, for this user.
        with open(os.open(key, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as out:
            out.write(given.rstrip() + "\n")
    password = os.environ.get("LAZARET_MINISIGN_PASSWORD", "") + "\n"
    try:
        done = subprocess.run(words, cwd=project.out, input=password, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    finally:
        if ours:
            key.unlink()
    if done.returncode != 0:
        raise Refused(f"minisign: {done.stdout.strip()}")
