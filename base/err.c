/* SPDX-License-Identifier: BSD-3-Clause */
/* Turns an errno of either sign into text, without shared state. */
#define _GNU_SOURCE
#include "base/err.h"

#include <string.h>

const char *wsh_strerror(int err)
{
    static _Thread_local char text[128];

    return strerror_r(err < 0 ? -err : err, text, sizeof text);
}
