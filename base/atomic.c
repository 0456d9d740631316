/* SPDX-License-Identifier: BSD-3-Clause */
/* The variable through which ThreadSanitizer learns of an order that passes through other processes. */
#include "base/atomic.h"

#ifdef __SANITIZE_THREAD__
char wsh_order_outside;
#endif
