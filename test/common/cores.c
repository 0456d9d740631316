/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The model: a line that another core wrote is read in 1. Loads that follow each other are under way at the same time,
 * CORES_NEXT apart, as far as what they bring was written by then. A line that others have read is claimed before it is
 * written: 1, and those that follow CORES_NEXT each. A line serves its readers CORES_BUSY apart. Instructions take no
 * time.
 */
#include "test/common/cores.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#define LINE 64

struct line {
    uint64_t holders; /* members that have it; the last writer alone until another reads */
    double written, free;
};

struct member {
    sem_t turn;
    double clock;       /* when what it has read or written last was there */
    double issued;      /* when its last read began */
    bool reads, writes; /* since then it has only read; only written */
    bool over;
    const struct line *awaits; /* it goes on once this one was written */
    const struct line *last;   /* that it has read */
    struct cores_count count;
    int me;
};

static struct {
    int n;
    size_t len;
    char *memory;
    struct line *lines;
    struct member members[CORES_MAX];
    void (*call)(int me, void *arg);
    void *arg;
    sem_t end;
} model;

static __thread struct member *self; /* NULL: not in a run */

static bool is_ready(const struct member *member)
{
    return !member->over && !member->awaits;
}

/* The member that is behind most goes on: the caller, if no other is further behind. */
static void turn_pass(void)
{
    struct member *next = self && is_ready(self) ? self : NULL;

    for (int i = 0; i < model.n; i++)
        if (is_ready(&model.members[i]) && (!next || model.members[i].clock < next->clock))
            next = &model.members[i];
    if (next == self && next)
        return;
    sem_post(next ? &next->turn : &model.end); /* all are over, or wait for each other */
    if (self && !self->over)
        sem_wait(&self->turn);
}

static struct line *line_find(uintptr_t at)
{
    uintptr_t begin = (uintptr_t)model.memory;

    return at - begin < (size_t)model.n * model.len ? &model.lines[(at - begin) / LINE] : NULL;
}

static void line_fetch(struct line *line)
{
    double begin = self->clock;

    if (self->reads && line->written <= self->issued + CORES_NEXT)
        begin = self->issued + CORES_NEXT;
    begin = begin < line->free ? line->free : begin;
    line->free = begin + CORES_BUSY;
    self->clock = begin + 1 > self->clock ? begin + 1 : self->clock;
    self->issued = begin;
    self->reads = true;
    self->count.read++;
    line->holders |= UINT64_C(1) << self->me;
}

static void line_read(struct line *line)
{
    turn_pass();
    self->writes = false;
    self->last = line;
    if (!(line->holders >> self->me & 1))
        line_fetch(line);
}

static void line_write(struct line *line)
{
    uint64_t mine = UINT64_C(1) << self->me;

    turn_pass();
    self->reads = false;
    if (line->holders != mine) {
        self->clock += self->writes ? CORES_NEXT : 1;
        self->writes = true;
        self->count.claimed++;
        turn_pass(); /* until then others find what was there before */
        line->holders = mine;
        line->free = 0;
    }
    line->written = self->clock;
    for (int i = 0; i < model.n; i++)
        if (model.members[i].awaits == line) {
            model.members[i].awaits = NULL;
            if (model.members[i].clock < self->clock)
                model.members[i].clock = self->clock;
        }
}

static void range_visit(uintptr_t at, size_t len, void (*visit)(struct line *line))
{
    for (uintptr_t next = at; self && next < at + len; next = (next / LINE + 1) * LINE) {
        struct line *line = line_find(next);

        if (line)
            visit(line);
    }
}

void cores_read(const void *at, size_t len)
{
    range_visit((uintptr_t)at, len, line_read);
}

void cores_write(void *at, size_t len)
{
    range_visit((uintptr_t)at, len, line_write);
}

void *cores_copy(void *dest, const void *src, size_t len)
{
    cores_read(src, len);
    cores_write(dest, len);
    return memcpy(dest, src, len);
}

/* What was not there is looked at again when its line was written. */
int cores_wait(struct wsh_job *job, const struct wsh_wait_why *why, wsh_wait_try try, void *arg)
{
    int rc = try(arg);

    (void)job;
    (void)why;
    for (; rc == -EAGAIN; rc = try(arg)) {
        self->awaits = self->last;
        self->reads = false;
        turn_pass();
    }
    return rc;
}

void *cores_open(int n, size_t len)
{
    model.n = n;
    model.len = (len + LINE - 1) / LINE * LINE;
    model.memory = aligned_alloc(LINE, (size_t)n * model.len);
    model.lines = calloc((size_t)n * model.len / LINE, sizeof *model.lines);
    if (!model.memory || !model.lines)
        return NULL;
    return memset(model.memory, 0, (size_t)n * model.len);
}

void cores_close(void)
{
    free(model.memory);
    free(model.lines);
    memset(&model, 0, sizeof model);
}

static void *member_run(void *arg)
{
    self = arg;
    sem_wait(&self->turn);
    model.call(self->me, model.arg);
    self->over = true;
    turn_pass();
    return NULL;
}

static void count_add(struct cores_count *all, const struct member *member)
{
    const struct cores_count *one = &member->count;

    all->path = member->clock > all->path ? member->clock : all->path;
    all->read += one->read;
    all->claimed += one->claimed;
    all->read_most = one->read > all->read_most ? one->read : all->read_most;
    all->claimed_most = one->claimed > all->claimed_most ? one->claimed : all->claimed_most;
}

struct cores_count cores_run(void (*call)(int me, void *arg), void *arg)
{
    pthread_t threads[CORES_MAX];
    struct cores_count all = {0};

    model.call = call;
    model.arg = arg;
    sem_init(&model.end, 0, 0);
    for (size_t i = 0; i < (size_t)model.n * model.len / LINE; i++)
        model.lines[i].written = model.lines[i].free = 0;
    for (int me = 0; me < model.n; me++) {
        model.members[me] = (struct member){.me = me};
        sem_init(&model.members[me].turn, 0, 0);
        pthread_create(&threads[me], NULL, member_run, &model.members[me]);
    }
    turn_pass();
    sem_wait(&model.end);
    for (int me = 0; me < model.n; me++) {
        if (!model.members[me].over)
            abort(); /* members wait for each other: a call that does not end, or a line that nobody reports */
        pthread_join(threads[me], NULL);
        sem_destroy(&model.members[me].turn);
        count_add(&all, &model.members[me]);
    }
    sem_destroy(&model.end);
    return all;
}
