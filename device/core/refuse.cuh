/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The end of a device call that cannot be executed: it leaves one record for the host, which prints it as one line,
 * and stops the kernel. Nothing here runs in a program without a mistake.
 */
#ifndef WSH_DEVICE_REFUSE_CUH
#define WSH_DEVICE_REFUSE_CUH

#include "../failed/answer.cuh"

/* What is refused, and for which argument: `what` is "routine: argument". */
struct wsh_dev_fault {
    uint32_t reason; /* enum wsh_device_reason */
    int32_t pe;
    uint64_t addr, len;
};

/* `state` last, released: the host acquires it and then reads the rest. */
static WSH_DEV void wsh_dev_record(struct wsh_device_record *record, const char *what,
                                   const struct wsh_dev_fault &fault)
{
    unsigned i = 0;

#pragma unroll 1
    for (; what[i] && i + 1 < sizeof record->what; i++)
        record->what[i] = what[i];
    record->what[i] = 0;
    record->reason = fault.reason;
    record->pe = fault.pe;
    record->thread = wsh_dev_thread();
    record->block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
    record->addr = fault.addr;
    record->len = fault.len;
    wsh_ptx_release();
    wsh_ptx_put(&record->state, 1u);
    wsh_ptx_release();
}

/* True for the one caller on this GPU that may write record `which` (0 = error, 1 = hang). */
static WSH_DEV bool wsh_dev_record_lock(unsigned which)
{
    return wsh_ptx_swap(&((struct wsh_device_locks *)wsh_device_view.locks)->record[which], 1u) == 0;
}

/* Ends a call where the view was never filled and so has no record to write: by CUDA's assertion, with a line. */
static WSH_DEV void wsh_dev_say_unattached(const char *what)
{
    const char *text = "the library has no GPU attached: call shmemx_malloc_device before the kernel is launched, and "
                       "let it end before shmem_finalize";

#ifdef __CUDACC_RTC__
    __assertfail(text, what, 0, "device call", sizeof(char));
#else
    __assert_fail(text, what, 0, "device call");
#endif
    wsh_ptx_exit();
}

/*
 * Whoever comes second waits for the first one's record before it stops the kernel.
 */
inline WSH_DEV_CALL void wsh_dev_refuse(const char *what, uint32_t reason, int pe, const void *addr,
                                                   uint64_t len)
{
    struct wsh_device_report *report = (struct wsh_device_report *)wsh_device_view.report;

    if (!report)
        wsh_dev_say_unattached(what);
    if (wsh_dev_record_lock(0))
        wsh_dev_record(&report->error, what, wsh_dev_fault{reason, pe, (uint64_t)addr, len});
    while (!wsh_ptx_poll(&report->error.state))
        continue;
    wsh_ptx_trap();
}

/* Once in many polls of a wait that no collective makes: a record if it lasts too long. */
inline WSH_DEV_CALL void wsh_dev_report_wait(struct wsh_dev_wait *wait)
{
    uint64_t now = wsh_ptx_nanoseconds();
    struct wsh_device_report *report = (struct wsh_device_report *)wsh_device_view.report;

    if (!wait->since)
        wait->since = now;
    if (wsh_device_view.hang_ns && now - wait->since >= wsh_device_view.hang_ns && wsh_dev_record_lock(1))
        wsh_dev_record(&report->hang, wait->what,
                       wsh_dev_fault{WSH_DEVICE_LONG_WAIT, wait->cmp, (uint64_t)wait->word, wait->value});
}

/* The same of all others: after a while the place of members that have failed is taken, too. */
inline WSH_DEV_CALL void wsh_dev_long_wait(struct wsh_dev_wait *wait)
{
    wsh_dev_report_wait(wait);
    wsh_dev_answer(wait);
}

/* True under SHMEM_DEBUG=check: also check what a correct program need not pay for. */
static WSH_DEV bool wsh_dev_checks()
{
    return wsh_device_view.flags & WSH_DEVICE_CHECK;
}

/* An address of `len` bytes that is accessed as one word, or read by the caller's own loads. */
static WSH_DEV void wsh_dev_check_word(const char *what, const void *addr, uint64_t len)
{
    if (wsh_dev_checks() && (!addr || (uint64_t)addr % len))
        wsh_dev_refuse(what, addr ? WSH_DEVICE_MISALIGNED : WSH_DEVICE_NULL, -1, addr, len);
}

static WSH_DEV void wsh_dev_check_local(const char *what, const void *addr, uint64_t len)
{
    if (wsh_dev_checks() && !addr && len)
        wsh_dev_refuse(what, WSH_DEVICE_NULL, -1, addr, len);
}

#endif
