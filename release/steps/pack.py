"""Files, archives and sums of which every byte follows from what is in them."""

import gzip
import hashlib
import io
import tarfile


def sha256(content):
    return hashlib.sha256(content).hexdigest()


def sums(files):
    """The form that `sha256sum -c` reads, of contents by name."""
    return "".join(f"{sha256(content)}  {name}\n" for name, content in sorted(files.items())).encode()


def tgz(top, files, epoch):
    """A .tar.gz of contents by name below one directory; `executable` names go by their mode."""
    tar_bytes = io.BytesIO()
    with tarfile.open(fileobj=tar_bytes, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        names = {top}
        for name in files:
            parts = f"{top}/{name}".split("/")
            names |= {"/".join(parts[:depth]) for depth in range(1, len(parts) + 1)}
        for name in sorted(names):
            entry = tarfile.TarInfo(name)
            entry.mtime = epoch
            content = files.get(name[len(top) + 1 :])
            if content is None:
                entry.type, entry.mode = tarfile.DIRTYPE, 0o755
                tar.addfile(entry)
            else:
                entry.size = len(content)
                entry.mode = 0o755 if is_program(content) else 0o644
                tar.addfile(entry, io.BytesIO(content))
    packed = io.BytesIO()
    # Neither a name nor a time in its header.
    with gzip.GzipFile(filename="", mode="wb", fileobj=packed, compresslevel=9, mtime=0) as out:
        out.write(tar_bytes.getvalue())
    return packed.getvalue()


def lay(tree, files):
    """Contents by name as files below a directory."""
    for name, content in files.items():
        path = tree / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        path.chmod(0o755 if is_program(content) else 0o644)


def is_program(content):
    """A script, or a binary of Linux or macOS."""
    return content[:2] == b"#!" or content[:4] in (b"\x7fELF", b"\xcf\xfa\xed\xfe")
