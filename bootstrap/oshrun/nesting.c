/* SPDX-License-Identifier: BSD-3-Clause */
/* Knows whether oshrun was called inside a running job. */
#define _GNU_SOURCE
#include "bootstrap/oshrun/nesting.h"

#include "bootstrap/oshrun/say.h"
#include "base/env.h"

#include <stddef.h>
#include <stdlib.h>

/* Slurm's numbers from here on are no steps of tasks: interactive shells (salloc), batch scripts, extern, pending. */
#define FIRST_SPECIAL_STEP 0xfffffff0ul

static const struct {
    const char *variable, *launcher;
    bool is_step;
} signs[] = {
    {"SHMEM_OSHRUN_PID", "oshrun", false}, {"OMPI_COMM_WORLD_RANK", "mpirun", false},
    {"SLURM_STEP_ID", "srun", true},       {"PMIX_RANK", "a PMIx launcher", false},
    {"PMI_RANK", "a PMI launcher", false},
};

static const char *sign_of(size_t i)
{
    const char *text = wsh_env_foreign(signs[i].variable);
    char *end;

    if (!text || !signs[i].is_step)
        return text;
    return strtoul(text, &end, 10) >= FIRST_SPECIAL_STEP || *end ? NULL : text;
}

int wsh_nesting_refuse(void)
{
    for (size_t i = 0; i < sizeof signs / sizeof signs[0]; i++) {
        if (!sign_of(i))
            continue;
        wsh_say("already inside a job started by %s (%s is set); call the program itself there, or unset %s "
                "for a job "
                "of its own on this machine",
                signs[i].launcher, signs[i].variable, signs[i].variable);
        return OSHRUN_USAGE;
    }
    return 0;
}

bool wsh_in_allocation(void)
{
    return wsh_env_foreign("SLURM_JOB_ID");
}
