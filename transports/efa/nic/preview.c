/* SPDX-License-Identifier: BSD-3-Clause */
/* Opens libfabric, chooses as a job of several hosts does, and says what was chosen. */
#define _GNU_SOURCE
#include "transports/efa/nic/preview.h"

#include "transports/efa/nic/provider.h"

#include <stdio.h>
#include <string.h>

/* Several entries of one domain differ in the kind of address. */
static bool domain_is_new(const struct fi_info *list, const struct fi_info *info)
{
    for (; list != info; list = list->next)
        if (!strcmp(list->domain_attr->name, info->domain_attr->name))
            return false;
    return true;
}

static void info_write(const struct wsh_efa_lib *lib, const struct fi_info *list, char *text, size_t size)
{
    int len = snprintf(text, size, "libfabric %u.%u, provider %s, fabric %s, over", FI_MAJOR(lib->version),
                       FI_MINOR(lib->version), list->fabric_attr->prov_name, list->fabric_attr->name);

    for (const struct fi_info *info = list; info; info = info->next)
        if (len > 0 && (size_t)len < size && domain_is_new(list, info))
            len += snprintf(text + len, size - (size_t)len, " %s", info->domain_attr->name);
}

int wsh_efa_preview(const struct wsh_env *env, char *text, size_t size, bool *slow)
{
    struct fi_info *list = NULL;
    struct wsh_efa_lib lib;
    int rc = wsh_efa_provider_open(&lib, env, &list, text, size);

    *slow = false;
    if (rc)
        return rc;
    info_write(&lib, list, text, size);
    *slow = !wsh_efa_info_pins(list);
    lib.freeinfo(list);
    wsh_efa_lib_close(&lib);
    return 0;
}
