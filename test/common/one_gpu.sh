# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
# Sourced after tap.sh by scripts whose PEs share one GPU, the first or that of CUDA_VISIBLE_DEVICES: without MPS their
# kernels take turns of milliseconds. An MPS that the caller has started serves them.
CUDA_VISIBLE_DEVICES=${CUDA_VISIBLE_DEVICES:-$(nvidia-smi -L | sed -n 's/^GPU \([0-9]*\):.*/\1/p' | head -n 1)}
export CUDA_VISIBLE_DEVICES
if [ -z "${CUDA_MPS_PIPE_DIRECTORY:-}" ] && command -v nvidia-cuda-mps-control >/dev/null; then
    CUDA_MPS_PIPE_DIRECTORY=$tap_dir/mps CUDA_MPS_LOG_DIRECTORY=$tap_dir/mps
    CUDA_DEVICE_MAX_CONNECTIONS=${CUDA_DEVICE_MAX_CONNECTIONS:-8}
    export CUDA_MPS_PIPE_DIRECTORY CUDA_MPS_LOG_DIRECTORY CUDA_DEVICE_MAX_CONNECTIONS
    mkdir "$tap_dir/mps"
    nvidia-cuda-mps-control -d && trap 'echo quit | nvidia-cuda-mps-control >/dev/null 2>&1; rm -rf "$tap_dir"' EXIT
    export CUDA_VISIBLE_DEVICES=0
fi
