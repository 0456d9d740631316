/* SPDX-License-Identifier: BSD-3-Clause */
/* The interface as the library has it, which works on the members of version 1 of its structs. */
#ifndef WSH_EP_INTERFACE_H
#define WSH_EP_INTERFACE_H

#ifndef WSH_EP_FORMER
#define WSH_EP_FORMER(instead)
#endif

#include <shmemx_ep.h>

#endif
