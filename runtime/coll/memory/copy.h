/* SPDX-License-Identifier: BSD-3-Clause */
/* Copies of blocks which together may not fit the last caches of the host. */
#ifndef WSH_COLL_COPY_H
#define WSH_COLL_COPY_H

#include <stddef.h>

/* dest, src and len as of memcpy. The copy is ordered before later stores as memcpy's is. */
typedef void wsh_copy_fn(void *dest, const void *src, size_t len);

/* The copy for a call whose members read and write `touched` bytes of one host in all. */
wsh_copy_fn *wsh_coll_copy_for(size_t touched);

#endif
