/* SPDX-License-Identifier: BSD-3-Clause */
/* warpshmem-trace: makes the file of a trace from its parts, where PE 0 could not. */
#include "trace/merge.h"

#include "base/version.h"

#include <stdio.h>
#include <string.h>

static const char help[] =
    "Usage: warpshmem-trace FILE\n"
    "Merges the parts FILE.pe0, FILE.pe1 … of a job that was traced into FILE, for\n"
    "ui.perfetto.dev or chrome://tracing, and removes them. PE 0 does that at the end of a job;\n"
    "oshrun --trace does where the job has failed.\n";

int main(int argc, char **argv)
{
    char text[1024];
    int rc;

    if (argc == 2 && !strcmp(argv[1], "--help"))
        return fputs(help, stdout) < 0;
    if (argc == 2 && !strcmp(argv[1], "--version"))
        return printf("warpshmem-trace (warpshmem) %s\n", WSH_VERSION) < 0;
    if (argc != 2 || argv[1][0] == '-') {
        fputs(help, stderr);
        return 2;
    }
    rc = wsh_trace_merge(argv[1], text, sizeof text);
    if (*text)
        fprintf(stderr, "warpshmem-trace: %s\n", text);
    return rc ? 1 : 0;
}
