/* SPDX-License-Identifier: BSD-3-Clause */
/* Opens a queue as a job would, and says what it found. */
#include "transports/efa/gda/probe.h"

#include "transports/efa/gda/queue.h"
#include "transports/efa/nic/provider.h"

#include <errno.h>
#include <stdio.h>

enum { PROBE_COMPLETIONS = 256 };

static int probe_queue(const struct wsh_efa_lib *lib, const struct wsh_efa_rail *rail, char *text,
                       size_t size)
{
    const struct wsh_efa_gda_ops *table;
    struct wsh_efa_gda_queue queue = {0};
    int rc = wsh_efa_gda_table_open(lib, rail, &table, text, size);

    if (rc)
        return rc;
    rc = wsh_efa_gda_queue_open(lib, rail, table, false, &queue, text, size);
    if (!rc)
        snprintf(
            text, size,
            "libfabric %u.%u, %s: %u requests of %u bytes a queue, %u a doorbell, with numbers of 64 bits",
            FI_MAJOR(lib->version), FI_MINOR(lib->version), rail->name, queue.given.entries,
            queue.given.entry_bytes, queue.given.max_batch);
    wsh_efa_gda_queue_close(rail, &queue);
    return rc;
}

static int probe_nic(const struct wsh_efa_lib *lib, const struct fi_info *info, char *text, size_t size)
{
    struct wsh_efa_rail rail;
    struct fi_info *own = lib->dupinfo(info);
    int rc = own ? wsh_efa_rail_open(&rail, lib, own, PROBE_COMPLETIONS) : -ENOMEM;

    if (rc)
        return rc;
    rc = probe_queue(lib, &rail, text, size);
    wsh_efa_rail_stop(&rail);
    wsh_efa_rail_close(&rail, lib);
    return rc;
}

int wsh_efa_gda_probe(const struct wsh_env *env, char *text, size_t size)
{
    struct fi_info *list = NULL;
    struct wsh_efa_lib lib;
    int rc = wsh_efa_provider_open(&lib, env, &list, text, size);

    if (rc)
        return rc;
    rc = probe_nic(&lib, list, text, size);
    lib.freeinfo(list);
    wsh_efa_lib_close(&lib);
    return rc;
}
