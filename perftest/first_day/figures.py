# SPDX-License-Identifier: BSD-3-Clause
"""The steps whose figures are worth publishing: by the host, by kernels through the proxy, by kernels that post."""

from first_day.judge import first_line, judge


def gpu_ways(job, memory):
    """(who starts the operations, settings) of runs with kernels, and why there are not both."""
    if not job.gpus:
        return [], "; no NVIDIA GPU on this machine: the host alone"
    settings = {"SHMEM_HMEM": "on", "SHMEM_DEVICE_SYMMETRIC_SIZE": memory}
    ways = [("kernels, by the proxy", {**settings, "SHMEM_GDA": "off"})]
    lacks = job.gda_lacks()
    if lacks:
        return ways, f"; kernels do not post here: {lacks}"
    return ways + [("kernels that post", {**settings, "SHMEM_GDA": "on"})], ""


def run(job, by, pes, program, words, **settings):
    """What is wrong with it, or ""; and its rows."""
    job.by = by
    output = job.pes_command(pes, program, *words, "--json", "-", **settings)
    if output.status or not output.rows:
        return f"{program}, {by}: exit status {output.status}: {first_line(output.text)}", []
    wrong = [row["op"] for row in output.rows if not row.get("right", True)]
    return f"{program}, {by}: wrong data in {wrong[0]}" if wrong else "", output.rows


def figures(job, pes, host, kernels, memory="256M", **settings):
    """Every program of the host, then every one of kernels in each way; each is (program, words)."""
    ways, why = gpu_ways(job, memory)
    if job.emulated:  # no NIC is near a GPU, all are alike, and each takes a while at the start
        settings["SHMEM_NICS_PER_PE"] = "1"
    plan = [("host", program, words, settings) for program, words in host]
    for by, more in ways:
        plan += [(by, program, words, {**settings, **more}) for program, words in kernels if job.has(program)]
    if ways and len(plan) == len(host):
        why = "; no nvcc at configure: the host alone"
    seen = []
    for by, program, words, more in plan:
        wrong, rows = run(job, by, pes, program, words, **more)
        if wrong:
            return judge(False, wrong)
        shown = (rows[0], rows[-1]) if len(rows) > 1 else rows
        seen.append(f"{by}: " + ", ".join(f"{row['op']} {row['bytes']} B {row['p50']:.1f} us" for row in shown))
    note = " (emulated: no figure of a NIC)" if job.emulated else ""
    return "as expected", f"{pes} PEs, right; {'; '.join(seen)}{why}{note}"


def sizes(job, least, most):
    return ["-b", least, "-e", "64k" if job.emulated else most, "-f", "8"]


def samples(job):
    return ["-n", "20", "--seconds", "0.1"] if job.emulated else ["-n", "50", "--seconds", "2"]


def put(job):
    words = [*sizes(job, "8", "1M"), *samples(job)]
    kernels = ["--rows", "put_blocking.thread.*,put_nbi.thread.*,wait_until.*", "-n", "11", *sizes(job, "8", "1M")]
    return figures(job, 2, [("perftest/put_latency", words), ("perftest/put_signal_latency", words)],
                   [("perftest/device/internode", kernels)])


def alltoall(job):
    words = [*sizes(job, "8", "1M"), *samples(job)]
    kernels = ["--rows", "alltoall_put.*,alltoall_put_signal.*", "-n", "11", *sizes(job, "8", "1M")]
    return figures(job, 2 * job.args.pes, [("perftest/alltoall_latency", words)], [("perftest/device/internode", kernels)])


def jacobi(job):
    words = [*sizes(job, "1k", "64k"), *samples(job)]
    side = "1024" if job.emulated else "16384"
    kernels = ["--nx", side, "--ny", side, "--variants", "nbi,persistent", "-k", "100", "-n", "3"]
    return figures(job, 2 * job.args.pes, [("perftest/jacobi_host", words)], [("perftest/device/jacobi", kernels)], memory="1G")


def experts(job):
    shape = ["--check", "-m", "decode", "--tokens", "128", "--experts", "256", "-n", "5", "-w", "1"]
    kernels = [("perftest/device/ep", shape)]
    host = [] if job.gpus and job.has("perftest/device/ep") else [("perftest/ep/ep_host", shape + ["--hidden", "1024"])]
    return figures(job, 2 * job.args.pes, host, kernels, memory="2G", SHMEM_SYMMETRIC_SIZE="512M")
