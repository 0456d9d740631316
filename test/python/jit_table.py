# SPDX-License-Identifier: BSD-3-Clause
"""jit_table.py INCLUDE: checks the table of _routines.py; names of symbols are on standard input.

Prints a line of TAP for each check: all symbols are there, the numbers are those of the headers.
"""
import importlib.util
import os
import re
import sys


def load():
    """The table alone: the package would load the library."""
    here = os.path.dirname(os.path.abspath(__file__))
    path = os.path.join(here, "../../python/warpshmem/_routines.py")
    spec = importlib.util.spec_from_file_location("routines", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules["routines"] = module
    spec.loader.exec_module(module)
    return module


def numbers(folder):
    """The enumerators of the headers in that folder that have a number."""
    found = {}
    for root, _, files in os.walk(folder):
        for file in files:
            with open(os.path.join(root, file), encoding="utf-8") as text:
                for name, value in re.findall(r"NVSHMEMX?_(\w+) = (\d+)", text.read()):
                    found.setdefault(name, int(value))
    return found


table = load()
there = {line.split()[-1] for line in sys.stdin if line.strip()}
missing = sorted(set(table.symbols()) - there)
print(
    "%sok 1 - %d symbols of %d routines"
    % ("not " * bool(missing), len(table.symbols()), len(table.ROUTINES))
)
for name in missing:
    print("# not in the bitcode: " + name)
blocks = {name for name in there if name.startswith("wsh_block_")} - set(table.symbols())
print(
    "%sok 2 - all wsh_block_ symbols are in the table %s"
    % ("not " * bool(blocks), " ".join(blocks))
)
header = numbers(sys.argv[1])
wrong = {
    name: (number, header.get(name))
    for name, number in table.CONSTANTS.items()
    if header.get(name) != number
}
print(
    "%sok 3 - %d numbers of the headers %s"
    % ("not " * bool(wrong), len(table.CONSTANTS), wrong or "")
)
