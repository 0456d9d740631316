/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds the secret of a job that PMIx started. oshrun puts it into the name space, which only its PEs know. The name
 * spaces of other launchers can be guessed: there PE 0 draws a secret in each shmem_init and publishes it, so that it
 * is as safe as that launcher's PMIx.
 */
#include "bootstrap/pmix/secret.h"

#include "bootstrap/pmix/keys.h"
#include "bootstrap/pmix/library.h"

#include <stdio.h>
#include <string.h>

void wsh_secret_pmix_open(struct wsh_boot *boot, const pmix_proc_t *me)
{
    const char *text = strrchr(me->nspace, '-');

    boot->has_secret = !strncmp(me->nspace, WSH_PMIX_NSPACE, strlen(WSH_PMIX_NSPACE)) && text &&
                       !wsh_secret_parse(&boot->secret, text + 1);
}

static void make_key(const struct wsh_boot *boot, char *key, size_t size)
{
    snprintf(key, size, "wsh.%u.secret", boot->generation);
}

pmix_status_t wsh_secret_pmix_offer(struct wsh_boot *boot)
{
    pmix_value_t value = {.type = PMIX_BYTE_OBJECT};
    char key[PMIX_MAX_KEYLEN + 1];

    if (boot->has_secret || boot->my_pe)
        return PMIX_SUCCESS;
    if (wsh_random_fill(&boot->secret, sizeof boot->secret))
        return PMIX_ERROR;
    make_key(boot, key, sizeof key);
    value.data.bo.bytes = (char *)&boot->secret;
    value.data.bo.size = sizeof boot->secret;
    boot->has_secret = true;
    return wsh_pmix.Put(PMIX_GLOBAL, key, &value);
}

pmix_status_t wsh_secret_pmix_take(struct wsh_boot *boot, const pmix_proc_t *me)
{
    pmix_proc_t first = wsh_pmix_proc(me->nspace, 0);
    char key[PMIX_MAX_KEYLEN + 1];
    pmix_value_t *value = NULL;
    pmix_status_t status;

    if (boot->has_secret)
        return PMIX_SUCCESS;
    make_key(boot, key, sizeof key);
    status = wsh_pmix.Get(&first, key, NULL, 0, &value);
    if (status != PMIX_SUCCESS)
        return status;
    boot->has_secret = value->type == PMIX_BYTE_OBJECT && value->data.bo.size == sizeof boot->secret;
    if (boot->has_secret)
        memcpy(&boot->secret, value->data.bo.bytes, sizeof boot->secret);
    wsh_pmix_value_release(value);
    return boot->has_secret ? PMIX_SUCCESS : PMIX_ERR_TYPE_MISMATCH;
}
