/* SPDX-License-Identifier: BSD-3-Clause */
/* A PE's side where PEs leave a world that goes on: who has left, and how it moves to another root, or becomes it. */
#ifndef WSH_BOOTSTRAP_UID_MOVE_H
#define WSH_BOOTSTRAP_UID_MOVE_H

#include "bootstrap/uid/client.h"

/* In the client's thread. False: the message is about something else. */
bool wsh_uid_move_take(struct wsh_uid_client *client, const struct wsh_uid_head *head, const char *body);

/* Tells the root that this PE leaves; returns once it knows, or after `seconds`. */
void wsh_uid_move_leave(struct wsh_uid_client *client, double seconds);

/* Has that PE left; -1: any? */
bool wsh_uid_move_has_left(const struct wsh_uid_client *client, int pe);

#endif
