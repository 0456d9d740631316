#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# libnvshmem_host.so.3 exports every routine for the host and for streams that the headers declare, and nothing but
# NVSHMEM's names; Python calls it; what it cannot do ends with one line.
# timeout: 200
set -u
top_srcdir=$(cd "${top_srcdir:-.}" && pwd)
top_builddir=$(cd "${top_builddir:-.}" && pwd)
. "$top_srcdir/test/common/tap.sh"
library=$top_builddir/nvshmem/lib/libnvshmem_host.so.3
SHMEM_SYMMETRIC_SIZE=16M SHMEM_HANG_SECONDS=20 SHMEM_DEVICE_SYMMETRIC_SIZE=16M
export SHMEM_SYMMETRIC_SIZE SHMEM_HANG_SECONDS SHMEM_DEVICE_SYMMETRIC_SIZE
command -v python3 >/dev/null || tap_skip_all "no python3"
[ -z "${WSH_TEST_VARIANT:-}" ] || [ "$WSH_TEST_VARIANT" = clang ] || tap_skip_all "python3 loads no sanitizer"

nm -D --defined-only "$library" | sed 's/.* //; s/@.*//' | grep -v '^NVSHMEM$' | sort >"$tap_dir/exported"
if python3 "$top_srcdir/test/nvshmem/signatures" --host >"$tap_dir/declared" 2>"$err"; then
    comm -23 "$tap_dir/declared" "$tap_dir/exported" >"$out"
    tap_check "all $(wc -l <"$tap_dir/declared") routines of the headers are exported" test ! -s "$out"
    tap_comment "$out"
else
    tap_fail "the headers' routines" "signatures --host"
fi
grep -vE '^nvshmem(x|id)?_' "$tap_dir/exported" >"$out"
tap_check "no other names" test ! -s "$out"

# What programs and plug-ins bind of NVSHMEM's log, in its sizes: a program has a copy of a variable that it names.
readelf -sW --dyn-syms "$library" | awk '$4 == "OBJECT" { sub(/@.*/, "", $8); print $8, $3 }' | sort -u >"$out"
for variable in nvshmem_debug_file:8 nvshmem_debug_level:4 nvshmem_debug_mask:8 nvshmem_debug_output_lock:40 \
    nvshmem_error:8 nvshmem_nvtx_options:4 nvshmem_options:4 nvshmem_selected_device_transport:4; do
    tap_check "variable $variable" grep -qx "${variable%:*} ${variable#*:}" "$out"
done
cat >"$tap_dir/log.c" <<'END'
extern int nvshmem_debug_level;
void nvshmem_debug_log(int level, unsigned long flags, const char *where, int line, const char *format, ...);
int main(void)
{
    nvshmem_debug_log(2, 1, "place", 7, "not %s", "yet");
    nvshmem_debug_level = 2;
    nvshmem_debug_log(2, 1, "place", 7, "a %s", "line");
    return 0;
}
END
if ${CC:-cc} -o "$tap_dir/log" "$tap_dir/log.c" "$library" "-Wl,-rpath,$(dirname "$library")" "-Wl,-rpath-link,$top_builddir/.libs"; then
    run_job 30 "$tap_dir/log"
    tap_check "a program's log by NVSHMEM's level" test "$status $(grep -c 'place:7: a line' "$err") $(grep -c yet "$err")" = "0 1 0"
else
    tap_fail "a program's log by NVSHMEM's level" "it does not link"
fi

# What NVIDIA's has, where the wheel is (signatures.sh).
fake=
theirs=$(ls "${WSH_NVSHMEM_HEADERS:-$top_builddir/test/nvshmem/wheel/nvidia/nvshmem/include}"/../lib/libnvshmem_host.so.3 2>/dev/null)
if [ -n "$theirs" ]; then
    nm -D --defined-only "$theirs" | awk '$2 ~ "[TBDR]" { sub(/@.*/, "", $3); print $3 }' |
        sort | comm -23 - "$tap_dir/exported" >"$out"
    tap_check "all functions and variables of NVIDIA's" test ! -s "$out"
else
    tap_skip "all functions and variables of NVIDIA's" "no wheel of NVSHMEM (WSH_NVSHMEM_HEADERS, make check-long)"
fi

# job N GPU: so many processes
job()
{
    rm -f "$tap_dir/id"
    pids=
    for rank in $(seq 0 $(($1 - 1))); do
        timeout 60 python3 "$top_srcdir/test/nvshmem/library.py" "$library" "$tap_dir/id" "$rank" "$1" "$2" \
            >"$tap_dir/out.$rank" 2>&1 &
        pids="$pids $!"
    done
    failed=0
    for pid in $pids; do wait "$pid" || failed=1; done
    cat "$tap_dir"/out.* >"$out"
    rm -f "$tap_dir"/out.*
    tap_comment "$out"
}

if [ -e /dev/nvidiactl ]; then
    job 2 1
    tap_check "Python, 2 PEs, with streams" test "$failed $(grep -c 'of 2$' "$out")" = "0 2"
else
    [ -f "$top_builddir/test/fake_cuda/libcuda.so.1" ] && fake=$top_builddir/test/fake_cuda: || fake=
    for n in 2 4; do
        if [ -z "$fake" ]; then tap_skip "Python, $n PEs" "test/fake_cuda is not built"; continue; fi
        LD_LIBRARY_PATH=$fake$LD_LIBRARY_PATH
        job $n 0
        tap_check "Python, $n PEs" test "$failed $(grep -c "of $n\$" "$out")" = "0 $n"
    done
    tap_skip "Python with streams" "no NVIDIA GPU on this machine"
    # All kernels, when the GPU is attached; the second set-up finds them loaded.
    if [ -n "$fake" ] && [ -e "$top_builddir/nvshmem/moves.fatbin" ]; then
        run_job 30 env SHMEM_DEBUG=info python3 -c "import ctypes; nv = ctypes.CDLL('$library')
for i in range(2): nv.nvshmem_init(); nv.nvshmem_malloc(ctypes.c_size_t(64)); nv.nvshmem_finalize()"
        tap_check "kernels are loaded with the first memory" test "$status $(grep -c 'kernels of libnvshmem_host loaded in' "$err")" = "0 1"
    else
        tap_skip "kernels are loaded with the first memory" "built without nvcc"
    fi
fi

# Launches: of a kernel by the driver's handle, and of one that no CUDA runtime of the process knows.
cat >"$tap_dir/launch.py" <<'END'
import ctypes
import sys
nv, driver = ctypes.CDLL(sys.argv[1]), ctypes.CDLL('libcuda.so.1')
module, kernel, n = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_int()


class Dim3(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint) for name in 'xyz']


nv.nvshmem_init()
nv.nvshmem_malloc(ctypes.c_size_t(64))
assert not driver.cuModuleLoadData(ctypes.byref(module), b'image')
assert not driver.cuModuleGetFunction(ctypes.byref(kernel), module, b'wsh_image_put')
query = nv.nvshmemx_collective_launch_query_gridsize
assert query(kernel, Dim3(32, 1, 1), None, ctypes.c_size_t(0), ctypes.byref(n)) == 0 and n.value > 0
assert query(nv.nvshmem_my_pe, Dim3(32, 1, 1), None, ctypes.c_size_t(0), ctypes.byref(n)) != 0
END
if [ -n "${fake:-}" ]; then
    run_job 30 python3 "$tap_dir/launch.py" "$library"
    tap_check "launches" test "$status $(grep -c 'include the header where the kernel is' "$err")" = "0 1"
else
    tap_skip "launches" "with the driver without a GPU alone"
fi

# A binary with NVIDIA's device code inside; NVIDIA's library beside ours (another one by its name).
run_job 30 python3 -c "import ctypes; nv = ctypes.CDLL('$library'); nv.nvshmem_init(); nv.nvshmemid_init_status()"
tap_check "device code of NVIDIA's ends with a line" test "$status $(grep -c 'device code of NVIDIA' "$err")" = "1 1"
run_job 30 env SHMEM_NVIDIA_DEVICE_CODE=1 python3 -c "import ctypes; nv = ctypes.CDLL('$library'); level = ctypes.c_int()
assert nv.nvshmemid_init_status() == 0
assert nv.nvshmemid_hostlib_init_attr(2, ctypes.byref(level), 0, None, 0, 0, None) == 0 and level.value == 2
assert nv.nvshmemid_init_status() == 2 and nv.nvshmem_n_pes() == 1
nv.nvshmemid_hostlib_finalize(None, None)"
tap_check "SHMEM_NVIDIA_DEVICE_CODE=1 starts it" test "$status" = 0
run_job 30 python3 -c "import ctypes; nv = ctypes.CDLL('$library'); nv.nvshmem_init()
nv.nvshmemx_quiet_on_stream(ctypes.c_void_p(None))"
tap_check "a stream without a GPU ends with a line" test "$status $(grep -c 'on a stream: ' "$err")" = "1 1"
mkdir "$tap_dir/nvidia"
echo 'int nvshmem_my_pe(void) { return 0; } int nvshmemid_init_status(void) { return 0; }' >"$tap_dir/other.c"
${CC:-cc} -shared -fPIC -o "$tap_dir/nvidia/libnvshmem_host.so.3" -Wl,-soname,libnvshmem_host.so.3 "$tap_dir/other.c"
ln -s libnvshmem_host.so.3 "$tap_dir/nvidia/libnvshmem_host.so"

# theirs_beside NAME LINES ROUTINE…: a library that calls these routines of NVIDIA's, and PEs that have both libraries.
theirs_beside()
{
    name=$1 lines=$2
    shift 2
    for routine in "$@"; do printf 'int %s(void); int call_%s(void) { return %s(); }\n' "$routine" "$routine" "$routine"; done \
        >"$tap_dir/user.c"
    ${CC:-cc} -shared -fPIC -o "$tap_dir/libuser.so" "$tap_dir/user.c" -L"$tap_dir/nvidia" -Wl,--no-as-needed -lnvshmem_host
    run_job 30 "$oshrun" -n 2 python3 -c "import ctypes, os; other = ctypes.CDLL('$tap_dir/nvidia/libnvshmem_host.so.3')
user = ctypes.CDLL('$tap_dir/libuser.so', mode=os.RTLD_NOW)
nv = ctypes.CDLL('$library'); nv.nvshmem_init(); nv.nvshmem_finalize()"
    tap_check "NVIDIA's library beside ours: $name" \
        test "$status $(grep -c "of NVIDIA's $tap_dir/nvidia.*load warpshmem's before it" "$err") $(grep -c NVIDIA "$err")" = "0 $lines $lines"
}

theirs_beside "nothing calls it, and nothing is said" 0
theirs_beside "something calls it, and one PE of the host says so" 1 nvshmem_my_pe
theirs_beside "something with NVIDIA's device code calls it, and means it" 0 nvshmem_my_pe nvshmemid_init_status
tap_done
