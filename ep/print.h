/* SPDX-License-Identifier: BSD-3-Clause */
/* Lines of the library: what is refused, and at SHMEM_DEBUG=info what was chosen. */
#ifndef WSH_EP_PRINT_H
#define WSH_EP_PRINT_H

#ifdef __cplusplus
extern "C" {
#endif

/* The PE's number for lines from now on. */
void ep_print_pe(int pe);

/* Prints "ROUTINE: …" in the library's form. Returns 1. */
int ep_refuse(const char *routine, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Prints a line of what was chosen otherwise than asked for, which no error is. */
void ep_warn(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Prints at SHMEM_DEBUG=info. */
void ep_info(const char *format, ...) __attribute__((format(printf, 1, 2)));

#ifdef __cplusplus
}
#endif

#endif
