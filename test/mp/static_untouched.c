/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A large static array that nobody has touched takes no memory and no time, at the start, at a fork and at the end.
 * What has been touched, and what the file of the program holds, keeps its contents through all three.
 * paths: local:2 tcp:2 mixed:2
 */
#define _GNU_SOURCE
#include "test/common/mp.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define BIG ((size_t)1430 << 20)
#define PAGE 4096
#define FEW ((size_t)8 << 20) /* bytes that are no matter */

static char big[BIG];
static char from_file[64 * PAGE] = {[5] = 1, [20 * PAGE] = 2, [64 * PAGE - 1] = 3};
static size_t before; /* memory of this process before shmem_init */

static size_t status_of(const char *key)
{
    FILE *file = fopen("/proc/self/status", "re");
    char line[128];
    size_t kib = 0;

    while (file && fgets(line, sizeof line, file))
        if (!strncmp(line, key, strlen(key)))
            kib = strtoul(line + strlen(key), NULL, 10);
    if (file)
        fclose(file);
    return kib << 10;
}

/* Memory behind the file of this PE's variables, mapped or not. */
static size_t shared_bytes(void)
{
    char path[64], name[64];
    struct stat st;

    for (int fd = 0; fd < 256; fd++) {
        ssize_t len;

        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
        len = readlink(path, name, sizeof name - 1);
        name[len > 0 ? len : 0] = 0;
        if (strstr(name, "memfd:warpshmem-static") && !fstat(fd, &st))
            return (size_t)st.st_blocks * 512;
    }
    return 0;
}

static bool is_right(void)
{
    return big[0] == 1 && big[BIG / 2] == 2 && big[BIG / 2 + PAGE] == 0 && big[BIG - 1] == 3 &&
           from_file[5] == 1 && from_file[20 * PAGE] == 2 && from_file[64 * PAGE - 1] == 3;
}

static void touch(void)
{
    big[0] = 1;
    big[BIG / 2] = 2;
    big[BIG - 1] = 3;
    mlock(big + BIG / 2, PAGE);
    madvise(big, BIG / 2, MADV_HUGEPAGE);
}

static void check_fork(void)
{
    size_t own = status_of("RssAnon:");
    double started = mp_now();
    pid_t pid = fork();
    int status = -1;

    if (!pid) {
        bool right = is_right() && status_of("RssAnon:") < own + FEW;

        big[BIG / 2] = big[3 * PAGE] = 9;
        _exit(right && big[3 * PAGE] == 9 ? 0 : 1);
    }
    waitpid(pid, &status, 0);
    mp_note("a fork takes %.1f ms", (mp_now() - started) * 1e3);
    mp_check(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the child saw other values or has much memory");
    mp_check(is_right() && big[3 * PAGE] == 0, "the child changed the parent's variables");
}

/* Sanitizers have memory of their own. */
static bool is_plain(void)
{
    const char *variant = getenv("WSH_TEST_VARIANT");

    return !variant || !strcmp(variant, "clang");
}

static void check_peers(void)
{
    shmem_barrier_all();
    mp_check(shmem_char_g(&big[BIG / 2], mp_right()) == 2, "a value of the right neighbour");
    mp_check(shmem_char_g(&big[BIG / 4], mp_right()) == 0, "an untouched byte of the right neighbour");
    shmem_barrier_all();
    shmem_char_p(&big[BIG / 2 + 7], (char)(10 + mp_me), mp_right());
    shmem_barrier_all();
    mp_check(big[BIG / 2 + 7] == (char)(10 + mp_left()), "what the left neighbour put is not here");
}

static void check_end(double started)
{
    size_t after = status_of("VmRSS:");

    printf("the end takes %.1f ms, then %zu MiB\n", (mp_now() - started) * 1e3, after >> 20);
    if (!is_right() || big[BIG / 2 + 7] == 0 || (is_plain() && after > before + 4 * FEW)) {
        fprintf(stderr, "after shmem_finalize: %s, %zu MiB of memory\n",
                is_right() ? "right" : "other values", after >> 20);
        _exit(MP_FAILED);
    }
}

int main(void)
{
    double started = mp_now();
    size_t shared;
    int status;

    touch();
    before = status_of("VmRSS:");
    mp_begin();
    mp_note("shmem_init takes %.1f ms", (mp_now() - started) * 1e3);
    shared = shared_bytes();
    mp_check(shared > 0 && shared < FEW, "%zu MiB behind the variables", shared >> 20);
    mp_check(is_right(), "variables lost their values at the start");
    check_fork();
    check_peers();
    shared = shared_bytes();
    mp_check(shared < FEW, "%zu MiB behind the variables at the end", shared >> 20);
    started = mp_now();
    status = mp_end();
    check_end(started);
    return status;
}
