/* SPDX-License-Identifier: BSD-3-Clause */
/* The public routines by which a library adds to reports of hangs, and by which bindings learn of errors. */
#include "runtime/wait/notes.h"

#include "base/log.h"
#include "runtime/api/api.h"

#include <shmemx.h>

int shmemx_report_add(void (*describe)(void *arg, char *text, size_t size), void *arg)
{
    int rc;

    if (!describe)
        wsh_api_bad("shmemx_report_add", "describe is NULL");
    rc = wsh_note_add(describe, arg);
    if (rc)
        wsh_error("shmemx_report_add: 64 callbacks are there already; remove one with shmemx_report_remove");
    return rc ? 1 : 0;
}

int shmemx_report_remove(void *arg)
{
    if (!wsh_note_remove(arg))
        return 0;
    wsh_error("shmemx_report_remove: no callback has this arg: it was removed, or never added");
    return 1;
}

int shmemx_hold_errors(int hold)
{
    return wsh_log_hold(hold != 0);
}

const char *shmemx_last_error(void)
{
    return wsh_log_last_error();
}
