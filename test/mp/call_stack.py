# SPDX-License-Identifier: BSD-3-Clause
# Run by gdb for call_stack.sh: stops PE 0 where shmem_int_put stores to the peer (path local) or enters libfabric
# (path efa), and prints the functions between main and there, with what kind of frame and which library each is.
import os
import gdb

KINDS = {gdb.NORMAL_FRAME: "call", gdb.INLINE_FRAME: "inline", gdb.TAILCALL_FRAME: "tail call"}


def library_of(frame):
    name = gdb.solib_name(frame.pc())
    return os.path.basename(name) if name else "program"


def frames():
    found = []
    frame = gdb.newest_frame()
    while frame and frame.name() != "main":
        found.append((frame.name() or "?", KINDS.get(frame.type(), "other"), library_of(frame)))
        frame = frame.older()
    return found


def report():
    for name, kind, library in frames():
        print("frame: %s; %s; %s" % (name, kind, library))


def step_into(wanted):
    """Steps by instruction until the program counter is in a library whose name begins with `wanted`."""
    for _ in range(200000):
        if library_of(gdb.newest_frame()).startswith(wanted):
            return True
        gdb.execute("stepi", to_string=True)
    return False


for setting in ("pagination off", "confirm off", "breakpoint pending on", "debuginfod enabled off"):
    try:
        gdb.execute("set " + setting, to_string=True)
    except gdb.error:
        pass
gdb.execute("handle SIGUSR1 SIGUSR2 nostop noprint pass", to_string=True)
gdb.execute("break shmem_int_put", to_string=True)
gdb.execute("run", to_string=True)
gdb.execute("continue", to_string=True)  # the second call is the one to look at
if os.environ["WSH_TEST_STACK"] == "local":
    address = int(gdb.parse_and_eval("(unsigned long)landing"))
    gdb.execute("delete", to_string=True)
    gdb.execute("watch *(int *)%d" % address, to_string=True)
    gdb.execute("continue", to_string=True)
    report()
elif step_into("libfabric"):
    report()
gdb.execute("delete", to_string=True)
gdb.execute("continue", to_string=True)
