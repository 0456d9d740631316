/* SPDX-License-Identifier: BSD-3-Clause */
/* What the two files of the provider that only completes share. */
#ifndef PERFTEST_PROXY_STUB_FABRIC_H
#define PERFTEST_PROXY_STUB_FABRIC_H

#include "perftest/proxy/stub.h"

#include <rdma/fabric.h>

enum { STUB_QUEUE = 4096 }; /* writes that an endpoint takes before its queue is read */

int stub_fabric_open(struct fi_fabric_attr *attr, struct fid_fabric **fabric, void *context);

#endif
