/* SPDX-License-Identifier: BSD-3-Clause */
/* Reuses the object that was given back longest ago, so that an old address gets a new meaning as late as possible. */
#include "runtime/memory/slots.h"

#include <stdlib.h>
#include <string.h>

/* In front of each object. */
struct wsh_slot {
    struct wsh_slot *next;
    max_align_t object[];
};

static void lock(struct wsh_slots *slots)
{
    if (slots->locks)
        pthread_mutex_lock(&slots->mutex);
}

static void unlock(struct wsh_slots *slots)
{
    if (slots->locks)
        pthread_mutex_unlock(&slots->mutex);
}

static struct wsh_slot *slot_pop(struct wsh_slots *slots)
{
    struct wsh_slot *slot;

    lock(slots);
    slot = slots->first;
    if (slot)
        slots->first = slot->next;
    unlock(slots);
    return slot;
}

void *wsh_slots_take(struct wsh_slots *slots)
{
    struct wsh_slot *slot = slot_pop(slots);

    if (!slot)
        slot = malloc(sizeof *slot + slots->size);
    return slot ? memset(slot->object, 0, slots->size) : NULL;
}

void wsh_slots_give(struct wsh_slots *slots, void *object)
{
    struct wsh_slot *slot;

    if (!object)
        return;
    slot = (struct wsh_slot *)((char *)object - offsetof(struct wsh_slot, object));
    slot->next = NULL;
    lock(slots);
    if (slots->first)
        slots->last->next = slot;
    else
        slots->first = slot;
    slots->last = slot;
    unlock(slots);
}
