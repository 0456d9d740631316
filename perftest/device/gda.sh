#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# gda.sh [BUILD_FOLDER]: what kernels pay to post to NICs themselves, over the emulated EFA device, which shows protocol
# and memory order and no NIC's speed: posts into queues whose engine checks and completes requests and moves nothing,
# then round trips that move data, by the kernel and by the proxy; the goals follow. On one GPU, within 3 minutes.
#   WSH_LIBFABRIC   a libfabric that shows its queues (emulator/tests/libfabric makes one); else the system's is taken
#   WSH_GDA_ARGS    more options of internode, such as '-n 21'
set -u

case ${1:-.} in -*) sed -n '3,7s/^# //p' "$0"; exit 2 ;; esac
build=$(cd "${1:-.}" && pwd) || exit 2
internode=$build/perftest/device/internode
[ -x "$internode" ] || { echo "gda.sh: no $internode; make it with nvcc at configure" >&2; exit 2; }
[ -e /dev/nvidiactl ] || { echo "gda.sh: skip: no NVIDIA GPU on this machine"; exit 77; }
[ -z "${WSH_LIBFABRIC:-}" ] || { LD_LIBRARY_PATH=$WSH_LIBFABRIC/lib:${LD_LIBRARY_PATH:-}; export LD_LIBRARY_PATH; }
SHMEM_DEVICE_SYMMETRIC_SIZE=256M SHMEM_SYMMETRIC_SIZE=256M SHMEM_NICS_PER_PE=1 SHMEM_HMEM=${SHMEM_HMEM:-on}
EFA_EMULATOR_QUIET=1 SHMEM_HANG_SECONDS=20
export SHMEM_DEVICE_SYMMETRIC_SIZE SHMEM_SYMMETRIC_SIZE SHMEM_NICS_PER_PE SHMEM_HMEM EFA_EMULATOR_QUIET SHMEM_HANG_SECONDS
out=$(mktemp) status=0
trap 'rm -f "$out"' EXIT
trap 'exit 1' INT TERM HUP

# rows TITLE ENVIRONMENT ROWS [OPTION…]: lines of the form `QUEUES row…` are kept for the goals.
rows()
{
    title=$1 settings=$2 names=$3
    shift 3
    echo "#"
    echo "# emulated device, $title: $settings"
    # shellcheck disable=SC2086
    env $settings timeout 60 "$build/oshrun" --emulate-efa=p5en --nodes-emulated 2 -n 2 "$internode" --rows "$names" \
        "$@" -n 11 ${WSH_GDA_ARGS:-} 2>&1 | sed -u "s/^\([a-z]\)/$key \1/" | tee -a "$out" | sed -u "s/^$key //"
    grep -q "^$key [a-z].* [uM]" "$out" || { echo "# no rows: see above"; status=1; }
    if grep -q "^$key .*WRONG DATA" "$out"; then status=1; fi
}

# The host's own requests do not go through queues in memory, where nothing moves.
null='SHMEM_GDA=on EFA_EMULATOR_NULL=1 FI_EFA_USE_DATA_PATH_DIRECT=0'
for queues in 8 4 1; do
    key=grid$queues
    rows "posts of grids, no more than the queues hold" "$null SHMEM_GDA_QUEUES=$queues" 'post_grid' -k 1
done
key=steady
rows 'posts of grids, as fast as the emulated device takes them' "$null SHMEM_GDA_QUEUES=8" 'post_grid'
key=post
rows 'posts of one lane or warp' "$null SHMEM_GDA_QUEUES=8" \
    'post.*,post_lanes.*,post_run_*,post_list.*,post_counted.thread*,post_bare.*,post_bare_run.*' -b 64 -e 64
key=trip
rows 'round trips, by the kernel' 'SHMEM_GDA=on' 'put_blocking.thread.*,put_nbi.thread.*' -b 8 -e 64k -f 8
key=proxy
rows 'round trips, by the proxy' 'SHMEM_GDA=off' 'put_blocking.thread.*,put_nbi.thread.*' -b 8 -e 64k -f 8
key=proxied
rows 'posts of one lane or warp, by the proxy' 'SHMEM_GDA=off' 'post.*,post_lanes.*,post_list.*,post_bare.*' -b 64 -e 64

echo "#"
awk '
# A line: key name scope size blocks threads median …
$2 ~ /^[a-z_0-9]+$/ && NF >= 10 { median[$1 " " $2 " " $3 " " $5 "x" $6] = $7; if ($2 ~ /^put_/) trip[$1 " " $2 " " $4] = $7 / 64 }
function goal(text, value, limit, most)
{
    if (value == "")
        printf "# goal: %s: not measured\n", text
    else
        printf "# goal: %s: %.4g, wanted %s %g: %s\n", text, value, most ? "<=" : ">=", limit,
            (most ? value + 0 <= limit : value + 0 >= limit) ? "met" : "MISSED"
}
END {
    goal("64 bytes posted by one lane, runs of 16, us a put", median["post post_run_16 thread 1x1"], 0.35, 1)
    goal("full grid into 8 queues, 10^6 posts a second", median["grid8 post_grid thread 64x512"], 100, 0)
    goal("list of 64 by one warp, us a put", median["post post_list warp 1x32"], 0.1, 1)
    goal("a put of each lane of a warp, us a put", median["post post_lanes thread 1x32"], 0.1, 1)
    one = median["post post thread 1x1"]; bare = median["post post_bare thread 1x1"]
    goal("64 put_nbi of one lane against a bare loop", one == "" || bare == "" ? "" : one / bare, 1.2, 1)
    run = median["post post_bare_run warp 1x32"]
    if (run)
        printf "# limit: a warp that does nothing but store 16 requests, release, ring and hand on: %.3f us each; %.0f M/s of 8\n",
            run, 8 / run
    for (at in trip)
        if (split(at, part, " ") && part[1] == "trip" && trip["proxy " part[2] " " part[3]])
            printf "# %s of %s bytes, us a put: %.3f by the kernel, %.3f by the proxy\n", part[2], part[3], trip[at],
                trip["proxy " part[2] " " part[3]]
}' "$out"
exit $status
