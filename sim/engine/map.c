/* SPDX-License-Identifier: BSD-3-Clause */
/* Open addressing, at most half full. */
#include "sim/engine/map.h"

#include <stdlib.h>

static uint32_t slot_of(const struct sim_map *map, uint64_t key)
{
    return (uint32_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 32) & (map->room - 1);
}

void *sim_map_find(const struct sim_map *map, uint64_t number)
{
    uint64_t key = number + 1;

    if (!map->room)
        return NULL;
    for (uint32_t i = slot_of(map, key); map->slot[i].key; i = (i + 1) & (map->room - 1))
        if (map->slot[i].key == key)
            return map->slot[i].value;
    return NULL;
}

static void put(struct sim_map *map, uint64_t key, void *value)
{
    uint32_t i = slot_of(map, key);

    while (map->slot[i].key)
        i = (i + 1) & (map->room - 1);
    map->slot[i].key = key;
    map->slot[i].value = value;
}

static void grow(struct sim_map *map)
{
    struct sim_map old = *map;

    map->room = old.room ? 2 * old.room : 8;
    map->slot = calloc(map->room, sizeof *map->slot);
    if (!map->slot)
        abort();
    for (uint32_t i = 0; i < old.room; i++)
        if (old.slot[i].key)
            put(map, old.slot[i].key, old.slot[i].value);
    free(old.slot);
}

void sim_map_add(struct sim_map *map, uint64_t number, void *value)
{
    if (2 * (map->n + 1) > map->room)
        grow(map);
    put(map, number + 1, value);
    map->n++;
}

void sim_map_clear(struct sim_map *map)
{
    for (uint32_t i = 0; i < map->room; i++)
        if (map->slot[i].key)
            free(map->slot[i].value);
    free(map->slot);
    *map = (struct sim_map){0};
}
