/* SPDX-License-Identifier: BSD-3-Clause */
/* The clock of waits. */
#ifndef WSH_WAIT_CLOCK_H
#define WSH_WAIT_CLOCK_H

/* Monotonic, in seconds. */
double wsh_wait_now(void);

#endif
