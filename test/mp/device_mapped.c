/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Device memory that the program created and mapped itself (cuMemCreate, cuMemMap: what allocators with growing
 * segments do) becomes symmetric: several allocations behind one buffer, a part of them, two buffers beside each other;
 * memory without handles that peers could take is refused with a line.
 *
 * paths: fakegpu:2,3 fakegpu1:2 fakegpumixed:4 fakegpumixedefa:2 gpu:2 gpu1:2 gpumixed:2,4 gpuhmemefa:2
 * more paths: fakehmem:2 fakehmemefa:2
 * long paths: fakegpumixed:2
 */
#include "base/cuda/cuda.h"
#include "test/common/mp.h"

#include <shmemx.h>

#include <dlfcn.h>
#include <stdlib.h>

enum { PARTS = 4 };
#define PART ((size_t)2 << 20)

static int (*mem_create)(wsh_cu_mem *mem, size_t len, const struct wsh_cu_prop *prop,
                         unsigned long long flags);
static int (*mem_release)(wsh_cu_mem mem);
static int (*mem_reserve)(wsh_cu_ptr *ptr, size_t len, size_t align, wsh_cu_ptr hint,
                          unsigned long long flags);
static int (*mem_map)(wsh_cu_ptr ptr, size_t len, size_t off, wsh_cu_mem mem, unsigned long long flags);
static int (*mem_access)(wsh_cu_ptr ptr, size_t len, const struct wsh_cu_access *access, size_t n);
static int (*ctx_device)(int *device);

static void driver_open(void)
{
    void *driver = dlopen("libcuda.so.1", RTLD_NOW);

    *(void **)&mem_create = dlsym(driver, "cuMemCreate");
    *(void **)&mem_release = dlsym(driver, "cuMemRelease");
    *(void **)&mem_reserve = dlsym(driver, "cuMemAddressReserve");
    *(void **)&mem_map = dlsym(driver, "cuMemMap");
    *(void **)&mem_access = dlsym(driver, "cuMemSetAccess");
    *(void **)&ctx_device = dlsym(driver, "cuCtxGetDevice");
}

static int part_map(wsh_cu_ptr at, int device)
{
    const struct wsh_cu_prop prop = {.type = WSH_CU_PINNED,
                                     .handle_types = WSH_CU_POSIX,
                                     .location = {WSH_CU_ON_DEVICE, device},
                                     .rdma = true};
    const struct wsh_cu_access access = {{WSH_CU_ON_DEVICE, device}, WSH_CU_READ_WRITE};
    wsh_cu_mem mem;
    int status = mem_create(&mem, PART, &prop, 0);

    if (!status)
        status = mem_map(at, PART, 0, mem, 0);
    if (!status)
        status = mem_access(at, PART, &access, 1);
    return status ? status : mem_release(mem); /* the mapping keeps it */
}

static char *map_parts(void)
{
    wsh_cu_ptr base = 0;
    int device = 0, status = ctx_device(&device);

    if (!status)
        status = mem_reserve(&base, PARTS * PART, PART, 0, 0);
    for (size_t i = 0; i < PARTS && !status; i++)
        status = part_map(base + i * PART, device);
    mp_check(!status, "memory cannot be created: status %d", status);
    return (char *)(uintptr_t)base;
}

static void use(char *buffer, size_t len)
{
    static uint64_t round;
    char *out = malloc(len), *in = malloc(len);

    mp_fill(out, len, ++round + (uint64_t)mp_me * 100);
    shmem_putmem(buffer, out, len, mp_right());
    shmem_barrier_all();
    shmem_getmem(in, buffer, len, mp_me);
    mp_check(!mp_wrong(in, len, round + (uint64_t)mp_left() * 100), "put to %zu bytes", len);
    shmem_barrier_all();
    free(out);
    free(in);
}

int main(void)
{
    size_t len = 2 * PART, inside = PART - 4096;
    char *base;

    mp_begin();
    if (!shmemx_malloc_device(64))
        mp_check(false, "no device memory");
    driver_open();
    base = map_parts();
    inside += (size_t)mp_me * 512; /* another place in the first allocation on each PE */
    mp_check(shmemx_buffer_register_symmetric(base + inside, len, 0) == base + inside, "three allocations");
    use(base + inside, len);
    mp_check(shmemx_buffer_register_symmetric(base + inside + len, 4096, 0) == base + inside + len,
             "the next");
    use(base + inside + len, 4096);
    use(base + inside, 5000);
    mp_check(!shmemx_buffer_unregister_symmetric(base + inside, len), "unregister");
    use(base + inside + len, 4096);
    mp_check(!shmemx_buffer_unregister_symmetric(base + inside + len, 4096), "unregister");
    mp_check(shmemx_buffer_register_symmetric(base, PARTS * PART, 0) == base, "all of it");
    use(base + PART - 100, 200);
    mp_check(!shmemx_buffer_unregister_symmetric(base, PARTS * PART), "unregister");
    mp_check(!shmemx_buffer_register_symmetric(base + PART, PARTS * PART, 0), "beyond what is mapped");
    return mp_end();
}
