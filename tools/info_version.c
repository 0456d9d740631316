/* SPDX-License-Identifier: BSD-3-Clause */
/* What was built, from which commit, by what. */
#include "tools/info_version.h"

#include "base/version.h"
#include "tools/build_info.h"
#include "tools/info_row.h"

#include <shmem.h>
#include <stdio.h>

#define TEXT(number) #number
#define VERSION_TEXT(major, minor) TEXT(major) "." TEXT(minor)
#define STANDARD VERSION_TEXT(SHMEM_MAJOR_VERSION, SHMEM_MINOR_VERSION)

void wsh_info_version(bool parsable)
{
    static const char *const names[] = {"version", "openshmem", "commit", "compiler", "options", "[gpus"};
    static const char *const values[] = {WSH_VERSION,        STANDARD,          WSH_BUILD_COMMIT,
                                         WSH_BUILD_COMPILER, WSH_BUILD_OPTIONS, WSH_BUILD_ARCHS};

    if (parsable) {
        wsh_info_row(stdout, "warpshmem", sizeof names / sizeof names[0], names, values);
        return;
    }
    printf("warpshmem %s, OpenSHMEM %s\n", values[0], values[1]);
    printf("  commit      %s\n  compiler    %s\n  configure   %s\n  GPU code    %s\n", values[2], values[3],
           *values[4] ? values[4] : "without options", *values[5] ? values[5] : "none");
}
