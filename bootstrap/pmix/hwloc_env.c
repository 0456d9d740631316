/* SPDX-License-Identifier: BSD-3-Clause */
/* Sets hwloc's environment around the start of libpmix, and restores the user's own. */
#include "bootstrap/pmix/hwloc_env.h"

#include "base/env/env.h"

#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name, *value;
} settings[WSH_HWLOC_ENV_SETTINGS] = {{"HWLOC_PLUGINS_PATH", "/nonexistent"},
                                      {"HWLOC_COMPONENTS", "-linuxio,-pci,-x86"}};

void wsh_hwloc_env_begin(struct wsh_hwloc_env *hwloc_env)
{
    wsh_signals_block(&hwloc_env->signals);
    for (int i = 0; i < WSH_HWLOC_ENV_SETTINGS; i++) {
        const char *value = wsh_env_foreign(settings[i].name);

        hwloc_env->before[i] = value ? strdup(value) : NULL;
        setenv(settings[i].name, settings[i].value, 1);
    }
}

void wsh_hwloc_env_end(struct wsh_hwloc_env *hwloc_env)
{
    for (int i = 0; i < WSH_HWLOC_ENV_SETTINGS; i++) {
        if (hwloc_env->before[i])
            setenv(settings[i].name, hwloc_env->before[i], 1);
        else
            unsetenv(settings[i].name);
        free(hwloc_env->before[i]);
    }
    wsh_signals_restore(&hwloc_env->signals);
}
