/* SPDX-License-Identifier: BSD-3-Clause */
/* The message for each error that device code reports. */
#include "runtime/gpu/view/error_texts.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* What is wrong with an address; false: the reason is not one of these. */
static bool explain_address(const struct wsh_device_record *r, char *text, size_t size)
{
    unsigned long long addr = r->addr, len = r->len;

    switch (r->reason) {
    case WSH_DEVICE_BAD_ADDRESS:
        snprintf(
            text, size,
            "%llu bytes at 0x%llx are not symmetric memory that the GPU reaches; use shmemx_malloc_device, "
            "shmem_malloc or a registered buffer",
            len, addr);
        return true;
    case WSH_DEVICE_UNREACHABLE:
        snprintf(text, size,
                 "0x%llx of PE %d is not mapped into this GPU: kernels reach PEs of other hosts by a proxy "
                 "(SHMEM_PROXY), which serves puts, gets, signals, atomics and collectives",
                 addr, r->pe);
        return true;
    case WSH_DEVICE_HOST_ATOMIC:
        snprintf(text, size,
                 "0x%llx of PE %d is host memory, whose words only CPUs may update; allocate it with "
                 "shmemx_malloc_device, or set SHMEM_PROXY=on",
                 addr, r->pe);
        return true;
    case WSH_DEVICE_BAD_SCRATCH:
        snprintf(text, size, "scratch of %llu bytes at 0x%llx: give more, 16-byte aligned, of shared memory",
                 len, addr);
        return true;
    case WSH_DEVICE_MISALIGNED:
        snprintf(text, size, "0x%llx is not a multiple of %llu, the size of what it points to", addr, len);
        return true;
    case WSH_DEVICE_NULL: snprintf(text, size, "the address of %llu bytes is NULL", len); return true;
    default: return false;
    }
}

static void explain_value(const struct wsh_device_record *r, int n_pes, char *text, size_t size)
{
    unsigned long long addr = r->addr;
    long long value = (long long)r->len;

    switch (r->reason) {
    case WSH_DEVICE_BAD_PE:
        snprintf(text, size, "PE %d is out of range; the job has PEs 0 to %d, a context those of its team",
                 r->pe, n_pes - 1);
        break;
    case WSH_DEVICE_BAD_HANDLE:
        snprintf(text, size, "0x%llx is no team or context that device code knows; check how it was created",
                 addr);
        break;
    case WSH_DEVICE_BAD_VALUE:
        snprintf(text, size, "%lld is none of the values that are defined", value);
        break;
    case WSH_DEVICE_BAD_STRIDE:
        snprintf(text, size, "a stride of %lld elements; strides are at least 1", value);
        break;
    case WSH_DEVICE_ONE_HOST:
        snprintf(text, size,
                 "it was compiled with -DSHMEMX_ONE_HOST=1, and the job has several hosts: compile without");
        break;
    case WSH_DEVICE_BAD_COUNTS:
        snprintf(
            text, size,
            "of a block to or from PE %d one side has %llu bytes, and the other expects %lld; both sides "
            "give the same count",
            r->pe, addr, value);
        break;
    case WSH_DEVICE_LONG_WAIT:
        snprintf(text, size, "still waits for the word at 0x%llx (comparison %d with %lld)", addr, r->pe,
                 value);
        break;
    case WSH_DEVICE_EXIT: snprintf(text, size, "the job ends with status %lld", value); break;
    default: snprintf(text, size, "reason %u, which this library does not know", r->reason); break;
    }
}

void wsh_report_text(const struct wsh_device_record *record, int n_pes, char *text, size_t size)
{
    int what = (int)strnlen(record->what, sizeof record->what);
    char why[256];

    if (!explain_address(record, why, sizeof why))
        explain_value(record, n_pes, why, sizeof why);
    snprintf(text, size, "%.*s in a kernel (block %u, thread %u): %s", what, record->what, record->block,
             record->thread, why);
}
