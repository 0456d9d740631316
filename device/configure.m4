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
# The GPUs for which the kernels of libnvshmem_host are compiled: machine code of each, PTX of the first for all others.
AC_ARG_WITH([gpu-archs], [AS_HELP_STRING([--with-gpu-archs=LIST],
                          [compute capabilities that libnvshmem_host has kernels for, or no @<:@80,90,100@:>@])],
            [], [with_gpu_archs=80,90,100])
AC_SUBST([WSH_GPU_ARCHS], [$with_gpu_archs])
AM_CONDITIONAL([WSH_HAVE_IMAGES], [test -n "$NVCC" && test "x$with_gpu_archs" != xno])
AM_CONDITIONAL([WSH_HAVE_NVCC], [test -n "$NVCC"])

# Device code as a library: LLVM bitcode by clang, which needs no toolkit; objects for -rdc by nvcc.
AC_PATH_PROGS([WSH_CLANG], [clang clang-19 clang-18 clang-17 clang-16 clang-15 clang-14])
WSH_BITCODE_SUMMARY="no libnvshmem_device.bc: there was no clang that compiles for NVPTX (apt install clang)"
AS_IF([test -n "$WSH_CLANG"],
      [AC_MSG_CHECKING([whether $WSH_CLANG makes bitcode of device code])
       AS_IF([printf '#include "device/library/freestanding.cuh"\nint x;\n' | "$WSH_CLANG" -x cuda --cuda-device-only \
                  -nocudainc -nocudalib -nostdlibinc --cuda-gpu-arch=sm_80 -Xclang -target-feature -Xclang +ptx74 \
                  -std=c++17 -Wno-unknown-cuda-version -I"$srcdir" -emit-llvm -S -o /dev/null - \
                  >&AS_MESSAGE_LOG_FD 2>&1],
             [AC_MSG_RESULT([yes])
              wsh_have_bitcode=yes
              WSH_BITCODE_SUMMARY="libnvshmem_device.bc by $WSH_CLANG"],
             [AC_MSG_RESULT([no])])])
AC_SUBST([WSH_BITCODE_SUMMARY])
AM_CONDITIONAL([WSH_HAVE_BITCODE], [test "x$wsh_have_bitcode" = xyes])

AC_ARG_WITH([cuda-archs], [AS_HELP_STRING([--with-cuda-archs@<:@="LIST"|no@:>@],
                          [GPUs for which code is compiled, as compute capabilities without the dot @<:@80 90 100@:>@])])
AS_CASE([$with_cuda_archs], [''|yes], [WSH_CUDA_ARCHS="80 90 100"], [no], [WSH_CUDA_ARCHS=],
        [WSH_CUDA_ARCHS=`echo "$with_cuda_archs" | tr ',;' '  '`])
for wsh_arch in $WSH_CUDA_ARCHS; do
    AS_CASE([$wsh_arch], [[[1-9][0-9]|[1-9][0-9][a-f]|1[0-9][0-9]|1[0-9][0-9][a-f]]], [],
            [AC_MSG_ERROR([--with-cuda-archs: '$wsh_arch' is no architecture; give numbers such as "80 90 100"])])
done
AC_SUBST([WSH_CUDA_ARCHS])
WSH_CUDA_CODES=
for wsh_arch in $WSH_CUDA_ARCHS; do
    WSH_CUDA_CODES="$WSH_CUDA_CODES -gencode arch=compute_$wsh_arch,code=sm_$wsh_arch"
done
AC_SUBST([WSH_CUDA_CODES])
AM_CONDITIONAL([WSH_HAVE_DEVICE_LIBRARY], [test -n "$NVCC" && test -n "$WSH_CUDA_CODES"])

# The wrapper for .cu files; installed where there is an nvcc.
AC_CONFIG_FILES([oshnvcc:bootstrap/wrappers/wrapper.in], [chmod +x oshnvcc])
