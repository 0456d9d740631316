# SPDX-License-Identifier: BSD-3-Clause
"""What compare runs, and which figure of which program stands in which row."""

import collections

# What is run once per repetition and side; several rows may come from one of them.
Run = collections.namedtuple("Run", "program npes args")
# op and size name the row in a program's JSON; op None: the wall time of the whole command.
Row = collections.namedtuple("Row", "name run op size show")
# ours is (Run, op, size); bare the [(op, size), …] of the bare program whose times are added up, op
# being one or, where the fastest counts, several with | between; goal: the highest ratio wanted.
Limit = collections.namedtuple("Limit", "name ours bare goal")

PUT = Run("put_latency", 2, "-s 8,1k,64k,1M")
GET = Run("get_latency", 2, "-s 8,1k,64k,1M")
P_G = Run("p_g_latency", 2, "")
RATE = Run("msg_rate", 2, "-s 8")
AMO = Run("amo_latency", 2, "")
PUT_BW = Run("put_bw", 2, "-s 1M")
GET_BW = Run("get_bw", 2, "-s 1M")
PINGPONG = Run("pingpong", 2, "-s 8,64k")
BARE_ARGS = "-s 8,1k,64k,1M -p "
SIZES = {8: "8", 1024: "1Ki", 65536: "64Ki", 1 << 20: "1Mi"}


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


def network_limit_rows():
    """The rows of PEERS section 3: two PEs that reach each other through the network alone."""
    message = [("message", 8)]
    rows = [Limit(f"put+quiet {SIZES[s]}", (PUT, "put+quiet", s), [("write", s)], 1.15)
            for s in SIZES]
    rows += [Limit(f"get {SIZES[s]}", (GET, "get", s), [("read", s)], 1.15) for s in SIZES]
    rows += [Limit("put bandwidth 1Mi", (PUT_BW, "put_nbi", 1 << 20),
                   [("write_window", 1 << 20)], 1.05),
             Limit("fetch_add", (AMO, "fetch_add", 8), message * 2, 1.3),
             Limit("p ping-pong 8", (PINGPONG, "p", 8), message, 1.3),
             Limit("put-fence-p ping-pong 8", (PINGPONG, "put_fence_p", 8), message, 1.4)]
    rows += [Limit(f"put_signal ping-pong {SIZES[s]}", (PINGPONG, "put_signal", s),
                   [("message", s)], 1.3) for s in (8, 65536)]
    rows += [Limit("barrier_all 2 PEs", (Run("barrier", 2, ""), "barrier_all", 0), message, 1.5),
             Limit("alltoall 8 2 PEs", (Run("alltoall_latency", 2, "-s 8,64k"), "alltoall", 8),
                   message, 2)]
    return rows


def memory_limit_rows():
    """PEs of one host: the goals of PEERS sections 1 and 2 as ratios to its limits of memory."""
    line = [("line", 8)]
    rows = [Limit(f"put+quiet {SIZES[s]}", (PUT, "put+quiet", s), [("copy", s)], 1.08)
            for s in (65536, 1 << 20)]
    rows += [Limit(f"get {SIZES[s]}", (GET, "get", s), [("copy", s)], 1.05)
             for s in (65536, 1 << 20)]
    rows += [Limit("put bandwidth 1Mi", (PUT_BW, "put_nbi", 1 << 20), [("copy", 1 << 20)], 1.05),
             Limit("get bandwidth 1Mi", (GET_BW, "get_nbi", 1 << 20), [("copy", 1 << 20)], 1.05),
             Limit("p ping-pong 8", (PINGPONG, "p", 8), line, 1.02)]
    for op, name in (("put_fence_p", "put-fence-p"), ("put_signal", "put_signal")):
        rows += [Limit(f"{name} ping-pong 8", (PINGPONG, op, 8), line, 1.15),
                 Limit(f"{name} ping-pong 64Ki", (PINGPONG, op, 65536),
                       line + [("copy", 65536)], 1.12)]
    for name, program, goals in (("alltoall", "alltoall_latency", (1.54, 1.92, 1.92)),
                                 ("fcollect", "collect_latency", (1.54, 3.8, 4.3))):
        rows += [Limit(f"{name} {SIZES[s]} {n} PEs", (Run(program, n, "-s 64k,1M"), name, s),
                       [(f"{name}|{name}_string", s)], goal if s == 65536 else 1.1)
                 for n, goal in zip((2, 4, 8), goals) for s in (65536, 1 << 20)]
    return rows
