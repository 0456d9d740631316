/* SPDX-License-Identifier: BSD-3-Clause */
/* The process of oshrun: its threads' stacks and signals. */
#define _GNU_SOURCE
#include "bootstrap/oshrun/io.h"
#include "bootstrap/oshrun/oshrun.h"
#include "base/err.h"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

struct course {
    int argc;
    char **argv;
    sigset_t mask; /* as oshrun was started */
};

/* Ends the process itself: libpmix's thread still runs (see wsh_server_open). */
static void *course_run(void *arg)
{
    const struct course *course = arg;

    pthread_sigmask(SIG_SETMASK, &course->mask, NULL);
    _exit(wsh_oshrun(course->argc, course->argv));
}

/*
 * libpmix puts more on the stack than `ulimit -s` may give, so everything runs on a thread with a stack of its own. The
 * first thread takes no signals. Threads that libpmix starts get as much.
 */
#define STACK_SIZE ((size_t)2 * 1024 * 1024)

int main(int argc, char **argv)
{
    struct course course = {argc, argv, {{0}}};
    pthread_attr_t attr;
    pthread_t thread;
    sigset_t all;
    int rc;

    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &course.mask);
    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, STACK_SIZE);
    pthread_setattr_default_np(&attr);
    rc = pthread_create(&thread, &attr, course_run, &course);
    if (rc) {
        wsh_say("cannot start a thread: %s; raise `ulimit -u` and `ulimit -v`", wsh_strerror(rc));
        _exit(OSHRUN_FAILED);
    }
    pthread_join(thread, NULL);
    _exit(OSHRUN_FAILED);
}
