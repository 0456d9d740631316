# SPDX-License-Identifier: BSD-3-Clause
# CUDA: the compiler for device code. The library itself loads the driver at run time and needs nothing here.
AC_ARG_WITH([cuda], [AS_HELP_STRING([--with-cuda@<:@=DIR|no@:>@],
                     [CUDA Toolkit for device code @<:@/usr/local/cuda if there@:>@])])
WSH_CUDA_SUMMARY="no toolkit (host heap only)"
AS_IF([test "x$with_cuda" != xno],
      [AS_CASE([$with_cuda], [''|yes], [wsh_cuda=/usr/local/cuda], [wsh_cuda=$with_cuda])
       AC_PATH_PROG([NVCC], [nvcc], [], [$wsh_cuda/bin:$PATH])
       AS_IF([test -n "$NVCC"], [WSH_CUDA_SUMMARY="$NVCC"],
             [test -n "$with_cuda"],
             [AC_MSG_ERROR([no nvcc in $wsh_cuda/bin or PATH; give the toolkit's folder, or --with-cuda=no])])],
      [WSH_CUDA_SUMMARY="off"])
AM_CONDITIONAL([WSH_HAVE_NVCC], [test -n "$NVCC"])

# The wrapper for .cu files; installed where there is an nvcc.
AC_CONFIG_FILES([oshnvcc:bootstrap/wrappers/wrapper.in], [chmod +x oshnvcc])
