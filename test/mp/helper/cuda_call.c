/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A call of the CUDA driver that does not return (FAKE_CUDA_BLOCK, on PE 0 alone, while there is the file): cuda_call
 * HOW FILE. In `served` it is made for a put of PE 1 while PE 0's program is busy elsewhere; in `program` by PE 0's own
 * put, and in `beside` by that of one thread while another one waits for a word, until PE 1 takes the file away.
 */
#include <shmemx.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LEN = 1 << 20 };

static char *memory, *source;

static void *put_here(void *arg)
{
    (void)arg;
    shmem_putmem(memory, source, LEN, 0);
    return NULL;
}

/* What PE 1 puts goes to the GPU of PE 0 by a thread of the library there: the program calls nothing. */
static void run_served(void)
{
    if (shmem_my_pe() == 0) {
        sleep(60);
        return;
    }
    usleep(300000);
    shmem_putmem(memory, source, LEN, 0);
    shmem_quiet();
}

static void run_beside(int *word)
{
    pthread_t thread;

    if (shmem_my_pe() == 0) {
        pthread_create(&thread, NULL, put_here, NULL);
        shmem_int_wait_until(word, SHMEM_CMP_EQ, 1);
        pthread_join(thread, NULL);
    } else {
        sleep(4);
        shmem_int_p(word, 1, 0);
    }
}

static void run(const char *how, const char *path, int *word)
{
    if (shmem_my_pe() == 0)
        fclose(fopen(path, "w"));
    shmem_barrier_all();
    if (!strcmp(how, "served"))
        run_served();
    else if (!strcmp(how, "beside"))
        run_beside(word);
    else if (shmem_my_pe() == 0)
        put_here(NULL);
    else
        sleep(4);
    if (shmem_my_pe() == 1)
        unlink(path);
}

int main(int argc, char **argv)
{
    const char *rank = getenv("PMIX_RANK");
    int provided, *word;

    if (argc != 3)
        return 2;
    if (!rank || strcmp(rank, "0"))
        unsetenv("FAKE_CUDA_BLOCK");
    shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided);
    memory = shmemx_malloc_device(LEN);
    word = shmem_calloc(1, sizeof *word);
    source = calloc(1, LEN);
    if (!memory || !word || !source)
        return 2;
    run(argv[1], argv[2], word);
    shmem_finalize();
    puts("the end");
    return 0;
}
