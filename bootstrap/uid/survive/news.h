/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A PE's side where PEs go on without one that has failed: who has failed, memory that survivors write for each other,
 * and the lease by which this PE may live (members.h has the root's side).
 */
#ifndef WSH_BOOTSTRAP_UID_SURVIVE_NEWS_H
#define WSH_BOOTSTRAP_UID_SURVIVE_NEWS_H

#include "bootstrap/uid/client.h"

/* 0 or -ENOMEM after one line. Before the thread starts. */
int wsh_uid_news_open(struct wsh_uid_client *client, int n_pes, double lease);
void wsh_uid_news_close(struct wsh_uid_client *client);

/* In the client's thread. False: the message is about something else. */
bool wsh_uid_news_take(struct wsh_uid_client *client, const struct wsh_uid_head *head, const char *body);

/*
 * In the client's thread: until a message can be read, and all of it within *deadline. Does not return where the lease
 * is over. 0 or an errno.
 */
int wsh_uid_news_await(struct wsh_uid_client *client, double *deadline);

/* What boot->failures points to, and failed_at, board, board_tell and board_decide of wsh_boot_ops. */
const uint32_t *wsh_uid_news_failures(const struct wsh_uid_client *client);
uint32_t wsh_uid_news_failed_at(const struct wsh_uid_client *client, int pe);
void *wsh_uid_news_board(struct wsh_uid_client *client, size_t len);
void wsh_uid_news_tell(struct wsh_uid_client *client, size_t at, size_t len);
void wsh_uid_news_decide(struct wsh_uid_client *client, size_t at, uint64_t before, uint64_t after);

#endif
