"""Prints what a binary for macOS asks of the system it is started on, and refuses any library but the system's own."""

import os
import struct
import sys

LOAD_DYLIB, BUILD_VERSION, CODE_SIGNATURE = 0xC, 0x32, 0x1D
LEAST = os.environ["MACOSX_DEPLOYMENT_TARGET"]


def main(path):
    with open(path, "rb") as file:
        data = file.read()
    magic, cpu, _, kind, count = struct.unpack_from("<IiIII", data)
    if magic != 0xFEEDFACF or kind != 2:
        sys.exit(f"{path}: no 64-bit program for macOS")
    at, libraries, signed, least = 32, [], False, None
    for _ in range(count):
        command, size = struct.unpack_from("<II", data, at)
        if command == LOAD_DYLIB:
            start = at + struct.unpack_from("<I", data, at + 8)[0]
            libraries.append(data[start : data.index(b"\0", start)].decode())
        elif command == BUILD_VERSION:
            version = struct.unpack_from("<I", data, at + 12)[0]
            least = f"{version >> 16}.{version >> 8 & 255}"
        signed = signed or command == CODE_SIGNATURE
        at += size
    processor = {0x0100000C: "arm64", 0x01000007: "x86_64"}[cpu]
    print(f"{path}: {processor}, macOS {least} or later, {'signed' if signed else 'not signed'}, loads {', '.join(libraries)}")
    if not all(name.startswith(("/usr/lib/", "/System/Library/Frameworks/")) for name in libraries):
        sys.exit(f"{path}: it loads what not every Mac has")
    if least != LEAST:
        sys.exit(f"{path}: it is to run from macOS {LEAST} on")
    if processor == "arm64" and not signed:
        sys.exit(f"{path}: the system starts no arm64 program without a signature")


for name in sys.argv[1:]:
    main(name)
