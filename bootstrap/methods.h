/* SPDX-License-Identifier: BSD-3-Clause */
/* The bootstraps that select.c chooses from. */
#ifndef WSH_BOOTSTRAP_METHODS_H
#define WSH_BOOTSTRAP_METHODS_H

#include "bootstrap/boot.h"

extern const struct wsh_boot_ops wsh_boot_mpi_ops;
extern const struct wsh_boot_ops wsh_boot_pmi_ops;
extern const struct wsh_boot_ops wsh_boot_pmix_ops;
extern const struct wsh_boot_ops wsh_boot_single_ops;
extern const struct wsh_boot_ops wsh_boot_uid_ops;

#endif
