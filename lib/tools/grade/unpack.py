#!/usr/bin/env python3
"""Takes the exercises out of an archive that nobody trusts: unpack.py ARCHIVE FOLDER NAME...

ARCHIVE is a .zip or a .tar, .tar.gz or .tgz. Of it only plain files whose path ends in one of the NAMEs ("00_devices/ring.cpp")
are written, as FOLDER/NAME; the first of each. A path that leads out, a link, a device or a file that is larger than
LARGEST is left out and named on standard output. What is read is limited, so that no bomb goes off. Exit status 1: it
cannot be read as an archive.
"""

import pathlib
import posixpath
import stat
import sys
import tarfile
import zipfile

LARGEST = 1 << 20  # bytes of an exercise: grade.cpp has the same limit
MOST_ENTRIES = 100_000
MOST_BYTES = 256 << 20  # of a tar file, unpacked


class Taker:
    """Decides about the entries of an archive, one after the other."""

    def __init__(self, folder, names):
        self.folder = pathlib.Path(folder)
        self.names = set(names)
        self.entries = 0

    def take(self, path, kind, size, open_entry):
        """`kind` is "file", "link", "folder" or anything else."""
        self.entries += 1
        if self.entries > MOST_ENTRIES:
            raise ValueError(f"it has more than {MOST_ENTRIES} entries")
        parts = path.replace("\\", "/").split("/")
        if path.startswith("/") or ".." in parts:
            raise ValueError(f"{path!a} leads out of it")
        name = posixpath.join(*parts[-2:]) if len(parts) > 1 else ""
        if name not in self.names or kind == "folder":
            return
        if kind != "file":
            print(f"{name} is a link" if kind == "link" else f"{name} is no plain file")
            return
        text = b"" if size > LARGEST else open_entry().read(LARGEST + 1)
        if size > LARGEST or len(text) > LARGEST:
            print(f"{name} is larger than {LARGEST} bytes")
            return
        self.names.remove(name)
        target = self.folder / name
        target.parent.mkdir(exist_ok=True)
        target.write_bytes(text)


def unpack_zip(archive, taker):
    """Reads the directory at its end, then the entries that are taken."""
    with zipfile.ZipFile(archive) as entries:
        for entry in entries.infolist():
            mode = entry.external_attr >> 16
            kind = "folder" if entry.is_dir() else "link" if stat.S_ISLNK(mode) else "file"
            taker.take(entry.filename, kind, entry.file_size, lambda entry=entry: entries.open(entry))


class Limited:
    """A stream that ends with an error after MOST_BYTES."""

    def __init__(self, stream):
        self.stream = stream
        self.left = MOST_BYTES

    def read(self, size):
        """As a file's."""
        block = self.stream.read(size)
        self.left -= len(block)
        if self.left < 0:
            raise ValueError(f"it unpacks to more than {MOST_BYTES} bytes")
        return block


def unpack_tar(archive, taker):
    """Reads it from the beginning to the end, once."""
    import gzip

    with open(archive, "rb") as file:
        compressed = file.read(2) == b"\x1f\x8b"
    opened = gzip.open(archive) if compressed else open(archive, "rb")
    with opened as stream, tarfile.open(fileobj=Limited(stream), mode="r|") as entries:
        for entry in entries:
            kind = ("file" if entry.isreg() else "folder" if entry.isdir() else
                    "link" if entry.issym() or entry.islnk() else "other")
            taker.take(entry.name, kind, entry.size, lambda entry=entry: entries.extractfile(entry))


def main():
    """The command line."""
    archive, folder, *names = sys.argv[1:]
    taker = Taker(folder, names)
    try:
        (unpack_zip if archive.endswith(".zip") else unpack_tar)(archive, taker)
    except Exception as error:  # whatever a damaged archive makes these modules throw
        words = str(error) if isinstance(error, ValueError) else type(error).__name__
        print(f"the archive cannot be read as an archive: {words}" if not isinstance(error, ValueError)
              else f"the archive is refused: {words}")
        sys.exit(1)


main()
