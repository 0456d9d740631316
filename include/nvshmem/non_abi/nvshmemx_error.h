/* SPDX-License-Identifier: BSD-3-Clause */
/* NVSHMEM's error numbers, and the macros by which its own programs report errors. */
#ifndef WSH_NV_ERROR_H
#define WSH_NV_ERROR_H

#ifndef __CUDACC_RTC__
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#endif

enum nvshmemx_status {
    NVSHMEMX_SUCCESS = 0,
    NVSHMEMX_ERROR_INVALID_VALUE = 1,
    NVSHMEMX_ERROR_OUT_OF_MEMORY = 2,
    NVSHMEMX_ERROR_NOT_SUPPORTED = 3,
    NVSHMEMX_ERROR_SYMMETRY = 4,
    NVSHMEMX_ERROR_GPU_NOT_SELECTED = 5,
    NVSHMEMX_ERROR_COLLECTIVE_LAUNCH_FAILED = 6,
    NVSHMEMX_ERROR_INTERNAL = 7,
    NVSHMEMX_ERROR_SENTINEL = 2147483647
};

#ifndef __CUDACC_RTC__

#ifdef WSH_NV_LIBRARY /* nvshmem/library.cc */
extern "C" __attribute__((visibility("default")))
#else
static inline
#endif
const char *
nvshmemx_status_string(int status)
{
    static const char *const names[] = {
        "NVSHMEMX_SUCCESS",
        "NVSHMEMX_ERROR_INVALID_VALUE",
        "NVSHMEMX_ERROR_OUT_OF_MEMORY",
        "NVSHMEMX_ERROR_NOT_SUPPORTED",
        "NVSHMEMX_ERROR_SYMMETRY",
        "NVSHMEMX_ERROR_GPU_NOT_SELECTED",
        "NVSHMEMX_ERROR_COLLECTIVE_LAUNCH_FAILED",
        "NVSHMEMX_ERROR_INTERNAL",
    };

    return status >= 0 && status <= NVSHMEMX_ERROR_INTERNAL ? names[status] : "NVSHMEMX_ERROR_<unknown>";
}

/* Prints the arguments of printf as a line that begins with the place. */
#define NVSHMEMI_ERROR_PRINT(...)                                     \
    do {                                                              \
        fprintf(stderr, "%s:%d: %s: ", __FILE__, __LINE__, __func__); \
        fprintf(stderr, __VA_ARGS__);                                 \
        fprintf(stderr, "\n");                                        \
    } while (0)

#define NVSHMEMI_ERROR_EXIT(...)           \
    do {                                   \
        NVSHMEMI_ERROR_PRINT(__VA_ARGS__); \
        exit(-1);                          \
    } while (0)

#define NVSHMEMI_WARN_PRINT(...) \
    do {                         \
        printf("WARN: ");        \
        printf(__VA_ARGS__);     \
        printf("\n");            \
    } while (0)

/* Where `wrong`: a line, then `status` = `err` and on at `label`; or that as the function's result. */
#define WSH_NV_JUMP_IF(wrong, status, err, label, ...) \
    do {                                               \
        if (wrong) {                                   \
            NVSHMEMI_ERROR_PRINT(__VA_ARGS__);         \
            status = err;                              \
            goto label;                                \
        }                                              \
    } while (0)
#define WSH_NV_RETURN_IF(wrong, status, err, ...) \
    do {                                          \
        if (wrong) {                              \
            NVSHMEMI_ERROR_PRINT(__VA_ARGS__);    \
            status = err;                         \
            return status;                        \
        }                                         \
    } while (0)

#define NVSHMEMI_ERROR_JMP(status, err, label, ...) WSH_NV_JUMP_IF(1, status, err, label, __VA_ARGS__)
#define NVSHMEMI_NULL_ERROR_JMP(var, status, err, label, ...) \
    WSH_NV_JUMP_IF((var) == NULL, status, err, label, __VA_ARGS__)
#define NVSHMEMI_EQ_ERROR_JMP(status, expected, err, label, ...) \
    WSH_NV_JUMP_IF((status) == (expected), status, err, label, __VA_ARGS__)
#define NVSHMEMI_NE_ERROR_JMP(status, expected, err, label, ...) \
    WSH_NV_JUMP_IF((status) != (expected), status, err, label, __VA_ARGS__)
#define NVSHMEMI_NZ_ERROR_JMP(status, err, label, ...) \
    WSH_NV_JUMP_IF((status) != 0, status, err, label, __VA_ARGS__)
#define NVSHMEMI_CHECK_ERROR_JMP(statement, status, err, label, ...) \
    WSH_NV_JUMP_IF(statement, status, err, label, __VA_ARGS__)
#define NVSHMEMI_ERROR_RET(status, err, ...) WSH_NV_RETURN_IF(1, status, err, __VA_ARGS__)
#define NVSHMEMI_NULL_ERROR_RET(var, status, err, ...) \
    WSH_NV_RETURN_IF((var) == NULL, status, err, __VA_ARGS__)
#define NVSHMEMI_NZ_ERROR_RET(status, err, ...) WSH_NV_RETURN_IF((status) != 0, status, err, __VA_ARGS__)
#define NVSHMEMI_NE_ERROR_RET(status, expected, err, ...) \
    WSH_NV_RETURN_IF((status) != (expected), status, err, __VA_ARGS__)
#define NVSHMEMI_NZ_EXIT(status, ...)         \
    do {                                      \
        if ((status) != 0)                    \
            NVSHMEMI_ERROR_EXIT(__VA_ARGS__); \
    } while (0)
#define NONZERO_EXIT(status, ...) NVSHMEMI_NZ_EXIT(status, __VA_ARGS__)
#define NVSHMEMI_UNUSED_ARG(ARG) (void)(ARG)

#endif

#endif
