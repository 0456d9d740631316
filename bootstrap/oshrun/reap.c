/* SPDX-License-Identifier: BSD-3-Clause */
/* Follows which PEs live, decides what counts as a failure, and ends the job because of one. */
#define _GNU_SOURCE
#include "bootstrap/oshrun/reap.h"

#include "bootstrap/oshrun/cause.h"
#include "bootstrap/oshrun/cleanup.h"
#include "bootstrap/oshrun/io.h"
#include "bootstrap/oshrun/server/pe_notes.h"
#include "base/process/cgroup.h"
#include "base/process/crash.h"
#include "base/err.h"

#include <limits.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define GRACE 1.8     /* seconds from SIGTERM to SIGKILL; everything is to be gone within 3 */
#define LOST_WAIT 0.3 /* seconds to learn by waitpid how a PE with a broken connection ended */
#define LEFT_WAIT \
    10. /* seconds to learn from the server, which may be far behind, how a PE that ended with 0 left */
#define LATE_WAIT 0.8 /* seconds that the others have to end where a PE fails after shmem_finalize */
#define INIT_WAIT 2.0 /* seconds from a SIGTERM that is passed on to SIGKILL while shmem_init runs */
#define TWICE 0.2     /* signals closer than this count as one (timeout(1) sends two) */

/* In order of precedence when several ends are seen at once: the later ones may be consequences of the first. */
enum verdict { EXEC_FAILED, KILLED, FAILED, HIDDEN, LEFT_EARLY, NEVER_JOINED, LOST, FINE };

int wsh_reap_init(struct wsh_reap *reap, const struct wsh_args *args, bool served)
{
    struct wsh_cgroup cgroup;

    *reap = (struct wsh_reap){.n_pes = args->n_pes,
                              .program = args->program[0],
                              .initialized = !served,
                              .notes = -1,
                              .crashed = -1,
                              .at_terminal = -1,
                              .kill_wait = args->kill_wait,
                              .survive = args->survive,
                              .pes = calloc((size_t)args->n_pes, sizeof *reap->pes)};
    if (!reap->pes) {
        wsh_say("out of memory");
        return -ENOMEM;
    }
    gethostname(reap->host, sizeof reap->host - 1);
    wsh_cgroup_read("", &cgroup);
    reap->kills = cgroup.kills;
    return 0;
}

void wsh_reap_fini(struct wsh_reap *reap)
{
    free(reap->pes);
    if (reap->notes >= 0)
        close(reap->notes);
}

void wsh_reap_started(struct wsh_reap *reap, int pe, pid_t pid)
{
    reap->pes[pe].pid = pid;
    reap->pes[pe].running = true;
    reap->n_running++;
}

bool wsh_reap_some(void)
{
    siginfo_t info = {0};

    return !waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) && info.si_pid;
}

void wsh_reap_poll(struct wsh_reap *reap)
{
    for (int i = 0; i < reap->n_pes; i++) {
        struct wsh_pe *pe = &reap->pes[i];
        siginfo_t info = {0};

        if (!pe->running || waitid(P_PID, (id_t)pe->pid, &info, WEXITED | WNOHANG | WNOWAIT) || !info.si_pid)
            continue;
        pe->status =
            info.si_code == CLD_EXITED ? W_EXITCODE(info.si_status, 0) : W_EXITCODE(0, info.si_status);
        if (info.si_code == CLD_DUMPED)
            pe->status |= WCOREFLAG;
        pe->running = false;
        pe->ended = wsh_now();
        if (pe->status && !reap->deadline)
            reap->deadline = pe->ended + LATE_WAIT;
        reap->n_running--;
        wsh_say_more("PE %d (pid %d) ended", i, (int)pe->pid);
    }
}

void wsh_reap_event(struct wsh_reap *reap, const struct wsh_event *event)
{
    struct wsh_pe *pe;
    char name[128];

    if (event->pe < 0 || event->pe >= reap->n_pes)
        return;
    pe = &reap->pes[event->pe];
    wsh_reap_name(reap, event->pe, name, sizeof name);
    switch (event->kind) {
    case WSH_EVENT_JOINED: pe->joined = pe->inside = true; break;
    case WSH_EVENT_INITIALIZED: reap->initialized = true; break;
    case WSH_EVENT_LEFT: pe->inside = false; break;
    case WSH_EVENT_WAITS: break;
    case WSH_EVENT_EXEC_FAILED: pe->exec_err = event->status; break;
    case WSH_EVENT_LOST:
        pe->inside = pe->inside && !wsh_noted_finalized(reap, pe);
        pe->lost = pe->inside;
        if (pe->lost && !reap->ending)
            reap->deadline = wsh_now() + LOST_WAIT;
        break;
    case WSH_EVENT_ABORTED:
        if (!reap->ending && event->status)
            wsh_say("%s ended the job with status %d", name, event->status & 0xff);
        wsh_reap_end(reap, event->status & 0xff);
        break;
    }
}

/* While a PE waits for the others in PMIx, one that ended without joining PMIx will never join. */
static bool pes_are_waiting(const struct wsh_reap *reap)
{
    for (int i = 0; i < reap->n_pes; i++)
        if (reap->pes[i].running && reap->pes[i].inside)
            return true;
    return false;
}

/* A failure after shmem_finalize: the others have LATE_WAIT seconds to end before it counts. */
static bool pe_may_be_late(const struct wsh_reap *reap, const struct wsh_pe *pe)
{
    return pe->joined && !pe->inside && reap->n_running && wsh_now() < pe->ended + LATE_WAIT;
}

/* When a PE counts as ended without shmem_finalize if the server says no more about it; 0: that is known. */
static double unsure_until(const struct wsh_reap *reap, const struct wsh_pe *pe)
{
    bool unsure = pe->pid && !pe->running && !pe->status && !pe->exec_err && pe->inside && !pe->lost &&
                  !wsh_noted_finalized(reap, pe) && !wsh_noted_itself(reap, pe);

    return unsure ? pe->ended + LEFT_WAIT : 0;
}

double wsh_reap_unsure(const struct wsh_reap *reap)
{
    double soonest = 0;

    for (int i = 0; i < reap->n_pes && !reap->ending; i++) {
        double until = unsure_until(reap, &reap->pes[i]);

        if (until && (!soonest || until < soonest))
            soonest = until;
    }
    return soonest;
}

/* Does a failure end nothing? Not before all have met, nor when a signal to oshrun ends the job. */
static bool survives(const struct wsh_reap *reap)
{
    return reap->survive && reap->initialized && !reap->ending && !reap->asked_at;
}

static enum verdict pe_judge(const struct wsh_reap *reap, const struct wsh_pe *pe)
{
    if (!pe->pid || pe->failed)
        return FINE;
    if (pe->running)
        return pe->lost && reap->deadline && wsh_now() >= reap->deadline ? LOST : FINE;
    if (pe->exec_err)
        return EXEC_FAILED;
    if (WIFSIGNALED(pe->status))
        return KILLED;
    if (WEXITSTATUS(pe->status))
        return pe_may_be_late(reap, pe) ? FINE : FAILED;
    if (pe->inside && !wsh_noted_finalized(reap, pe)) {
        if (!wsh_noted_itself(reap, pe))
            return wsh_now() < unsure_until(reap, pe) ? FINE : HIDDEN;
        return !reap->initialized && pes_are_waiting(reap) ? LEFT_EARLY : FINE;
    }
    return !pe->joined && pes_are_waiting(reap) ? NEVER_JOINED : FINE;
}

static int verdict_code(enum verdict verdict, const struct wsh_pe *pe)
{
    switch (verdict) {
    case EXEC_FAILED: return OSHRUN_CANNOT_RUN;
    case KILLED: return 128 + WTERMSIG(pe->status);
    case FAILED: return WEXITSTATUS(pe->status);
    default: return OSHRUN_FAILED;
    }
}

/* The end of the line about a PE that has failed. */
static const char *what_follows(const struct wsh_reap *reap)
{
    return survives(reap) ? "the others go on" : "ending job";
}

static bool crash_read(const struct wsh_reap *reap, int pe, struct wsh_crash *crash)
{
    char path[PATH_MAX];

    if (!reap->file)
        return false;
    wsh_crash_path(reap->file, pe, path, sizeof path);
    return wsh_crash_read(path, crash);
}

void wsh_reap_say_crash(const struct wsh_reap *reap)
{
    struct wsh_crash crash;
    char text[640];

    if (reap->crashed < 0 || !crash_read(reap, reap->crashed, &crash))
        return;
    wsh_crash_print(&crash, text, sizeof text);
    wsh_say("PE %d crashed %s", reap->crashed, text);
}

/* Also of a PE that a script has started, whose exit status says that it was killed. */
static bool crash_note(struct wsh_reap *reap, int pe)
{
    struct wsh_crash crash;
    bool noted = crash_read(reap, pe, &crash);

    if (noted)
        reap->crashed = pe;
    return noted;
}

static void killed_print(struct wsh_reap *reap, int pe, const char *name)
{
    int status = reap->pes[pe].status;
    int sig = WTERMSIG(status);
    bool asked = sig == reap->asked_by;
    char cause[384] = "";

    if (!asked)
        wsh_cause_print(sig, reap->kills, crash_note(reap, pe), cause, sizeof cause);
    wsh_say("%s killed by signal %d (%s%s)%s%s; %s", name, sig, strsignal(sig),
            WCOREDUMP(status) ? ", core dumped" : "", asked ? ", which oshrun was sent" : "", cause,
            what_follows(reap));
}

static void verdict_print(struct wsh_reap *reap, int i, enum verdict verdict)
{
    const struct wsh_pe *pe = &reap->pes[i];
    char name[128];

    wsh_reap_name(reap, i, name, sizeof name);
    switch (verdict) {
    case EXEC_FAILED:
        if (pe->exec_err == ENOENT) /* the file itself was found before */
            wsh_say("cannot run '%s': the interpreter that its first line names, or its loader, is not "
                    "there; correct "
                    "the line, or name a program built for this machine",
                    reap->program);
        else
            wsh_say("cannot run '%s': %s; name a program built for this machine", reap->program,
                    wsh_strerror(pe->exec_err));
        break;
    case KILLED: killed_print(reap, i, name); break;
    case FAILED:
        crash_note(reap, i);
        wsh_say("%s exited with status %d; %s", name, WEXITSTATUS(pe->status), what_follows(reap));
        break;
    case HIDDEN:
        wsh_say("%s exited with status 0, and the PE that it had started ended without shmem_finalize; "
                "ending job "
                "(let the script exit with the PE's status, or exec it)",
                name);
        break;
    case LEFT_EARLY:
        wsh_say("%s exited with status 0 in shmem_init, in which others wait for it; ending job", name);
        break;
    case NEVER_JOINED:
        wsh_say("%s exited with status 0 without shmem_init, in which others wait for it; ending job", name);
        break;
    case LOST: wsh_say("%s is gone without shmem_finalize; ending job", name); break;
    case FINE: break;
    }
}

static void end_begin(struct wsh_reap *reap, int code)
{
    reap->ending = true;
    reap->code = code;
    wsh_say_alone();
}

/* The others learn of it by oshrun's file. One that has only lost its connection is ended first, and judged then. */
static void failure_note(struct wsh_reap *reap, int i, enum verdict verdict)
{
    struct wsh_pe *pe = &reap->pes[i];

    if (verdict == LOST) {
        pe->lost = false;
        kill(-pe->pid, SIGKILL);
        return;
    }
    verdict_print(reap, i, verdict);
    pe->failed = true;
    pe->inside = false;
    if (!reap->n_failed++)
        reap->failed_code = verdict_code(verdict, pe);
    wsh_noted_failed(reap, i);
    wsh_reap_say_crash(reap); /* now: others may crash later */
    reap->crashed = -1;
}

void wsh_reap_survived(struct wsh_reap *reap)
{
    bool any = false;

    for (int i = 0; i < reap->n_pes; i++)
        any |= !reap->pes[i].failed;
    if (!reap->n_failed || reap->ending)
        return;
    wsh_say("%d of %d PEs failed%s", reap->n_failed, reap->n_pes, any ? "; the others ended well" : "");
    if (!any)
        reap->code = reap->failed_code;
}

void wsh_reap_judge(struct wsh_reap *reap)
{
    enum verdict worst = FINE;
    int guilty = 0;

    for (int i = 0; i < reap->n_pes && !reap->ending; i++) {
        enum verdict verdict = pe_judge(reap, &reap->pes[i]);

        if ((verdict == KILLED || verdict == FAILED || verdict == LOST) && survives(reap)) {
            failure_note(reap, i, verdict);
            continue;
        }
        if (verdict < worst || (verdict == worst && reap->pes[i].ended < reap->pes[guilty].ended)) {
            worst = verdict;
            guilty = i;
        }
    }
    for (int i = 0; worst == FINE && reap->initialized && !reap->ending && i < reap->n_pes; i++)
        wsh_noted_end(reap, i);
    if (worst == FINE)
        return;
    verdict_print(reap, guilty, worst);
    if (reap->term_at && worst == KILLED && WTERMSIG(reap->pes[guilty].status) == SIGTERM)
        end_begin(reap, verdict_code(worst, &reap->pes[guilty])); /* the others take their time over theirs */
    else
        wsh_reap_end(reap, verdict_code(worst, &reap->pes[guilty]));
}

/* Groups of PEs that have ended may still have members; their numbers are held by the zombies. */
static void pes_signal(const struct wsh_reap *reap, int sig)
{
    for (int i = 0; i < reap->n_pes; i++)
        if (reap->pes[i].pid > 0)
            kill(i == reap->at_terminal ? reap->pes[i].pid : -reap->pes[i].pid, sig);
}

/* From the keys of a terminal where gdb runs, which has got it too. */
static bool is_for_gdb(const struct wsh_reap *reap, int sig)
{
    return reap->at_terminal >= 0 && reap->pes[reap->at_terminal].running &&
           (sig == SIGINT || sig == SIGQUIT);
}

void wsh_reap_end(struct wsh_reap *reap, int code)
{
    if (reap->ending && !reap->term_at)
        return;
    if (!reap->ending)
        end_begin(reap, code);
    reap->term_at = 0;
    reap->deadline = wsh_now() + GRACE;
    pes_signal(reap, SIGTERM);
    pes_signal(reap, SIGCONT); /* a stopped PE takes its SIGTERM only then */
}

static void pes_kill(struct wsh_reap *reap)
{
    reap->killed = true;
    pes_signal(reap, SIGKILL);
}

void wsh_reap_signal(struct wsh_reap *reap, int sig)
{
    bool final = sig == SIGINT || sig == SIGTERM;

    if (is_for_gdb(reap, sig))
        return;
    if (final && reap->asked_at && wsh_now() - reap->asked_at > TWICE) {
        wsh_say("second signal %d (%s); killing all PEs", sig, strsignal(sig));
        if (!reap->ending)
            reap->code = 128 + sig;
        reap->ending = true;
        pes_kill(reap);
        return;
    }
    if (final && !reap->asked_at)
        reap->asked_at = wsh_now();
    if (sig == SIGTERM && !reap->ending && !reap->term_at)
        reap->term_at = reap->asked_at;
    if (sig != SIGCONT && sig != SIGTSTP)
        reap->asked_by = sig;
    pes_signal(reap, sig);
    if (sig == SIGTSTP)
        kill(getpid(), SIGSTOP);
}

/* Seconds that the PEs have from a SIGTERM that was passed on. */
static double term_seconds(const struct wsh_reap *reap)
{
    return !reap->initialized && reap->kill_wait > INIT_WAIT ? INIT_WAIT : reap->kill_wait;
}

static double kill_time(const struct wsh_reap *reap)
{
    if (reap->term_at)
        return reap->term_at + term_seconds(reap);
    return reap->ending ? reap->deadline : 0;
}

double wsh_reap_wait(const struct wsh_reap *reap)
{
    double next = kill_time(reap), unsure = wsh_reap_unsure(reap), left;

    if (unsure && (!next || unsure < next))
        next = unsure;
    if (!reap->ending && reap->deadline && (!next || reap->deadline < next))
        next = reap->deadline;
    if (!next || reap->killed)
        return -1;
    left = next - wsh_now();
    return left > 0 ? left : 0;
}

static void late_print(const struct wsh_reap *reap)
{
    if (reap->initialized)
        wsh_say("PEs still run %g s after SIGTERM; killing all PEs (--kill-wait sets the time)",
                reap->kill_wait);
    else
        wsh_say("no PE has finished shmem_init %g s after SIGTERM; killing all PEs", term_seconds(reap));
}

void wsh_reap_timeout(struct wsh_reap *reap)
{
    double when = kill_time(reap);

    if (!when || reap->killed || wsh_now() < when)
        return;
    if (reap->term_at)
        late_print(reap);
    if (!reap->ending)
        end_begin(reap, 128 + SIGTERM);
    pes_kill(reap);
}

static void leftovers_remove(const struct wsh_reap *reap)
{
    pid_t *pids = reap->n_pes > 0 ? calloc((size_t)reap->n_pes, sizeof *pids) : NULL;

    for (int i = 0; pids && i < reap->n_pes; i++)
        pids[i] = reap->pes[i].pid;
    if (pids)
        wsh_leftovers_remove(pids, reap->n_pes);
    free(pids);
}

void wsh_reap_bury(struct wsh_reap *reap)
{
    pes_signal(reap, SIGKILL);
    for (int i = 0; i < reap->n_pes; i++)
        while (reap->pes[i].pid > 0 && waitpid(reap->pes[i].pid, NULL, 0) < 0 && errno == EINTR)
            continue;
    if (reap->code)
        leftovers_remove(reap);
}
