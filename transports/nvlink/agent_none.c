/* SPDX-License-Identifier: BSD-3-Clause */
/* The empty image that stands in for the kernel where the build has no CUDA compiler. */
#include "transports/nvlink/agent.h"

const unsigned char nvlink_agent_image[1];
const unsigned long nvlink_agent_size;
