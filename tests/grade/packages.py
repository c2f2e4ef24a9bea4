"""Submissions whose package is the attack: links, archives with paths that lead out, bombs, what is no file.

Each is made around the solution of 00.1, which must earn its points (5) or none as `earns` says, and the grader must
say what `says` matches; None: nothing of it can be graded, which a report of no points and a message must say.
"""

import io
import os
import pathlib
import tarfile
import zipfile

PART = "00.1"
FILE = "exercises/00_devices/memory.cpp"
OUTSIDE = "/tmp/shardlings-cheat-outside"


def folder(place):
    """An honest submission as a folder; returns its exercise file, which is not there yet."""
    file = place / "submission" / FILE
    file.parent.mkdir(parents=True)
    return file


def link_to_the_solution(place, solution):
    folder(place).symlink_to(solution)
    return place / "submission"


def lesson_is_a_link(place, solution):
    (place / "submission" / "exercises").mkdir(parents=True)
    (place / "submission" / "exercises" / solution.parent.name).symlink_to(solution.parent)
    return place / "submission"


def exercises_are_a_link(place, solution):
    (place / "submission").mkdir()
    (place / "submission" / "exercises").symlink_to(solution.parent.parent)
    return place / "submission"


def file_is_a_pipe(place, _solution):
    os.mkfifo(folder(place))
    return place / "submission"


def file_is_a_folder(place, _solution):
    folder(place).mkdir()
    return place / "submission"


def file_of_many_bytes(place, solution):
    folder(place).write_text(solution.read_text() + "//" + "x" * (2 << 20))
    return place / "submission"


def files_beside(place, solution):
    """Files that the course has too: only the exercise may be taken."""
    folder(place).write_text(solution.read_text())
    for name in ("Makefile", "lib/machine/device/device.hpp", "lessons/00_devices/memory.hpp", "tests/points.json",
                 "exercises/00_devices/memory.hpp", "exercises/00_devices/memory.o", "lessons/manifest.toml"):
        file = place / "submission" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("#error \"taken from the submission\"\n")
    return place / "submission"


def zipped(place, entries):
    """A .zip of {name: text or bytes, or None for a link to OUTSIDE}."""
    path = place / "submission.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in entries:
            entry = zipfile.ZipInfo(name)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (0o120777 if content is None else 0o100644) << 16
            archive.writestr(entry, "/etc" if content is None else content)
    return path


def tarred(place, entries):
    """A .tar.gz of (name, text) or (name, a tarfile type, the name that it links to)."""
    path = place / "submission.tar.gz"
    with tarfile.open(path, "w:gz") as archive:
        for name, *rest in entries:
            entry = tarfile.TarInfo(name)
            data = b""
            if len(rest) == 1:
                data = rest[0].encode()
            else:
                entry.type, entry.linkname = rest
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
    return path


def zip_as_it_should_be(place, solution):
    return zipped(place, [(FILE, solution.read_text())])


def tar_as_it_should_be(place, solution):
    return tarred(place, [(f"my-course/{FILE}", solution.read_text())])


def zip_that_leads_out(place, solution):
    return zipped(place, [(f"../../../../../../../..{OUTSIDE}", "x"), (OUTSIDE, "x"), (FILE, solution.read_text())])


def zip_with_a_link(place, solution):
    return zipped(place, [("exercises/00_devices", None), ("exercises/00_devices/shardlings-cheat", "x"),
                          (FILE, solution.read_text())])


def tar_that_leads_out(place, solution):
    return tarred(place, [(f"../../../../../../../..{OUTSIDE}", "x"), (OUTSIDE, "x"), (FILE, solution.read_text())])


def tar_with_a_link(place, solution):
    return tarred(place, [("exercises", tarfile.SYMTYPE, "/tmp"), ("exercises/shardlings-cheat-outside", "x"),
                          ("other", tarfile.SYMTYPE, str(solution.parent.parent))])


def tar_with_hard_links(place, solution):
    return tarred(place, [(FILE, tarfile.LNKTYPE, str(solution)), ("exercises/00_devices/link.cpp", tarfile.LNKTYPE, "/etc/passwd")])


def tar_with_devices(place, _solution):
    return tarred(place, [(FILE, tarfile.CHRTYPE, ""), ("exercises/00_devices/link.cpp", tarfile.FIFOTYPE, "")])


def zip_bomb(place, solution):
    return zipped(place, [("exercises/00_devices/ring.cpp", bytes(300 << 20)), (FILE, solution.read_text())])


def tar_of_many_files(place, solution):
    return tarred(place, [(f"f/{i}", "") for i in range(20000)] + [(FILE, solution.read_text())])


def no_archive(place, _solution):
    path = place / "submission.zip"
    path.write_bytes(b"PK\x03\x04" + bytes(range(256)) * 64)
    return path


def empty_folder(place, _solution):
    (place / "submission").mkdir()
    return place / "submission"


# name -> (maker, points earned by 00.1, what is said)
PACKAGES = {
    "link_to_the_solution": (link_to_the_solution, None, "is a link"),
    "lesson_is_a_link": (lesson_is_a_link, None, "is a link"),
    "exercises_are_a_link": (exercises_are_a_link, None, "is a link"),
    "file_is_a_pipe": (file_is_a_pipe, None, "no plain file"),
    "file_is_a_folder": (file_is_a_folder, None, "no plain file"),
    "file_of_many_bytes": (file_of_many_bytes, None, "larger than"),
    "files_beside": (files_beside, 5, ""),
    "zip_as_it_should_be": (zip_as_it_should_be, 5, ""),
    "tar_as_it_should_be": (tar_as_it_should_be, 5, ""),
    "zip_that_leads_out": (zip_that_leads_out, None, "leads out"),
    "zip_with_a_link": (zip_with_a_link, 5, ""),
    "tar_that_leads_out": (tar_that_leads_out, None, "leads out"),
    "tar_with_a_link": (tar_with_a_link, None, "no exercise"),
    "tar_with_hard_links": (tar_with_hard_links, None, "is a link"),
    "tar_with_devices": (tar_with_devices, None, "no plain file"),
    "zip_bomb": (zip_bomb, 5, ""),
    "tar_of_many_files": (tar_of_many_files, 5, ""),
    "no_archive": (no_archive, None, "cannot be read as an archive"),
    "empty_folder": (empty_folder, None, "no exercise"),
}
