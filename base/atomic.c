/* SPDX-License-Identifier: BSD-3-Clause */
/* The token through which ThreadSanitizer learns of order that other processes make. */
#include "base/atomic.h"

#ifdef __SANITIZE_THREAD__
char wsh_order_outside;
#endif
