/* SPDX-License-Identifier: BSD-3-Clause */
/* The wrapper of every routine: calls the library's by its profiling name, and notes the call. */
#include "trace/trace.h"

#include "trace/wrappers.h"
