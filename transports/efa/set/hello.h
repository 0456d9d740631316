/* SPDX-License-Identifier: BSD-3-Clause */
/* Greetings over the shm provider, whose endpoints are files with a name. */
#ifndef WSH_EFA_HELLO_H
#define WSH_EFA_HELLO_H

struct wsh_efa_set;

struct wsh_efa_hello {
    int next, received; /* greetings: sent up to that PE; received */
    char shm_name[64];  /* file of the endpoint that is to be unlinked, or "" */
};

/* After connecting, with the shm provider: greets every peer. -EAGAIN until all have greeted this PE; or final. */
int wsh_efa_hello_all(struct wsh_efa_set *set);

#endif
