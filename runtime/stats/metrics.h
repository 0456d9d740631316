/* SPDX-License-Identifier: BSD-3-Clause */
/* The thread that shows figures while the job runs: in a file of metrics, and on the page that --top reads. */
#ifndef WSH_STATS_METRICS_H
#define WSH_STATS_METRICS_H

struct wsh_job;

/* The last step of the start. 0, or -EINVAL where a setting is wrong, or -EAGAIN without a thread (both logged). */
int wsh_stats_metrics_open(struct wsh_job *job);
/* Ends the thread and removes the file. */
void wsh_stats_metrics_close(struct wsh_job *job);
/* The process ends at once: only removes the file. */
void wsh_stats_metrics_abandon(const struct wsh_job *job);

#endif
