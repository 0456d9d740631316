/* SPDX-License-Identifier: BSD-3-Clause */
/* shmemx_init_attr and what leads to it: each wrong argument is one line and no job; a job of one by a unique id. */
#include "test/common/unit.h"

#include <shmemx.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const shmemx_init_attr_t initial = SHMEMX_INIT_ATTR_INITIALIZER;

struct call {
    const char *word; /* of its line */
    unsigned flags;
    shmemx_init_attr_t attr, *at;
    int rc;
};

static void init(void *arg)
{
    struct call *call = arg;

    call->rc = shmemx_init_attr(call->flags, call->at);
}

static void is_refused(struct call *call)
{
    char text[1024];
    int initialized = 9;

    unit_capture(init, call, text, sizeof text);
    CU_ASSERT(call->rc != 0);
    CU_ASSERT_EQUAL(unit_lines(text), 1);
    CU_ASSERT_PTR_NOT_NULL(strstr(text, call->word));
    shmem_query_initialized(&initialized);
    CU_ASSERT_EQUAL(initialized, 0);
}

static void refuses_arguments(void)
{
    struct call call = {.attr = initial, .at = &call.attr};

    call.flags = 16;
    call.word = "flags 0x10";
    is_refused(&call);
    call.flags = SHMEMX_INIT_WITH_UNIQUEID | SHMEMX_INIT_WITH_MPI_COMM;
    call.word = "flags 0x3";
    is_refused(&call);
    call.flags = SHMEMX_INIT_WITH_UNIQUEID;
    call.word = "is none, or was changed"; /* no id was given */
    is_refused(&call);
    call.attr.thread_level = SHMEM_THREAD_MULTIPLE + 1;
    call.word = "there is no thread level 4";
    is_refused(&call);
    call.attr.version++;
    call.word = "attr has version 2, and this library knows 1";
    is_refused(&call);
    call.at = NULL;
    call.word = "attr is NULL";
    is_refused(&call);
}

struct args {
    const char *word;
    int rank, n_ranks, rc;
    const shmemx_uniqueid_t *id;
    shmemx_init_attr_t *attr;
};

static void set(void *arg)
{
    struct args *args = arg;

    args->rc = shmemx_set_attr_uniqueid_args(args->rank, args->n_ranks, args->id, args->attr);
}

static void refuses_ranks(void)
{
    static shmemx_uniqueid_t id;
    static shmemx_init_attr_t attr = SHMEMX_INIT_ATTR_INITIALIZER, none;
    struct args all[] = {
        {"no rank -1 of 2", -1, 2, 0, &id, &attr},   {"no rank 2 of 2", 2, 2, 0, &id, &attr},
        {"no rank 0 of 0", 0, 0, 0, &id, &attr},     {"no rank 0 of -1", 0, -1, 0, &id, &attr},
        {"id is NULL", 0, 1, 0, NULL, &attr},        {"attr is NULL", 0, 1, 0, &id, NULL},
        {"attr has version 0", 0, 1, 0, &id, &none},
    };
    char text[1024];

    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        unit_capture(set, &all[i], text, sizeof text);
        CU_ASSERT(all[i].rc != 0);
        CU_ASSERT_EQUAL(unit_lines(text), 1);
        CU_ASSERT_PTR_NOT_NULL(strstr(text, all[i].word));
    }
}

static void get_null(void *rc)
{
    *(int *)rc = shmemx_get_uniqueid(NULL);
}

static void refuses_null(void)
{
    char text[1024];
    int rc = 0;

    unit_capture(get_null, &rc, text, sizeof text);
    CU_ASSERT(rc != 0);
    CU_ASSERT_EQUAL(unit_lines(text), 1);
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "shmemx_get_uniqueid: id is NULL"));
}

static void starts(struct call *call, int level)
{
    int provided = -1;

    init(call);
    CU_ASSERT_EQUAL_FATAL(call->rc, 0);
    CU_ASSERT(shmem_my_pe() == 0 && shmem_n_pes() == 1);
    shmem_query_thread(&provided);
    CU_ASSERT_EQUAL(provided, level);
}

/* Counted, refused with a used id, and again with a new one. */
static void starts_one(void)
{
    struct call call = {.flags = SHMEMX_INIT_WITH_UNIQUEID, .attr = initial, .at = &call.attr};
    shmemx_uniqueid_t id;

    call.attr.thread_level = SHMEM_THREAD_MULTIPLE;
    for (int world = 0; world < 3; world++) {
        CU_ASSERT_EQUAL_FATAL(shmemx_get_uniqueid(&id), 0);
        CU_ASSERT_EQUAL(shmemx_set_attr_uniqueid_args(0, 1, &id, &call.attr), 0);
        starts(&call, SHMEM_THREAD_MULTIPLE);
        starts(&call, SHMEM_THREAD_MULTIPLE);
        shmem_finalize();
        CU_ASSERT(shmem_n_pes() == 1);
        shmem_finalize();
        call.word = "has started a world in this process already";
        is_refused(&call);
    }
}

static void starts_by_the_environment(void)
{
    struct call call = {.attr = initial};

    starts(&call, SHMEM_THREAD_SINGLE);
    shmem_finalize();
    call.attr.thread_level = SHMEM_THREAD_SERIALIZED;
    call.at = &call.attr;
    starts(&call, SHMEM_THREAD_SERIALIZED);
    shmem_finalize();
}

const struct unit_test unit_tests[] = {
    {"wrong flags, versions, levels and ids are refused", refuses_arguments},
    {"impossible ranks are refused", refuses_ranks},
    {"no place for an id is refused", refuses_null},
    {"a job of one PE by a unique id, counted, several in turn", starts_one},
    {"flags 0: as the environment says", starts_by_the_environment},
    {NULL, NULL},
};
