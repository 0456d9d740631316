/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Puts on streams that the driver copies: to a mapped peer's device heap. It is said of what it does not copy: other
 * memory at one end, an array that ends outside, no such PE, no bytes.
 *
 * paths: fakegpu:1,2,3 fakegpumixed:2
 */
#include "test/common/mp.h"

#include "device/view/image.h"
#include "device/view/launch.h"

#include <shmemx.h>

#include <dlfcn.h>

enum { N = 1000 };

typedef int create_fn(void **, unsigned, int);

static void *stream;

static void make_stream(void)
{
    void *driver = dlopen("libcuda.so.1", RTLD_NOW);
    create_fn *create = driver ? (create_fn *)(intptr_t)dlsym(driver, "cuStreamCreateWithPriority") : NULL;

    mp_check(create && !create(&stream, 1, 0), "no stream");
}

static int copied(void *dest, const void *source, size_t len, int pe)
{
    return wsh_device_copy(dest, source, len, pe, stream);
}

int main(void)
{
    static long plain[N];
    int right, left, far;
    long *from, *to, *host, word = -1;

    mp_begin();
    right = (mp_me + 1) % mp_npes;
    left = (mp_me + mp_npes - 1) % mp_npes;
    from = shmemx_calloc_device(N, sizeof *from);
    to = shmemx_calloc_device(N, sizeof *to);
    host = shmem_calloc(N, sizeof *host);
    make_stream();
    for (int i = 0; i < N; i++)
        shmem_long_p(from + i, mp_me * 10000 + i, mp_me);
    shmem_barrier_all();
    far = shmem_ptr(to, right) == NULL;
    mp_check(copied(to, from, N * sizeof *to, right) == (far ? -1 : 0), "a put to the PE on the right");
    mp_check(copied(host, from, sizeof *host, right) == -1 && copied(to, plain, sizeof *to, right) == -1,
             "host memory");
    mp_check(copied(to, from, (size_t)1 << 40, right) == -1, "an array that ends outside");
    mp_check(copied(to, from, sizeof *to, mp_npes) == -1 && copied(to, from, sizeof *to, -1) == -1,
             "no such PE");
    mp_check(copied(to, from, 0, right) == -1, "no bytes");
    mp_check(wsh_device_stream_wait("the test", stream) == 0, "the stream");
    shmem_barrier_all();
    for (int i = 0; i < N; i += 37) {
        shmem_getmem(&word, to + i, sizeof word, mp_me);
        mp_check(word == (far ? 0 : left * 10000 + i), "word %d is %ld", i, word);
    }
    shmem_barrier_all();
    shmemx_free_device(to);
    shmemx_free_device(from);
    shmem_free(host);
    return mp_end();
}
