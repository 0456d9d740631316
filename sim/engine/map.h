/* SPDX-License-Identifier: BSD-3-Clause */
/* Pointers by number, of which few are in use. */
#ifndef PERF_SIM_MAP_H
#define PERF_SIM_MAP_H

#include <stdint.h>

struct sim_map {
    struct {
        uint64_t key; /* 1 + the number; 0: free */
        void *value;
    } * slot;
    uint32_t n, room; /* room: a power of two */
};

/* NULL: there is none. */
void *sim_map_find(const struct sim_map *map, uint64_t number);
/* The number is new. */
void sim_map_add(struct sim_map *map, uint64_t number, void *value);
/* Frees all values too. */
void sim_map_clear(struct sim_map *map);

#endif
