/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How a program of the tests starts: by a unique id in the file UID_FILE, as PE RANK of WORLD_SIZE, where the
 * environment has these; else by its launcher. PE 0 makes the id.
 */
#ifndef WSH_TEST_BY_UID_H
#define WSH_TEST_BY_UID_H

#include <shmem.h>
#include <shmemx.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int uid_write(const char *path, const shmemx_uniqueid_t *id)
{
    char part[4096];
    FILE *file;

    snprintf(part, sizeof part, "%s.part", path);
    file = fopen(part, "w");
    return !file || fwrite(id, sizeof *id, 1, file) != 1 || fclose(file) || rename(part, path) ? -1 : 0;
}

static int uid_read(const char *path, shmemx_uniqueid_t *id)
{
    FILE *file;
    int rc;

    while (!(file = fopen(path, "r")))
        usleep(10000);
    rc = fread(id, sizeof *id, 1, file) == 1 ? 0 : -1;
    fclose(file);
    return rc;
}

/* 0, or what the routine that failed returned. */
static int start_by_uid(const char *path, int rank, int n_ranks)
{
    shmemx_init_attr_t attr = SHMEMX_INIT_ATTR_INITIALIZER;
    shmemx_uniqueid_t id;
    int rc = rank ? 0 : shmemx_get_uniqueid(&id);

    if (!rc)
        rc = rank ? uid_read(path, &id) : uid_write(path, &id);
    if (!rc)
        rc = shmemx_set_attr_uniqueid_args(rank, n_ranks, &id, &attr);
    return rc ? rc : shmemx_init_attr(SHMEMX_INIT_WITH_UNIQUEID, &attr);
}

static inline void start(void)
{
    const char *path = getenv("UID_FILE");

    if (!path)
        shmem_init();
    else if (start_by_uid(path, atoi(getenv("RANK")), atoi(getenv("WORLD_SIZE"))))
        exit(98);
}

#endif
