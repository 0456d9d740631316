/* SPDX-License-Identifier: BSD-3-Clause */
/* The course of oshrun, whose process is main.c. */
#ifndef WSH_OSHRUN_H
#define WSH_OSHRUN_H

/* Returns the exit status. libpmix's thread may still run. */
int wsh_oshrun(int argc, char **argv);

#endif
