# SPDX-License-Identifier: BSD-3-Clause
"""check.py FILE [--pes N] [--flows N] [--late PE] [--clock-us N] [--cut] [--proxy N] [--gpu N]: judges the file of a trace.

Slices of one thread nest or lie apart; each arrow begins in the call that sent a signal and ends in a wait for it, later
by no less than the clocks allow; the error of the clocks is known, and small; with --late the PE that others wait for is
the one named; with --proxy and --gpu each PE has so many records of proxy threads, and calls of kernels whose phases
fill them, behind the host's calls. Prints what it found, and exits with 1 where something is wrong. With --cut the job has failed."""

import argparse
import collections
import json
import statistics
import sys


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("file")
    parser.add_argument("--pes", type=int, default=4)
    parser.add_argument("--flows", type=int, default=0)
    parser.add_argument("--late", type=int)
    parser.add_argument("--clock-us", type=float, default=1000)
    parser.add_argument("--cut", action="store_true")
    parser.add_argument("--proxy", type=int, default=0)
    parser.add_argument("--gpu", type=int, default=0)
    return parser.parse_args()


def nested(slices):
    """Return the first two slices of a thread that cross, or None."""
    open_until = []
    for event in sorted(slices, key=lambda e: (e["ts"], -e["dur"])):
        end = round(event["ts"] * 1000) + round(event["dur"] * 1000)
        while open_until and open_until[-1][0] <= round(event["ts"] * 1000):
            open_until.pop()
        if open_until and end > open_until[-1][0]:
            return open_until[-1][1], event
        open_until.append((end, event))
    return None


def holding(slices, ts):
    """Return the slice that holds a time, its end included."""
    for event in slices:
        if event["ts"] - 0.0005 <= ts <= event["ts"] + event["dur"] + 0.0005:
            yield event


def waited_for(flows, ends):
    """Return, for each PE, for how long others waited in the median until its signal came."""
    waits = collections.defaultdict(list)
    for i, begin in flows.items():
        waits[begin["pid"]].append(ends[i][0]["ts"] - ends[i][1]["ts"])
    return collections.Counter({pe: statistics.median(times) for pe, times in waits.items()})


def lines_of(events):
    """Return the names of the lines that are the library's own, by PE and thread."""
    return {
        (e["pid"], e["tid"]): e["args"]["name"]
        for e in events
        if e["ph"] == "M" and e["name"] == "thread_name"
    }


def judge_proxy(events, lines, args):
    """Return what is wrong of records: their slices, and what has a begin and an end apart."""
    wrong, begun, count = [], {}, collections.Counter()
    for event in events:
        if event.get("cat") != "library":
            continue
        line = lines.get((event["pid"], event["tid"]), "none")
        if line == "none":
            wrong.append("a line without a name: %s" % event)
        if event["ph"] == "X" and line.startswith("proxy thread "):
            count[event["pid"]] += 1
        if event["ph"] == "b":
            begun[event["id"]] = event
        if event["ph"] == "e":
            begin = begun.pop(event["id"], None)
            if begin is None or begin["name"] != event["name"] or begin["ts"] > event["ts"]:
                wrong.append("an end of nothing, or before its begin: %s" % event)
    if begun:
        wrong.append("%d have begun and no end" % len(begun))
    for pe in range(args.pes):
        if count[pe] < args.proxy:
            wrong.append("%d records of the proxy of PE %d, wanted %d" % (count[pe], pe, args.proxy))
    return wrong


def judge_gpu(slices, lines, args):
    """Return what is wrong of kernels: a call's phases fill it, and it begins behind a call of the host."""
    wrong, count = [], collections.Counter()
    for thread, of_thread in slices.items():
        line = lines.get(thread, "")
        if not line.startswith("GPU, clock to "):
            continue
        error = 2 * float(line.split()[3])
        hosts = [
            e["ts"]
            for (pe, _), others in slices.items()
            for e in others
            if pe == thread[0] and e["name"].startswith("shmemx_ep_")
        ]
        calls = [e for e in of_thread if e["name"] in ("dispatch", "combine")]
        phases = [e for e in of_thread if e["name"] not in ("dispatch", "combine")]
        count[thread[0]] += len(calls)
        filled = sum(e["dur"] for e in phases) / max(sum(e["dur"] for e in calls), 1e-9)
        if not 0.98 < filled < 1.02:
            wrong.append("phases are %.2f of the calls of %s" % (filled, thread))
        if any(min(hosts) > e["ts"] + error for e in calls):
            wrong.append("a kernel of %s before the host's first call" % (thread,))
    for pe in range(args.pes):
        if count[pe] < args.gpu:
            wrong.append("%d calls of kernels of PE %d, wanted %d" % (count[pe], pe, args.gpu))
    return wrong


def judge(trace, args):
    wrong = []
    events = trace["traceEvents"]
    slices = collections.defaultdict(list)
    for event in events:
        if event["ph"] == "X":
            slices[event["pid"], event["tid"]].append(event)
    names = {e["pid"]: e["args"]["name"] for e in events if e["ph"] == "M" and e["name"] == "process_name"}
    if sorted(names) != list(range(args.pes)):
        wrong.append("PEs: %s" % names)
    if not all(name.startswith("PE %d (" % pe) for pe, name in names.items()):
        wrong.append("names of PEs: %s" % names)
    for thread, of_thread in slices.items():
        crossed = nested(of_thread)
        if crossed:
            wrong.append("slices of %s cross: %s %s" % (thread, *crossed))
    pes = trace["otherData"]["pe"]
    errors = [pe["clock_error_ns"] for pe in pes]
    if any(error < 0 for error in errors) and not args.cut:
        wrong.append("clock errors: %s" % errors)
    if max(errors) > args.clock_us * 1000:
        wrong.append("clocks: %s ns" % errors)
    slack = 2 * max(0, *errors) / 1000 + 1  # us: readings of clocks within one host
    flows, ends = {}, {}
    for event in events:
        if event["ph"] == "s":
            flows[event["id"]] = event
            if not any(
                "signal" in e["name"] and e["cat"] == "put"
                for e in holding(slices[event["pid"], event["tid"]], event["ts"])
            ):
                wrong.append("an arrow begins in no call that sends a signal: %s" % event)
        if event["ph"] == "f":
            waits = [
                e
                for e in holding(slices[event["pid"], event["tid"]], event["ts"])
                if e["cat"] == "wait"
            ]
            ends[event["id"]] = (event, waits[0] if waits else None)
            if not waits:
                wrong.append("an arrow ends in no wait: %s" % event)
    if sorted(flows) != sorted(ends):
        wrong.append("arrows without begin or end")
    if len(flows) < args.flows:
        wrong.append("%d arrows, wanted %d" % (len(flows), args.flows))
    late = [i for i in flows if i in ends and ends[i][0]["ts"] + slack < flows[i]["ts"]]
    if late:
        wrong.append("%d arrows end before they begin, by more than %f us" % (len(late), slack))
    if args.late is not None and not wrong:
        waited = waited_for(flows, ends)
        if waited.most_common(1)[0][0] != args.late:
            wrong.append("others wait for %s, not for PE %d" % (waited.most_common(), args.late))
    if not any(e["ph"] == "C" for e in events) and any(
        e.get("args", {}).get("path") == "network" for e in events
    ):
        wrong.append("no counter of bytes under way")
    lines = lines_of(events)
    wrong += judge_proxy(events, lines, args) + judge_gpu(slices, lines, args)
    print(
        "%d slices, %d arrows, clocks to %s ns, %d dropped"
        % (sum(map(len, slices.values())), len(flows), max(errors), sum(pe["dropped"] for pe in pes))
    )
    return wrong


def main():
    args = parse()
    with open(args.file, encoding="utf-8") as file:
        wrong = judge(json.load(file), args)
    for text in wrong[:10]:
        print("wrong: " + text)
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
