/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the value of one option into its field. */
#ifndef PERFTEST_COMMON_VALUES_H
#define PERFTEST_COMMON_VALUES_H

#include "perftest/common/options.h"

/* 0, or -1 with one line in `error` (PERF_ERROR_TEXT bytes). `options` begins with struct perf_options. */
int perf_value_set(void *options, const struct perf_option *option, const char *value, char *error);

#endif
