/* SPDX-License-Identifier: BSD-3-Clause */
/* The PMIx server that the PEs of this machine connect to. */
#ifndef WSH_OSHRUN_PMIX_SERVER_H
#define WSH_OSHRUN_PMIX_SERVER_H

/*
 * Starts the server with its files in `tmpdir` and registers `n_pes` PEs in blocks on `n_nodes` (emulated) hosts.
 * Events go to `event_fd`. Afterwards this process has threads. 0, or a negative errno after one line.
 *
 * There is no end but that of the process, by _exit: PMIx_server_finalize waits for ever now and then after a PE
 * broke off (4.2.2), and exit() would take libpmix down under its own thread. `tmpdir` is the caller's to remove.
 */
int wsh_server_open(const char *tmpdir, int n_pes, int n_nodes, int event_fd);

/*
 * Adds to *env (malloc'd strings in a malloc'd array) what PE `pe` needs to find the server. 0, or -errno after one
 * line.
 */
int wsh_server_environ(int pe, char ***env);

/* The emulated host of a PE: blocks of nearly equal size. */
int wsh_node_of(int pe, int n_pes, int n_nodes);

#endif
