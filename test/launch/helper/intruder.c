/* SPDX-License-Identifier: BSD-3-Clause */
/* Joins a job through PMIx as the PE that its words say, reads what PE 0 published, ends it (stranger_pmix.sh). */
#include <pmix.h>

#include <stdio.h>

int main(void)
{
    pmix_proc_t me, first;
    pmix_value_t *value = NULL;
    pmix_status_t status = PMIx_Init(&me, NULL, 0);

    printf("PMIx_Init: %s\n", PMIx_Error_string(status));
    if (status != PMIX_SUCCESS)
        return 1;
    PMIX_LOAD_PROCID(&first, me.nspace, 0);
    status = PMIx_Get(&first, "wsh.1.0", NULL, 0, &value);
    printf("joined as PE %u; start-up data of PE 0: %s\n", me.rank, PMIx_Error_string(status));
    fflush(stdout);
    PMIx_Abort(99, "intruder", NULL, 0);
    return 0;
}
