/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Device memory of the program's own becomes symmetric when all PEs register it, at different addresses and inside
 * larger allocations; sizes that differ, unknown addresses and too many are refused on all PEs; what is unregistered
 * is gone.
 *
 * paths: fakegpu:2,3 fakegpuipc:2 fakegpu1:2 fakegpumixed:2,4 fakegpumixedefa:2 gpu:2 gpuipc:2 gpu1:2 gpumixed:2,4
 * more paths: fakehmem:2,4 fakehmemefa:2
 */
#include "test/common/mp.h"

#include <shmemx.h>

#include <dlfcn.h>
#include <stdlib.h>

enum { LEN = 70000, LIMIT = 8 };

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

static void local_source(char *mine)
{
    char *host = mp_alloc(LEN), *fill = malloc(LEN);

    mp_fill(fill, LEN, 77);
    shmem_putmem(mine, fill, LEN, mp_me);
    shmem_quiet();
    shmem_barrier_all();
    mp_check(!shmemx_buffer_register(mine, LEN), "shmemx_buffer_register");
    shmem_putmem(host, mine, LEN, mp_right());
    shmem_barrier_all();
    mp_check(!mp_wrong(host, LEN, 77), "from a local device buffer to host memory");
    mp_check(!shmemx_buffer_unregister(mine), "shmemx_buffer_unregister");
    free(fill);
    shmem_free(host);
}

int main(void)
{
    void *driver;
    char *mine, *inside, *more[LIMIT];

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
    mp_check(shmemx_buffer_register_symmetric(inside + LEN, LEN, 0) == inside + LEN,
             "the next in the same allocation");
    use(inside + LEN);
    mp_check(!shmemx_buffer_unregister_symmetric(inside + LEN, LEN), "not unregistered");
    use(inside);
    local_source(inside);
    mp_check(!shmemx_buffer_unregister_symmetric(inside, LEN), "not unregistered");
    mp_check(!shmem_addr_accessible(inside, mp_me), "still symmetric");
    for (int i = 0; i < LIMIT; i++) {
        more[i] = allocate(4096);
        mp_check(shmemx_buffer_register_symmetric(more[i], 4096, 0) == more[i], "buffer %d", i);
    }
    mp_check(!shmemx_buffer_register_symmetric(mine, 64, 0), "one more than there may be");
    use(more[0]);
    use(more[LIMIT - 1]);
    for (int i = 0; i < LIMIT; i += 2)
        mp_check(!shmemx_buffer_unregister_symmetric(more[i], 4096), "unregister %d", i);
    use(more[1]);
    return mp_end();
}
