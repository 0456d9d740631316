# SPDX-License-Identifier: BSD-3-Clause
"""Runs the jobs of efa-first-day between hosts, and writes all that they print to its report."""

import collections
import datetime
import json
import os
import shlex
import shutil
import signal
import subprocess

from first_day.instances import INSTANCES, instance_name

Output = collections.namedtuple("Output", "status text rows")
ALONE = "two emulated hosts of one machine"
EMULATE = os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "..", "emulator", "efa-emulate")


class Interrupted(Exception):
    """By a signal, whose number it has."""


class Report:
    """
    One file; verdicts go to the terminal too. Keeps verdicts of steps, and what programs measured; `data`: what an
    earlier run has written, whose report goes on.
    """

    def __init__(self, path, data=None):
        self.path = path
        self.steps, self.runs = (data["steps"], data["runs"]) if data else ([], [])
        self.file = open(path, "a" if data else "w", encoding="utf-8", errors="replace")

    def write(self, line):
        print(line, flush=True)
        self.detail(line)

    def detail(self, text):
        self.file.write(text.rstrip("\n") + "\n")
        self.file.flush()


class Job:
    """What the steps know of the machine and of the options."""

    def __init__(self, args, report, names):
        self.args, self.report, self.names = args, report, names
        self.date = datetime.date.today().isoformat()
        self.build = os.path.abspath(args.build)
        self.emulated = bool(args.emulate)
        self.machine = args.earlier["machine"] if args.earlier else instance_name()
        self.gbps = INSTANCES.get(instance_name(), 0)  # of a NIC; 0: not known
        self.state = "running"  # as the page says it
        self.step, self.by = "", "host"  # that runs now; who starts its operations

    @property
    def gpus(self):
        return os.path.exists("/dev/nvidiactl")

    def path(self, name):
        """A file of the build folder; of a program that libtool has wrapped, what is behind the wrapper."""
        real = os.path.join(self.build, os.path.dirname(name), ".libs", os.path.basename(name))
        return real if os.path.exists(real) else os.path.join(self.build, name)

    def has(self, *names):
        return all(os.path.exists(os.path.join(self.build, name)) for name in names)

    @property
    def libfabric(self):
        """The folder of a libfabric of 2026-08 for the emulated device (emulator/tests/libfabric makes one), or ""."""
        folder = os.path.abspath(os.environ["WSH_LIBFABRIC"]) if os.environ.get("WSH_LIBFABRIC") else ""
        return folder if self.emulated and os.path.exists(os.path.join(folder, "lib", "libfabric.so.1")) else ""

    @property
    def fi_info(self):
        own = os.path.join(self.libfabric, "bin", "fi_info")
        return own if self.libfabric and os.path.exists(own) else shutil.which("fi_info")

    def environment(self, fake_gpu=False):
        """Where libraries are: with a CUDA driver that has no GPU, in place of this machine's."""
        folders = [os.path.join(self.build, "test", "fake_cuda")] if fake_gpu else []
        folders += [os.path.join(self.build, ".libs"), os.path.join(self.libfabric, "lib") if self.libfabric else "",
                    os.environ.get("LD_LIBRARY_PATH", "")]
        return {"LD_LIBRARY_PATH": ":".join(filter(None, folders))}

    def launch(self, pes, settings):
        """Words that start so many PEs, spread over the hosts."""
        words = [os.path.join(self.build, "oshrun"), "-n", str(pes)]
        if self.args.hosts:
            hosts = self.args.hosts.split(",")
            each = -(-pes // len(hosts))
            words += ["-H", ",".join(f"{host}:{each}" for host in hosts)]
        else:
            words += ["--nodes-emulated", "2"]
        if self.emulated:
            words.append(f"--emulate-efa={self.args.emulate}")
        for name, value in settings.items():
            words += ["-x", f"{name}={value}"]
        return words

    def pes_command(self, pes, program, *words, **settings):
        """Run a program of the build folder; only the provider efa may serve other hosts, so that nothing falls back."""
        settings = {"SHMEM_LIBFABRIC_PROVIDER": "efa", **self.environment(), **settings}
        if self.args.rounds:
            settings.setdefault("WSH_TEST_ROUNDS", str(self.args.rounds))
        return self.command(self.launch(pes, settings) + [self.path(program), *words])

    def command(self, words, seconds=600):
        """Run a command; its words, output and status go to the report. Its rows, where it prints JSON."""
        self.report.detail("$ " + shlex.join(words))
        environment = dict(os.environ, EFA_EMULATOR_QUIET="1", **self.environment())
        try:
            child = subprocess.Popen(words, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                     stderr=subprocess.STDOUT, start_new_session=True)
        except OSError as error:
            self.report.detail(str(error))
            return Output(127, str(error), [])
        try:
            text = child.communicate(timeout=seconds)[0].decode(errors="replace")
            status = child.returncode
        except (subprocess.TimeoutExpired, Interrupted) as why:
            os.killpg(child.pid, signal.SIGTERM)  # oshrun ends its PEs
            text = child.communicate()[0].decode(errors="replace")
            if isinstance(why, Interrupted):
                self.report.detail(text)
                raise
            text += f"no end within {seconds} s\n"
            status = 124
        self.report.detail(text)
        self.report.detail(f"exit status {status}")
        data = measured(text)
        if data:
            emulated = self.args.emulate or None
            self.report.runs.append({**data, "step": self.step, "by": self.by, "emulated": emulated})
        return Output(status, text, data.get("rows", []))

    def gda_lacks(self):
        """What `warpshmem-info --check` finds missing for kernels that post to the NIC; "" where nothing is."""
        words = [os.path.join(self.build, "warpshmem-info"), "--check", "--parsable"]
        if self.emulated:
            words = [EMULATE, "--quiet", "--profile", self.args.emulate, "--"] + words
        lines = [line.split(":", 3) for line in self.command(words).text.splitlines() if line.startswith("check:GDA")]
        return "; ".join(text for _, _, kind, text in lines if kind != "ok")


def measured(text):
    """The first JSON object of a program in its output, or {}."""
    begin = text.find('{"program"')
    if begin < 0:
        return {}
    try:
        return json.JSONDecoder().raw_decode(text[begin:])[0]
    except ValueError:
        return {}
