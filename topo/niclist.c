/* SPDX-License-Identifier: BSD-3-Clause */
/* Decides which NICs the user's lists of names allow. Pure. */
#include "topo/niclist.h"

#include "base/err.h"
#include "base/log.h"

#include <fnmatch.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define BIT(i) ((uint64_t)1 << (i))

static bool word_names(const char *word, const struct wsh_topo_dev *nic)
{
    char device[128];

    snprintf(device, sizeof device, "%.*s", (int)strcspn(word, ":"), word);
    return !strcasecmp(word, nic->pci) || (*device && !fnmatch(device, nic->name, 0));
}

static uint64_t nics_named(const char *word, const struct wsh_topo_dev *nic, int n)
{
    uint64_t set = 0;

    for (int i = 0; i < n; i++)
        if (word_names(word, &nic[i]))
            set |= BIT(i);
    return set;
}

/* All NICs that the list names; `setting` not NULL: warns of words that name none. */
static uint64_t nics_listed(const char *list, const char *setting, const struct wsh_topo_dev *nic, int n)
{
    uint64_t set = 0;

    for (const char *at = list; *at; at += *at == ',') {
        size_t len = strcspn(at, ",");
        char word[128];
        uint64_t some;

        snprintf(word, sizeof word, "%.*s", (int)len, at);
        some = nics_named(word, nic, n);
        if (setting && !some)
            wsh_warn("%s: this host has no NIC '%s'; see warpshmem-info --nics", setting, word);
        set |= some;
        at += len;
    }
    return set;
}

static int lists_refuse(const struct wsh_topo_dev *nic, int n, const char *include, const char *exclude)
{
    char here[512] = "";
    size_t used = 0;

    for (int i = 0; i < n && used < sizeof here; i++)
        used += (size_t)snprintf(here + used, sizeof here - used, "%s%s", i ? ", " : "", nic[i].name);
    wsh_error("SHMEM_NICS='%s' and SHMEM_NICS_EXCLUDE='%s' leave no NIC of this host's: %s",
              include ? include : "", exclude ? exclude : "", here);
    return -ENODEV;
}

int wsh_niclist_filter(const struct wsh_topo_dev *nic, int n, const char *include, const char *exclude,
                       uint64_t *usable)
{
    uint64_t all = n < 64 ? BIT(n) - 1 : ~(uint64_t)0;

    *usable = all;
    if (include && *include == '^')
        *usable = all & ~nics_listed(include + 1, NULL, nic, n);
    else if (include)
        *usable = nics_listed(include, NULL, nic, n);
    if (exclude)
        *usable &= ~nics_listed(exclude, NULL, nic, n);
    if (n && !*usable)
        return lists_refuse(nic, n, include, exclude);
    if (n && include && *include != '^')
        nics_listed(include, "SHMEM_NICS", nic, n);
    return 0;
}
