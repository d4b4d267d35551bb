#!/usr/bin/env python3
"""Compares what ptxas assigns to the CUDA kernels of a build with registers.tsv.

    registers.py BUILD          compares; kernels of images whose PTX is unchanged are not compiled again
    registers.py BUILD --write  writes the table anew

Fails if a kernel uses other registers, spills another number of bytes, or is new or missing. Skips if the build has no
kernels, if they come from another compiler than the table's, or if a changed image meets no ptxas of the table's version.
"""

import concurrent.futures
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys

TABLE = pathlib.Path(__file__).with_name("registers.tsv")
COLUMNS = ("kernel", "registers", "spill_stores", "spill_loads", "shared_bytes")
KERNEL = re.compile(
    r"Compiling entry function '(?P<kernel>\S+)' for .*?"
    r"(?P<stores>\d+) bytes spill stores, (?P<loads>\d+) bytes spill loads.*?"
    r"Used (?P<registers>\d+) registers(?P<rest>[^\n]*)",
    re.DOTALL,
)


def skip(reason):
    print(f"card.registers: Skipped\n{reason}\n\n[  SKIPPED ] card.registers (0 ms)")
    sys.exit(0)


def version_of(command, pattern):
    if shutil.which(command) is None:
        return None
    said = subprocess.run([command, "--version"], stdout=subprocess.PIPE, text=True, check=True).stdout
    return re.search(pattern, said)[1]


def compiler_of(build):
    """Returns the compiler of the kernels, or None if the build has none."""
    cache = (build / "CMakeCache.txt").read_text()
    path = re.search(r"^SPECTR_CUDA_CLANG:FILEPATH=(.*)$", cache, re.MULTILINE)
    if not any((build / "cuda").glob("*.ptx")):
        return None
    if path is None or path[1].endswith("NOTFOUND"):
        return "nvcc"
    return "clang " + version_of(path[1], r"version (\d+\.\d+\.\d+)")


def kernels_of(image):
    """Returns the rows of an image's kernels, sorted."""
    target = re.search(r"^\.target (\w+)", image.read_text(), re.MULTILINE)[1]
    done = subprocess.run(
        ["ptxas", "-v", f"-arch={target}", str(image), "-o", os.devnull],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        sys.exit(f"{image.name}: {done.stdout}")
    rows = []
    for found in KERNEL.finditer(done.stdout):
        shared = re.search(r"(\d+) bytes smem", found["rest"])
        rows.append((found["kernel"], found["registers"], found["stores"], found["loads"], shared[1] if shared else "0"))
    return sorted(rows)


def read_table():
    """Returns the table's compilers and, by image, the hash of the PTX and the rows of the kernels."""
    lines = TABLE.read_text().splitlines()
    made_by = dict(word.split("=") for word in lines[0].removeprefix("# ").split(", "))
    images, rows = {}, []
    for line in lines[2:]:
        if line.startswith("## "):
            _, name, digest = line.split(" ")
            rows = []
            images[name] = (digest, rows)
        else:
            rows.append(tuple(line.split("\t")))
    return made_by, images


def main(build, write):
    compiler, ptxas = compiler_of(build), version_of("ptxas", r"V(\d+\.\d+\.\d+)")
    if compiler is None:
        skip("this build has no kernels for GPUs")
    made_by, listed = ({}, {}) if write else read_table()
    if not write and compiler != made_by["compiler"]:
        skip(f"the kernels of this build are of another compiler than {made_by['compiler']}")
    images = {image.stem: image for image in sorted((build / "cuda").glob("*.ptx"))}
    digests = {name: hashlib.sha256(image.read_bytes()).hexdigest()[:16] for name, image in images.items()}
    changed = [name for name in images if listed.get(name, ("",))[0] != digests[name]]
    if changed and ptxas is None:
        skip("ptxas is not installed")
    if changed and not write and ptxas != made_by["ptxas"]:
        skip(f"ptxas is of another version than {made_by['ptxas']}")
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        found = dict(zip(changed, pool.map(lambda name: kernels_of(images[name]), changed)))
    if write:
        with TABLE.open("w") as out:
            out.write(f"# compiler={compiler}, ptxas={ptxas}\n" + "\t".join(COLUMNS) + "\n")
            for name in images:
                out.write(f"## {name} {digests[name]}\n")
                out.writelines("\t".join(row) + "\n" for row in found[name])
        return 0
    wrong = [f"{name}: image is not in the build" for name in listed if name not in images]
    for name in changed:
        old, new = {row[0]: row for row in listed.get(name, ("", []))[1]}, {row[0]: row for row in found[name]}
        for kernel in sorted(old.keys() | new.keys()):
            if old.get(kernel) != new.get(kernel):
                wrong.append(f"{name}: {kernel}: {old.get(kernel, ('none',))[1:]} became {new.get(kernel, ('none',))[1:]}")
    print(f"{len(images)} images, {len(changed)} compiled by ptxas, {len(wrong)} differences from {TABLE.name}")
    for line in wrong:
        print(line)
    if wrong:
        print(f"If this is meant: {sys.argv[0]} {build} --write")
    return 1 if wrong else 0


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3) or sys.argv[2:] not in ([], ["--write"]):
        sys.exit("usage: registers.py BUILD [--write]")
    sys.exit(main(pathlib.Path(sys.argv[1]), sys.argv[2:] == ["--write"]))
