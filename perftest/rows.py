# SPDX-License-Identifier: BSD-3-Clause
"""What comparisons run, and which figure of which program stands in which row."""

import collections

from sides import SIZES, Run

# op and size name the row in a program's JSON; op None: the wall time of the whole command. beside: what the other side
# runs where that is another program, and bare the [(op, size), …] of it whose times are added up, op being one or,
# where the fastest counts, several with | between. goal: the highest ratio wanted, or, without bare, time in us.
Row = collections.namedtuple("Row", "name run op size unit goal beside bare", defaults=("us", None, None, None))

ALL = "-s 8,1k,64k,1M"
AMOS = "fetch_add", "compare_swap", "swap", "fetch", "inc+quiet", "set+quiet"
COLLECTIVES = (("alltoall", "alltoall", "alltoall"), ("alltoalls", "alltoalls", "alltoalls"),
               ("sum reduce", "reduce", "sum"), ("broadcast", "broadcast", "broadcast_set"),
               ("fcollect", "collect", "fcollect"), ("collect", "collect", "collect"))


def peer_rows():
    """One host, more PEs than cores, start and stop: name, program, options, op, sizes, PEs, unit."""
    families = (
        ("put+quiet {s}", "put_latency", ALL, "put+quiet", SIZES, [2], "us"),
        ("put 8", "put_latency", ALL, "put", [8], [2], "us"),
        ("get {s}", "get_latency", ALL, "get", SIZES, [2], "us"),
        ("p+quiet 8", "p_g_latency", "", "p+quiet", [8], [2], "us"),
        ("g 8", "p_g_latency", "", "g", [8], [2], "us"),
        ("put_nbi rate 8", "msg_rate", "-s 8", "put_nbi", [8], [2], "Mop/s"),
        ("get_nbi rate 8", "msg_rate", "-s 8", "get_nbi", [8], [2], "Mop/s"),
        *((op, "amo_latency", "", op, [8], [2], "us") for op in AMOS),
        ("put bandwidth 1Mi", "put_bw", "-s 1M", "put_nbi", [1 << 20], [2], "GB/s"),
        ("get bandwidth 1Mi", "get_bw", "-s 1M", "get_nbi", [1 << 20], [2], "GB/s"),
        ("p ping-pong 8", "pingpong", "-s 8,64k", "p", [8], [2], "us"),
        ("put-fence-p ping-pong {s}", "pingpong", "-s 8,64k", "put_fence_p", [8, 65536], [2], "us"),
        ("put_signal ping-pong {s}", "pingpong", "-s 8,64k", "put_signal", [8, 65536], [2], "us"),
        ("barrier_all {n} PEs", "barrier", "", "barrier_all", [0], [2], "us"),
        ("sync_all {n} PEs", "barrier", "", "sync_all", [0], [2], "us"),
        ("barrier_all {n} PEs", "barrier", "", "barrier_all", [0], [4, 8, 16], "us"),
        *((name + " {s} {n} PEs", program + "_latency", ALL, op, SIZES, [2, 4, 8, 16], "us")
          for name, program, op in COLLECTIVES),
        ("start-up {n} PEs", "init", "", None, [0], [2, 8, 32], "ms"),
    )
    return [Row(name.format(s=SIZES.get(s), n=n), Run(program, n, options), op, s, unit)
            for name, program, options, op, sizes, pes, unit in families for n in pes for s in sizes]


def limit_rows(bare, options, limits):
    """Rows of peer_rows beside another program: name, goal, [(op, size), …] to add up, and other options."""
    rows, result = {row.name: row for row in peer_rows()}, []
    for name, goal, parts, *options_of in limits:
        row = rows[name]._replace(unit="us", goal=goal, bare=parts, beside=Run(bare, rows[name].run.npes, options))
        result.append(row._replace(run=row.run._replace(args=options_of[0])) if options_of else row)
    return result


MESSAGE, LINE, MIB = [("message", 8)], [("line", 8)], 1 << 20


def network_limit_rows(provider):
    """Two PEs that reach each other through the network alone."""
    return limit_rows("fabric/libfabric", "limit " + ALL + " -p " + provider, [
        *((f"put+quiet {SIZES[s]}", 1.15, [("write", s)]) for s in SIZES),
        *((f"get {SIZES[s]}", 1.15, [("read", s)]) for s in SIZES),
        ("put bandwidth 1Mi", 1.05, [("write_window", MIB)]), ("fetch_add", 1.3, MESSAGE * 2),
        ("p ping-pong 8", 1.3, MESSAGE), ("put-fence-p ping-pong 8", 1.4, MESSAGE),
        ("put_signal ping-pong 8", 1.3, MESSAGE), ("put_signal ping-pong 64Ki", 1.3, [("message", 65536)]),
        ("barrier_all 2 PEs", 1.5, MESSAGE),
        ("alltoall 8 2 PEs", 2, MESSAGE, "-s 8,64k")])


def memory_limit_rows():
    """PEs of one host beside what its memory does."""
    def copy(*names, goal, size=MIB, before=()):
        return [(name, goal, [*before, ("copy", size)]) for name in names]

    return limit_rows("memory_bare", "-s 8,64k,1M", [
        *copy("put+quiet 64Ki", goal=1.08, size=65536), *copy("put+quiet 1Mi", goal=1.08),
        *copy("get 64Ki", goal=1.05, size=65536), *copy("get 1Mi", "put bandwidth 1Mi", "get bandwidth 1Mi", goal=1.05),
        ("p ping-pong 8", 1.02, LINE),
        *(row for op in ("put-fence-p", "put_signal") for row in (
            (f"{op} ping-pong 8", 1.15, LINE), *copy(f"{op} ping-pong 64Ki", goal=1.12, size=65536, before=LINE))),
        *((f"{name} {SIZES[s]} {n} PEs", goal if s == 65536 else 1.1, [(f"{name}|{name}_string", s)], "-s 64k,1M")
          for name, goals in (("alltoall", (1.54, 1.92, 1.92)), ("fcollect", (1.54, 3.8, 4.3)))
          for n, goal in zip((2, 4, 8), goals) for s in (65536, MIB))])


# On 16 cores, of which a line of the cache takes 0.15 us from one to another: program, row, sizes, and goals in us by
# PEs and bytes.
CORES = (
    ("barrier", "barrier_all", (0,), {(2, 0): 0.20, (4, 0): 0.35, (8, 0): 0.60, (16, 0): 0.90}),
    ("barrier", "sync_all", (0,), {(8, 0): 0.60, (16, 0): 0.90}),
    ("alltoall_latency", "alltoall", (8, 65536), {(2, 8): 0.25, (4, 8): 0.35, (8, 8): 0.55, (16, 8): 0.90,
                                                  (8, 65536): 16, (16, 65536): 90}),
    ("reduce_latency", "sum", (8, 65536, MIB), {(16, 8): 0.7, (16, MIB): 150}),
    ("broadcast_latency", "broadcast_set", (8, 65536), {(16, 8): 0.2, (16, 65536): 5}),
    ("collect_latency", "fcollect", (8, 65536), {(16, 8): 0.6, (16, 65536): 70}),
    ("collect_latency", "collect", (8, 65536), {}),
)
PINGPONGS = (
    ("pingpong", "p", (8,), {(2, 8): 0.15}),
    ("pingpong", "put_fence_p", (8,), {(2, 8): 0.16}),
    ("pingpong", "put_signal", (8,), {(2, 8): 0.16}),
)
# The whole of oshrun, with a program that does nothing between its start and its end.
STARTS = {2: 50e3, 16: 70e3, 64: 200e3}


def core_rows(pes, seconds):
    """What takes most PEs first."""
    rows = []
    for (program, op, sizes, goals), n in [(p, n) for n in sorted(pes, reverse=True) for p in CORES] + \
            [(p, 2) for p in PINGPONGS]:
        options = f"-m {op} --seconds {seconds}" + (f" -s {','.join(map(str, sizes))}" if sizes[0] else "")
        rows += [Row(f"{op}{' ' + SIZES[s] if s else ''}, {n} PEs", Run(program, n, options), op, s, "us",
                     goals.get((n, s))) for s in sizes]
    return rows + [Row(f"start, {n} PEs", Run("init", n, ""), None, 0, goal=goal)
                   for n, goal in STARTS.items() if n <= 4 * max(pes)]


def path_rows(options, sizes, window):
    """Latencies for every size, bandwidths for those from 4 KiB on."""
    latencies = (("put_latency", "put+quiet", "put + quiet"), ("get_latency", "get", "get"),
                 ("put_signal_latency", "put_signal+quiet", "put_signal + quiet"),
                 ("pingpong", "put_signal", "put_signal ping-pong"))
    large = [size for size in sizes if size >= 4096]
    return [Row(f"{name} {size}", Run(program, 2, f"{options} -s {','.join(map(str, sizes))} -m {op}"), op, size)
            for program, op, name in latencies for size in sizes] + \
        [Row(f"{way} bandwidth {size}", Run(f"{way}_bw", 2, f"{options} -W {window} -s {','.join(map(str, large))}"),
             f"{way}_nbi", size, "GB/s") for way in ("put", "get") for size in large]


BUILD_PATHS = {  # options of oshrun, settings
    "local": ([], {}),
    "tcp": ([], {"SHMEM_TRANSPORTS": "efa", "FI_PROVIDER": "tcp,net,ofi_rxm"}),
    "efa": (["--emulate-efa"], {"EFA_EMULATOR_QUIET": "1", "SHMEM_NICS_PER_PE": "1"}),
}


def build_rows(path, pes, options):
    """Of two builds of this library."""
    programs = (("put_latency", "-s 8 -m put+quiet", "put+quiet", (8,)), ("get_latency", "-s 8", "get", (8,)),
                ("amo_latency", "-m fetch_add", "fetch_add", (8,)),
                ("put_signal_latency", "-s 8 -m put_signal+quiet", "put_signal+quiet", (8,)),
                ("alltoall_latency", "-s 8,64k", "alltoall", (8, 65536)))
    return [Row(f"{path} {n} PEs: {op} {size}", Run(program, n, f"{words} {options}"), op, size)
            for n in pes for program, words, op, sizes in programs for size in sizes]


# Programs over GPUs: the table of rows of each, and NCCL's ways (device/nccl.cuh) that stand beside it.
NCCL = ["nccl", "nccl-window", "nccl-native", "nccl-window-native", "nccl-window-native-copy"]
GPU_PROGRAMS = {"p2p": ("p2p_table", []), "collectives": ("coll_table", NCCL), "jacobi": ("jacobi_options", NCCL[:2])}
# Figures that users compare systems with: program, rows, percent of the time that is left.
GPU_FIGURES = {"jacobi": ("jacobi", "*", 40),
               "loaded": ("p2p", "put_loaded,p_loaded,pp_signal_loaded,put.block.8.*,p,pp_signal", 25),
               "barriers": ("collectives", "puts_barrier,barrier_loaded,barrier_all.block.*", 30),
               "alltoall": ("collectives", "alltoall*", 100)}
# Other libraries: the setting with their folder, package, header, library, where else they may be, how to link.
GPU_LIBRARIES = {
    "nvshmem": ("NVSHMEM_HOME", "nvidia.nvshmem", "nvshmem.h", "libnvshmem_host.so.3", (),
                ["-rdc=true", "-DPERF_NVSHMEM", "-lnvshmem_device", "-l:libnvshmem_host.so.3", "-lcuda"]),
    "nccl": ("NCCL_HOME", "nvidia.nccl", "nccl.h", "libnccl.so.2", ("/usr/local/cuda", "/usr/local", "/usr"),
             ["-DPERF_NCCL", "-l:libnccl.so.2"])}
