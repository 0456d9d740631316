#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A program built with -fsanitize=thread, over libraries that are not: with the list that is installed for it, instances
# of expert parallelism bring no report; without the list's lines on libwarpshmem-ep there are some.
# timeout: 120
. "${top_srcdir:-.}/test/common/tap.sh"
need_plain "libraries without ThreadSanitizer are what is tried, not those of"
cat >"$tap_dir/instances.c" <<'END'
#include <shmemx_ep.h>

int main(void)
{
    shmemx_ep_config_t config = SHMEMX_EP_CONFIG_INITIALIZER;
    int failed = 0;

    shmem_init();
    config.mode = SHMEMX_EP_LOW_LATENCY;
    config.hidden = 128;
    config.experts = 2 * shmem_n_pes();
    config.topk = 2;
    config.tokens = 4;
    for (int i = 0; i < 4; i++) {
        shmemx_ep_t ep;

        failed |= shmemx_ep_create(SHMEM_TEAM_WORLD, &config, &ep) || shmemx_ep_destroy(ep);
    }
    shmem_finalize();
    return failed;
}
END
${CC:-gcc} -g -fsanitize=thread -I"$top_srcdir/include" -I"$top_builddir/include" -o "$tap_dir/instances" \
    "$tap_dir/instances.c" -L"$top_builddir/.libs" -lwarpshmem-ep -lwarpshmem 2>"$err" ||
    tap_skip_all "no ThreadSanitizer here: $(tail -n 1 "$err")"
wrap=
if command -v setarch >/dev/null; then wrap="setarch $(uname -m) -R"; fi

# with LIST
with()
{
    # shellcheck disable=SC2086
    run_job 40 env "TSAN_OPTIONS=suppressions=$1:exitcode=66" "$oshrun" -n 2 $wrap "$tap_dir/instances"
}

with "$top_srcdir/tools/tsan.supp"
tap_check "no report" test "$status" = 0
sed '/libwarpshmem-ep\.so/d' "$top_srcdir/tools/tsan.supp" >"$tap_dir/less.supp"
with "$tap_dir/less.supp"
tap_check "without the lines on libwarpshmem-ep: reports" test "$status" = 66
tap_done
