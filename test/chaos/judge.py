# SPDX-License-Identifier: BSD-3-Clause
"""What is wrong with a job that has ended, by the table."""
import re

from table import GOES_ON

WITHIN_S = 3.0
# Where a PE crashed follows the line that says so; test/launch/backtrace.sh looks at what it says.
WHERE = r"^(oshrun: PE \d+ crashed|warpshmem: PE \d+ .*: crashed by) "


def allowed_s(plan, slow):
    """Seconds that a job may take after its action."""
    goes_on = plan.row.goes_on or plan.row.kind.startswith(("fault", "memory"))
    return (WITHIN_S + plan.row.notice_s) * slow + (plan.traffic_s if goes_on else 0)


def lines_wrong(lines, outcome):
    ours = [line for line in lines if outcome.line and re.search(outcome.line, line)]
    if outcome.line and not ours:
        return f"no line like {outcome.line}"
    others = [line for line in lines if line not in ours[:1] and
              not any(re.search(pattern, line) for pattern in (WHERE, *outcome.allowed))]
    return f"unexpected line: {others[0]}" if others else ""


def output_wrong(job):
    """Of a job that ended with 0: each PE's lines, one a round, and no other."""
    rounds = {pe: mark.rounds for pe, mark in job.marks("done").items()}
    if len(rounds) != job.plan.pes:
        return f"only PEs {sorted(rounds)} came to their end"
    wanted = sorted(f"PE {pe} round {i}" for pe, n in rounds.items() for i in range(n))
    return "" if sorted(job.place.output()) == wanted else "lines of output are missing or wrong"


def outcome_wrong(job, outcome):
    if job.status not in outcome.statuses:
        return f"exit status {job.status}, expected {' or '.join(f'{status:d}' for status in outcome.statuses)}"
    wrong = lines_wrong(job.lines("err"), outcome)
    return wrong if wrong or job.status else output_wrong(job)


def outcomes_wrong(job):
    """Empty when one of the outcomes is right; else what is wrong with the one that comes nearest."""
    outcomes = [outcome for outcome in job.plan.row.expected(job.plan) if outcome.phase in (None, job.phase_reached)]
    outcomes += [GOES_ON] if not job.reached or job.place.was_late() else []
    wrongs = {outcome: outcome_wrong(job, outcome) for outcome in outcomes}
    if not all(wrongs.values()):
        return ""
    return next((wrong for outcome, wrong in wrongs.items() if job.status in outcome.statuses), wrongs[outcomes[0]])


def wrong_with(job, slow):
    limit = allowed_s(job.plan, slow)
    if job.status is None:
        return "hung"
    if job.missed:
        return "a PE that is up was not found"
    wrong = outcomes_wrong(job)
    if wrong:
        return wrong
    if job.left:
        return "left behind: " + ", ".join(job.left[:5])
    took = job.ended_at - job.acted_at
    if took > limit + job.delay:
        return f"took {took:.2f} s, of which the control process saw {job.delay:.2f} s of delay"
    return ""
