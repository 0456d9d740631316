/* SPDX-License-Identifier: BSD-3-Clause */
/* Puts and gets a key of PE 0. */
#define _GNU_SOURCE
#include "bootstrap/pmix/again.h"

#include "bootstrap/uid/again.h"
#include "bootstrap/pmix/library.h"

#include <dlfcn.h>

#define GET_SECONDS 2 /* PE 0 may have left before shmem_finalize, and have put none */

static void make_key(const struct wsh_boot *boot, char *key, size_t size)
{
    snprintf(key, size, "wsh.%u.again", boot->generation);
}

void wsh_again_pmix_offer(const struct wsh_boot *boot, const struct wsh_env *env)
{
    unsigned char id[WSH_BOOT_UID_BYTES];
    pmix_value_t value = {.type = PMIX_BYTE_OBJECT, .data.bo = {(char *)id, sizeof id}};
    char key[PMIX_MAX_KEYLEN + 1];

    if (boot->my_pe)
        return;
    wsh_again_offer(boot, env, id);
    make_key(boot, key, sizeof key);
    wsh_pmix.Put(PMIX_GLOBAL, key, &value);
    wsh_pmix.Commit();
}

/* An MPI in this process may have a PMIx of its own, which the server would not tell from this one. */
static bool mpi_runs(void)
{
    int (*initialized)(int *flag) = (int (*)(int *))dlsym(RTLD_DEFAULT, "MPI_Initialized");
    int (*finalized)(int *flag) = (int (*)(int *))dlsym(RTLD_DEFAULT, "MPI_Finalized");
    int up = 0, over = 0;

    if (initialized && finalized) {
        initialized(&up);
        finalized(&over);
    }
    return up && !over;
}

bool wsh_again_pmix_take(const struct wsh_boot *boot, const pmix_proc_t *me)
{
    pmix_proc_t first = wsh_pmix_proc(me->nspace, 0);
    pmix_info_t info = wsh_pmix_info(PMIX_TIMEOUT, PMIX_INT);
    char key[PMIX_MAX_KEYLEN + 1];
    pmix_value_t *value = NULL;
    bool taken = false;

    info.value.data.integer = GET_SECONDS;
    make_key(boot, key, sizeof key);
    if (wsh_pmix.Get(&first, key, &info, 1, &value) == PMIX_SUCCESS && value->type == PMIX_BYTE_OBJECT)
        taken = wsh_again_take(boot, value->data.bo.bytes, value->data.bo.size);
    wsh_pmix_value_release(value);
    return taken && !mpi_runs();
}
