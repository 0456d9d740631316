/* SPDX-License-Identifier: BSD-3-Clause */
/* warpshmem-info --top. */
#ifndef WSH_INFO_TOP_H
#define WSH_INFO_TOP_H

/* Shows the PEs of the job that process `pid` is in until that ends. 0, or 1 after a line, or 2 for no number. */
int wsh_info_top(const char *pid);

#endif
