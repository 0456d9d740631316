# SPDX-License-Identifier: BSD-3-Clause
"""
The control process sleeps and computes in turn, and sums up what other load costs it: by how much it wakes too late,
and, for the rest of the time, the share in which one who wants to compute does not get to.
"""
import mmap
import os
import signal
import struct
import time

SLEEP_S = 0.042
BURST_S = 0.008  # longer than the scheduler's slice, or one who has slept meets no delay


def burst():
    """Wall-clock seconds that BURST_S of the processor take."""
    before, used = time.monotonic(), time.process_time()
    while time.process_time() < used + BURST_S:
        pass
    return time.monotonic() - before


class Control:
    def __init__(self):
        self.memory = mmap.mmap(-1, 8)
        self.pid = os.fork()
        if self.pid == 0:
            self._measure(os.getppid())

    def _measure(self, parent):
        total = 0.0
        while os.getppid() == parent:
            before = time.monotonic()
            time.sleep(SLEEP_S)
            late = time.monotonic() - before - SLEEP_S
            waited = max(0.0, 1 - BURST_S / burst())
            total += late + (time.monotonic() - before - late) * waited
            self.memory[:] = struct.pack("d", total)
        os._exit(0)

    def total(self):
        """Seconds of delay since the start, always fewer than have passed; take the difference of two readings."""
        return struct.unpack("d", self.memory[:])[0]

    def end(self):
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
