#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The system's python3, with a cffi module built by our oshcc, forks 100 times after shmem_init and goes on.
set -u
. "${top_srcdir:-.}/test/common/tap.sh"
. "${top_srcdir:-.}/test/mp/python_lib.sh"

for settings in SHMEM_STATIC=auto SHMEM_STATIC=on SHMEM_STATIC=off; do
    run_python 60 2 $settings python_fork.py
    if [ "$status" = 0 ]; then tap_ok "python3 forks 100 times, $settings"
    else tap_fail "python3 forks 100 times, $settings" "see above"
    fi
done
tap_done
