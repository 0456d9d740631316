/* SPDX-License-Identifier: BSD-3-Clause */
/* What the debug library adds: a program linked with it runs as with SHMEM_DEBUG=check, unless that is set. */
#include <stdlib.h>

__attribute__((constructor)) static void check_by_default(void)
{
    setenv("SHMEM_DEBUG", "check", 0);
}
