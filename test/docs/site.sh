#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Links of the pages in the tree and of the web site that make docs makes of them lead somewhere, its pictures are what
# their scripts draw, and what is missing for it is said in one line. With WSH_TEST_LONG the site is looked at by Chromium
# too: what its search finds, its width on a phone; images in test/docs/screens of the build folder.
# timeout: 600
set -u
. "${top_srcdir:-.}/test/common/tap.sh"
command -v python3 >/dev/null || tap_skip_all "no python3"
links=$top_srcdir/test/docs/links
run_job 60 python3 "$links" "$top_srcdir"
tap_check "links between the pages of the tree: $(tail -n 1 "$out")" test "$status" = 0

# planted LINK WHY: it is noticed in a page.
mkdir -p "$tap_dir/tree/sub"
planted()
{
    printf '# One\n## What it'"'"'s `for`\n## One\n[a](%s)\n```\n[none](none.md)\n```\n' "$1" >"$tap_dir/tree/page.md"
    printf '# Other\n' >"$tap_dir/tree/sub/other.md"
    run_job 20 python3 "$links" "$tap_dir/tree"
    if [ -n "$2" ]; then
        tap_check "a wrong link is noticed: $1" sh -c "[ $status = 1 ] && grep -q '^page.md:4: .*$2' '$out'"
    else
        tap_check "a right one is not: $1" test "$status" = 0
    fi
}
planted sub/none.md "no such file"
planted sub/other.md#one "no heading for #one"
planted '#two' "no heading"
planted ../../outside "no such file"
planted '#what-its-for' ""
planted '#one-1' ""
planted sub/other.md#other ""

export PYTHONDONTWRITEBYTECODE=1
run_job 60 python3 "$top_srcdir/docs/site/pictures.py" --check "$top_srcdir"
tap_check "pictures of the tree: $(tail -n 1 "$out")" test "$status" = 0
run_job 60 python3 "$top_srcdir/docs/site/headlines.py" "$top_srcdir/docs/guide/results.md" "$tap_dir"
tap_check "results.md has the rows of the headline plots" sh -c "[ $status = 0 ] && [ -s '$tap_dir/headline-experts.svg' ]"
sed 's/^| barrier_all, PEs/| barrier, PEs/' "$top_srcdir/docs/guide/results.md" >"$tap_dir/results.md"
run_job 60 python3 "$top_srcdir/docs/site/headlines.py" "$tap_dir/results.md" "$tap_dir"
tap_check "a row that is gone is named" sh -c "[ $status = 1 ] && grep -q \"no row 'barrier_all, PEs' in Host\" '$err'"

run_job 60 make -C "$top_builddir" docs ZENSICAL=no-such-zensical
tap_check "without Zensical make docs says what to install" \
    sh -c "[ $status != 0 ] && grep -q '^make docs: no no-such-zensical: .*pip install' '$err'"
zensical=$(command -v "${WSH_TEST_ZENSICAL:-zensical}") ||
    tap_skip_all "no zensical on PATH nor in WSH_TEST_ZENSICAL (pip install -r docs/site/requirements.txt)"
site=$top_builddir/site
run_job 200 make -C "$top_builddir" docs "ZENSICAL=$zensical"
tap_check "make docs" test "$status" = 0
[ "$status" = 0 ] || tap_done
run_job 60 python3 "$links" --html "$site"
tap_check "links of the site: $(tail -n 1 "$out")" test "$status" = 0
for page in "$top_srcdir"/docs/guide/*.md; do
    name=$(basename "$page" .md)
    [ -f "$site/docs/guide/$name.html" ] || tap_fail "$name" "docs/guide/$name.md is not in the site"
done
tap_check "a routine for kernels stands there, with its manual page" \
    sh -c "grep -q 'shmem_TYPENAME_put_signal_nbi' '$site/device-api/signal.html' &&
        grep -q 'man/shmem_put_signal_nbi.3.html' '$site/device-api/signal.html'"

tap_check "a routine of Python stands there" grep -q 'id="warpshmem.rma.put_signal"' "$site/python-api/index.html"

tap_check "the search knows it, and messages with their patterns" \
    sh -c "grep -q '\"man/shmem_put_signal.3.html\",\"man\"' '$site/search_index.js' &&
        grep -q '\"is not a symmetric address\"\\]' '$site/search_index.js'"

if [ -z "${WSH_TEST_LONG:-}" ]; then tap_skip "the site in a browser" "make check-long looks at it"; tap_done; fi
browser=$top_srcdir/test/docs/browser.py
screens=$top_builddir/test/docs/screens
mkdir -p "$screens"
run_job 200 python3 "$browser" search "$site" "$top_srcdir/test/docs/queries"
if [ "$status" = 77 ]; then tap_skip "the site in a browser" "$(sed 's/^skip: //' "$out")"; tap_done; fi
sed 's/^/# /' "$out"
tap_check "$(tail -n 1 "$out")" test "$status" = 0
run_job 300 python3 "$browser" look "$site" "$screens" index docs/guide/programming docs/guide/gpus docs/guide/results \
    docs/guide/errors man/shmem_put_signal.3 device-api/coll python-api/index
tap_check "the site on a phone: $(tail -n 1 "$out")" test "$status" = 0
tap_done
