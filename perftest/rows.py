# SPDX-License-Identifier: BSD-3-Clause
"""What comparisons run, and which figure of which program stands in which row."""

import collections

# What is run once per repetition and side; several rows may come from one of them.
Run = collections.namedtuple("Run", "program npes args")

# op and size name the row in a program's JSON; op None: the wall time of the whole command. beside: what the other side
# runs where that is another program, and bare the [(op, size), …] of it whose times are added up, op being one or,
# where the fastest counts, several with | between. goal: the highest ratio wanted, or, without bare, time in us.
Row = collections.namedtuple("Row", "name run op size unit goal beside bare", defaults=("us", None, None, None))

SIZES = {8: "8", 1024: "1Ki", 65536: "64Ki", 1 << 20: "1Mi"}
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


def core_rows(pes):
    """What takes most PEs first."""
    rows = []
    for (program, op, sizes, goals), n in [(p, n) for n in sorted(pes, reverse=True) for p in CORES] + \
            [(p, 2) for p in PINGPONGS]:
        options = f"-m {op}" + (f" -s {','.join(map(str, sizes))}" if sizes[0] else "")
        rows += [Row(f"{op}{' ' + SIZES[s] if s else ''}, {n} PEs", Run(program, n, options), op, s, "us",
                     goals.get((n, s))) for s in sizes]
    return rows + [Row(f"start, {n} PEs", Run("init", n, ""), None, 0, goal=goal)
                   for n, goal in STARTS.items() if n <= 4 * max(pes)]


# The paths between PEs of one host: options of oshrun, settings.
PATHS = {
    "local": ([], {}),
    "shm": ([], {"SHMEM_TRANSPORTS": "efa", "SHMEM_LIBFABRIC_PROVIDER": "shm"}),
    "tcp": ([], {"SHMEM_TRANSPORTS": "efa", "FI_PROVIDER": "tcp,net,ofi_rxm"}),
    "efa": (["--emulate-efa"], {"EFA_EMULATOR_QUIET": "1", "SHMEM_NICS_PER_PE": "1"}),
}


def path_rows():
    """Latencies for every size, bandwidths for those from 4 KiB on."""
    latencies = (("put_latency", "put+quiet", "put + quiet"), ("get_latency", "get", "get"),
                 ("put_signal_latency", "put_signal+quiet", "put_signal + quiet"),
                 ("pingpong", "put_signal", "put_signal ping-pong"))
    return [Row(f"{name} {size}", Run(program, 2, f"{ALL} -m {op}"), op, size)
            for program, op, name in latencies for size in SIZES] + \
        [Row(f"{way} bandwidth {size}", Run(f"{way}_bw", 2, "-W 16 -s 64k,1M"), f"{way}_nbi", size, "GB/s")
         for way in ("put", "get") for size in (65536, MIB)]


def build_rows(path, pes):
    """Of two builds of this library."""
    programs = (("put_latency", "-s 8 -m put+quiet", "put+quiet", (8,)), ("get_latency", "-s 8", "get", (8,)),
                ("amo_latency", "-m fetch_add", "fetch_add", (8,)),
                ("put_signal_latency", "-s 8 -m put_signal+quiet", "put_signal+quiet", (8,)),
                *(("barrier", f"-m {op}", op, (0,)) for op in ("barrier_all", "sync_all")),
                *((program + "_latency", f"-s 8,64k -m {op}", op, (8, 65536)) for _, program, op in COLLECTIVES),
                *(("nonblocking", f"-s 8 -m {op}", op, (8,)) for op in ("alltoall_nb", "alltoall_nb_8")))
    return [Row(f"{path} {n} PEs: {op}" + f" {size}" * bool(size), Run(program, n, words), op, size)
            for n in pes for program, words, op, sizes in programs for size in sizes]


# Programs over GPUs, and NCCL's ways (device/nccl.cuh) that stand beside each.
NCCL = ["nccl", "nccl-window", "nccl-native", "nccl-window-native", "nccl-window-native-copy"]
GPU_PROGRAMS = {"p2p": [], "collectives": NCCL, "jacobi": NCCL[:2]}
# Figures that users compare systems with: program, rows.
GPU_FIGURES = {"jacobi": ("jacobi", "*"),
               "loaded": ("p2p", "put_loaded,p_loaded,pp_signal_loaded,put.block.8.*,p,pp_signal"),
               "barriers": ("collectives", "puts_barrier,barrier_loaded,barrier_all.block.*"),
               "alltoall": ("collectives", "alltoall*")}
# Other libraries: the setting with their folder, package, header, library, where else they may be.
GPU_LIBRARIES = {
    "nvshmem": ("NVSHMEM_HOME", "nvidia/nvshmem", "nvshmem.h", "libnvshmem_host.so.3", ()),
    "nccl": ("NCCL_HOME", "nvidia/nccl", "nccl.h", "libnccl.so.2", ("/usr/local/cuda", "/usr/local", "/usr"))}
# Goals of GPU_PROGRAMS: PEs (None: any), the row as a regular expression, then us at most or GB/s at least; or "nccl":
# ahead of NCCL's best way. The last one that fits counts.
GPU_GOALS = {
    "p2p": [
        (None, "(put|get|put_bulk|get_bulk).block.4194304.1x256", 104.9),
        (None, "put.warp.4194304.1x32", 559),
        (None, "get.warp.4194304.1x32", 599.2),
        (None, "put_bulk.warp.4194304.1x32", 127.1),
        (None, "put.thread.1024.1x1", 3),
        (None, "put.(thread|warp|block).8.1x(1|32|256)", 1.5),
        (None, "(put|put_bulk)_bw.block.4194304.32x256", 345),
        (None, "(get|get_bulk)_bw.block.4194304.32x256", 340),
        (None, "p.thread.8.1x1", 1.3),
        (None, "g.thread.8.1x1", 0.70),
        (None, "fetch_inc.thread.8.1x1", 1.1),
        (None, "pp_signal.thread.8.1x1", 2.0),
        (None, "pp_put_signal.block.8.1x256", 3.7),
        (None, "pp_put_signal.block.8192.1x256", 4.4),
        (None, "pp_put_signal.block.65536.1x256", 7),
    ],
    "collectives": [
        (4, "barrier_all.(thread|warp|block).0.1x(1|32|256)", 1.5),
        (4, "sync_all.(thread|warp|block).0.1x(1|32|256)", 1.2),
        (4, "alltoall.block.(32|64|128|256|512).1x256", 1.5),
        (4, "alltoall.block.(1024|2048|4096).1x256", 2.5),
        (4, "(alltoall|fcollect).block.65536.1x256", 5),
        (4, "alltoall.block.1048576.1x256", 28),
        (4, "(alltoall|fcollect).block.4194304.1x256", 100),
        (4, "alltoall.thread.4096.1x1", 8),
        (4, "fcollect.block.1024.1x256", 1.8),
        (4, "reduce.thread.32.1x1", 2),
        (None, "alltoall.(stream|graph).[0-9]*.0x0", "nccl"),
        (None, "reduce.(stream|graph).(16|32|64|512|1024|4096|16384|65536|262144|1048576|2097152|4194304).0x0", "nccl"),
    ],
    "jacobi": [
        (None, "(nbi|persistent).[a-z]*.[0-9]*.[0-9x]*", "nccl"),
        (4, "persistent.block.4096.4096x1000", 40),
        (4, "persistent.block.16384.16384x1000", 385),
    ],
}
