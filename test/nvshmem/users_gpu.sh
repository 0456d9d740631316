#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Packages above NVSHMEM, unmodified, with 2 PEs on one GPU, over libnvshmem_host by LD_PRELOAD: nvshmem4py; Triton with
# the bitcode, by C names and by torch's own bindings; what XLA calls; torch's backend with SHMEM_NVIDIA_DEVICE_CODE; JAX
# beside it. WSH_USERS="torch jax" tries these alone, each within a minute; the names are nvshmem4py, xla, triton, torch
# and jax. WSH_USERS_PYTHON is the interpreter that has torch, triton and jax (python3), WSH_USERS_WHEELS a folder of
# wheels to install beside these, as nvshmem4py's. Needs what `make` makes, the bitcode for Triton alone.
# timeout: 300
set -u
top_srcdir=$(cd "${top_srcdir:-.}" && pwd)
top_builddir=$(cd "${top_builddir:-.}" && pwd)
. "$top_srcdir/test/common/tap.sh"
[ -e /dev/nvidiactl ] || tap_skip_all "no NVIDIA GPU on this machine"
python=${WSH_USERS_PYTHON:-python3}
command -v "$python" >/dev/null || tap_skip_all "no $python"
. "$top_srcdir/test/common/one_gpu.sh"
users=$top_srcdir/test/nvshmem/users
library=$top_builddir/nvshmem/lib/libnvshmem_host.so.3
PYTHONDONTWRITEBYTECODE=1 TRITON_CACHE_DIR=$tap_dir/cache SHMEM_DEVICE_SYMMETRIC_SIZE=64M SHMEM_HANG_SECONDS=40
XLA_PYTHON_CLIENT_PREALLOCATE=false NVSHMEM_LIB_DIR=$tap_dir/lib
export PYTHONDONTWRITEBYTECODE TRITON_CACHE_DIR SHMEM_DEVICE_SYMMETRIC_SIZE SHMEM_HANG_SECONDS
export XLA_PYTHON_CLIENT_PREALLOCATE NVSHMEM_LIB_DIR

# The bitcode by the names that make install gives it.
mkdir "$tap_dir/lib"
ln -s "$top_builddir/libnvshmem_device.bc" "$tap_dir/lib/libnvshmem_device.bc"
for arch in 80 89; do ln -s libnvshmem_device.bc "$tap_dir/lib/libnvshmem_device_sm_$arch.bc"; done
for arch in 90 100; do ln -s "$top_builddir/libnvshmem_device_sm_90.bc" "$tap_dir/lib/libnvshmem_device_sm_$arch.bc"; done

if [ -n "${WSH_USERS_WHEELS:-}" ]; then
    run_job 100 "$python" -m pip install -q --no-index --no-deps --no-compile --target "$tap_dir/site" "$WSH_USERS_WHEELS"/*.whl
    tap_check "wheels of $WSH_USERS_WHEELS" test "$status" = 0
    PYTHONPATH=$tap_dir/site${PYTHONPATH:+:$PYTHONPATH}
    export PYTHONPATH
fi

# wanted USER MODULE: whether it is to be tried, and is there; not imported, which takes seconds
wanted()
{
    case " ${WSH_USERS:-nvshmem4py xla triton torch jax} " in *" $1 "*) ;; *) return 1 ;; esac
    "$python" -c "import importlib.util as util, sys; sys.exit(not util.find_spec('${2%.*}') or not util.find_spec('$2'))" \
        >"$out" 2>"$err" && return 0
    tap_skip "$1" "$python has no $2"
    return 1
}

# pes NAME LINE PROGRAM ARGUMENT…: 2 PEs of it that start by a unique id; each prints the line. GPU follows their number.
pes()
{
    name=$1 line=$2
    shift 2
    rm -f "$tap_dir/id"
    pids=
    for rank in 0 1; do
        # shellcheck disable=SC2086
        LD_PRELOAD=$library timeout 60 "$python" "$@" "$tap_dir/id" "$rank" 2 ${gpu:-} >"$tap_dir/out.$rank" 2>&1 &
        pids="$pids $!"
    done
    failed=0
    for pid in $pids; do wait "$pid" || failed=1; done
    cat "$tap_dir/out.0" "$tap_dir/out.1" | grep -v 'loop not unrolled' >"$out"
    : >"$err"
    tap_check "$name: $(grep -m 1 "$line" "$out" | sed 's/^PE [0-9] of 2[,:] //')" test "$failed $(grep -c "$line" "$out")" = "0 2"
}

torch_without_setting()
{
    run_job 60 env "LD_PRELOAD=$library" "$python" -c "import torch, torch.distributed as dist
import torch.distributed._symmetric_memory as symm_mem
torch.cuda.set_device(0)
dist.init_process_group('gloo', init_method='file://$tap_dir/group', rank=0, world_size=1)
symm_mem.set_backend('NVSHMEM')
getattr(symm_mem, 'enable_symm_mem_for_group', print)(dist.group.WORLD.group_name)
print(symm_mem.empty(1024, device='cuda').numel())"
    tap_comment "$out"
    tap_check "without SHMEM_NVIDIA_DEVICE_CODE it ends with a line" test "$status $(grep -c "device code of NVIDIA's library is linked" "$err")" = "1 1"
}

if wanted nvshmem4py nvshmem.core; then
    gpu=gpu
    pes "nvshmem4py" "of 2, nvshmem4py" "$users/nvshmem4py.py"
    gpu=
fi
if wanted torch torch; then
    # Its libtorch_nvshmem has NVIDIA's device code inside, which the setting leaves aside.
    TORCH_SYMM_MEM_ALLOW_OVERLAPPING_DEVICES=1 SHMEM_NVIDIA_DEVICE_CODE=1
    export TORCH_SYMM_MEM_ALLOW_OVERLAPPING_DEVICES SHMEM_NVIDIA_DEVICE_CODE
    pes "torch's NVSHMEM backend" "of 2: torch's backend NVSHMEM" "$users/torch_symm.py"
    unset SHMEM_NVIDIA_DEVICE_CODE
    torch_without_setting
fi
if wanted jax jax; then
    run_job 100 env "LD_PRELOAD=$library" "$python" -c "import jax, jax.numpy as jnp
print(jax.__version__, jax.devices()[0].platform, int(jax.jit(lambda x: x.sum())(jnp.arange(100))))"
    tap_check "JAX beside it: $(cat "$out")" test "$status $(grep -c 'gpu 4950' "$out")" = "0 1"
fi
if wanted xla torch; then
    pes "XLA" "of 2: .* of XLA's" "$users/xla_names.py" "$library" --run
fi
if wanted triton triton; then
    pes "Triton by C names" "of 2, Triton" "$users/triton_extern.py" "$tap_dir/lib"
    pes "Triton by torch's bindings" "of 2, torch" "$users/torch_triton.py"
fi
tap_done
