# SPDX-License-Identifier: BSD-3-Clause
"""The table: what is done to a job, and what is expected then. And the networks that jobs run over."""
import signal
from dataclasses import dataclass, field
from typing import Callable, Tuple


@dataclass(frozen=True)
class Network:
    """How a job is started so that it runs over it."""
    options: Tuple[str, ...] = ()
    env: dict = field(default_factory=dict)
    pes: Tuple[int, ...] = (2, 3, 4)

    @property
    def emulated(self):
        return any(option.startswith("--emulate-efa") for option in self.options)


# As many NICs as a PE takes, so that the fault scripts know which.
ONE = {"SHMEM_NICS_PER_PE": "1", "EFA_EMULATOR_NICS": "0"}
FOUR = {"SHMEM_NICS_PER_PE": "4", "EFA_EMULATOR_NICS": "0,1,2,3"}

NETWORKS = {
    "local": Network(),
    "tcp": Network(env={"SHMEM_TRANSPORTS": "efa", "SHMEM_LIBFABRIC_PROVIDER": "tcp"}),
    "sockets": Network(env={"SHMEM_TRANSPORTS": "efa", "FI_PROVIDER": "tcp,net,ofi_rxm"}),
    "shm": Network(env={"SHMEM_TRANSPORTS": "efa", "SHMEM_LIBFABRIC_PROVIDER": "shm"}),
    "mixed": Network(("--nodes-emulated", "2"), {"SHMEM_LIBFABRIC_PROVIDER": "tcp"}, (2, 4)),
    "efa": Network(("--emulate-efa",), ONE, (2, 3)),
    "p4d": Network(("--emulate-efa=p4d",), ONE, (2, 3)),
    "rails": Network(("--emulate-efa",), FOUR, (2,)),
    "mixedefa": Network(("--emulate-efa", "--nodes-emulated", "2"), ONE, (4,)),
}
ALL = tuple(NETWORKS)
EMULATED = tuple(name for name, network in NETWORKS.items() if network.emulated)
ONE_NIC = ("efa", "p4d", "mixedefa")


@dataclass(frozen=True)
class Outcome:
    """An exit status, the one line of ours (None: no line), and lines that may stand beside it."""
    statuses: Tuple[int, ...]
    line: str = None
    allowed: Tuple[str, ...] = ()
    phase: str = None  # right only where the job was in it


@dataclass(frozen=True)
class Row:
    """An action. `kind` says how it is done (places.py); `signals` is what the victims get."""
    name: str
    kind: str
    networks: Tuple[str, ...]
    expected: Callable  # the outcomes that are right, by the plan
    signals: Tuple[int, ...] = ()
    notice_s: float = 0  # until anybody can notice

    @property
    def goes_on(self):
        return self.expected is goes_on


GOES_ON = Outcome((0,))
# The line of a PE that ends the job says why; oshrun's says that it did.
ENDED = r"^oshrun: PE \d+ .* (ended the job with status 1|exited with status 1; ending job)$"


def goes_on(_):
    return (GOES_ON,)


def pes_die(plan):
    """One line names a PE that got the signal, and the status is 128 and its signal."""
    which = "|".join(f"PE {pe} .* killed by signal {sig:d} " for pe, sig in zip(plan.victims, plan.signals))
    return (Outcome(tuple(128 + sig for sig in plan.signals), f"^oshrun: ({which})"),)


def oshrun_dies(plan):
    return (Outcome((128 + plan.signals[0],)),)


def oshrun_passes_on(plan):
    """Before oshrun takes signals it dies of this one, as any program."""
    sig = plan.signals[0]
    killed = rf"^oshrun: PE \d+ .* killed by signal {sig:d} .*, which oshrun was sent"
    passed_on = Outcome((128 + sig,), killed)
    return (passed_on, Outcome((128 + sig,), phase="start"))


def peer_is_lost(plan):
    """Nobody answers any more: each PE that needs it may say so, before oshrun has ended all. Or it never was there."""
    lost = rf"^warpshmem: PE \d+ .*(PE {plan.victims[0]} over|from PE|rdmap)"
    return (Outcome((1,), lost, (lost, ENDED)),
            Outcome((1,), r"^warpshmem: PE \d+ .*'efa': libfabric has none here that can be used", (ENDED,), "start"))


def path_is_lost(_):
    """
    Of several: both PEs say so and go on, or, where packets of the provider's own are lost, the job ends. A NIC that is
    gone before the start is none.
    """
    left_out = r"^warpshmem: PE \d+ .* is left out from now on, and 3 of 4 NICs go on: "
    return (Outcome((0,), left_out, (left_out,)), Outcome((1,), r"^warpshmem: PE \d+ .*rdmap", (ENDED, left_out)),
            Outcome((0,), phase="start"))


def disk_is_full(plan):
    """
    What PEs write is lost, and they find their output closed, or all had been written. A start may need room too: where
    libfabric 1.17's provider efa does, it frees memory twice, or touches a page that is not there.
    """
    full = "No space left on device"
    said = f"^(oshrun|warpshmem|efa-emulator): .*{full}"
    closed = r"^oshrun: PE \d+ .* killed by signal 13 \(Broken pipe\); ending job$"
    crashed = r"^oshrun: PE \d+ .* killed by signal [67] "
    refused = "^warpshmem: PE .* (libfabric has none here that can be used|libfabric fi_)"
    outcomes = [Outcome((128 + signal.SIGPIPE, 1), f"^oshrun: cannot write output: {full}; the PEs find", (closed,)),
                Outcome((1,), said, (said, refused, ENDED), "start"),
                GOES_ON]
    if NETWORKS[plan.network].emulated:
        outcomes.append(Outcome((134, 135), crashed, (said, refused, r"^free\(\): double free"), "start"))
    return outcomes


def memory_is_short(_):
    return (Outcome((128 + signal.SIGKILL,), r"^oshrun: PE \d+ .* killed by signal 9 "),)


def _rows():
    for sig in (signal.SIGKILL, signal.SIGSEGV, signal.SIGABRT, signal.SIGTERM, signal.SIGBUS, signal.SIGFPE):
        yield Row(f"PE {sig.name[3:]}", "signal", ALL, pes_die, (sig,))
    yield Row("two PEs KILL", "signal", ALL, pes_die, (signal.SIGKILL, signal.SIGKILL))
    yield Row("two PEs SEGV, ABRT", "signal", ALL, pes_die, (signal.SIGSEGV, signal.SIGABRT))
    yield Row("PE STOP+CONT", "stop", ALL, goes_on, (signal.SIGSTOP,))
    yield Row("two PEs STOP+CONT", "stop", ALL, goes_on, (signal.SIGSTOP, signal.SIGSTOP))
    for sig in (signal.SIGKILL, signal.SIGSEGV, signal.SIGABRT):
        yield Row(f"oshrun {sig.name[3:]}", "signal oshrun", ALL, oshrun_dies, (sig,))
    yield Row("oshrun, its guardian and all PEs KILL", "launcher", ALL, oshrun_dies, (signal.SIGKILL,))
    for sig in (signal.SIGTERM, signal.SIGINT):
        yield Row(f"oshrun {sig.name[3:]}", "signal oshrun", ALL, oshrun_passes_on, (sig,))
    yield Row("oshrun STOP+CONT", "stop oshrun", ALL, goes_on, (signal.SIGSTOP,))
    # Silence of 250 ms on each NIC; then a launcher has 2 s to name a PE that died.
    yield Row("links of a PE down", "fault: to {pe} down", EMULATED, peer_is_lost, notice_s=3)
    yield Row("only NIC removed", "fault: from {pe}.0 remove", ONE_NIC, peer_is_lost, notice_s=2.25)
    yield Row("one of four links down", "fault: to {pe}.0 down", ("rails",), path_is_lost, notice_s=3)
    yield Row("one of four NICs removed", "fault: from {pe}.0 remove", ("rails",), path_is_lost, notice_s=3)
    yield Row("full disk", "full disk", ALL, disk_is_full)
    yield Row("memory limit", "memory limit", ALL, memory_is_short)


TABLE = tuple(_rows())
