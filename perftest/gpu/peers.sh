# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh disable=SC2154 # compare sets what is not set here
# Sourced by compare: finding, building and running the sides that are not ours. Side `peer` is NVSHMEM; a side nccl…
# is NCCL in the way that its name says (device/nccl.cuh).

library_of()
{
    case $1 in nccl*) echo nccl ;; peer) echo nvshmem ;; esac
}

find_nvshmem()
{
    [ -n "$nvshmem" ] || nvshmem=$(python3 -c 'import nvidia.nvshmem as n; print(list(n.__path__)[0])' 2>/dev/null)
    [ -f "$nvshmem/include/nvshmem.h" ] && [ -e "$nvshmem/lib/libnvshmem_host.so.3" ]
}

# Sets nccl to what holds include/nccl.h, and nccl_lib.
find_nccl()
{
    package=$(python3 -c 'import nvidia.nccl as n; print(list(n.__path__)[0])' 2>/dev/null)
    for nccl in ${nccl:-"$package" /usr/local/cuda /usr/local /usr}; do
        for nccl_lib in "$nccl/lib" "$nccl/lib64" "$nccl/lib/$(uname -m)-linux-gnu"; do
            [ -f "$nccl/include/nccl.h" ] && [ -e "$nccl_lib/libnccl.so.2" ] && return
        done
    done
    return 1
}

# The program of a library, in a folder of its own: build_program LIBRARY OPTION… A second call finds it built.
build_program()
{
    folder_of=$build/perftest/device/$1
    shift
    [ -x "$folder_of/$program" ] && [ -z "$(find "$source/perftest/device" "$source/perftest/common" -newer "$folder_of/$program")" ] && return
    command -v nvcc >/dev/null || PATH=/usr/local/cuda/bin:$PATH
    case $program in p2p) table=p2p_table ;; jacobi) table=jacobi_options ;; *) table=coll_table ;; esac
    mkdir -p "$folder_of" && cd "$folder_of" || return
    objects=
    for file in common/base common/options common/progress common/report common/stats common/values device/options \
        device/report device/rows "device/$table"; do
        object=$(echo "$file" | tr / -).o objects="$objects $object"
        "${CC:-cc}" -std=gnu11 -O2 "-I$source" -c -o "$object" "$source/perftest/$file.c" || return
    done
    # shellcheck disable=SC2086
    nvcc -arch=sm_90 -std=c++17 -O3 "-I$source" -o "$program.new" "$source/perftest/device/$program.cu" $objects "$@" &&
        mv "$program.new" "$program"
}

build_nvshmem()
{
    build_program nvshmem -rdc=true -DPERF_NVSHMEM "-I$nvshmem/include" "-L$nvshmem/lib" -lnvshmem_device \
        -l:libnvshmem_host.so.3 -lcuda -Xlinker -rpath -Xlinker "$nvshmem/lib"
}

build_nccl()
{
    build_program nccl -DPERF_NCCL "-I$nccl/include" "-L$nccl_lib" -l:libnccl.so.2 -Xlinker -rpath -Xlinker "$nccl_lib"
}

# In the background while ours runs.
start_building()
{
    for library in $libraries; do
        "build_$library" >"$build/perftest/device/$library.log" 2>&1 &
        eval "building_$library=\$!"
        children="$children $!"
    done
}

# Whether the side can run; waits for its building.
ready()
{
    library=$(library_of "$1")
    [ -n "$library" ] || return 0
    eval "building=\${building_$library:-}"
    case " $unbuilt " in *" $library "*) return 1 ;; esac
    [ -n "$building" ] || return 0
    eval "building_$library="
    wait "$building" && return
    cat "$build/perftest/device/$library.log"
    echo "compare: the side of $library does not build: without it"
    unbuilt="$unbuilt $library"
    return 1
}

# The rows that a side can have: NCCL has no kernels to call it; its own alltoall is one row's way alone. Of jacobi it
# has one variant, beside which all of ours stand.
rows_of()
{
    "$ours" --list --pes "$pes" --rows "$rows" | case $program.$1 in
        jacobi.nccl*) sed 's/^[^.]*[.][^.]*[.]/stream.graph./; p; s/[.]graph[.]/.stream./' | sort -u ;;
        *) cat ;;
    esac | case $1 in
        nccl*-native) grep -E '^alltoall[.](stream|graph)[.]' ;;
        nccl*) grep -E '[.](stream|graph)[.]' ;;
        *) cat ;;
    esac
}

# A process for each PE of side $2; PE 0 passes the job's id through a file.
run_peer()
{
    library=$(library_of "$2")
    case $library in nccl) lib=$nccl_lib ;; *) lib=$nvshmem/lib ;; esac
    rm -f "$folder/id"
    : >"$folder/pe0"
    started=
    for pe in $(seq $((pes - 1)) -1 0); do
        # shellcheck disable=SC2086
        PERF_PE=$pe PERF_NPES=$pes PERF_ID_FILE=$folder/id PERF_NCCL=$2 LD_LIBRARY_PATH=$lib:$LD_LIBRARY_PATH \
            timeout -k 5 "$(left)" "$build/perftest/device/$library/$program" --rows "$3" $arguments \
            >>"$folder/pe$pe" 2>>"$folder/errors" &
        started="$started $!"
    done
    others=$children
    children="$children $started"
    tail -n +1 -f --pid=$! "$folder/pe0" | record "$1" "$2"
    for child in $started; do wait "$child"; done
    children=$others
}
