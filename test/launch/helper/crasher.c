/* SPDX-License-Identifier: BSD-3-Clause */
/* A PE that crashes in the way its argument names; test/launch/backtrace.sh says what is to be read of it. */
#define _GNU_SOURCE
#include <dirent.h>
#include <pthread.h>
#include <shmem.h>
#include <shmemx.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static volatile int *nowhere;
static volatile int zero;
static int word;
static void (*volatile no_code)(void);

/* Calls that are not put in line; their results are used, so that none is a jump. */
#define CALL __attribute__((noinline))

CALL static int store(void)
{
    *nowhere = 1; /* LINE store */
    return word;
}

CALL static int divide(int by)
{
    return 7 / by; /* LINE divide */
}

CALL static int put(void)
{
    shmem_int_put(&word, (int *)16, 1, (shmem_my_pe() + 1) % shmem_n_pes()); /* LINE put */
    return word;
}

CALL static int give_up(void)
{
    abort(); /* LINE give_up */
}

CALL static int deep(int depth)
{
    volatile char room[4096];

    room[0] = (char)depth;
    return depth < 0 ? 0 : deep(depth + 1) + room[0]; /* LINE deep */
}

CALL static int jump(void)
{
    no_code(); /* LINE jump */
    return word;
}

CALL static int beyond(void)
{
    int fd = memfd_create("short", 0);
    volatile char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

    page[0] = 1; /* LINE beyond */
    return page[1];
}

static void *other_thread(void *arg)
{
    return store() ? arg : NULL;
}

static int in_thread(void)
{
    pthread_t thread;

    pthread_create(&thread, NULL, other_thread, NULL);
    return pthread_join(thread, NULL);
}

/* Like a fault in a thread that the library has started. */
static int library(void)
{
    DIR *tasks = opendir("/proc/self/task");
    char path[280], name[16] = "";

    for (struct dirent *task; tasks && (task = readdir(tasks));) {
        FILE *file;

        snprintf(path, sizeof path, "/proc/self/task/%s/comm", task->d_name);
        file = *task->d_name == '.' ? NULL : fopen(path, "r");
        if (file && fgets(name, sizeof name, file) && !strncmp(name, "shmem-", 6))
            syscall(SYS_tgkill, getpid(), atoi(task->d_name), SIGSEGV);
        if (file)
            fclose(file);
    }
    return sleep(2) != 0;
}

static void on_fault(int sig)
{
    static const char said[] = "the program's own handler\n";

    (void)!write(STDOUT_FILENO, said, sizeof said - 1);
    signal(sig, SIG_DFL);
}

CALL static int crash(const char *how)
{
    if (!strcmp(how, "own"))
        signal(SIGSEGV, on_fault);
    if (!strcmp(how, "store") || !strcmp(how, "own"))
        return store() + 1;
    if (!strcmp(how, "divide"))
        return divide(zero) + 1;
    if (!strcmp(how, "put"))
        return put() + 1;
    if (!strcmp(how, "abort"))
        return give_up() + 1;
    if (!strcmp(how, "deep"))
        return deep(1) + 1;
    no_code = strcmp(how, "wild") ? NULL : (void (*)(void))16;
    if (!strcmp(how, "jump") || !strcmp(how, "wild"))
        return jump() + 1;
    if (!strcmp(how, "library"))
        return library() + 1;
    if (!strcmp(how, "beyond"))
        return beyond() + 1;
    if (!strcmp(how, "trap"))
        __builtin_trap(); /* LINE trap */
    if (!strcmp(how, "thread"))
        return in_thread() + 1;
    return kill(getpid(), SIGSEGV) + 1;
}

/* crasher HOW: the last PE crashes, the others wait for it. */
int main(int argc, char **argv)
{
    bool last;

    if (argc > 1 && !strcmp(argv[1], "early"))
        signal(SIGSEGV, on_fault);
    shmem_init();
    if (getenv("CRASHER_DEVICE") &&
        !shmemx_malloc_device(64)) /* with a GPU, its proxy and all that comes with them */
        return 1;
    last = shmem_my_pe() == shmem_n_pes() - 1;
    if (argc > 1 && !strcmp(argv[1], "after")) {
        shmem_finalize();
        return last ? crash("store") : 0;
    }
    if (argc > 1 && last)
        printf("%d\n", crash(strcmp(argv[1], "early") ? argv[1] : "store"));
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}
