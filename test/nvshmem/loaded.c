/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A C program that is linked with nothing of ours opens libnvshmem_host.so.3 and calls routines by name: set-up, puts
 * and gets in device memory by the host and on a stream and, with a real GPU, a barrier and a reduction there.
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

/* Of the driver, whose context set-up has made current. */
static void *stream_create(void)
{
    void *driver = dlopen("libcuda.so.1", RTLD_NOW), *symbol, *stream;
    int (*create)(void **stream, unsigned flags, int priority);

    CHECK(driver);
    symbol = dlsym(driver, "cuStreamCreateWithPriority");
    CHECK(symbol);
    memcpy(&create, &symbol, sizeof symbol);
    CHECK(!create(&stream, 1, 0));
    return stream;
}

/* Each word comes from the left; the CPU reads it back on the stream, and from its own PE. */
static void check_moves(int me, int npes, int *words, void *stream, void (*sync_all)(void))
{
    int right = (me + 1) % npes, left = (me + npes - 1) % npes, (*g)(const int *, int, void *);
    void (*move)(void *, const void *, size_t, int, void *), (*p)(int *, int, int, void *);

    find("nvshmemx_int_p_on_stream", &p);
    find("nvshmemx_int_g_on_stream", &g);
    p(words, 100 + me, right, stream);
    CHECK(g(words, right, stream) == 100 + me);
    sync_all();
    find("nvshmemx_putmem_on_stream", &move);
    move(words + 1, words, sizeof(int), right, stream);
    CHECK(g(words + 1, right, stream) == 100 + left);
    sync_all();
    find("nvshmemx_getmem_on_stream", &move);
    move(words + 2, words + 1, sizeof(int), left, stream);
    CHECK(g(words + 2, me, stream) == 100 + (me + 3 * npes - 3) % npes);
    sync_all();
}

static void check_collectives(int me, int npes, int *words, void *stream)
{
    int (*sum)(int, int *, const int *, size_t, void *), (*g)(const int *, int, void *);
    void (*p)(int *, int, int, void *), (*barrier)(void *);

    find("nvshmemx_barrier_all_on_stream", &barrier);
    find("nvshmemx_int_sum_reduce_on_stream", &sum);
    find("nvshmemx_int_p_on_stream", &p);
    find("nvshmemx_int_g_on_stream", &g);
    p(words, me + 1, me, stream);
    barrier(stream);
    CHECK(!sum(0, words + 1, words, 1, stream));
    CHECK(g(words + 1, me, stream) == npes * (npes + 1) / 2);
}

/* The driver without a GPU has no kernel that waits for another PE; and there may be none at all. */
static void check_streams(int me, int npes, int *words, void (*sync_all)(void))
{
#ifdef WSH_IMAGE_FOLDER
    const char *path = getenv("WSH_TEST_PATH");
    void *stream = stream_create();

    check_moves(me, npes, words, stream, sync_all);
    if (path && !strncmp(path, "gpu", 3))
        check_collectives(me, npes, words, stream);
#else
    (void)me, (void)npes, (void)words, (void)sync_all, (void)stream_create, (void)check_moves,
        (void)check_collectives;
#endif
}

int main(void)
{
    void (*init)(void), (*finalize)(void), (*barrier)(void), (*p)(int *, int, int), (*release)(void *);
    int (*my_pe)(void), (*n_pes)(void), (*g)(const int *, int), me, npes, *words;
    void *(*allocate)(size_t, size_t);

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
    check_streams(me, npes, words, barrier);
    barrier();
    release(words);
    finalize();
    return 0;
}
