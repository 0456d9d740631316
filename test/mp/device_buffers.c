/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Device memory of the program's own becomes symmetric when all PEs register it, at different addresses and inside
 * larger allocations; sizes that differ, unknown addresses, overlaps and too many are refused on all PEs; what is
 * unregistered is gone. Buffers that only one PE registers are sources and targets of its own.
 *
 * paths: fakegpu:2,3 fakegpuipc:2 fakegpu1:2 fakegpumixed:4 fakegpumixedefa:2 gpu:2 gpuipc:2 gpu1:2 gpumixed:2,4
 * more paths: fakehmem:2,4 fakehmemefa:2
 * long paths: fakegpumixed:2
 */
#include "test/common/mp.h"

#include <shmemx.h>

#include <dlfcn.h>
#include <stdlib.h>

enum { LEN = 70000, LIMIT = 1088 };

static int (*cu_alloc)(unsigned long long *ptr, size_t len);
static int (*cu_free)(unsigned long long ptr);

static char *allocate(size_t len)
{
    unsigned long long ptr = 0;

    mp_check(!cu_alloc(&ptr, len), "cuMemAlloc");
    return (char *)(uintptr_t)ptr;
}

static void use(char *buffer)
{
    static uint64_t round;
    char out[1000], in[1000];
    long *word = (long *)(void *)(buffer + 1024);

    mp_fill(out, sizeof out, ++round);
    shmem_putmem(buffer, out, sizeof out, mp_right());
    shmem_long_p(word, 0, mp_right());
    shmem_barrier_all();
    shmem_getmem(in, buffer, sizeof in, mp_me);
    mp_check(!mp_wrong(in, sizeof in, round), "put to a registered buffer");
    shmem_long_atomic_add(word, 2, mp_right());
    shmem_barrier_all();
    mp_check(shmem_long_g(word, mp_me) == 2, "atomic on a registered buffer");
}

static void refusals(char *mine)
{
    char automatic[64];

    mp_check(!shmemx_buffer_register_symmetric(mine, LEN + (mp_me == 0 ? 64 : 0), 0), "sizes that differ");
    mp_check(!shmemx_buffer_register_symmetric(mp_me ? mine : automatic, 64, 0), "host memory");
    mp_check(!shmemx_buffer_register_symmetric(mine, (size_t)1 << 40, 0), "more than is allocated");
    mp_check(shmemx_buffer_unregister_symmetric(mine + 64, LEN) != 0, "unregistering what is not registered");
}

/* Not one of them is found by the search of another. Room for all there may be where there is time for them. */
static void many(char *spare)
{
    int n = (int)mp_rounds(48, LIMIT);
    char **more = calloc((size_t)n, sizeof *more);

    for (int i = 0; i < n; i++) {
        more[i] = allocate(4096);
        mp_check(shmemx_buffer_register_symmetric(more[i], 4096, 0) == more[i], "buffer %d", i);
    }
    mp_check(n < LIMIT || !shmemx_buffer_register_symmetric(spare, 64, 0), "one more than there may be");
    for (int i = 0; i < n; i += 1 + n / 12)
        use(more[i]);
    for (int i = 0; i < n; i += 2)
        mp_check(!shmemx_buffer_unregister_symmetric(more[i], 4096), "unregister %d", i);
    use(more[1]);
    mp_check(!shmem_addr_accessible(more[2], mp_me), "still symmetric");
    free(more);
}

static void local_source(char *mine)
{
    char *host = mp_alloc(LEN), *sent = mp_alloc(LEN);

    mp_check(!shmemx_buffer_register(mine, LEN), "shmemx_buffer_register");
    mp_fill(sent, LEN, 77);
    shmem_getmem(mine, sent, LEN, mp_me);
    shmem_putmem(host, mine, LEN, mp_right());
    shmem_barrier_all();
    mp_check(!mp_wrong(host, LEN, 77), "from a local device buffer to host memory");
    mp_check(!shmemx_buffer_unregister(mine), "shmemx_buffer_unregister");
    shmem_free(sent);
    shmem_free(host);
}

int main(void)
{
    void *driver;
    char *mine, *inside;

    mp_begin();
    if (!shmemx_malloc_device(64))
        mp_check(false, "no device memory");
    driver = dlopen("libcuda.so.1", RTLD_NOW);
    *(void **)&cu_alloc = dlsym(driver, "cuMemAlloc_v2");
    *(void **)&cu_free = dlsym(driver, "cuMemFree_v2");
    allocate((size_t)(mp_me + 1) * 5000);
    mine = allocate(4 * LEN);
    refusals(mine);
    inside = mine + 512 * (size_t)(mp_me + 1); /* LEN behind it is aligned to 16 */
    mp_check(shmemx_buffer_register_symmetric(inside, LEN, 0) == inside, "not registered");
    use(inside);
    mp_check(!shmemx_buffer_register_symmetric(inside + LEN - 1, LEN, 0), "a part is registered already");
    mp_check(shmemx_buffer_register_symmetric(inside + LEN, LEN, 0) == inside + LEN,
             "the next in the same allocation");
    use(inside + LEN);
    mp_check(!shmemx_buffer_unregister_symmetric(inside + LEN, LEN), "not unregistered");
    use(inside);
    local_source(inside);
    mp_check(!shmemx_buffer_unregister_symmetric(inside, LEN), "not unregistered");
    mp_check(!shmem_addr_accessible(inside, mp_me), "still symmetric");
    local_source(mine + 2 * LEN);
    mp_check(!shmemx_buffer_register(mine + 2 * LEN, LEN), "shmemx_buffer_register");
    mp_check(shmemx_buffer_register(mine + 2 * LEN + 8, 64) != 0, "a part of what is registered");
    shmemx_buffer_unregister_all();
    many(mine);
    return mp_end();
}
