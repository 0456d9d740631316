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

# passes FOLDER: with the library there.
passes()
{
    gda_job 60 p5en env "LD_LIBRARY_PATH=$1/lib:$LD_LIBRARY_PATH" WSH_TEST_PATH=fakegda SHMEM_SYMMETRIC_SIZE=64M \
        "$program"
}

# mutant NAME OBJECT FILE EDIT LINE [ENTRIES]: of a queue of the emulated device
mutant()
{
    folder=$(mktemp -d "$tap_dir/mutant.XXXXXX")
    sed "$4" "$top_srcdir/$3" >"$folder/mutant.c"
    if cmp -s "$top_srcdir/$3" "$folder/mutant.c"; then
        tap_fail "$1" "the edit does not fit the source any more: $4"
        return
    fi
    # shellcheck disable=SC2086
    if ! { ${CC:-cc} -std=gnu11 -O1 -w -fPIC "-I$top_srcdir" "-I$top_srcdir/include" ${LIBFABRIC_CFLAGS:-} \
        -c "$folder/mutant.c" -o "$folder/$2" && library "$folder"; } >"$out" 2>"$err"; then
        tap_fail "$1" "does not compile"
        return
    fi
    EFA_EMULATOR_QUEUE=${6:-4096}
    export EFA_EMULATOR_QUEUE
    passes "$folder"
    if [ "$status" = 1 ] && grep -q "$5" "$err"; then
        grep -m 2 "$5" "$err" | tap_comment
        tap_ok "$1: caught"
    else
        tap_fail "$1: caught" "not noticed"
    fi
    rm -rf "$folder"
}

mkdir "$tap_dir/same"
library "$tap_dir/same" >"$out" 2>"$err"
passes "$tap_dir/same"
tap_check "as it is" test "$status" = 0
mutant "the proxy does not hold what is behind a fence" proxy_exec.o runtime/gpu/proxy_exec.c \
    's/= wsh_gda_pass(ctx->job, ctx->gate)/= 0/' 'behind a fence: .* bytes wrong'
mutant "the host's quiet is the proxy's alone" proxy.o runtime/gpu/proxy.c \
    's/return rc ? rc : wsh_gda_quiet(job)/return rc/' 'put: .* bytes wrong'
mutant "complete below the mark is as many as are complete" libwshefa_la-gda.o transports/efa/gda.c \
    's/given.mark, queue->window.mark/given.mark, queue->window.count/' 'below the mark: .* wrong'
mutant "completions come no farther ahead than a queue is long" libwshefa_la-gda_cq.o transports/efa/gda_cq.c \
    's/ahead < entries || ahead/ahead < EFA_GDA_WINDOW_MAX || ahead/' 'completes request .*, which is not under way' 64
tap_done
