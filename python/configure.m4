# SPDX-License-Identifier: BSD-3-Clause
# The extension module of the Python package (python/ext): Python's headers, of any release from 3.9 on.
AC_ARG_WITH([python], [AS_HELP_STRING([--with-python@<:@=PROGRAM|no@:>@],
    [Python with whose headers the package's extension module is built @<:@python3, where it has them@:>@])])
PYTHON_CPPFLAGS=
WSH_PYTHON_SUMMARY="calls by ctypes: configured with --with-python=no"
AS_CASE([$with_python], [no], [wsh_pythons=], [''|yes], [wsh_pythons="python3 /usr/bin/python3"],
        [wsh_pythons=$with_python])
AS_IF([test "x$cross_compiling" = xyes],
      [wsh_pythons=
       WSH_PYTHON_SUMMARY="calls by ctypes: the extension module is not cross-compiled"])
for wsh_python in $wsh_pythons; do
    AS_IF([test -n "$PYTHON_CPPFLAGS"], [break])
    WSH_PYTHON_SUMMARY="calls by ctypes: no Python.h (apt install python3-dev)"
    wsh_include=`$wsh_python -c 'import sysconfig as s; p = s.get_paths(); print("-I" + p@<:@"include"@:>@, "-I" + p@<:@"platinclude"@:>@)' 2>&AS_MESSAGE_LOG_FD`
    AC_MSG_CHECKING([for Python.h of $wsh_python])
    wsh_cppflags=$CPPFLAGS
    CPPFLAGS="$CPPFLAGS $wsh_include -DPy_LIMITED_API=0x03090000"
    AC_COMPILE_IFELSE([AC_LANG_PROGRAM([[#include <Python.h>
#if PY_VERSION_HEX < 0x03090000 || defined Py_GIL_DISABLED
#error too old, or without the stable ABI
#endif]], [[return PyLong_CheckExact(Py_None);]])],
        [AC_MSG_RESULT([yes])
         PYTHON_CPPFLAGS="$wsh_include -DPy_LIMITED_API=0x03090000"
         WSH_PYTHON_SUMMARY="calls by an extension module, headers of $wsh_python"],
        [AC_MSG_RESULT([no])])
    CPPFLAGS=$wsh_cppflags
done
AS_IF([test -z "$PYTHON_CPPFLAGS" && test -n "$with_python" && test "x$with_python" != xno && test "x$with_python" != xyes],
      [AC_MSG_ERROR([--with-python=$with_python: it has no Python.h of 3.9 or newer; install its headers (python3-dev)])])
AC_SUBST([PYTHON_CPPFLAGS])
AC_SUBST([WSH_PYTHON_SUMMARY])
AM_CONDITIONAL([WSH_HAVE_PYTHON], [test -n "$PYTHON_CPPFLAGS"])
