/* SPDX-License-Identifier: BSD-3-Clause */
/* Selects the bootstrap that matches how this process was started. */
#define _GNU_SOURCE
#include "bootstrap/methods.h"

#include "bootstrap/uid/again.h"
#include "base/err.h"
#include "base/log.h"
#include "bootstrap/pmix/keys.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

/*
 * Signs of other launchers that they started several processes. Slurm's are those of a step: SLURM_NTASKS is also
 * there in a batch script, which is one process.
 */
static const struct {
    const char *variable, *launcher, *cure;
} crowds[] = {
    {"SLURM_STEP_NUM_TASKS", "srun",
     "start with srun --mpi=pmix or --mpi=pmi2 (srun --mpi=list shows what this Slurm has)"},
    {"OMPI_COMM_WORLD_SIZE", "mpirun", "keep its PMIX_* variables"},
    {"PMI_SIZE", "a PMI launcher", "keep its PMI_FD variable"},
};

static int refuse_crowd(const struct wsh_env *env)
{
    if (env->oshrun_pid > 0) {
        wsh_error(
            "started by oshrun, but PMIX_NAMESPACE is not set; keep the PMIX_* variables in what starts the "
            "program");
        return -EINVAL;
    }
    for (size_t i = 0; i < sizeof crowds / sizeof crowds[0]; i++) {
        const char *text = wsh_env_foreign(crowds[i].variable);

        if (!text || atol(text) < 2)
            continue;
        wsh_error("one of %s processes started by %s, which offers neither PMIx nor PMI; %s, or set "
                  "SHMEM_BOOTSTRAP=single for jobs of one PE each",
                  text, crowds[i].launcher, crowds[i].cure);
        return -EINVAL;
    }
    return 0;
}

/*
 * Has the kernel kill this process when oshrun ends. oshrun sets that for its PEs, but exec of a program with set-
 * id bits or capabilities clears it. A parent that is not oshrun is a script between the two; then oshrun's
 * guardian alone kills it.
 */
static int die_with_oshrun(const struct wsh_env *env)
{
    if (env->oshrun_pid <= 0 || getppid() != (pid_t)env->oshrun_pid)
        return 0;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() == (pid_t)env->oshrun_pid)
        return 0;
    wsh_error("oshrun (pid %ld), which started this process, is gone; start the job again", env->oshrun_pid);
    return -ESRCH;
}

/* Whether the process was given the variable with a value that begins so, whatever it has become since. */
static bool began_with(const char *name, const char *value)
{
    FILE *file = fopen("/proc/self/environ", "re");
    size_t len = strlen(name), size = 0;
    char *word = NULL;
    bool found = false;

    while (file && !found && getdelim(&word, &size, 0, file) > 0)
        found =
            !strncmp(word, name, len) && word[len] == '=' && !strncmp(word + len + 1, value, strlen(value));
    free(word);
    if (file)
        fclose(file);
    return found;
}

/* Open MPI's MPI_Init makes a process that its own launcher has not started a job of one, for PMIx too. */
static int refuse_replaced(const struct wsh_env *env)
{
    const char *nspace = env->oshrun_pid > 0 ? wsh_env_foreign("PMIX_NAMESPACE") : NULL;

    if (!nspace || !strncmp(nspace, WSH_PMIX_NSPACE, strlen(WSH_PMIX_NSPACE)) ||
        !began_with("PMIX_NAMESPACE", WSH_PMIX_NSPACE))
        return 0;
    wsh_error("oshrun started this PE, and MPI_Init, called before shmem_init, has made it a job of one "
              "(PMIx name space "
              "'%s'); start programs with MPI by mpirun or srun --mpi=pmix",
              nspace);
    return -EINVAL;
}

/* In this order, where SHMEM_BOOTSTRAP names none of them. */
static const struct {
    enum wsh_env_bootstrap name;
    const struct wsh_boot_ops *ops;
} launchers[] = {
    {WSH_BOOTSTRAP_PMIX, &wsh_boot_pmix_ops},
    {WSH_BOOTSTRAP_PMI, &wsh_boot_pmi_ops},
};

/*
 * -ENODEV: none of those that may be used has started this process. PMI_* is not for PEs of oshrun: it started
 * oshrun.
 */
static int launcher_open(struct wsh_boot *boot, const struct wsh_env *env)
{
    int rc = -ENODEV;

    for (size_t i = 0; rc == -ENODEV && i < sizeof launchers / sizeof launchers[0]; i++) {
        bool ours = launchers[i].name == WSH_BOOTSTRAP_PMIX || env->oshrun_pid <= 0;

        if (env->bootstrap != (int)launchers[i].name && (env->bootstrap != WSH_BOOTSTRAP_AUTO || !ours))
            continue;
        boot->ops = launchers[i].ops;
        rc = boot->ops->open(boot, env);
    }
    return rc;
}

static int method_open(struct wsh_boot *boot, const struct wsh_env *env)
{
    int rc;

    if (boot->request) {
        boot->ops = boot->request->method == WSH_BOOT_BY_MPI ? &wsh_boot_mpi_ops : &wsh_boot_uid_ops;
        return boot->ops->open(boot, env);
    }
    rc = wsh_again_open(boot, env);
    if (rc != -ENODEV)
        return rc;
    rc = refuse_replaced(env);
    if (!rc)
        rc = launcher_open(boot, env);
    if (!rc && env->on_pe_failure == WSH_ON_PE_FAILURE_CONTINUE && !boot->failures && boot->n_pes > 1)
        return wsh_again_survive(boot, env);
    if (rc != -ENODEV)
        return rc;
    if (env->bootstrap == WSH_BOOTSTRAP_PMIX) {
        wsh_error(
            "SHMEM_BOOTSTRAP=pmix, but no launcher with a PMIx server started this process; use oshrun, "
            "srun --mpi=pmix or mpirun, or SHMEM_BOOTSTRAP=single");
        return -EINVAL;
    }
    if (env->bootstrap == WSH_BOOTSTRAP_PMI) {
        wsh_error("SHMEM_BOOTSTRAP=pmi, but PMI_FD is not set; use mpiexec.hydra or srun --mpi=pmi2, or "
                  "SHMEM_BOOTSTRAP=single");
        return -EINVAL;
    }
    rc = env->bootstrap == WSH_BOOTSTRAP_AUTO ? refuse_crowd(env) : 0;
    boot->ops = &wsh_boot_single_ops;
    return rc ? rc : boot->ops->open(boot, env);
}

int wsh_boot_open(struct wsh_boot *boot, const struct wsh_env *env)
{
    int rc = die_with_oshrun(env);

    if (!rc)
        rc = method_open(boot, env);
    if (rc) {
        boot->ops = NULL;
        return rc;
    }
    wsh_info(WSH_SUB_BOOTSTRAP, "PE %d of %d (local %d of %d) through %s", boot->my_pe, boot->n_pes,
             boot->local_rank, boot->local_size, boot->launcher);
    return 0;
}

void wsh_boot_close(struct wsh_boot *boot)
{
    boot->ops->close(boot);
    boot->ops = NULL;
}
