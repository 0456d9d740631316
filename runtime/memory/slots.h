/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Offers objects whose memory stays theirs for the life of the process: whoever still holds the address of one that was
 * given back reads what its last owner left there, or a later object of the same type, and never anything else.
 */
#ifndef WSH_SLOTS_H
#define WSH_SLOTS_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

struct wsh_slot;

struct wsh_slots {
    size_t size; /* of an object */
    bool locks;  /* else their user calls by one thread at a time */
    pthread_mutex_t mutex;
    struct wsh_slot *first, *last; /* given back, in that order */
};
#define WSH_SLOTS_OF(type)                                        \
    {                                                             \
        sizeof(type), true, PTHREAD_MUTEX_INITIALIZER, NULL, NULL \
    }
#define WSH_SLOTS_UNLOCKED(type)                                   \
    {                                                              \
        sizeof(type), false, PTHREAD_MUTEX_INITIALIZER, NULL, NULL \
    }

/* An object of zeros: the one that was given back longest ago, else new memory. NULL: there is none. */
void *wsh_slots_take(struct wsh_slots *slots);

/* `object` (of the same slots, or NULL) may be taken again; till then it stays as it is. */
void wsh_slots_give(struct wsh_slots *slots, void *object);

#endif
