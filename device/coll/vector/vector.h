/* SPDX-License-Identifier: BSD-3-Clause */
/* What a PE gives and gets in an alltoallv of kernels; for them and for those who launch them. Needs size_t. */
#ifndef WSH_DEVICE_VECTOR_H
#define WSH_DEVICE_VECTOR_H

#ifndef __CUDACC_RTC__ /* which has its own */
#include <stddef.h>
#endif

/* Counts and offsets are arrays by member, in elements of `width` bytes, in memory that the GPU reads and writes. */
struct wsh_dev_vector {
    char *dest;
    const char *source;
    const size_t *counts, *offsets;     /* of blocks in source */
    size_t *dest_counts, *dest_offsets; /* of blocks in dest: given or, where `need` is, found */
    size_t *need;                       /* elements that dest takes, which may be more than dest_max */
    size_t dest_max, align, width;
};

#endif
