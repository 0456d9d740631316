# SPDX-License-Identifier: BSD-3-Clause
# PMIx: how PEs find each other, and the server inside oshrun. oshrun is linked with it; the library loads it at run time.
# The wrappers oshcc and oshc++.
AC_ARG_WITH([pmix], [AS_HELP_STRING([--with-pmix@<:@=DIR@:>@], [PMIx 4.2 or newer @<:@found by pkg-config@:>@])])
AS_CASE([$with_pmix],
        [no], [AC_MSG_ERROR([PMIx cannot be left out: it is how PEs find each other])],
        [''|yes], [],
        [PKG_CONFIG_PATH="$with_pmix/lib/pkgconfig:$with_pmix/lib64/pkgconfig:$PKG_CONFIG_PATH"
         export PKG_CONFIG_PATH])
PKG_CHECK_MODULES([PMIX], [pmix >= 4.2], [PMIX_VERSION=`$PKG_CONFIG --modversion pmix`],
                  [AC_MSG_ERROR([PMIx 4.2 or newer not found: apt-get install libpmix-dev, or give --with-pmix=DIR])])
AC_SUBST([PMIX_VERSION])
WSH_LOADED([PMIX], [pmix], [libpmix.so.2])

# MPI, for the plugin of programs that start from a communicator. The library itself never links it. A compiler that is
# only found, not named, is not used when cross-compiling, nor where it lacks mpi.h.
AC_ARG_VAR([MPICC], [MPI's C compiler, for programs that start from a communicator @<:@mpicc; no: without@:>@])
AS_IF([test -z "$MPICC" && test "$cross_compiling" = yes], [MPICC=no])
AS_IF([test -z "$MPICC"], [AC_CHECK_PROG([MPICC], [mpicc], [mpicc], [no])])
AS_IF([test "$MPICC" = no], [wsh_have_mpi=no], [
    AC_MSG_CHECKING([whether $MPICC builds programs of MPI 3.0 or newer])
    echo '#include <mpi.h>
#if MPI_VERSION < 3
#error
#endif
int main(void) { return MPI_Finalize(); }' >conftest.mpi.c
    AS_IF([$MPICC -o conftest.mpi conftest.mpi.c >&AS_MESSAGE_LOG_FD 2>&1], [wsh_have_mpi=yes], [wsh_have_mpi=no])
    rm -f conftest.mpi conftest.mpi.c
    AC_MSG_RESULT([$wsh_have_mpi])])
AS_IF([test $wsh_have_mpi = yes], [WSH_MPI_SUMMARY="$MPICC, for programs that start from a communicator"],
      [WSH_MPI_SUMMARY="none: no start from a communicator (apt install libopenmpi-dev)"])
AM_CONDITIONAL([WSH_HAVE_MPI], [test $wsh_have_mpi = yes])

AC_CONFIG_FILES([oshcc:bootstrap/wrappers/wrapper.in], [chmod +x oshcc])
AC_CONFIG_FILES([oshc++:bootstrap/wrappers/wrapper.in], [chmod +x oshc++])
