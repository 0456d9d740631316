# SPDX-License-Identifier: BSD-3-Clause
"""Where a job runs, and what can be done to it there: signals, the emulator's faults, a disk, a memory limit."""
import glob
import os
import shutil
import signal
import subprocess
import tempfile
import time

DISK_SIZE = 256 << 20  # the emulated devices of four PEs have room
DISK = f"size={DISK_SIZE}"
MEMORY_MARGIN = 4 << 20


def children(pid):
    """In the order of their start: oshrun's guardian, then its PEs. One of its threads starts them all."""
    found = []
    for path in glob.glob(f"/proc/{pid}/task/*/children"):
        try:
            with open(path) as file:
                found += map(int, file.read().split())
        except OSError:
            pass
    return found


def is_alive(pid):
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rsplit(") ", 1)[1][0] not in "ZX"
    except OSError:
        return False


class Place:
    """Words before the command, and the action. `act` returns False when there was nothing left to act on."""

    def __init__(self, job):
        self.job = job

    def make_tmp(self):
        path = self.job.path("tmp")
        os.mkdir(path)
        return path

    def words(self):
        return []

    def env(self):
        return {}

    def started(self):
        """Called once, just after the job's start."""

    def act(self):
        raise NotImplementedError

    def was_late(self):
        """Where the job, or each victim, may have been through before the action."""
        return self.job.was_through("done")

    def output(self):
        return self.job.lines("out")

    def leftovers(self):
        return []

    def close(self):
        pass


class Signals(Place):
    def targets(self):
        if self.job.plan.row.kind.endswith("oshrun"):
            return [self.job.oshrun]
        return [self.job.pe_pid(pe) for pe in self.job.plan.victims]

    def send(self, sigs):
        reached = False
        for pid, sig in zip(self.targets(), sigs):
            if pid and is_alive(pid):
                os.kill(pid, sig)
                reached = True
        return reached

    def act(self):
        return self.send(self.job.plan.signals)


class Launcher(Signals):
    """oshrun dies together with its guardian, and with its PEs; the next oshrun removes what that leaves."""

    def act(self):
        if not is_alive(self.job.oshrun):
            return False
        os.kill(self.job.oshrun, signal.SIGSTOP)
        for pid in [*children(self.job.oshrun), self.job.oshrun]:
            os.kill(pid, signal.SIGKILL)
        return True

    def leftovers(self):
        """What is there when the next one has been there too."""
        if not self.job.processes():
            subprocess.run([self.job.tools.oshrun, "-n", "2", "true"], env=self.job.environment(), check=False)
        return os.listdir(self.job.tmp)


class Stops(Signals):
    def act(self):
        reached = self.send(self.job.plan.signals)
        time.sleep(self.job.plan.stop_s)
        self.send([signal.SIGCONT] * len(self.job.plan.signals))
        return reached


class Faults(Place):
    """The emulator acts by itself, at a time since the fabric began. `act` waits for that time."""

    def env(self):
        plan = self.job.plan
        action = plan.row.kind.split(": ")[1].format(pe=plan.victims[0])
        return {"EFA_EMULATOR_FAULTS": f"at {int(plan.after_s * 1e6)}us {action}"}

    def began(self):
        return glob.glob(os.path.join(self.job.tmp, "oshrun.*", "**", "fabric"), recursive=True)

    def was_late(self):
        return self.job.was_through("down")

    def act(self):
        while not self.began():
            if self.job.ended():
                return False
            time.sleep(0.001)
        time.sleep(self.job.plan.after_s)
        return not self.job.ended()


class Disk(Place):
    """A small file system of the job's own, in a mount namespace: its TMPDIR, and its standard output."""
    room = None
    written = ()

    @staticmethod
    def missing():
        for options in ((), ("-r",)):
            command = ["unshare", "-m", *options, "mount", "-t", "tmpfs", "-o", DISK, "chaos", "/mnt"]
            try:
                done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False)
            except OSError as error:
                return f"unshare: {error.strerror}"
            if done.returncode == 0:
                Disk.options = options
                return ""
        return "no mount namespace: " + done.stderr.decode().strip()

    def words(self):
        script = f'mount -t tmpfs -o {DISK} chaos "$TMPDIR" && : >"$TMPDIR/out" && exec "$@" >"$TMPDIR/out"'
        return ["unshare", "-m", *Disk.options, "sh", "-c", script, "sh"]

    def started(self):
        """The descriptor keeps the file system after its namespace is gone."""
        path = f"/proc/{self.job.oshrun}/root{self.job.tmp}"
        while self.room is None and not self.job.ended():
            if os.path.exists(os.path.join(path, "out")):
                self.room = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
            time.sleep(0.0005)

    def act(self):
        size = DISK_SIZE
        fd = os.open("filler", os.O_WRONLY | os.O_CREAT, dir_fd=self.room)
        while size >= 4096:
            try:
                os.posix_fallocate(fd, os.fstat(fd).st_size, size)
            except OSError:
                size //= 2
        os.close(fd)
        return not self.job.ended()

    def output(self):
        """As it was when the job ended."""
        return self.written

    def leftovers(self):
        with open(os.open("out", os.O_RDONLY, dir_fd=self.room), errors="replace") as file:
            self.written = file.read().splitlines()
        return ["on the full disk: " + name for name in os.listdir(self.room) if name not in ("out", "filler")]

    def close(self):
        os.close(self.room)


class Memory(Place):
    """A memory cgroup of the job's own (version 1 or 2), whose limit comes down to what the job has just then."""
    FILES = {1: ("memory.usage_in_bytes", "memory.limit_in_bytes", "memory.oom_control"),
             2: ("memory.current", "memory.max", "memory.events")}
    parent = None
    version = 0

    @staticmethod
    def candidates():
        with open("/proc/self/cgroup") as file:
            lines = [line.strip().split(":", 2) for line in file]
        for _, controllers, path in lines:
            if "memory" in controllers.split(","):
                yield 1, "/sys/fs/cgroup/memory" + path
                yield 1, "/sys/fs/cgroup/memory"
            if not controllers:
                yield 2, "/sys/fs/cgroup" + path
                yield 2, "/sys/fs/cgroup"

    @staticmethod
    def missing():
        for version, parent in Memory.candidates():
            probe = os.path.join(parent, f"chaos.{os.getpid()}")
            try:
                os.mkdir(probe)
            except OSError:
                continue
            usable = os.access(os.path.join(probe, Memory.FILES[version][1]), os.W_OK)
            os.rmdir(probe)
            if usable:
                Memory.version, Memory.parent = version, parent
                return ""
        return "no cgroup with a memory controller that may be written"

    def __init__(self, job):
        super().__init__(job)
        self.group = os.path.join(Memory.parent, f"chaos.{os.getpid()}.{job.number}")
        os.mkdir(self.group)

    def make_tmp(self):
        """In memory: else the emulated devices would be written to the disk and read again, for seconds."""
        return tempfile.mkdtemp(prefix="chaos.", dir="/dev/shm")

    def words(self):
        return ["sh", "-c", f'echo $$ >"{self.group}/cgroup.procs" && exec "$@"', "sh"]

    def act(self):
        usage, limit, _ = Memory.FILES[Memory.version]
        with open(os.path.join(self.group, usage)) as file:
            now = int(file.read())
        while not self.job.ended():
            try:
                with open(os.path.join(self.group, limit), "w") as file:
                    file.write(str(now + MEMORY_MARGIN))
                return True
            except OSError:  # more than that by now
                now += MEMORY_MARGIN
        return False

    def was_late(self):
        """The kernel may have found memory elsewhere, in caches of files; it counts whom it kills."""
        return self.kills == 0

    def leftovers(self):
        with open(os.path.join(self.group, Memory.FILES[Memory.version][2])) as file:
            self.kills = int(dict(line.split() for line in file).get("oom_kill", 1))
        try:
            with open(os.path.join(self.group, "cgroup.procs")) as file:
                return ["in the cgroup: process " + pid for pid in file.read().split()]
        except OSError as error:
            return [f"cgroup: {error.strerror}"]

    def close(self):
        shutil.rmtree(self.job.tmp, ignore_errors=True)
        try:
            os.rmdir(self.group)
        except OSError:
            pass


PLACES = {
    "signal": Signals,
    "signal oshrun": Signals,
    "launcher": Launcher,
    "stop": Stops,
    "stop oshrun": Stops,
    "fault": Faults,
    "full disk": Disk,
    "memory limit": Memory,
}


def place_of(kind):
    return PLACES[kind.split(":")[0]]


def missing(kind):
    """Why this machine cannot do it; nothing if it can."""
    look = getattr(place_of(kind), "missing", None)
    return look() if look else ""
