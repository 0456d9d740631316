/* SPDX-License-Identifier: BSD-3-Clause */
/* What was built, from which commit, by what. */
#ifndef WSH_INFO_VERSION_H
#define WSH_INFO_VERSION_H

#include <stdbool.h>

void wsh_info_version(bool parsable);

#endif
