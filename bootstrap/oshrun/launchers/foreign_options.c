/* SPDX-License-Identifier: BSD-3-Clause */
/* The words of others. */
#include "bootstrap/oshrun/launchers/foreign_options.h"

#include <string.h>

static const struct {
    const char *word, *instead;
} foreign[] = {
    {"--oversubscribe", "leave it out: more PEs than cores need no option"},
    {"-oversubscribe", "leave it out: more PEs than cores need no option"},
    {"--overcommit", "leave it out: more PEs than cores need no option"},
    {"-O", "leave it out: more PEs than cores need no option"},
    {"--allow-run-as-root", "leave it out: root needs no option"},
    {"--ntasks", "write -n"},
    {"-c", "processors of a PE are chosen by --bind"},
    {"--cpus-per-task", "processors of a PE are chosen by --bind"},
    {"--cpu-bind", "write --bind"},
    {"--map-by", "PEs are numbered host by host; write --bind, and -H host:PEs"},
    {"--rank-by", "PEs are numbered host by host; write --bind, and -H host:PEs"},
    {"-N", "hosts are named: -H host1:4,host2:4, or oshrun inside salloc"},
    {"--nodes", "hosts are named: -H host1:4,host2:4, or oshrun inside salloc"},
    {"-w", "write -H"},
    {"--nodelist", "write -H"},
    {"-hosts", "write -H"},
    {"-f", "write --hostfile"},
    {"--machinefile", "write --hostfile"},
    {"-machinefile", "write --hostfile"},
    {"-ppn", "write -H host1:4,host2:4"},
    {"-npernode", "write -H host1:4,host2:4"},
    {"--npernode", "write -H host1:4,host2:4"},
    {"--ntasks-per-node", "write -H host1:4,host2:4"},
    {"-l", "write --tag-output"},
    {"--label", "write --tag-output"},
    {"-genv", "write -x VAR=value"},
    {"-env", "write -x VAR=value"},
    {"--export", "write -x VAR=value"},
    {"-gdb", "write --gdb"},
    {"--debug", "write --gdb"},
    {"-debug", "write --gdb"},
    {"--debugger", "write --gdb, or --wrap 'debugger --args'"},
    {"--xterm", "write --gdb=PE, or --wrap 'xterm -e gdb --args'"},
    {"-xterm", "write --gdb=PE, or --wrap 'xterm -e gdb --args'"},
    {"--mca", "settings of Open MPI go by the environment: OMPI_MCA_…, PRTE_MCA_…"},
    {"-mca", "settings of Open MPI go by the environment: OMPI_MCA_…, PRTE_MCA_…"},
    {"--mpi", "leave it out: under Slurm oshrun takes srun --mpi=pmix"},
    {"-wdir", "change the folder before oshrun"},
    {"--wdir", "change the folder before oshrun"},
    {"--chdir", "change the folder before oshrun"},
};

const char *wsh_foreign_option(const char *word)
{
    size_t len = strcspn(word, "=");

    for (size_t i = 0; i < sizeof foreign / sizeof foreign[0]; i++)
        if (strlen(foreign[i].word) == len && !strncmp(foreign[i].word, word, len))
            return foreign[i].instead;
    return NULL;
}

bool wsh_second_program(char *const *word)
{
    return !strcmp(word[0], ":") && word[1] && !strncmp(word[1], "-n", 2);
}
