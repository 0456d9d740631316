/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A PE that starts by a unique id which a file carries:
 *   uid FILE RANK N_RANKS [COURSE [ARGUMENT [PE]]]     rank 0 makes the id and writes it to FILE; with FILE+ none does
 *   uid FILE make                                      only makes it, and serves until it is killed
 * Courses: what the PE does; those of end() are for one PE alone (the last one when none is given).
 */
#define _GNU_SOURCE
#include <shmemx.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FILE_TRIES 3000 /* of 10 ms */
#define LIMIT_SECONDS 120

static void id_write(const char *path, const shmemx_uniqueid_t *id)
{
    char part[4096];
    FILE *file;

    snprintf(part, sizeof part, "%s.part", path);
    file = fopen(part, "w");
    if (!file || fwrite(id, sizeof *id, 1, file) != 1 || fclose(file) || rename(part, path)) {
        perror(path);
        exit(99);
    }
}

static void id_read(const char *path, shmemx_uniqueid_t *id)
{
    for (int i = 0; i < FILE_TRIES; i++) {
        FILE *file = fopen(path, "r");
        bool there = file && fread(id, sizeof *id, 1, file) == 1;

        if (file)
            fclose(file);
        if (there)
            return;
        usleep(10000);
    }
    fprintf(stderr, "no id in %s\n", path);
    exit(99);
}

static void id_get(const char *path, bool made, int rank, shmemx_uniqueid_t *id)
{
    if (rank || made) {
        id_read(path, id);
        return;
    }
    if (shmemx_get_uniqueid(id))
        exit(98);
    id_write(path, id);
}

static int gpu = -1; /* that the PE asks for */

/* 0 or what shmemx_init_attr returns. */
static int world_begin(const char *path, bool made, int rank, int n_ranks)
{
    shmemx_init_attr_t attr = SHMEMX_INIT_ATTR_INITIALIZER;
    shmemx_uniqueid_t id;

    attr.cuda_device = gpu;
    id_get(path, made, rank, &id);
    if (shmemx_set_attr_uniqueid_args(rank, n_ranks, &id, &attr))
        exit(97);
    return shmemx_init_attr(SHMEMX_INIT_WITH_UNIQUEID, &attr);
}

static long word, sum, ones;

/* A put to the right, a barrier, a reduction. */
static void use(int rank, int n_ranks)
{
    int me = shmem_my_pe(), n = shmem_n_pes(), left = (me + n - 1) % n;
    long *place = shmem_malloc(sizeof *place);

    if (me != rank || n != n_ranks || !place) {
        fprintf(stderr, "PE %d of %d, and should be %d of %d\n", me, n, rank, n_ranks);
        shmem_global_exit(90);
    }
    ones = 1;
    *place = word = -1;
    shmem_barrier_all();
    shmem_long_p(&word, me, (me + 1) % n);
    shmem_long_p(place, 1000L + me, (me + 1) % n);
    shmem_barrier_all();
    shmem_long_sum_reduce(SHMEM_TEAM_WORLD, &sum, &ones, 1);
    if (word != left || *place != 1000L + left || sum != n) {
        fprintf(stderr, "PE %d of %d: got %ld, %ld and %ld\n", me, n, word, *place, sum);
        shmem_global_exit(91);
    }
    shmem_free(place);
}

static void ready(int me)
{
    printf("ready %d\n", me);
    fflush(stdout);
}

static void end(const char *course, int arg)
{
    if (!strcmp(course, "kill") || !strcmp(course, "child"))
        raise(SIGKILL);
    if (!strcmp(course, "crash"))
        raise(SIGSEGV);
    if (!strcmp(course, "exit"))
        _exit(arg);
    if (!strcmp(course, "global"))
        shmem_global_exit(arg);
}

/* Others wait for the one that ends, each in another routine. */
static void wait_for_it(int me)
{
    ready(me);
    if (me % 3 == 1)
        shmem_long_wait_until(&word, SHMEM_CMP_EQ, 77);
    while (me % 3 == 2)
        pause();
    shmem_barrier_all();
}

/* A child that outlives the PE does not keep its connections. */
static void leave_child(void)
{
    if (fork())
        return;
    close(STDOUT_FILENO);
    close(STDERR_FILENO);
    sleep(2);
    _exit(0);
}

static int run(const char *path, bool made, int rank, int n_ranks, int argc, char **argv)
{
    const char *course = argc ? argv[0] : "hello";
    int arg = argc > 1 ? atoi(argv[1]) : 0, who = argc > 2 ? atoi(argv[2]) : n_ranks - 1;

    if (!strcmp(course, "device"))
        gpu = arg;
    if (world_begin(path, made, rank, n_ranks))
        return 96;
    use(rank, n_ranks);
    if (!strcmp(course, "device")) {
        shmemx_free_device(shmemx_malloc_device(64));
        course = "hello";
    }
    if (!strcmp(course, "child"))
        leave_child();
    if (strcmp(course, "hello") && rank == who)
        end(course, arg);
    if (strcmp(course, "hello"))
        wait_for_it(rank);
    if (!strcmp(course, "hello"))
        printf("hello %d of %d\n", rank, n_ranks);
    shmem_finalize();
    return 0;
}

/* Worlds in turn, with ranks that go round. */
static int run_many(const char *path, int rank, int n_ranks, int n_worlds)
{
    for (int world = 0; world < n_worlds; world++) {
        char one[4096];
        int me = (rank + world) % n_ranks;

        snprintf(one, sizeof one, "%s.%d", path, world);
        if (world_begin(one, false, me, n_ranks))
            return 96;
        use(me, n_ranks);
        shmem_init(); /* counted */
        shmem_finalize();
        shmem_barrier_all();
        shmem_finalize();
    }
    printf("hello %d of %d\n", rank, n_ranks);
    return 0;
}

static int serve(const char *path)
{
    shmemx_uniqueid_t id;

    if (shmemx_get_uniqueid(&id))
        return 98;
    id_write(path, &id);
    for (;;)
        pause();
}

int main(int argc, char **argv)
{
    size_t len = argc > 2 ? strlen(argv[1]) : 0;
    bool made = len && argv[1][len - 1] == '+';
    int rank, n_ranks;

    alarm(LIMIT_SECONDS); /* nothing stays behind a test that fails */
    if (!len)
        return 99;
    if (made)
        argv[1][len - 1] = '\0';
    if (!strcmp(argv[2], "make"))
        return serve(argv[1]);
    rank = atoi(argv[2]);
    n_ranks = atoi(argv[3]);
    if (argc > 5 && !strcmp(argv[4], "worlds"))
        return run_many(argv[1], rank, n_ranks, atoi(argv[5]));
    return run(argv[1], made, rank, n_ranks, argc - 4, argv + 4);
}
