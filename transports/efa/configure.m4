# SPDX-License-Identifier: BSD-3-Clause
# libfabric: headers for transports/efa, which loads the library at run time; LIBFABRIC_LIBS is for the bare perftest.
AC_ARG_WITH([libfabric],
            [AS_HELP_STRING([--with-libfabric=DIR], [where libfabric is installed @<:@found by pkg-config@:>@])])
AS_CASE([$with_libfabric], [''|yes], [],
        [no], [AC_MSG_ERROR([libfabric cannot be left out; install libfabric-dev])],
        [export PKG_CONFIG_PATH="$with_libfabric/lib/pkgconfig:$with_libfabric/lib64/pkgconfig:$PKG_CONFIG_PATH"])
PKG_CHECK_MODULES([LIBFABRIC], [libfabric >= 1.17], [],
                  [AC_MSG_ERROR([libfabric 1.17 or newer is needed; on Debian and Ubuntu: apt install libfabric-dev])])
AC_SUBST([LIBFABRIC_VERSION], [`$PKG_CONFIG --modversion libfabric`])
AC_SUBST([LIBFABRIC_LIBDIR], [`$PKG_CONFIG --variable=libdir libfabric`])
