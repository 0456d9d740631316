/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Strided puts and gets of kernels, at each scope and element size, move exactly the elements they name.
 * roads: gpu:2,4 gpuipc:2,4 gpureg:2,4 gpu1:2,4,8
 * timeout: 300
 */
#include "test/device/dev.cuh"

#define BYTES ((size_t)1 << 16)

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

static char *dest, *source;
static char host[BYTES], want[BYTES], got[BYTES];

static void expect(const struct shape &s, const char *what)
{
    size_t wrong = 0;

    for (size_t i = 0; i < BYTES; i++)
        want[i] = 0x5a;
    for (size_t i = 0; i < s.nelems; i++)
        for (size_t b = 0; b < s.width; b++)
            want[i * (size_t)s.dst * s.width + b] = host[i * (size_t)s.sst * s.width + b];
    dev_download(got, dest, BYTES);
    for (size_t i = 0; i < BYTES; i++)
        wrong += got[i] != want[i];
    mp_check(!wrong, "%s of %zu elements of %u bytes, strides %td and %td: %zu bytes wrong", what, s.nelems, s.width,
             s.dst, s.sst, wrong);
}

template <int S> static void one(const struct shape &s)
{
    cudaMemset(dest, 0x5a, BYTES);
    mp_fill(host, BYTES, s.nelems + s.width);
    dev_upload(source, host, BYTES);
    dev_wait();
    shmem_barrier_all();
    iput<S><<<1, dev_threads[S]>>>(dest, source, s, mp_right());
    dev_wait();
    shmem_barrier_all();
    expect(s, "iput");
    cudaMemset(dest, 0x5a, BYTES);
    iget<S><<<1, dev_threads[S]>>>(dest, source, s, mp_right());
    dev_wait();
    expect(s, "iget");
    shmem_barrier_all();
}

template <int S> static void run(void)
{
    static const ptrdiff_t strides[][2] = {{1, 1}, {2, 1}, {1, 3}, {5, 7}, {16, 16}};
    static const size_t counts[] = {0, 1, 2, 31, 32, 33, 255};

    dev_case("%s scope", dev_scope_name[S]);
    for (unsigned width = 1; width <= 16; width *= 2)
        for (const ptrdiff_t(&stride)[2] : strides)
            for (size_t n : counts)
                one<S>(shape{stride[0], stride[1], n, width});
}

int main(void)
{
    dev_begin();
    dest = (char *)dev_alloc(BYTES);
    source = (char *)dev_alloc(BYTES);
    DEV_EACH_SCOPE(run<S>());
    return dev_end();
}
