# SPDX-License-Identifier: BSD-3-Clause
# The headers of libibverbs: for the emulated EFA device alone, which needs them and links with nothing of it.
AC_CHECK_HEADER([infiniband/verbs.h], [wsh_have_emulator=yes], [wsh_have_emulator=no])
AM_CONDITIONAL([WSH_HAVE_EMULATOR], [test $wsh_have_emulator = yes])
AS_IF([test $wsh_have_emulator = yes], [],
      [WSH_TESTS_SUMMARY="$WSH_TESTS_SUMMARY, without the emulated EFA device (apt install libibverbs-dev)"])
