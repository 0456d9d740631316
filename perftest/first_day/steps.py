# SPDX-License-Identifier: BSD-3-Clause
"""The steps of efa-first-day in their order: what each expects, and what to look at where it sees something else.

Expectations of time and rate hold on hardware; over an emulated device the figures are printed and not judged."""

import os
import platform
import re
import shutil
import time

from first_day.figures import alltoall, experts, jacobi, put
from first_day.instances import instance_name
from first_day.job import EMULATE
from first_day.judge import first_line, judge, judge_figure, median

ORDER_TESTS = (
    "put_get_all_pairs random_rma quiet_completes quiet_many_ctx put_orders_with_fence put_fence_p_rounds put_fence_get "
    "put_signal_orders litmus_put litmus_put_nbi litmus_get litmus_get_nbi litmus_amo litmus_amo_nbi litmus_put_signal "
    "litmus_put_signal_nbi litmus_counted counted_puts amo_all_ops iput_iget_strides threads_multiple "
    "progress_while_computing").split()
DATA_FIRST_TESTS = ["litmus_counted", "litmus_get_nbi"]
GDA_TESTS = ["gda", "gda_orders"]
GPU_TESTS = "put_get_all_pairs put_orders_with_fence put_signal_orders zero_copy counted amo_all_ops litmus".split()


class Step:
    def __init__(self, name, expects, look, run):
        self.name, self.expects, self.look, self.run = name, expects, look, run

    def run_on(self, job):
        """Run it: ("as expected" | "surprise" | "skipped" | "printed", what was seen)."""
        job.report.write(f"== {self.name}: expected: {self.expects}")
        job.step, job.by = self.name, "host"
        began = time.monotonic()
        verdict, seen = self.run(job)
        row = {"step": self.name, "expected": self.expects, "verdict": verdict, "seen": seen,
               "seconds": round(time.monotonic() - began, 1)}
        if verdict == "surprise":
            row["look_at"] = self.look
        job.report.steps.append(row)
        job.report.write(f"   {verdict}: {seen} ({row['seconds']:.0f} s)")
        return verdict, seen


def machine(job):
    name = instance_name()
    driver = "none"
    if os.path.exists("/sys/module/efa/version"):
        with open("/sys/module/efa/version", encoding="ascii") as file:
            driver = file.read().strip()
    rate = f"NICs of {job.gbps} Gb/s" if job.gbps else "a rate of NICs that is not known here"
    seen = f"{name}, {rate}, Linux {platform.release()}, efa driver {driver}, {os.cpu_count()} CPUs"
    if job.gpus and shutil.which("nvidia-smi"):
        names = job.command(["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"])
        found = sorted(set(names.text.splitlines())) if names.status == 0 else []
        seen += "".join(f", GPU {words.replace(', ', ', driver ')}" for words in found)
    job.machine = seen
    if job.emulated:
        return "printed", seen + " (the device is emulated)"
    return judge(driver != "none", seen)


def doctor(job):
    output = job.command([os.path.join(job.build, "warpshmem-info"), "--check"])
    return judge(output.status == 0, f"exit status {output.status}")


def domains(job):
    """(what fi_info printed, the domains of the provider efa)"""
    words = [job.fi_info, "-p", "efa"]
    if job.emulated:
        words = [EMULATE, "--quiet", "--profile", job.args.emulate, "--"] + words
    output = job.command(words)
    return output, sorted(set(re.findall(r"domain: (\S+)", output.text)))


def devices(job):
    if not job.fi_info:
        return "skipped", "no fi_info (libfabric-bin, or /opt/amazon/efa/bin on PATH)"
    output, found = domains(job)
    return judge(output.status == 0 and found, f"{len(found)} domains of the provider efa")


def start(job):
    output = job.pes_command(2, "test/mp/hello", SHMEM_DEBUG="info")
    found = re.findall(r"network: (efa \(.*)", output.text)
    return judge(output.status == 0 and len(found) == 2, found[0] if found else first_line(output.text))


def run_tests(job, folder, names, pes, **settings):
    """Run tests until one fails."""
    passed, skipped = 0, 0
    for name in names:
        program = f"{folder}/{name}"
        if not job.has(program):
            skipped += 1
            job.report.detail(f"not built: {program}")
            continue
        for number in pes:
            output = job.pes_command(number, program, **settings)
            if output.status not in (0, 77):
                return "surprise", f"{name} with {number} PEs: exit status {output.status}: {first_line(output.text)}"
            passed += output.status == 0
            skipped += output.status == 77
    if not passed:
        return "skipped", f"{skipped} not built, or skipped by themselves (their reasons are in the report)"
    return "as expected", f"{passed} runs right, {skipped} skipped"


def order(job):
    return run_tests(job, "test/mp", ORDER_TESTS, (2, 4))


def data_first(job):
    """
    Over one NIC after the other: what a completion announces is there, in host memory, and in GPU memory. Emulated ones
    are all alike: two of them.
    """
    found = [name for name in domains(job)[1] if name.endswith("-rdm")] if job.fi_info else []
    nics = found[:2] if job.emulated else found
    if not nics:
        return "skipped", "fi_info is not there, or lists no NIC"
    for nic in nics:
        settings = {"SHMEM_LIBFABRIC_DOMAIN": nic, "WSH_TEST_ROUNDS": str(job.args.rounds or 1000)}
        verdict, seen = run_tests(job, "test/mp", DATA_FIRST_TESTS, (2,), **settings)
        if verdict != "as expected":
            return verdict, f"{nic}, a word of the host: {seen}"
        if job.gpus and job.has("test/device/litmus"):
            verdict, seen = run_tests(job, "test/device", ["litmus"], (2,), SHMEM_HMEM="on", WSH_LITMUS_ROUNDS="2000",
                                      WSH_LITMUS_KINDS="put_signal,counted", **settings)
            if verdict == "surprise":
                return verdict, f"{nic}, a word of the GPU: {seen}"
    gpu = "words of the GPU too" if job.gpus else "no GPU on this machine: words of the host alone"
    return "as expected", f"{len(nics)} of {len(found)} NICs, {' '.join(DATA_FIRST_TESTS)}; {gpu}"


def nic_counts(job):
    output = job.pes_command(2, "test/mp/hello", SHMEM_DEBUG="info")
    if "NICs keep up to" not in output.text:
        return "skipped", "the NICs keep no counters (p5en and p6 do, with libfabric 2.6): CPUs count"
    return run_tests(job, "test/mp", ["counted_by_nics"], (2,), WSH_TEST_NIC_COUNTERS="1", SHMEM_PROGRESS="call")


def fences(job):
    output = job.pes_command(2, "perftest/orders", "-n", "50", "-W", "64", "-s", "8k", "--json", "-",
                             SHMEM_NICS_PER_PE="1")
    put, fence = median(output.rows, "put", 8192), median(output.rows, "put_fence", 8192)
    if output.status or not put == put:
        return judge(False, f"exit status {output.status}: {first_line(output.text)}")
    return judge_figure(job, fence <= 2 * put, f"put {put:.1f} us, with a fence after each {fence:.1f} us")


def latency(job):
    bare = job.pes_command(2, "perftest/fabric/libfabric", "limit", "-p", "efa", "-s", "8", "-m", "message", "--json",
                           "-")
    ours = job.pes_command(2, "perftest/pingpong", "-s", "8", "-m", "put_signal", "--json", "-", SHMEM_NICS_PER_PE="1")
    limit, seen = median(bare.rows, "message", 8), median(ours.rows, "put_signal", 8)
    if bare.status or ours.status or not limit == limit:
        return judge(False, f"exit status {bare.status} and {ours.status}: {first_line(ours.text)}")
    return judge_figure(job, seen <= 1.5 * limit, f"8 bytes with a signal {seen:.1f} us, a bare message {limit:.1f} us")


def rails(job):
    rates = {}
    for nics in (1, 2, 4):
        size = "4M" if job.emulated else "64M"
        job.by = f"host, {nics} NIC{'s' if nics > 1 else ''}"
        output = job.pes_command(2, "perftest/put_bw", "-s", size, "-W", "4", "-n", "20", "-w", "2", "--json", "-",
                                 SHMEM_NICS_PER_PE=str(nics), SHMEM_SYMMETRIC_SIZE="512M")
        if output.status or not output.rows:
            return judge(False, f"{nics} NICs: exit status {output.status}: {first_line(output.text)}")
        rates[nics] = output.rows[0]["gb_per_s"]
    seen = ", ".join(f"{nics} NICs {rate:.1f} GB/s" for nics, rate in rates.items())
    good = rates[1] >= 0.85 * job.gbps / 8 and rates[2] >= 1.8 * rates[1] and rates[4] >= 3.4 * rates[1]
    known = "" if job.gbps or job.emulated else "; the NICs' rate is not known here: one NIC alone is not judged"
    return judge_figure(job, good, seen + known)


def gpu_order(job):
    if not job.gpus:
        return "skipped", "no NVIDIA GPU on this machine"
    return run_tests(job, "test/device", GPU_TESTS, (2,), SHMEM_HMEM="on", SHMEM_GDA="off",
                     SHMEM_DEVICE_SYMMETRIC_SIZE="256M", WSH_TEST_PATH="gpuhmemefa")


def gda_by_thread(job):
    """Where there is no GPU and the device is emulated: a thread of the CPU posts by the kernels' rules."""
    settings = {"SHMEM_GDA": "on", "SHMEM_HMEM": "on", "SHMEM_NICS_PER_PE": "1", "WSH_TEST_PATH": "fakegda",
                "SHMEM_DEVICE_SYMMETRIC_SIZE": "64M", **job.environment(fake_gpu=True)}
    verdict, seen = run_tests(job, "test/mp", ["device_gda"], (2, 4), **settings)
    if verdict != "as expected":
        return verdict, seen
    output = job.pes_command(2, "test/mp/helper/gda_fault", "held", **settings)
    found = re.search(r"held: (all \d+ arrived, \d+ noted)", output.text)
    if output.status or not found:
        return judge(False, f"gda_fault held: exit status {output.status}: {first_line(output.text)}")
    return verdict, f"{seen}; the watcher held: {found.group(1)}; a thread of the CPU plays the kernel (no GPU)"


def gda(job):
    if not job.gpus and job.libfabric and job.has("test/fake_cuda/libcuda.so.1", "test/mp/device_gda"):
        return gda_by_thread(job)
    if not job.gpus:
        return "skipped", "no NVIDIA GPU on this machine"
    lacks = job.gda_lacks()
    if lacks:
        return "skipped", f"kernels go by the proxy here: {lacks}"
    settings = {"SHMEM_HMEM": "on", "SHMEM_DEVICE_SYMMETRIC_SIZE": "256M"}
    if job.emulated:  # no NIC is near a GPU
        settings["SHMEM_NICS_PER_PE"] = "1"
    verdict, seen = run_tests(job, "test/device", GDA_TESTS + GPU_TESTS, (2,), SHMEM_GDA="on", WSH_TEST_PATH="gpugda",
                              **settings)
    if verdict != "as expected" or not job.has("perftest/device/internode"):
        return verdict, seen
    times = []
    for by, setting in ("kernel", "on"), ("proxy", "off"):
        job.by = "kernels that post" if setting == "on" else "kernels, by the proxy"
        output = job.pes_command(2, "perftest/device/internode", "--rows", "put_nbi.thread.*", "-b", "8", "-e", "64k",
                                 "-f", "8", "-n", "11", SHMEM_GDA=setting, **settings)
        found = re.search(r"^put_nbi +thread +8 +\S+ +\S+ +(\S+)", output.text, re.MULTILINE)
        if output.status or not found:
            return judge(False, f"internode by the {by}: exit status {output.status}: {first_line(output.text)}")
        times.append(f"64 puts of 8 bytes by the {by} {found.group(1)} us")
    return verdict, f"{seen}; {', '.join(times)}"


STEPS = [
    Step("machine", "an instance whose driver for EFA is loaded",
         "the instance's type, `modinfo efa`, the network interfaces that it was started with", machine),
    Step("doctor", "warpshmem-info --check finds nothing that prevents a job",
         "the lines that are not `ok` in the report: each names its cure", doctor),
    Step("devices", "libfabric's provider efa lists the devices",
         "`fi_info -p efa`: which libfabric is found (LD_LIBRARY_PATH), whether /dev/infiniband is there", devices),
    Step("start", "two PEs on two hosts start, and reach each other by the provider efa",
         "the security group (all traffic inside it), `ulimit -l`, SHMEM_DEBUG=info", start),
    Step("order", "every test of data, order and completion passes with 2 and 4 PEs",
         "the test's output; docs/guide/efa.md \"Order without an ordered network\", transports/efa/README.md", order),
    Step("data-first", "over each NIC alone, what a completion announces is in host memory, and in GPU memory",
         "the NIC that is named: is it the host's word or the GPU's? Its PCI path (`lspci -vv`: relaxed ordering), ACS and "
         "the IOMMU; for the GPU's word docs/guide/efa.md \"Device memory\"", data_first),
    Step("nic-counts", "a put that a quiet has completed has been counted by the target's NIC, in which no CPU has a part",
         "`counted … of … puts`: with SHMEM_NIC_COUNTERS=0 CPUs count, and the library is right again", nic_counts),
    Step("fences", "a fence after each put of 8 KiB costs at most as much again",
         "whether the provider counts writes with immediate data (`counted writes 1` of the step start)", fences),
    Step("latency", "8 bytes with a signal take at most 1.5 times a bare message of libfabric",
         "CPU frequency and binding (oshrun --bind core), interrupts, SHMEM_PROGRESS", latency),
    Step("rails", "one NIC gives 0.85 of its rate, two give 1.8 times as much, four 3.4 times",
         "`warpshmem-info --nics`: whether the NICs are those nearest to the PE; traffic of others", rails),
    Step("gpu-order", "device tests between hosts pass while NICs read and write GPU memory",
         "docs/guide/efa.md \"Device memory\"; the same with SHMEM_HMEM=off tells whether it is the NIC's writes", gpu_order),
    Step("gda", "kernels that post to the NIC pass their tests, and the same ones",
         "warpshmem-info --check (lines GDA); docs/design/gda.md; the same with SHMEM_GDA=off tells whether it is that", gda),
    Step("put", "puts, and puts with a signal, of 8 bytes to 1 MiB are right, by the host, the proxy and kernels that post",
         "the first size that is wrong; with SHMEM_GDA=off, or SHMEM_HMEM=off, kernels take the other way", put),
    Step("alltoall", "alltoall between all PEs of both hosts is right", "the first size that is wrong", alltoall),
    Step("jacobi", "a solver that exchanges edges by put_signal computes the same as one PE alone",
         "the variant that is wrong: test/mp/put_signal_orders and test/device/put_signal_orders show the order alone", jacobi),
    Step("experts", "dispatch and combine of 128 tokens a PE are right in every row",
         "docs/guide/expert-parallelism.md; the same with --hidden 128 tells whether it is the size", experts),
]
