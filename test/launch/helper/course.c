/* SPDX-License-Identifier: BSD-3-Clause */
/* A PE that takes the course its arguments name; what the launcher must answer to, one word a case. */
#define _GNU_SOURCE
#include <pthread.h>
#include <shmem.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static volatile sig_atomic_t got;

static void note(int sig)
{
    got = sig;
}

static long word;

static void wait_for_ever(int me)
{
    printf("ready %d\n", me);
    fflush(stdout);
    if (me % 2)
        shmem_long_wait_until(&word, SHMEM_CMP_EQ, 1);
    for (;;)
        pause();
}

static void catch_signals(int me)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGTSTP, SIGCONT};

    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++)
        signal(signals[i], note);
    printf("ready %d\n", me);
    fflush(stdout);
    for (;;) {
        int sig = got;

        if (!sig) {
            usleep(2000);
            continue;
        }
        got = 0;
        printf("%d got %s\n", me, sigabbrev_np(sig));
        fflush(stdout);
        if (sig == SIGHUP)
            return;
    }
}

/* Deaf to everything but SIGKILL. */
static void be_deaf(int me)
{
    for (int sig = 1; sig < 32; sig++)
        signal(sig, SIG_IGN);
    printf("ready %d\n", me);
    fflush(stdout);
    for (;;)
        sleep(1);
}

/* Long lines in small pieces, so that pieces of several PEs would mix if they could. */
static void write_lines(int me, int n_lines)
{
    char piece[50];

    memset(piece, 'a' + me, sizeof piece);
    for (int line = 0; line < n_lines; line++) {
        for (int i = 0; i < 20; i++)
            (void)!write(STDOUT_FILENO, piece, sizeof piece);
        (void)!write(STDOUT_FILENO, "\n", 1);
    }
}

static void copy_input(int me)
{
    char text[65536];
    size_t len;

    while ((len = fread(text, 1, sizeof text, stdin)) > 0)
        fwrite(text, 1, len, stdout);
    if (me)
        printf("%d: end of input\n", me);
    fflush(stdout);
}

/* A child in the PE's process group that would outlive it. */
static void leave_child(void)
{
    if (fork())
        return;
    sleep(60);
    _exit(0);
}

static int status_wanted;

static void end_job(int sig)
{
    (void)sig;
    shmem_global_exit(status_wanted);
}

/* The signal reaches the process, and not the thread that called shmem_init. */
static void end_in_handler(int status)
{
    sigset_t set;

    status_wanted = status;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR2);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    signal(SIGUSR2, end_job);
    kill(getpid(), SIGUSR2);
    sleep(1); /* in which no thread of the library's may take it */
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}

static void *print(void *arg)
{
    for (;;)
        printf("%01000d\n", 0);
    return arg;
}

/* While another thread waits for the reader of standard output. */
static void end_while_printing(int status)
{
    pthread_t thread;

    pthread_create(&thread, NULL, print, NULL);
    sleep(1);
    shmem_global_exit(status);
}

static void end(const char *course, int arg)
{
    if (!strcmp(course, "handler"))
        end_in_handler(arg);
    if (!strcmp(course, "stuck"))
        end_while_printing(arg);
    if (!strcmp(course, "exit"))
        exit(arg);
    if (!strcmp(course, "abort"))
        abort();
    if (!strcmp(course, "raise"))
        raise(arg);
    if (!strcmp(course, "global"))
        shmem_global_exit(arg);
}

static void take(const char *course, int arg, int me)
{
    if (!strcmp(course, "wait"))
        wait_for_ever(me);
    else if (!strcmp(course, "catch"))
        catch_signals(me);
    else if (!strcmp(course, "deaf"))
        be_deaf(me);
    else if (!strcmp(course, "lines"))
        write_lines(me, arg);
    else if (!strcmp(course, "input"))
        copy_input(me);
    else if (!strcmp(course, "child"))
        leave_child();
    else if (!strcmp(course, "malloc"))
        printf("%d has %s\n", me, shmem_malloc((size_t)arg << 20) ? "memory" : "NULL");
    else if (!strcmp(course, "partial"))
        printf("no newline from %d", me);
    else if (!strcmp(course, "where"))
        printf("%d of %d node %s\n", me, shmem_n_pes(), getenv("SHMEM_NODE_EMULATED"));
}

/* All are there; the others go on into a barrier to which this one does not come. */
static void stay(int me, bool here)
{
    printf("ready %d\n", me);
    fflush(stdout);
    while (here)
        pause();
}

/*
 * course WORD [ARGUMENT [PE]]: the words of end() are for that PE alone (the last one when none is given).
 */
int main(int argc, char **argv)
{
    const char *course = argc > 1 ? argv[1] : "hello";
    int arg = argc > 2 ? atoi(argv[2]) : 0, me, who;

    for (int i = 0; !strcmp(course, "again") && i < arg; i++) {
        shmem_init();
        shmem_finalize();
    }
    shmem_init();
    me = shmem_my_pe();
    who = argc > 3 ? atoi(argv[3]) : shmem_n_pes() - 1;
    shmem_barrier_all();
    if (!strcmp(course, "stay"))
        stay(me, me == who);
    if (me == who)
        end(course, arg);
    take(course, arg, me);
    shmem_barrier_all();
    if (!strcmp(course, "leave"))
        return 0;
    if (!strcmp(course, "hello") || !strcmp(course, "again"))
        printf("hello %d of %d\n", me, shmem_n_pes());
    shmem_finalize();
    return !strcmp(course, "late") && me == who ? arg : 0;
}
