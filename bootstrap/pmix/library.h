/* SPDX-License-Identifier: BSD-3-Clause */
/* PMIx, loaded where a launcher that offers it has started this process. */
#ifndef WSH_BOOTSTRAP_PMIX_LIBRARY_H
#define WSH_BOOTSTRAP_PMIX_LIBRARY_H

#include <pmix.h>
#include <stdio.h>
#include <stdlib.h>

/* Those of its routines that PEs call. The macros of <pmix.h> would need the library to be linked. */
#define WSH_PMIX_ROUTINES(X)  \
    X(Abort)                  \
    X(Commit)                 \
    X(Error_string)           \
    X(Fence_nb)               \
    X(Finalize)               \
    X(Get)                    \
    X(Get_version)            \
    X(Init)                   \
    X(Notify_event)           \
    X(Publish)                \
    X(Put)                    \
    X(Register_event_handler) \
    X(Value_destruct)

struct wsh_pmix {
#define WSH_PMIX_FIELD(name) __typeof__(PMIx_##name) *name;
    WSH_PMIX_ROUTINES(WSH_PMIX_FIELD)
#undef WSH_PMIX_FIELD
};

/* Filled by wsh_pmix_library_open. */
extern struct wsh_pmix wsh_pmix;

/* NULL, or why there is no PMIx, with the cure. */
const char *wsh_pmix_library_open(void);

static inline pmix_proc_t wsh_pmix_proc(const char *nspace, pmix_rank_t rank)
{
    pmix_proc_t proc = {.rank = rank};

    snprintf(proc.nspace, sizeof proc.nspace, "%s", nspace);
    return proc;
}

/* The value is the caller's to fill. */
static inline pmix_info_t wsh_pmix_info(const char *key, pmix_data_type_t type)
{
    pmix_info_t info = {.value = {.type = type}};

    snprintf(info.key, sizeof info.key, "%s", key);
    return info;
}

/* What PMIx_Get gives. */
static inline void wsh_pmix_value_release(pmix_value_t *value)
{
    if (value) {
        wsh_pmix.Value_destruct(value);
        free(value);
    }
}

#endif
