/* SPDX-License-Identifier: BSD-3-Clause */
/* The execution of a record of device code, by the same core calls that the host makes. */
#ifndef WSH_PROXY_EXEC_H
#define WSH_PROXY_EXEC_H

#include "runtime/op/ctx.h"
#include "runtime/gpu/proxy/ring.h"

/* For wsh_consumer_open; their argument is the context (of the world) by which all is executed. */
extern const struct wsh_consumer_ops wsh_proxy_exec_ops;

#endif
