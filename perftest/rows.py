# SPDX-License-Identifier: BSD-3-Clause
"""What comparisons run, and which figure of which program stands in which row."""

import collections

from sides import SIZES, Run

# op and size name the row in a program's JSON; op None: the wall time of the whole command. beside: what the other side
# runs where that is another program, and bare the [(op, size), …] of it whose times are added up, op being one or,
# where the fastest counts, several with | between. goal: the highest ratio wanted, or, without bare, time in us.
Row = collections.namedtuple("Row", "name run op size unit goal beside bare", defaults=(None, None, None))

PUT = Run("put_latency", 2, "-s 8,1k,64k,1M")
GET = Run("get_latency", 2, "-s 8,1k,64k,1M")
P_G = Run("p_g_latency", 2, "")
RATE = Run("msg_rate", 2, "-s 8")
AMO = Run("amo_latency", 2, "")
PUT_BW = Run("put_bw", 2, "-s 1M")
GET_BW = Run("get_bw", 2, "-s 1M")
PINGPONG = Run("pingpong", 2, "-s 8,64k")


def peer_rows():
    """The rows of PEERS sections 1 (one host), 2 (more PEs than cores) and 4 (start and stop)."""
    rows = [Row(f"put+quiet {SIZES[s]}", PUT, "put+quiet", s, "us") for s in SIZES]
    rows += [Row("put 8", PUT, "put", 8, "us")]
    rows += [Row(f"get {SIZES[s]}", GET, "get", s, "us") for s in SIZES]
    rows += [Row("p+quiet 8", P_G, "p+quiet", 8, "us"), Row("g 8", P_G, "g", 8, "us"),
             Row("put_nbi rate 8", RATE, "put_nbi", 8, "Mop/s"),
             Row("get_nbi rate 8", RATE, "get_nbi", 8, "Mop/s")]
    rows += [Row(op, AMO, op, 8, "us") for op in
             ("fetch_add", "compare_swap", "swap", "fetch", "inc+quiet", "set+quiet")]
    rows += [Row("put bandwidth 1Mi", PUT_BW, "put_nbi", 1 << 20, "GB/s"),
             Row("get bandwidth 1Mi", GET_BW, "get_nbi", 1 << 20, "GB/s"),
             Row("p ping-pong 8", PINGPONG, "p", 8, "us")]
    for op, name in (("put_fence_p", "put-fence-p"), ("put_signal", "put_signal")):
        rows += [Row(f"{name} ping-pong {SIZES[s]}", PINGPONG, op, s, "us") for s in (8, 65536)]
    rows += [Row(f"{op} {n} PEs", Run("barrier", n, ""), op, 0, "us")
             for n in (2, 4, 8, 16) for op in ("barrier_all", "sync_all")
             if n == 2 or op == "barrier_all"]
    for name, program, op in (("alltoall", "alltoall_latency", "alltoall"),
                              ("alltoalls", "alltoalls_latency", "alltoalls"),
                              ("sum reduce", "reduce_latency", "sum"),
                              ("broadcast", "broadcast_latency", "broadcast_set"),
                              ("fcollect", "collect_latency", "fcollect"),
                              ("collect", "collect_latency", "collect")):
        rows += [Row(f"{name} {SIZES[s]} {n} PEs", Run(program, n, "-s 8,1k,64k,1M"), op, s, "us")
                 for n in (2, 4, 8, 16) for s in SIZES]
    rows += [Row(f"start-up {n} PEs", Run("init", n, ""), None, 0, "ms") for n in (2, 8, 32)]
    return rows


def network_limit_rows(provider):
    """The rows of PEERS section 3: two PEs that reach each other through the network alone."""
    def limit(name, ours, bare, goal):
        return Row(name, *ours, "us", goal, Run("fabric/libfabric", 2, "limit -s 8,1k,64k,1M -p " + provider), bare)

    message = [("message", 8)]
    rows = [limit(f"put+quiet {SIZES[s]}", (PUT, "put+quiet", s), [("write", s)], 1.15)
            for s in SIZES]
    rows += [limit(f"get {SIZES[s]}", (GET, "get", s), [("read", s)], 1.15) for s in SIZES]
    rows += [limit("put bandwidth 1Mi", (PUT_BW, "put_nbi", 1 << 20),
                   [("write_window", 1 << 20)], 1.05),
             limit("fetch_add", (AMO, "fetch_add", 8), message * 2, 1.3),
             limit("p ping-pong 8", (PINGPONG, "p", 8), message, 1.3),
             limit("put-fence-p ping-pong 8", (PINGPONG, "put_fence_p", 8), message, 1.4)]
    rows += [limit(f"put_signal ping-pong {SIZES[s]}", (PINGPONG, "put_signal", s),
                   [("message", s)], 1.3) for s in (8, 65536)]
    rows += [limit("barrier_all 2 PEs", (Run("barrier", 2, ""), "barrier_all", 0), message, 1.5),
             limit("alltoall 8 2 PEs", (Run("alltoall_latency", 2, "-s 8,64k"), "alltoall", 8),
                   message, 2)]
    return rows


def memory_limit_rows():
    """PEs of one host: the goals of PEERS sections 1 and 2 as ratios to its limits of memory."""
    def limit(name, ours, bare, goal):
        return Row(name, *ours, "us", goal, Run("memory_bare", ours[0].npes, "-s 8,64k,1M"), bare)

    line = [("line", 8)]
    rows = [limit(f"put+quiet {SIZES[s]}", (PUT, "put+quiet", s), [("copy", s)], 1.08)
            for s in (65536, 1 << 20)]
    rows += [limit(f"get {SIZES[s]}", (GET, "get", s), [("copy", s)], 1.05)
             for s in (65536, 1 << 20)]
    rows += [limit("put bandwidth 1Mi", (PUT_BW, "put_nbi", 1 << 20), [("copy", 1 << 20)], 1.05),
             limit("get bandwidth 1Mi", (GET_BW, "get_nbi", 1 << 20), [("copy", 1 << 20)], 1.05),
             limit("p ping-pong 8", (PINGPONG, "p", 8), line, 1.02)]
    for op, name in (("put_fence_p", "put-fence-p"), ("put_signal", "put_signal")):
        rows += [limit(f"{name} ping-pong 8", (PINGPONG, op, 8), line, 1.15),
                 limit(f"{name} ping-pong 64Ki", (PINGPONG, op, 65536),
                       line + [("copy", 65536)], 1.12)]
    for name, program, goals in (("alltoall", "alltoall_latency", (1.54, 1.92, 1.92)),
                                 ("fcollect", "collect_latency", (1.54, 3.8, 4.3))):
        rows += [limit(f"{name} {SIZES[s]} {n} PEs", (Run(program, n, "-s 64k,1M"), name, s),
                       [(f"{name}|{name}_string", s)], goal if s == 65536 else 1.1)
                 for n, goal in zip((2, 4, 8), goals) for s in (65536, 1 << 20)]
    return rows


# Program, row, sizes, and goals in us by PEs and bytes, on 16 cores, of which a line of the cache takes 0.15 us from
# one to another.
CORES = (
    ("barrier", "barrier_all", (0,), {(2, 0): 0.20, (4, 0): 0.35, (8, 0): 0.60, (16, 0): 0.90}),
    ("barrier", "sync_all", (0,), {(8, 0): 0.60, (16, 0): 0.90}),
    ("alltoall_latency", "alltoall", (8, 65536), {(2, 8): 0.25, (4, 8): 0.35, (8, 8): 0.55, (16, 8): 0.90,
                                                  (8, 65536): 16, (16, 65536): 90}),
    ("reduce_latency", "sum", (8, 65536, 1 << 20), {(16, 8): 0.7, (16, 1 << 20): 150}),
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
    return rows + [Row(f"start, {n} PEs", Run("init", n, ""), None, 0, "us", goal)
                   for n, goal in STARTS.items() if n <= 4 * max(pes)]


def path_rows(options, sizes, window):
    """Latencies for every size, bandwidths for those from 4 KiB on."""
    rows = []
    for program, op, name in (("put_latency", "put+quiet", "put + quiet"), ("get_latency", "get", "get"),
                              ("put_signal_latency", "put_signal+quiet", "put_signal + quiet"),
                              ("pingpong", "put_signal", "put_signal ping-pong")):
        run = Run(program, 2, f"{options} -s {','.join(map(str, sizes))} -m {op}")
        rows += [Row(f"{name} {size}", run, op, size, "us") for size in sizes]
    large = [size for size in sizes if size >= 4096]
    for program, op, name in (("put_bw", "put_nbi", "put bandwidth"), ("get_bw", "get_nbi", "get bandwidth")):
        run = Run(program, 2, f"{options} -W {window} -s {','.join(map(str, large))}")
        rows += [Row(f"{name} {size}", run, op, size, "GB/s") for size in large]
    return rows


def build_rows(path, pes, options):
    """Of two builds of this library."""
    programs = (("put_latency", "-s 8 -m put+quiet", "put+quiet", (8,)),
                ("get_latency", "-s 8", "get", (8,)),
                ("amo_latency", "-m fetch_add", "fetch_add", (8,)),
                ("put_signal_latency", "-s 8 -m put_signal+quiet", "put_signal+quiet", (8,)),
                ("alltoall_latency", "-s 8,64k", "alltoall", (8, 65536)))
    return [Row(f"{path} {n} PEs: {op} {size}", Run(program, n, f"{words} {options}"), op, size, "us")
            for n in pes for program, words, op, sizes in programs for size in sizes]
