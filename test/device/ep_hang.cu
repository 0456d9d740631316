/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The last PE is stopped (SIGSTOP) before a call. The others say after SHMEM_HANG_SECONDS in which mode and phase their
 * kernel waits, and for this PE alone, though their programs wait for the stream outside of the library. Then it goes
 * on, and all rows are right. Even numbers of PEs: a dispatch in low latency; odd ones: a combine in high throughput.
 * paths: gpu:2,3 gpu1:2,3,4
 * timeout: 120
 */
#include "test/device/ep.cuh"

#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

enum { SECONDS = 3 }; /* the first call takes less */

static bool is_stopped()
{
    return mp_me == mp_npes - 1;
}

/* Stops this process; a child wakes it when the others have reported. */
static void stop()
{
    pid_t me = getpid();

    if (fork() == 0) {
        mp_sleep(SECONDS + 2.0);
        kill(me, SIGCONT);
        _exit(0);
    }
    raise(SIGSTOP);
}

/* What the library says from now on goes to the file that is returned. */
static FILE *take_stderr()
{
    FILE *lines = tmpfile();

    mp_check(lines && dup2(fileno(lines), STDERR_FILENO) == STDERR_FILENO, "a file in place of stderr");
    return lines;
}

/* Whether there is such a line, of which nothing follows. */
static bool has_line(FILE *lines, const char *begin, const char *end)
{
    char line[1024];
    size_t length = strlen(end);

    rewind(lines);
    while (fgets(line, sizeof line, lines)) {
        const char *at = strstr(line, begin);

        line[strcspn(line, "\n")] = 0;
        if (!at)
            continue;
        mp_note("%s", at);
        if (strlen(at) > length && !strcmp(at + strlen(at) - length, end))
            return true;
    }
    return false;
}

/* Both modes poll words of their own. */
static void expect_report(FILE *lines, bool low)
{
    char end[64];

    snprintf(end, sizeof end, ": PE %d", mp_npes - 1);
    mp_check(has_line(lines, low ? "shmemx_ep_dispatch in a kernel" : "shmemx_ep_combine in a kernel", ""),
             "no report of the kernel's wait");
    mp_check(has_line(lines,
                      low ? "expert parallelism, low latency: dispatch 2 waits until its counts have come"
                          : "expert parallelism, high throughput: combine 2 waits until it is in this combine",
                      end),
             "no line that ends in '%s'", end);
}

/* Of the stream's work, which the stopped PE holds up. */
static void wait_and_check(struct ep_world *world, FILE *lines, bool low)
{
    cudaError_t status = cudaStreamSynchronize(world->stream);

    mp_check(!status, "the stream: %s", cudaGetErrorString(status));
    if (!is_stopped())
        expect_report(lines, low);
}

static void run(bool low)
{
    struct ep_case of = ep_case_of(low ? REF_LOW_LATENCY : REF_HIGH_THROUGHPUT, REF_BF16, REF_UNIFORM);
    struct ep_world world;
    FILE *lines;

    of.hidden = 256;
    of.topk = 4;
    of.mine = 4;
    of.tokens = 16;
    dev_case("a stopped PE: %s", ep_case_name(&of));
    ep_open(&world, &of);
    ep_call(&world, 1);
    ep_fill(&world, 2);
    lines = take_stderr();
    shmem_barrier_all();
    if (is_stopped() && low)
        stop();
    ep_start_dispatch(&world, SHMEMX_EP_BOTH);
    if (low)
        wait_and_check(&world, lines, low);
    ep_check_dispatch(&world);
    ep_start_experts(&world);
    if (is_stopped() && !low)
        stop();
    ep_start_combine(&world, SHMEMX_EP_BOTH);
    if (!low)
        wait_and_check(&world, lines, low);
    ep_check_combine(&world);
    ep_close(&world);
}

int main(void)
{
    char seconds[16];

    snprintf(seconds, sizeof seconds, "%d", SECONDS);
    setenv("SHMEM_HANG_SECONDS", seconds, 1);
    dev_begin();
    run(mp_npes % 2 == 0);
    return dev_end();
}
