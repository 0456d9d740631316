# SPDX-License-Identifier: BSD-3-Clause
# CUnit: for the unit and contract tests only. Every test reports in TAP, read by automake's own driver.
AC_PROG_AWK
AC_REQUIRE_AUX_FILE([tap-driver.sh])
PKG_CHECK_MODULES([CUNIT], [cunit], [wsh_have_cunit=yes], [wsh_have_cunit=no])
AS_IF([test $wsh_have_cunit = yes], [WSH_TESTS_SUMMARY="all"],
      [WSH_TESTS_SUMMARY="without unit and contract tests (apt install libcunit1-dev)"])
AM_CONDITIONAL([WSH_HAVE_CUNIT], [test $wsh_have_cunit = yes])
