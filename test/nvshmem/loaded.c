/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A C program that is linked with nothing of ours opens libnvshmem_host.so.3 and calls routines by name: set-up, a ring
 * of puts in device memory where a GPU can be had, a put, a barrier and a reduction on a stream where it is a real one.
 * paths: fakegpu:2,4 gpu:2 gpu1:2,4
 */
#include "check.h"

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

static void *library;

/* The routine of that name, as a pointer of the type of `call`. */
static void find(const char *name, void *call)
{
    void *symbol = dlsym(library, name);

    CHECK(symbol);
    memcpy(call, &symbol, sizeof symbol);
}

static void check_streams(int me, int npes, int *words, void (*meet)(void))
{
    void (*put)(void *, const void *, size_t, int, void *);
    void (*barrier)(void *);
    int (*sum)(int, int *, const int *, size_t, void *), (*get)(const int *, int),
        (*g)(const int *, int, void *);
    void (*p)(int *, int, int);

    find("nvshmemx_putmem_on_stream", &put);
    find("nvshmemx_barrier_all_on_stream", &barrier);
    find("nvshmemx_int_sum_reduce_on_stream", &sum);
    find("nvshmemx_int_g_on_stream", &g);
    find("nvshmem_int_g", &get);
    find("nvshmem_int_p", &p);
    p(words, me + 1, me);
    meet();
    barrier(NULL);
    put(words + 1, words, sizeof(int), (me + 1) % npes, NULL);
    barrier(NULL);
    CHECK(!sum(0, words + 2, words, 1, NULL));
    CHECK(g(words + 1, me, NULL) == (me + npes - 1) % npes + 1);
    CHECK(get(words + 2, me) == npes * (npes + 1) / 2);
}

int main(void)
{
    void (*init)(void), (*finalize)(void), (*barrier)(void), (*p)(int *, int, int), (*release)(void *);
    int (*my_pe)(void), (*n_pes)(void), (*g)(const int *, int), me, npes, *words;
    void *(*allocate)(size_t, size_t);
    const char *path = getenv("WSH_TEST_PATH");

    library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        fprintf(stderr, "%s\n", dlerror());
    CHECK(library);
    find("nvshmem_init", &init);
    find("nvshmem_my_pe", &my_pe);
    find("nvshmem_n_pes", &n_pes);
    find("nvshmem_calloc", &allocate);
    find("nvshmem_free", &release);
    find("nvshmem_int_p", &p);
    find("nvshmem_int_g", &g);
    find("nvshmem_barrier_all", &barrier);
    find("nvshmem_finalize", &finalize);
    init();
    me = my_pe();
    npes = n_pes();
    words = allocate(4, sizeof *words);
    CHECK(words);
    p(words + 3, 10 + me, (me + 1) % npes);
    barrier();
    CHECK(g(words + 3, me) == 10 + (me + npes - 1) % npes);
    if (path && !strncmp(path, "gpu", 3))
        check_streams(me, npes, words, barrier);
    barrier();
    release(words);
    finalize();
    return 0;
}
