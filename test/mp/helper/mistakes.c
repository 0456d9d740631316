/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Makes the mistake that its argument names, for mistakes.sh; --list names all, with what is expected of each. Exit
 * status 9: the library did not notice what it should have. "iput.wrap" is shmem_long_iput with an argument that is
 * wrong in the way `wrap`.
 */
#include "test/mp/helper/mistakes.h"

#include "test/common/mp.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct mistake_args mistake_args;

static void wrong_pe_negative(struct mistake_args *a)
{
    a->pe = -1;
}

static void wrong_pe_min(struct mistake_args *a)
{
    a->pe = INT_MIN;
}

static void wrong_pe_n(struct mistake_args *a)
{
    a->pe = shmem_n_pes();
}

static void wrong_null(struct mistake_args *a)
{
    a->sym = NULL;
}

static void wrong_malloc(struct mistake_args *a)
{
    a->sym = malloc(64);
}

static void wrong_code(struct mistake_args *a)
{
    a->sym = (long *)(uintptr_t)wrong_code;
}

static void wrong_local_null(struct mistake_args *a)
{
    a->local = NULL;
}

static void wrong_source_null(struct mistake_args *a)
{
    a->source = NULL;
}

static void wrong_source_malloc(struct mistake_args *a)
{
    a->source = malloc(64);
}

static void wrong_team_invalid(struct mistake_args *a)
{
    a->team = SHMEM_TEAM_INVALID;
}

static void wrong_beyond(struct mistake_args *a)
{
    a->n = (size_t)1 << 40;
}

/* One element, modulo 2^64 bytes. */
static void wrong_wrap(struct mistake_args *a)
{
    a->n = MISTAKE_HUGE;
}

/* No bytes at all, modulo 2^64. */
static void wrong_wrap_to_none(struct mistake_args *a)
{
    a->n = MISTAKE_HUGE - 1;
}

static void wrong_stride_wrap(struct mistake_args *a)
{
    a->stride = (ptrdiff_t)MISTAKE_HUGE;
    a->n = 3;
}

/* Two strides are no bytes, modulo 2^64. */
static void wrong_span_wrap(struct mistake_args *a)
{
    a->stride = (ptrdiff_t)1 << 60;
    a->n = 33;
}

static void wrong_stride_zero(struct mistake_args *a)
{
    a->stride = 0;
    a->n = 3;
}

static void wrong_stride_negative(struct mistake_args *a)
{
    a->stride = -1;
    a->n = 3;
}

static void wrong_misaligned(struct mistake_args *a)
{
    a->sym = (long *)(void *)((char *)a->sym + 1);
}

static const struct wrong {
    const char *name;
    void (*spoil)(struct mistake_args *args);
    int needs;
    const char *line;
} wrongs[] = {
    {"pe_negative", wrong_pe_negative, MISTAKE_PE, "PE -1 is out of range"},
    {"pe_min", wrong_pe_min, MISTAKE_PE, "PE -2147483648 is out of range"},
    {"pe_n", wrong_pe_n, MISTAKE_PE, "PE 2 is out of range"},
    {"null", wrong_null, MISTAKE_SYM, "the symmetric address is NULL"},
    {"malloc", wrong_malloc, MISTAKE_SYM, "not a symmetric address"},
    {"code", wrong_code, MISTAKE_SYM, "not a symmetric address|aligned"},
    {"local_null", wrong_local_null, MISTAKE_LOCAL, "(source|dest|fetch) is NULL"},
    {"source_null", wrong_source_null, MISTAKE_SOURCE, "source: the symmetric address is NULL"},
    {"source_malloc", wrong_source_malloc, MISTAKE_SOURCE, "source: .* is not a symmetric address"},
    {"team_invalid", wrong_team_invalid, MISTAKE_TEAM, "team is SHMEM_TEAM_INVALID"},
    {"beyond", wrong_beyond, MISTAKE_COUNT, MISTAKE_MUCH},
    {"wrap", wrong_wrap, MISTAKE_COUNT, MISTAKE_MUCH},
    {"wrap_to_none", wrong_wrap_to_none, MISTAKE_COUNT, MISTAKE_MUCH},
    {"stride_wrap", wrong_stride_wrap, MISTAKE_STRIDE, MISTAKE_MUCH},
    {"span_wrap", wrong_span_wrap, MISTAKE_STRIDE, MISTAKE_MUCH},
    {"stride_zero", wrong_stride_zero, MISTAKE_STRIDE, "is less than the block size|are at least 1"},
    {"stride_negative", wrong_stride_negative, MISTAKE_STRIDE, "is less than the block size|are at least 1"},
    {"misaligned", wrong_misaligned, MISTAKE_WORD, "is not aligned to its type"},
    {0},
};

/* One line for mistakes.sh: the name, the line, and that with SHMEM_DEBUG=check; "-" where the job goes on. */
static void list_one(const struct mistake *mistake, const char *wrong)
{
    const char *line = mistake->line ? mistake->line : "-";

    printf("%s%s%s %s\t%s\n", mistake->name, *wrong ? "." : "", wrong, line,
           mistake->checked ? mistake->checked : line);
}

static void list_all(void)
{
    for (const struct mistake_call *call = mistake_calls; call->name; call++)
        for (const struct wrong *wrong = wrongs; wrong->name; wrong++)
            if (call->has & wrong->needs)
                list_one(&(struct mistake){call->name, NULL, wrong->line, NULL}, wrong->name);
    for (const struct mistake *mistake = mistakes_of_one; mistake->name; mistake++)
        list_one(mistake, "");
    for (const struct mistake *mistake = mistakes_of_sizes; mistake->name; mistake++)
        list_one(mistake, "");
    for (const struct mistake *mistake = mistakes_of_all; mistake->name; mistake++)
        list_one(mistake, "");
    for (const struct mistake *mistake = mistakes_of_arrays; mistake->name; mistake++)
        list_one(mistake, "");
}

static void make_call(const char *name, const char *dot)
{
    const size_t len = (size_t)(dot - name);

    for (const struct mistake_call *call = mistake_calls; call->name; call++)
        for (const struct wrong *wrong = wrongs; wrong->name; wrong++)
            if (strlen(call->name) == len && !strncmp(name, call->name, len) &&
                !strcmp(dot + 1, wrong->name)) {
                wrong->spoil(&mistake_args);
                call->make(&mistake_args);
            }
}

static const struct mistake *find(const struct mistake *table, const char *name)
{
    while (table->name && strcmp(name, table->name))
        table++;
    return table->name ? table : NULL;
}

static void begin(void)
{
    struct mistake_args *a = &mistake_args;

    mp_begin();
    a->sym = mp_alloc(MISTAKE_WORDS * sizeof *a->sym);
    a->source = mp_alloc(MISTAKE_WORDS * sizeof *a->source);
    a->bell = mp_alloc(sizeof *a->bell);
    a->local = a->value;
    a->n = a->stride = 2;
    a->pe = mp_right();
    a->team = SHMEM_TEAM_WORLD;
    mp_check(!shmem_ctx_create(0, &a->ctx), "no context");
}

int main(int argc, char **argv)
{
    const char *name = argc == 2 ? argv[1] : "", *dot = strchr(name, '.');
    const struct mistake *mistake;
    bool mine;

    if (!strcmp(name, "--list")) {
        list_all();
        return 0;
    }
    begin();
    mistake = find(mistakes_of_all, name);
    if (!mistake)
        mistake = find(mistakes_of_arrays, name);
    mine = mp_me == 0 || mistake;
    if (!mistake)
        mistake = find(mistakes_of_one, name);
    if (!mistake)
        mistake = find(mistakes_of_sizes, name);
    if (mistake && mine)
        mistake->make();
    if (mistake && (!mistake->line || *mistake->line == '+'))
        return mp_end();
    if (dot && mp_me == 0)
        make_call(name, dot);
    mp_sleep(mp_me == 0 ? 0 : 5); /* the others do not end before PE 0 was noticed */
    exit(9);
}
