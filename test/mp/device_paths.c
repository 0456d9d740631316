/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Data on one path and its flag on another keep their order: device data and a flag in host memory and the reverse,
 * behind a fence, by put with signal, and from device memory to host memory. After a flush the source is overwritten.
 *
 * paths: fakegpu:2,3 fakegpuipc:2 fakegpu1:2 fakegpumixed:4 fakegpumixedefa:2 gpu:2 gpuipc:2 gpu1:2 gpumixed:2,4
 * more paths: fakehmem:2,4 fakehmemefa:2
 * long paths: fakegpumixed:2
 */
#include "test/common/mp.h"

#include <shmemx.h>

#include <stdlib.h>
#include <string.h>

enum { LEN = 200000 };

static char *device, *host, *buf;
static uint64_t *device_flag, *host_flag;

static void see(const char *what, const char *data, uint64_t round)
{
    if (data == device)
        shmem_getmem(buf, data, LEN, mp_me);
    mp_check(!mp_wrong(data == device ? buf : data, LEN, round),
             "%s: the flag came before its data in round %llu", what, (unsigned long long)round);
}

/* Who waits for a flag on the GPU asks for it. */
static void await(uint64_t *flag, uint64_t round)
{
    if (flag == host_flag)
        shmem_signal_wait_until(flag, SHMEM_CMP_GE, round);
    else
        while (shmem_signal_fetch(flag) < round)
            mp_sleep(1e-5);
}

enum how { BY_FENCE, BY_SIGNAL, BY_FLUSH, HOWS };

static void fill_source(char *to, const char *from, bool on_device)
{
    if (on_device)
        shmem_putmem(to, from, LEN, mp_me), shmem_quiet();
    else
        memcpy(to, from, LEN);
}

/* `other` is what the source holds afterwards. */
static void flush(char *source, bool on_device, char *other)
{
    memset(other, 0xee, LEN);
    shmemx_flush();
    fill_source(source, other, on_device);
    shmem_quiet();
}

static void send(const char *from, char *to, uint64_t *flag, uint64_t round, enum how how)
{
    if (how == BY_FLUSH) {
        shmem_putmem_signal_nbi(to, from, LEN, flag, round, SHMEM_SIGNAL_SET, mp_right());
        return;
    }
    if (how == BY_SIGNAL) {
        shmem_putmem_signal(to, from, LEN, flag, round, SHMEM_SIGNAL_SET, mp_right());
        return;
    }
    shmem_putmem_nbi(to, from, LEN, mp_right());
    shmem_fence();
    shmem_uint64_p(flag, round, mp_right());
    shmem_quiet();
}

static void path_check(const char *what, char *to, uint64_t *flag, bool from_device)
{
    char *src = from_device ? shmemx_malloc_device(LEN) : malloc(LEN), *fill = malloc(LEN);
    static uint64_t round;

    for (int i = 0; i < mp_rounds(20, 1000); i++)
        for (int how = 0; how < HOWS; how++) {
            round++;
            mp_fill(fill, LEN, round);
            fill_source(src, fill, from_device);
            send(src, to, flag, round, (enum how)how);
            if (how == BY_FLUSH)
                flush(src, from_device, fill);
            await(flag, round);
            see(what, to, round);
            shmem_barrier_all();
        }
    free(fill);
    if (from_device)
        shmemx_free_device(src);
    else
        free(src);
}

int main(void)
{
    mp_begin();
    device = shmemx_malloc_device(LEN);
    device_flag = shmemx_calloc_device(1, sizeof *device_flag);
    host = mp_alloc(LEN);
    host_flag = mp_alloc(sizeof *host_flag);
    buf = malloc(LEN);
    if (!mp_check(device && device_flag, "no device memory"))
        return mp_end();
    path_check("device, device", device, device_flag, false);
    path_check("device, host", device, host_flag, false);
    path_check("host, device", host, device_flag, false);
    path_check("device to device, host", device, host_flag, true);
    path_check("device to host, host", host, host_flag, true);
    path_check("device to host, device", host, device_flag, true);
    free(buf);
    return mp_end();
}
