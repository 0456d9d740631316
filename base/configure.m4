# SPDX-License-Identifier: BSD-3-Clause
# Hardening of what is installed: addresses bound at start and then read-only, stack protector, checked libc calls.
AC_ARG_ENABLE([hardening], [AS_HELP_STRING([--disable-hardening],
    [no -z now, -z relro, stack protector, _FORTIFY_SOURCE @<:@on, where the compiler has them@:>@])])

# WSH_TRY([what], [CFLAGS], [LDFLAGS], [preprocessor lines], [if it works])
AC_DEFUN([WSH_TRY], [
    AC_MSG_CHECKING([$1])
    wsh_cflags=$CFLAGS wsh_ldflags=$LDFLAGS
    CFLAGS="$CFLAGS -Werror $2" LDFLAGS="$LDFLAGS $3"
    AC_LINK_IFELSE([AC_LANG_PROGRAM([[$4
#include <string.h>]], [[char text[16]; strcpy(text, "x"); return text[0] == 'y';]])],
                   [AC_MSG_RESULT([yes]); wsh_works=yes], [AC_MSG_RESULT([no]); wsh_works=no])
    CFLAGS=$wsh_cflags LDFLAGS=$wsh_ldflags
    AS_IF([test $wsh_works = yes], [$5])
])

WSH_LDFLAGS=
AS_IF([test "x$enable_hardening" = xno], [WSH_HARDENING=off], [
    WSH_HARDENING=
    WSH_TRY([for -z now and -z relro], [], [-Wl,-z,relro -Wl,-z,now], [],
            [WSH_LDFLAGS="-Wl,-z,relro -Wl,-z,now" WSH_HARDENING="$WSH_HARDENING now relro"])
    WSH_TRY([for -fstack-protector-strong], [-fstack-protector-strong], [], [],
            [WSH_CFLAGS="$WSH_CFLAGS -fstack-protector-strong" WSH_HARDENING="$WSH_HARDENING stack-protector"])
    # Sanitizers check what FORTIFY checks, and miss what it replaces; who sets a level of their own keeps it; and it
    # needs optimization. glibc older than 2.34 takes 3 as 2.
    WSH_TRY([for _FORTIFY_SOURCE], [-D_FORTIFY_SOURCE=3], [], [
#if !defined __OPTIMIZE__ || defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
#error not optimized, or sanitizer
#elif defined __has_feature
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#error sanitizer
#endif
#endif],
            [WSH_CFLAGS="$WSH_CFLAGS -D_FORTIFY_SOURCE=3" WSH_HARDENING="$WSH_HARDENING fortify"])
])
AC_SUBST([WSH_LDFLAGS])

AC_ARG_ENABLE([debug], [AS_HELP_STRING([--enable-debug],
    [check invariants while a program runs (base/invariant.h); slower @<:@off@:>@])])
AS_IF([test "x$enable_debug" = xyes], [WSH_CFLAGS="$WSH_CFLAGS -DWSH_DEBUG"])
AC_SUBST([WSH_HARDENING])

# From the start, for who makes one program alone.
AC_CONFIG_COMMANDS([base/version.h], [sh "$srcdir/base/make-version" --header base/version.h])

# WSH_LOADED([PREFIX], [package], [soname where objdump does not say it]): a library that is not linked but loaded at run time.
# PREFIX_SONAME is the name by which a program that is linked with it finds it. Where it lies outside of the system's folders,
# libwarpshmem gets its folder as a run path (WSH_RPATHS).
AC_DEFUN([WSH_LOADED], [
    AC_MSG_CHECKING([for the name by which lib$2 is loaded])
    wsh_libs=$LIBS LIBS="-Wl,--no-as-needed $$1_LIBS $LIBS"
    $1_SONAME=
    AC_LINK_IFELSE([AC_LANG_PROGRAM([], [])],
        [$1_SONAME=`$OBJDUMP -p conftest$EXEEXT 2>/dev/null | sed -n 's/^ *NEEDED *\(lib$2\.so[[^ ]]*\).*/\1/p'`])
    LIBS=$wsh_libs
    : ${$1_SONAME:=$3}
    AC_MSG_RESULT([$$1_SONAME])
    AC_SUBST([$1_SONAME])
    wsh_libdir=`$PKG_CONFIG --variable=libdir $2`
    AS_CASE([$wsh_libdir], [''|/usr/lib*|/lib*], [], [WSH_RPATHS="$WSH_RPATHS -R $wsh_libdir"])
])
AC_SUBST([WSH_RPATHS])
