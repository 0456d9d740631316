/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A world of two sources, one target and two rails around the real ordering engine: small programs, what is under
 * way, every step that the network or a PE may take next, and what must be true then. Everything is in one struct of
 * fixed address, so that a search may copy it away and back.
 *
 * A program is a text, a letter an operation:
 *   w  large put              c  large put, counted       C  the same in two segments, one a rail
 *   p  small put              a  atomic (or small signal) s  large put with signal   S  the same, two segments
 *   l  the same, late signal  f  blocking fetch           F  nonblocking fetch
 *   g  blocking get           n  nonblocking get          |  fence                   q  quiet
 */
#ifndef WSH_TEST_SRD_WORLD_H
#define WSH_TEST_SRD_WORLD_H

#include "transports/efa/srd/flow.h"
#include "transports/efa/srd/rx_flow.h"

enum { SOURCES = 2, OPS = 6, WINDOW = 8, RAILS = 2 };

/* How scarce everything is. */
struct settings {
    const char *name;
    uint8_t msgs, imms, fetches, slots, window; /* credits and limits */
    bool imm;                                   /* the provider carries immediate data */
    bool one_link;                              /* both sources are contexts of one PE */
    bool wrap;                                  /* all numbers are about to wrap */
    bool full;                                  /* the provider refuses everything once */
    bool deaf_fence; /* control: the engine does not see fences, but they are checked */
    bool no_stall;   /* nothing that can travel as a conditional message may be deferred */
};

enum segment { SEG_STARTED = 1, SEG_COUNT_DUE = 2, SEG_COUNTED = 4, SEG_ENDED = 8 };
enum message { MSG_NONE, MSG_FLIES, MSG_HELD, MSG_APPLIED };
enum reply { REPLY_NONE, REPLY_FLIES, REPLY_HERE };

struct operation {
    struct wsh_srd_op op;
    struct wsh_srd_stamp stamp;
    uint32_t reply_applied, reply_counted; /* ride on the reply */
    char letter;
    bool fast, refused, accepted;
    uint8_t source, fences; /* before it */
    uint8_t segment[RAILS]; /* bits of enum segment */
    uint8_t msg, reply;
};

struct source {
    struct wsh_srd_ctx ctx;
    struct wsh_srd_link own_link;
    struct wsh_srd_flow flow;
    struct wsh_srd_names named[WINDOW];
    struct operation ops[OPS];
    uint8_t n_ops, at, fences; /* operations begun, place in the program, fences passed */
    bool ack_flies;
    uint32_t ack_applied, ack_counted;
    struct wsh_srd_rx_flow rx_flow; /* the target's end */
    struct wsh_srd_held held[WINDOW];
};

struct world {
    struct source source[SOURCES];
};

extern struct world world;
/* The part of it that can change: a source without a program does nothing. */
extern size_t world_size;
extern const struct settings *world_settings;
extern const char *world_program[SOURCES];
/* What is wrong in this world, or NULL; set once, the caller clears it. */
extern const char *world_wrong;

void world_init(const struct settings *settings, const char *const program[SOURCES]);

/* world_rules.c: what goes out is noted and held to the rules; so is what is applied. */
extern const struct wsh_srd_io world_io;
int world_apply(void *arg, void *msg);
void world_wrong_if(bool is, const char *what);
/* The credits that source s uses. */
struct wsh_srd_link *world_link(int s);
void world_check_credits(void);
void world_check_quiet(const struct source *source);
/* No step can be taken: everything must be over. */
void world_check_end(void);

/* Steps are numbered from 0; false: this one cannot be taken now. */
enum { WORLD_STEPS = SOURCES * (4 + OPS * (2 * RAILS + 2)) };
bool world_step(int step);
/* What step number `step` is called. */
void world_step_name(int step, char *text, size_t size);
#endif
