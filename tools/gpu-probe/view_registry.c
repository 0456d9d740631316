/* SPDX-License-Identifier: BSD-3-Clause */
/* The registered units, in a shared library that knows no CUDA. */
#include "view_registry.h"

static struct view_unit *units;
static struct view now; /* version 0: none is set */

struct view_unit *view_units(void)
{
    return units;
}

void view_unit_add(struct view_unit *unit)
{
    unit->next = units;
    unit->last = now.version ? unit->fill(&now) : -1;
    units = unit;
}

void view_unit_remove(struct view_unit *unit)
{
    struct view_unit **at = &units;

    while (*at && *at != unit)
        at = &(*at)->next;
    if (*at)
        *at = unit->next;
}

int view_fill(const struct view *view)
{
    int filled = 0;

    now = *view;
    for (struct view_unit *u = units; u; u = u->next) {
        u->last = u->fill(view);
        filled += u->last == 0;
    }
    return filled;
}

int view_fill_by_address(const struct view *view, int (*copy)(uint64_t to, const void *from, size_t len))
{
    int filled = 0;

    now = *view;
    for (struct view_unit *u = units; u; u = u->next) {
        void *at = NULL;
        size_t len = 0;

        u->last = u->where(&at, &len);
        if (!u->last)
            u->last = len == sizeof *view ? copy((uint64_t)(uintptr_t)at, view, len) : -2;
        filled += u->last == 0;
    }
    return filled;
}
