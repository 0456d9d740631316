/* SPDX-License-Identifier: BSD-3-Clause */
/* What the programs of this folder check with: a line on standard error, and exit status 1. */
#ifndef WSH_TEST_NVSHMEM_CHECK_H
#define WSH_TEST_NVSHMEM_CHECK_H

#include <stdio.h>
#include <stdlib.h>

#define CHECK(cond)                                                                  \
    do {                                                                             \
        if (!(cond)) {                                                               \
            fprintf(stderr, "%s:%d: %s does not hold\n", __FILE__, __LINE__, #cond); \
            exit(1);                                                                 \
        }                                                                            \
    } while (0)

#define CHECK_CUDA(call) CHECK((call) == cudaSuccess)

#endif
