# SPDX-License-Identifier: BSD-3-Clause
"""What steps say of what they saw."""


def judge(good, seen):
    return ("as expected" if good else "surprise"), seen


def judge_figure(job, good, seen):
    return ("printed", seen + " (emulated: not judged)") if job.emulated else judge(good, seen)


def first_line(text):
    lines = [line for line in text.splitlines() if line.strip()]
    return lines[-1][:200] if lines else "no output"


def median(rows, name, size):
    values = [row["p50"] for row in rows if row["op"] == name and row["bytes"] == size]
    return values[0] if values else float("nan")
