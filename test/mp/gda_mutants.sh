#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# What keeps the order between requests that kernels post to NICs and everything else, left out one at a time: device_gda
# notices each. With copies of the library.
# timeout: 300
set -u
top_srcdir=$(cd "${top_srcdir:-.}" && pwd)
. "$top_srcdir/test/common/tap.sh"
. "$top_srcdir/test/mp/gda_lib.sh"
. "$top_srcdir/test/common/mutants.sh"
program=$(test_program test/mp/device_gda)
# So that some are surely late, however the processes take turns.
EFA_EMULATOR_FAULTS='drop 2% late 3ms'
export EFA_EMULATOR_FAULTS

# passes FOLDER: with the library there.
passes()
{
    gda_job 60 p5en env "LD_LIBRARY_PATH=$1/lib:$LD_LIBRARY_PATH" WSH_TEST_PATH=fakegda SHMEM_SYMMETRIC_SIZE=64M \
        "$program"
}

# mutant NAME FOLDER FILE EDIT LINE [ENTRIES]: of a queue of the emulated device
mutant()
{
    folder=$(mktemp -d "$tap_dir/mutant.XXXXXX")
    if why=$(mutate "$folder" "$2" "$3" "$4"); then
        EFA_EMULATOR_QUEUE=${6:-4096}
        export EFA_EMULATOR_QUEUE
        passes "$folder"
        grep -m 2 "$5" "$err" | tap_comment
        tap_check "$1: caught" sh -c "[ $status = 1 ] && grep -q '$5' '$err'"
    else
        tap_fail "$1" "$why"
    fi
    rm -rf "$folder"
}

mkdir "$tap_dir/same"
library "$tap_dir/same" >"$out" 2>"$err"
passes "$tap_dir/same"
tap_check "as it is" test "$status" = 0
mutant "the proxy does not hold what is behind a fence" runtime/gpu/proxy exec \
    's/= wsh_gda_quiet_try(ctx->job, ctx->posted)/= 0/' 'behind a fence: .* bytes wrong'
mutant "the host's quiet is the proxy's alone" runtime/gpu/proxy proxy \
    's/return rc ? rc : wsh_gda_quiet(job)/return rc/' 'put: .* bytes wrong'
mutant "complete below the mark is as many as are complete" transports/efa/gda gda \
    's/given.mark, queue->window.mark/given.mark, queue->window.count/' 'below the mark: .* wrong'
mutant "completions come no farther ahead than a queue is long" transports/efa/gda cq \
    's/ahead < entries || ahead/ahead < WSH_EFA_GDA_WINDOW_MAX || ahead/' 'completes request .*, which is not under way' 64
tap_done
