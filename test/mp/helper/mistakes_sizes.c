/* SPDX-License-Identifier: BSD-3-Clause */
/* Mistakes of one PE: addresses of other kinds of memory, numbers of bytes, blocks and strides, unknown options. */
#include "test/mp/helper/mistakes.h"

#include "test/common/mp.h"

#include <shmemx.h>

static const long constant = 1;

static long *words(void)
{
    return mistake_args.sym;
}

static void put_stack(void)
{
    long here[4] = {0};

    shmem_long_put(here, words(), 1, 0);
}

static void get_stack(void)
{
    long here[4] = {0};

    shmem_long_get(words(), here, 1, 0);
}

static void atomic_stack(void)
{
    long here = 0;

    shmem_long_atomic_fetch_inc(&here, 0);
}

static void wait_stack(void)
{
    long here = 0;

    shmem_long_wait_until(&here, SHMEM_CMP_EQ, 0);
}

static void lock_stack(void)
{
    long here = 0;

    shmem_set_lock(&here);
}

static void put_constant(void)
{
    shmem_long_p((long *)(uintptr_t)&constant, 2, 0);
}

static void get_constant(void)
{
    mistake_args.value[0] = shmem_long_g(&constant, 0);
}

static void putmem_most(void)
{
    shmem_putmem(words(), mistake_args.local, SIZE_MAX, 0);
}

static void getmem_most(void)
{
    shmem_getmem(mistake_args.local, words(), SIZE_MAX, 0);
}

static void putmem_negative(void)
{
    shmem_putmem(words(), mistake_args.local, (size_t)-8, 0);
}

static void put128_wrap(void)
{
    shmem_put128(words(), mistake_args.local, SIZE_MAX / 16 + 2, 0);
}

static void get128_wrap(void)
{
    shmem_get128(mistake_args.local, words(), SIZE_MAX / 16 + 2, 0);
}

static void ibput_block_wrap(void)
{
    shmem_long_ibput(words(), mistake_args.local, (ptrdiff_t)MISTAKE_HUGE, (ptrdiff_t)MISTAKE_HUGE,
                     MISTAKE_HUGE, 1, 0);
}

static void iput_span_three(void)
{
    shmem_long_iput(words(), mistake_args.local, (ptrdiff_t)1 << 60, 1, 3, 0);
}

static void iput_area_wrap(void)
{
    shmem_long_iput(words(), mistake_args.local, ((ptrdiff_t)1 << 41) + 1, 1, (size_t)1 << 20, 0);
}

static void iget_area_wrap(void)
{
    shmem_long_iget(mistake_args.local, words(), 1, ((ptrdiff_t)1 << 41) + 1, (size_t)1 << 20, 0);
}

static void put_signal_misaligned(void)
{
    shmem_long_put_signal(words(), mistake_args.local, 1, (uint64_t *)((char *)words() + 17), 1,
                          SHMEM_SIGNAL_SET, 0);
}

static void put_signal_bell_stack(void)
{
    uint64_t here = 0;

    shmem_long_put_signal(words(), mistake_args.local, 1, &here, 1, SHMEM_SIGNAL_SET, 0);
}

static void ctx_options_unknown(void)
{
    shmem_ctx_t ctx;

    mp_check(shmem_ctx_create(1L << 40, &ctx) && ctx == SHMEM_CTX_INVALID, "a context");
}

static void align_zero(void)
{
    mp_check(!shmem_align(0, 8), "memory");
}

static void align_three(void)
{
    mp_check(!shmem_align(3, 8), "memory");
}

static void align_device(void)
{
    mp_check(!shmemx_align_device(4, 8), "memory");
}

const struct mistake mistakes_of_sizes[] = {
    {"put_stack", put_stack, "not a symmetric address", NULL},
    {"get_stack", get_stack, "not a symmetric address", NULL},
    {"atomic_stack", atomic_stack, "not a symmetric address", NULL},
    {"wait_stack", wait_stack, "not a symmetric address", NULL},
    {"lock_stack", lock_stack, "not a symmetric address", NULL},
    {"put_constant", put_constant, "not a symmetric address", NULL},
    {"get_constant", get_constant, "not a symmetric address", NULL},
    {"putmem_most", putmem_most, MISTAKE_MUCH, NULL},
    {"getmem_most", getmem_most, MISTAKE_MUCH, NULL},
    {"putmem_negative", putmem_negative, MISTAKE_MUCH, NULL},
    {"put128_wrap", put128_wrap, MISTAKE_MUCH, NULL},
    {"get128_wrap", get128_wrap, MISTAKE_MUCH, NULL},
    {"ibput_block_wrap", ibput_block_wrap, MISTAKE_MUCH, NULL},
    {"iput_span_three", iput_span_three, MISTAKE_MUCH, NULL},
    {"iput_area_wrap", iput_area_wrap, MISTAKE_MUCH, NULL},
    {"iget_area_wrap", iget_area_wrap, MISTAKE_MUCH, NULL},
    {"put_signal_misaligned", put_signal_misaligned, "sig_addr: .* is not aligned", NULL},
    {"put_signal_bell_stack", put_signal_bell_stack, "sig_addr: .* is not a symmetric address", NULL},
    {"ctx_options_unknown", ctx_options_unknown, "+no such option as 0x10000000000; no context created",
     NULL},
    {"align_zero", align_zero, NULL, "+alignment is 0: NULL is returned"},
    {"align_three", align_three, NULL, "+alignment is 3: NULL is returned"},
    {"align_device", align_device, NULL, "+alignment is 4: NULL is returned"},
    {0},
};
