/* SPDX-License-Identifier: BSD-3-Clause */
/* What a PE of a job takes beside its heap, by part. */
#ifndef WSH_INFO_ESTIMATE_H
#define WSH_INFO_ESTIMATE_H

#include <stdbool.h>

/* `text`: n_pes=N,pes_per_host=N,…. 0, or 2 after one line on standard error. */
int wsh_info_estimate(const char *text, bool parsable);

#endif
