# SPDX-License-Identifier: BSD-3-Clause
# hwloc: the machine's topology (topo); only the headers are compiled in, the library is loaded at run time.
AC_ARG_WITH([hwloc], [AS_HELP_STRING([--with-hwloc=DIR], [where hwloc is installed @<:@found by pkg-config@:>@])])
AS_CASE([$with_hwloc], [''|yes], [],
        [no], [AC_MSG_ERROR([hwloc cannot be left out; install libhwloc-dev])],
        [export PKG_CONFIG_PATH="$with_hwloc/lib/pkgconfig:$with_hwloc/lib64/pkgconfig:$PKG_CONFIG_PATH"])
PKG_CHECK_MODULES([HWLOC], [hwloc >= 2.5], [],
                  [AC_MSG_ERROR([hwloc 2.5 or newer is needed; on Debian and Ubuntu: apt install libhwloc-dev])])
HWLOC_VERSION=`$PKG_CONFIG --modversion hwloc`
WSH_LOADED([HWLOC], [hwloc], [libhwloc.so.15])
