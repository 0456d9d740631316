/* SPDX-License-Identifier: BSD-3-Clause */
/* The course of a job: read the command line, start the PEs, serve them until the last has ended, clean up. */
#define _GNU_SOURCE
#include "bootstrap/oshrun/oshrun.h"

#include "bootstrap/oshrun/server/missing_pes.h"
#include "bootstrap/oshrun/args.h"
#include "bootstrap/oshrun/cleanup.h"
#include "bootstrap/oshrun/command.h"
#include "bootstrap/oshrun/launchers/delegate.h"
#include "bootstrap/oshrun/environ.h"
#include "bootstrap/oshrun/files.h"
#include "bootstrap/oshrun/io.h"
#include "bootstrap/oshrun/output.h"
#include "bootstrap/oshrun/server/server.h"
#include "bootstrap/oshrun/server/pmix_lines.h"
#include "bootstrap/oshrun/reap.h"
#include "bootstrap/oshrun/spawn.h"
#include "bootstrap/oshrun/top.h"
#include "bootstrap/oshrun/trace.h"
#include "base/env/conf.h"
#include "base/env/env.h"
#include "base/err.h"
#include "base/version.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct launch {
    const struct wsh_args *args;
    struct wsh_command command;
    char *tmpdir;
    char *file; /* of addresses (bootstrap/blob/blob_file.h), or NULL */
    cpu_set_t *cpus;
    sigset_t mask; /* as oshrun was started */
    struct rlimit files;
    int signal_fd, event_fds[2];
    bool serving; /* the PMIx server runs */
    struct wsh_pmix_words words;
    struct wsh_emulate emulate;
    struct wsh_guardian guardian;
    struct wsh_output *output;
    struct wsh_input input;
    struct wsh_reap reap;
    struct wsh_absent absent;
    struct wsh_top top;
    struct wsh_pollset set;
};

/* Our own pipes must not take the numbers 0, 1 and 2. */
static void std_open(void)
{
    int fd = open("/dev/null", O_RDWR);

    while (fd >= 0 && fd < 3)
        fd = dup(fd);
    if (fd >= 3)
        close(fd);
}

/* A single PE needs no server: the library's `single` bootstrap does, unless the user asks for another one. */
static bool server_is_needed(const struct launch *launch)
{
    return launch->args->n_pes > 1 || wsh_env_text("SHMEM_BOOTSTRAP");
}

/* The guardian first: it removes the folder whenever oshrun is killed. */
static int tmpdir_open(struct launch *launch)
{
    bool wanted = server_is_needed(launch) || launch->args->emulate;
    int rc = wanted ? wsh_tmpdir_name(&launch->tmpdir) : 0;

    if (!rc)
        rc = wsh_guardian_start(&launch->guardian, launch->tmpdir);
    if (!rc && wanted)
        rc = wsh_tmpdir_make(&launch->tmpdir);
    return rc;
}

static int server_open(struct launch *launch)
{
    const struct wsh_args *args = launch->args;
    int rc;

    if (!server_is_needed(launch))
        return 0;
    wsh_pmix_words_begin(&launch->words);
    rc = wsh_server_open(launch->tmpdir, args->n_pes, args->nodes_emulated, launch->event_fds[1]);
    wsh_pmix_words_begun(&launch->words);
    launch->serving = !rc;
    return rc ? rc : wsh_blob_file_make(launch->tmpdir, args->n_pes, &launch->file);
}

static bool is_word(const char *text, const char *word)
{
    return text && !strcmp(text, word);
}

/* Everything that must be there before the first PE; what opened is closed by close_launch, whatever failed. */
static int launch_open(struct launch *launch)
{
    const struct wsh_args *args = launch->args;
    int rc = wsh_command_open(&launch->command, args);

    if (rc)
        return rc;
    if (wsh_environ_export(args->exports))
        return OSHRUN_USAGE;
    wsh_files_raise(&launch->files);
    if (wsh_bind_plan(args->bind, args->n_pes, &launch->cpus) ||
        wsh_reap_init(&launch->reap, args, server_is_needed(launch)) ||
        wsh_absent_init(&launch->absent, args->n_pes) || wsh_top_open(&launch->top, args))
        return OSHRUN_FAILED;
    launch->output = wsh_output_open(args);
    if (!launch->output || tmpdir_open(launch))
        return OSHRUN_FAILED;
    if (args->emulate && wsh_emulate_open(&launch->emulate, args->emulate, launch->tmpdir))
        return OSHRUN_FAILED;
    launch->signal_fd = wsh_signals_open(&launch->mask);
    if (launch->signal_fd < 0)
        return OSHRUN_FAILED;
    if (pipe2(launch->event_fds, O_CLOEXEC)) {
        wsh_say("cannot make a pipe: %s; raise `ulimit -n`", wsh_strerror(errno));
        return OSHRUN_FAILED;
    }
    fcntl(launch->event_fds[0], F_SETFL, O_NONBLOCK);
    if (server_open(launch) || (launch->serving && wsh_files_check(args->n_pes)))
        return OSHRUN_FAILED;
    if (!args->survive_given)
        launch->reap.survive = is_word(wsh_env_text("SHMEM_ON_PE_FAILURE"), "continue");
    launch->reap.at_terminal = wsh_command_terminal(&launch->command);
    if (launch->file)
        wsh_reap_notes(&launch->reap, launch->file);
    return 0;
}

/* For scripts and names of files. */
static int environ_number(int pe, const struct wsh_args *args, char ***env)
{
    long nodes = args->nodes_emulated, node = wsh_node_of(pe, args->n_pes, args->nodes_emulated);
    long first = (node * args->n_pes + nodes - 1) / nodes;
    int rc = wsh_environ_set_int(env, "SHMEM_PE", pe);

    return rc ? rc : wsh_environ_set_int(env, "SHMEM_HOST_PE", pe - first);
}

static char **pe_environ(const struct launch *launch, int pe)
{
    const struct wsh_args *args = launch->args;
    char **env = wsh_environ_copy();
    int rc = env ? wsh_environ_set_int(&env, "SHMEM_OSHRUN_PID", getpid()) : -ENOMEM;

    if (!rc)
        rc = environ_number(pe, args, &env);
    if (!rc && launch->reap.at_terminal >= 0 && !wsh_env_text("SHMEM_HANG_SECONDS"))
        rc = wsh_environ_set(&env, "SHMEM_HANG_SECONDS", "0"); /* whoever debugs takes time */
    if (!rc && args->nodes_given)
        rc = wsh_environ_set_int(&env, "SHMEM_NODE_EMULATED",
                                 wsh_node_of(pe, args->n_pes, args->nodes_emulated));
    if (!rc && args->survive_given)
        rc = wsh_environ_set(&env, "SHMEM_ON_PE_FAILURE", args->survive ? "continue" : "abort");
    if (!rc && args->emulate)
        rc = wsh_emulate_environ(&launch->emulate, args->nodes_given, &env);
    if (!rc && !launch->serving)
        rc = wsh_environ_set(&env, "SHMEM_BOOTSTRAP", "single");
    if (!rc && launch->serving)
        rc = wsh_server_environ(pe, &env);
    if (!rc)
        rc = wsh_environ_set(&env, "SHMEM_OSHRUN_FILE", launch->file ? launch->file : "");
    if (!rc)
        rc = wsh_top_environ(&launch->top, &env);
    if (!rc)
        return env;
    if (rc == -ENOMEM)
        wsh_say("out of memory");
    wsh_environ_free(env);
    return NULL;
}

static int pe_open_streams(struct launch *launch, int pe, int std[3])
{
    int typed = wsh_command_terminal(&launch->command), rc;

    if (pe == typed)
        return wsh_command_streams(std);
    if (pe || typed >= 0) {
        std[0] = open("/dev/null", O_RDONLY | O_CLOEXEC);
        rc = std[0] < 0 ? -errno : 0;
        if (rc)
            wsh_say("/dev/null: %s; raise `ulimit -n`", wsh_strerror(rc));
    } else {
        rc = wsh_input_open(&launch->input, &std[0]);
    }
    return rc ? rc : wsh_output_pipes(launch->output, pe, std + 1);
}

static int pe_start(struct launch *launch, int pe)
{
    struct wsh_spawn how = {
        .env = pe_environ(launch, pe),
        .pe = pe,
        .terminal = pe == wsh_command_terminal(&launch->command),
        .std = {-1, -1, -1},
        .guardian_fd = launch->guardian.fd,
        .event_fd = launch->event_fds[1],
        .cpus = launch->cpus ? &launch->cpus[pe] : NULL,
        .mask = &launch->mask,
        .files = launch->files,
    };
    pid_t pid = 0;

    how.path = wsh_command_of(&launch->command, pe, &how.argv);
    if (how.env && !pe_open_streams(launch, pe, how.std))
        pid = wsh_spawn(&how);
    for (int fd = 0; fd < 3; fd++)
        if (how.std[fd] >= 0)
            close(how.std[fd]);
    wsh_environ_free(how.env);
    if (pid < 0)
        wsh_say("cannot start PE %d: %s; raise `ulimit -u` or start fewer PEs", pe, wsh_strerror(pid));
    if (pid <= 0)
        return OSHRUN_FAILED;
    wsh_reap_started(&launch->reap, pe, pid);
    wsh_tmpdir_note(pid);
    wsh_say_more("PE %d is pid %d on %s", pe, (int)pid, launch->reap.host);
    return 0;
}

/* With `ended`, PEs that have are collected first: what a dead one sent or wrote is then known when it is judged. */
static void events_take(struct launch *launch, bool ended)
{
    struct wsh_event event;

    if (ended)
        wsh_reap_poll(&launch->reap);
    for (int pe = 0; pe < launch->args->n_pes && ended; pe++)
        if (!launch->reap.pes[pe].running)
            wsh_output_take(launch->output, pe);
    while (read(launch->event_fds[0], &event, sizeof event) == (ssize_t)sizeof event) {
        if (event.kind == WSH_EVENT_ABORTED)
            wsh_output_take(launch->output, event.pe);
        wsh_reap_event(&launch->reap, &event);
        wsh_absent_event(&launch->absent, &event);
    }
    wsh_reap_judge(&launch->reap);
}

/* Has a child ended? */
static bool signals_take(struct launch *launch)
{
    bool ended = false;
    int sig;

    while ((sig = wsh_signals_next(launch->signal_fd))) {
        ended |= sig == SIGCHLD;
        if (sig != SIGCHLD)
            wsh_reap_signal(&launch->reap, sig);
    }
    return ended;
}

/* The sooner of two; negative is never. */
static double time_sooner(double a, double b)
{
    if (a < 0 || b < 0)
        return a < 0 ? b : a;
    return a < b ? a : b;
}

static double loop_timeout(const struct launch *launch)
{
    double retry = wsh_input_paused(&launch->input) ? 0.5 : -1;

    return time_sooner(
        time_sooner(wsh_reap_wait(&launch->reap), wsh_absent_wait(&launch->absent)),
        time_sooner(time_sooner(wsh_top_wait(&launch->top), retry), wsh_pmix_words_wait(&launch->words)));
}

static void words_take(struct launch *launch)
{
    if (!wsh_pmix_words_work(&launch->words, &launch->set) || launch->reap.ending)
        return;
    wsh_files_say_none(launch->args->n_pes);
    wsh_reap_end(&launch->reap, OSHRUN_FAILED);
}

static bool has_failed(const struct launch *launch)
{
    return launch->reap.ending || launch->reap.code || launch->reap.n_failed;
}

static void loop_turn(struct launch *launch)
{
    struct wsh_pollset *set = &launch->set;

    wsh_pollset_clear(set);
    wsh_pollset_add(set, launch->signal_fd, POLLIN);
    wsh_pollset_add(set, launch->event_fds[0], POLLIN);
    wsh_pmix_words_poll(&launch->words, set);
    wsh_output_poll(launch->output, set);
    wsh_input_poll(&launch->input, set);
    wsh_pollset_wait(set, loop_timeout(launch));
    words_take(launch);
    wsh_output_work(launch->output, set);
    wsh_input_work(&launch->input, set);
    events_take(launch, signals_take(launch));
    wsh_reap_timeout(&launch->reap);
    wsh_pmix_words_say(&launch->words, has_failed(launch), false);
    if (!launch->reap.ending)
        wsh_absent_timeout(&launch->absent);
    wsh_top_work(&launch->top);
}

/* Writes out what is left; whoever reads may be slow, and may send a signal to give up. */
static void output_finish(struct launch *launch)
{
    struct wsh_pollset *set = &launch->set;

    wsh_output_drain(launch->output);
    while (wsh_output_pending(launch->output)) {
        int given_up;

        wsh_pollset_clear(set);
        wsh_pollset_add(set, launch->signal_fd, POLLIN);
        wsh_output_poll(launch->output, set);
        wsh_pollset_wait(set, -1);
        wsh_output_work(launch->output, set);
        given_up = wsh_signals_next(launch->signal_fd);
        if (given_up == SIGINT || given_up == SIGTERM || given_up == SIGHUP)
            break;
    }
}

static int launch_run(struct launch *launch)
{
    int rc = 0;

    for (int pe = 0; pe < launch->args->n_pes && !rc; pe++) {
        rc = pe_start(launch, pe);
        events_take(launch, wsh_reap_some());
        if (launch->reap.ending)
            break;
    }
    if (rc)
        wsh_reap_end(&launch->reap, rc);
    while (launch->reap.n_running || wsh_reap_unsure(&launch->reap))
        loop_turn(launch);
    wsh_pmix_words_say(&launch->words, has_failed(launch), true);
    wsh_reap_survived(&launch->reap);
    wsh_top_finish(&launch->top);
    output_finish(launch);
    wsh_reap_say_crash(&launch->reap);
    wsh_reap_bury(&launch->reap);
    return launch->reap.code;
}

/* 0, or OSHRUN_FAILED when output could not be written. */
static int launch_close(struct launch *launch)
{
    int rc = 0;

    wsh_tmpdir_remove(launch->tmpdir);
    if (launch->guardian.pid > 0)
        wsh_guardian_dismiss(&launch->guardian);
    wsh_emulate_close(&launch->emulate);
    wsh_input_close(&launch->input);
    if (launch->output && !wsh_output_close(launch->output))
        rc = OSHRUN_FAILED;
    wsh_reap_fini(&launch->reap);
    wsh_absent_fini(&launch->absent);
    wsh_top_close(&launch->top);
    wsh_pollset_free(&launch->set);
    free(launch->cpus);
    wsh_command_close(&launch->command);
    free(launch->tmpdir);
    free(launch->file);
    return rc;
}

static int job_run(const struct wsh_args *args)
{
    struct launch launch = {.args = args,
                            .signal_fd = -1,
                            .event_fds = {-1, -1},
                            .input.fd = -1,
                            .words.fds = {-1, -1},
                            .top.fd = -1};
    int rc = launch_open(&launch), lost;

    if (!rc)
        rc = launch_run(&launch);
    lost = launch_close(&launch);
    return rc ? rc : lost;
}

static int count_check(const struct wsh_args *args)
{
    if (args->n_pes)
        return 0;
    wsh_say("how many PEs? write oshrun -n 4 %s", args->program[0]);
    return OSHRUN_USAGE;
}

static int job_dispatch(const struct wsh_args *args)
{
    bool ran;
    int rc;

    if (args->help || args->version) {
        fputs(args->help ? wsh_args_help : "oshrun (warpshmem) " WSH_VERSION "\n", stdout);
        return fflush(stdout) ? OSHRUN_FAILED : 0;
    }
    if (args->verbose)
        wsh_say_verbose();
    if (wsh_conf_fault()) {
        wsh_say("%s", wsh_conf_fault());
        return OSHRUN_USAGE;
    }
    wsh_environ_keep_signals();
    rc = args->trace || args->nvtx ? wsh_trace_prepare(args) : 0;
    if (rc)
        return rc;
    rc = wsh_delegate(args, &ran);
    if (!rc && !ran)
        rc = count_check(args);
    if (!rc && !ran)
        rc = job_run(args);
    if (args->trace)
        wsh_trace_finish();
    return rc;
}

int wsh_oshrun(int argc, char **argv)
{
    struct wsh_args args;
    int rc;

    std_open();
    rc = wsh_args_parse(&args, argc, argv);
    if (!rc)
        rc = job_dispatch(&args);
    wsh_args_fini(&args);
    return rc;
}
