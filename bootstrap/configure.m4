# SPDX-License-Identifier: BSD-3-Clause
# PMIx: how PEs find each other, and the server inside oshrun. The wrappers oshcc and oshc++.
AC_ARG_WITH([pmix], [AS_HELP_STRING([--with-pmix@<:@=DIR@:>@], [PMIx 4.2 or newer @<:@found by pkg-config@:>@])])
AS_CASE([$with_pmix],
        [no], [AC_MSG_ERROR([PMIx cannot be left out: it is how PEs find each other])],
        [''|yes], [],
        [PKG_CONFIG_PATH="$with_pmix/lib/pkgconfig:$with_pmix/lib64/pkgconfig:$PKG_CONFIG_PATH"
         export PKG_CONFIG_PATH])
PKG_CHECK_MODULES([PMIX], [pmix >= 4.2], [PMIX_VERSION=`$PKG_CONFIG --modversion pmix`],
                  [AC_MSG_ERROR([PMIx 4.2 or newer not found: apt-get install libpmix-dev, or give --with-pmix=DIR])])
AC_SUBST([PMIX_VERSION])

AC_CONFIG_FILES([oshcc:bootstrap/wrappers/wrapper.in], [chmod +x oshcc])
AC_CONFIG_FILES([oshc++:bootstrap/wrappers/wrapper.in], [chmod +x oshc++])
