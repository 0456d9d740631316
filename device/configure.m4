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
      [WSH_CUDA_SUMMARY="off" NVCC=]) # also where the environment has NVCC
AM_CONDITIONAL([WSH_HAVE_NVCC], [test -n "$NVCC"])

# NVTX: headers alone; the tool that looks on brings the library.
WSH_NVTX_CPPFLAGS=
AS_IF([test "x$with_cuda" != xno],
      [for wsh_dir in "$wsh_cuda/include" /usr/include; do
           AS_IF([test -z "$WSH_NVTX_CPPFLAGS" && test -f "$wsh_dir/nvtx3/nvToolsExt.h"],
                 [WSH_NVTX_CPPFLAGS="-DWSH_HAVE_NVTX -idirafter $wsh_dir"])
       done])
AC_SUBST([WSH_NVTX_CPPFLAGS])
AM_CONDITIONAL([WSH_HAVE_NVTX], [test -n "$WSH_NVTX_CPPFLAGS"])

# Device code as a library: LLVM bitcode by clang, which needs no toolkit; objects for -rdc by nvcc.
wsh_have_bitcode=no
AC_PATH_PROGS([WSH_CLANG], [clang clang-19 clang-18 clang-17 clang-16 clang-15 clang-14])
WSH_BITCODE_SUMMARY="no libnvshmem_device.bc: there was no clang that compiles for NVPTX (apt install clang)"
AS_IF([test "x$with_cuda" = xno], [WSH_BITCODE_SUMMARY="no libnvshmem_device.bc: configured with --with-cuda=no"],
      [test -n "$WSH_CLANG"],
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

# Machine code for each, and PTX of the first for all newer ones.
AC_ARG_WITH([cuda-archs], [AS_HELP_STRING([--with-cuda-archs@<:@=LIST|no@:>@],
                          [GPUs that libnvshmem_host and the library of device code are compiled for, as compute
                           capabilities without the dot @<:@80,90,100@:>@])])
AS_CASE([$with_cuda_archs], [''|yes], [wsh_archs="80 90 100"], [no], [wsh_archs=],
        [wsh_archs=`echo "$with_cuda_archs" | tr ',;' '  '`])
WSH_CUDA_CODES=
for wsh_arch in $wsh_archs; do
    AS_CASE([$wsh_arch], [[[1-9][0-9]|[1-9][0-9][a-f]|1[0-9][0-9]|1[0-9][0-9][a-f]]], [],
            [AC_MSG_ERROR([--with-cuda-archs: '$wsh_arch' is no architecture; give numbers such as 80,90,100])])
    AS_IF([test -n "$WSH_CUDA_CODES"], [wsh_code=sm_$wsh_arch],
          [wsh_code="@<:@sm_$wsh_arch,compute_$wsh_arch@:>@"])
    WSH_CUDA_CODES="$WSH_CUDA_CODES -gencode arch=compute_$wsh_arch,code=$wsh_code"
done
AC_SUBST([WSH_CUDA_CODES])
AC_SUBST([WSH_CUDA_ARCHS], [$wsh_archs])
WSH_BUILD_ARCHS=
AS_IF([test -n "$NVCC" && test -n "$wsh_archs"], [WSH_BUILD_ARCHS=`echo sm_$wsh_archs | sed 's/  */,sm_/g'`])
AC_SUBST([WSH_BUILD_ARCHS])
wsh_bitcode_90=no
for wsh_arch in $wsh_archs; do
    AS_CASE([$wsh_arch], [9*|1[[0-9]][[0-9]]*], [wsh_bitcode_90=yes])
done
AM_CONDITIONAL([WSH_HAVE_BITCODE_90], [test "x$wsh_have_bitcode$wsh_bitcode_90" = xyesyes])
AM_CONDITIONAL([WSH_HAVE_CODES], [test -n "$NVCC" && test -n "$WSH_CUDA_CODES"])

# The CUDA runtime of libwarpshmem-ep's own; beside nvcc, or where the linker looks.
WSH_CUDART_LIBS="-lcudart_static -ldl -lrt -lpthread"
wsh_cuda_lib=`dirname "$NVCC"`/../lib64
AS_IF([test -e "$wsh_cuda_lib/libcudart_static.a"], [WSH_CUDART_LIBS="-L$wsh_cuda_lib $WSH_CUDART_LIBS"])
AC_SUBST([WSH_CUDART_LIBS])

# The wrapper for .cu files; installed where there is an nvcc.
AC_CONFIG_FILES([oshnvcc:bootstrap/wrappers/wrapper.in], [chmod +x oshnvcc])
