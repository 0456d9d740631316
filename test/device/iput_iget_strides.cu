/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Strided puts and gets of kernels, at each scope and element size, move exactly the elements they name: in device
 * memory of this host; in the host heap, over the proxy where the PE is on another host.
 * paths: gpu:2,4 gpuipc:2,4 gpureg:2,4 gpu1:2,4,8 gpumixed:2,4 gpumixedefa:2 gpuhmemefa:2,4
 * timeout: 300
 */
#include "test/device/dev.cuh"

#define BYTES ((size_t)1 << 19)
#define MARGIN ((size_t)256) /* behind what is touched */

DEV_SCOPED(iput8)
DEV_SCOPED(iput128)
DEV_SCOPED(short_iput)
DEV_SCOPED(float_iput)
DEV_SCOPED(size_iput)
DEV_SCOPED(iget8)
DEV_SCOPED(iget128)
DEV_SCOPED(short_iget)
DEV_SCOPED(float_iget)
DEV_SCOPED(size_iget)

struct shape {
    ptrdiff_t dst, sst;
    size_t nelems;
    unsigned width; /* bytes of an element */
};

template <int S> __global__ void iput(void *dest, const void *source, struct shape s, int pe)
{
    switch (s.width) {
    case 1: dev_iput8<S>(dest, source, s.dst, s.sst, s.nelems, pe); break;
    case 2: dev_short_iput<S>((short *)dest, (const short *)source, s.dst, s.sst, s.nelems, pe); break;
    case 4: dev_float_iput<S>((float *)dest, (const float *)source, s.dst, s.sst, s.nelems, pe); break;
    case 8: dev_size_iput<S>((size_t *)dest, (const size_t *)source, s.dst, s.sst, s.nelems, pe); break;
    default: dev_iput128<S>(dest, source, s.dst, s.sst, s.nelems, pe);
    }
    shmem_quiet();
}

template <int S> __global__ void iget(void *dest, const void *source, struct shape s, int pe)
{
    switch (s.width) {
    case 1: dev_iget8<S>(dest, source, s.dst, s.sst, s.nelems, pe); break;
    case 2: dev_short_iget<S>((short *)dest, (const short *)source, s.dst, s.sst, s.nelems, pe); break;
    case 4: dev_float_iget<S>((float *)dest, (const float *)source, s.dst, s.sst, s.nelems, pe); break;
    case 8: dev_size_iget<S>((size_t *)dest, (const size_t *)source, s.dst, s.sst, s.nelems, pe); break;
    default: dev_iget128<S>(dest, source, s.dst, s.sst, s.nelems, pe);
    }
}

/* What a PE offers and is given: symmetric, in device memory or the host heap. */
struct pair {
    char *dest, *source;
    bool host;
};

static char *here; /* device memory: what iput reads, and iget writes */
static char filled[BYTES], want[BYTES], got[BYTES];

static void set(char *to, bool host, const char *from, size_t len)
{
    if (host)
        memcpy(to, from, len);
    else
        dev_upload(to, from, len);
}

/* `dest`: strided from what was filled, untouched else. */
static void expect(const char *dest, bool host, const struct shape &s, size_t len, const char *what)
{
    size_t wrong = 0;

    memset(want, 0x5a, len);
    for (size_t i = 0; i < s.nelems; i++)
        memcpy(want + i * (size_t)s.dst * s.width, filled + i * (size_t)s.sst * s.width, s.width);
    if (host)
        memcpy(got, dest, len);
    else
        dev_download(got, dest, len);
    for (size_t i = 0; i < len; i++)
        wrong += got[i] != want[i];
    mp_check(!wrong, "%s of %zu elements of %u bytes, strides %td and %td, %s: %zu bytes wrong", what, s.nelems,
             s.width, s.dst, s.sst, host ? "host heap" : "device memory", wrong);
}

template <int S> static void one(const struct pair &at, const struct shape &s, int pe)
{
    size_t longer = (size_t)(s.dst > s.sst ? s.dst : s.sst), len = s.nelems * longer * s.width + MARGIN;

    memset(got, 0x5a, len);
    mp_fill(filled, len, s.nelems + s.width);
    set(at.dest, at.host, got, len);
    set(at.source, at.host, filled, len);
    set(here, false, filled, len);
    shmem_barrier_all();
    iput<S><<<1, dev_threads[S]>>>(at.dest, here, s, pe);
    dev_wait();
    shmem_barrier_all();
    expect(at.dest, at.host, s, len, "iput");
    memset(got, 0x5a, len);
    set(here, false, got, len);
    iget<S><<<1, dev_threads[S]>>>(here, at.source, s, pe);
    dev_wait();
    expect(here, false, s, len, "iget");
    shmem_barrier_all();
}

template <int S> static void run(const struct pair &at, int pe)
{
    static const ptrdiff_t strides[][2] = {{1, 1}, {2, 1}, {1, 3}, {5, 7}, {16, 16}};
    static const size_t counts[] = {0, 1, 2, 31, 32, 33, 255};

    dev_case("%s scope, %s", dev_scope_name[S], at.host ? "host heap" : "device memory");
    for (unsigned width = 1; width <= 16; width *= 2) {
        for (const ptrdiff_t(&stride)[2] : strides)
            for (size_t n : counts)
                one<S>(at, shape{stride[0], stride[1], n, width}, pe);
        one<S>(at, shape{3, 2, (width < 8 ? 20000 : 150000) / width, width}, pe); /* several records of the proxy */
    }
}

int main(void)
{
    struct pair device = {NULL, NULL, false}, host = {NULL, NULL, true};
    int peer;

    dev_begin();
    here = (char *)dev_alloc(BYTES);
    device.dest = (char *)dev_alloc(BYTES);
    device.source = (char *)dev_alloc(BYTES);
    host.dest = (char *)mp_alloc(BYTES);
    host.source = (char *)mp_alloc(BYTES);
    peer = (mp_me + mp_npes / 2) % mp_npes;
    if (shmem_ptr(host.dest, peer))
        DEV_EACH_SCOPE(run<S>(device, mp_right()));
    DEV_EACH_SCOPE(run<S>(host, peer));
    return dev_end();
}
