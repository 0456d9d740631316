/* SPDX-License-Identifier: BSD-3-Clause */
/* The texts for what device code reports. */
#ifndef WSH_DEVICE_REPORT_H
#define WSH_DEVICE_REPORT_H

#include "device/view/view.h"

#include <stddef.h>

/* One line without its end: routine, argument, PE, reason and cure. `n_pes`: of the job. */
void wsh_report_text(const struct wsh_device_record *record, int n_pes, char *text, size_t size);

#endif
