/* SPDX-License-Identifier: BSD-3-Clause */
/* Sets hwloc's environment around the start of libpmix, and restores the user's own. */
#include "bootstrap/pmix/hwloc_env.h"

#include "base/env/env.h"

#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name, *value;
} settings[WSH_LEAN_SETTINGS] = {{"HWLOC_PLUGINS_PATH", "/nonexistent"},
                                 {"HWLOC_COMPONENTS", "-linuxio,-pci,-x86"}};

void wsh_lean_begin(struct wsh_lean *lean)
{
    wsh_signals_block(&lean->signals);
    for (int i = 0; i < WSH_LEAN_SETTINGS; i++) {
        const char *value = wsh_env_foreign(settings[i].name);

        lean->before[i] = value ? strdup(value) : NULL;
        setenv(settings[i].name, settings[i].value, 1);
    }
}

void wsh_lean_end(struct wsh_lean *lean)
{
    for (int i = 0; i < WSH_LEAN_SETTINGS; i++) {
        if (lean->before[i])
            setenv(settings[i].name, lean->before[i], 1);
        else
            unsetenv(settings[i].name);
        free(lean->before[i]);
    }
    wsh_signals_restore(&lean->signals);
}
