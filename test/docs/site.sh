#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Links of the pages in the tree and of the web site that make docs makes of them lead somewhere, and what is missing for
# it is said in one line. With WSH_TEST_LONG the site is looked at by chromium too: images in test/docs/screens of the
# build folder.
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

run_job 60 make -C "$top_builddir" docs MKDOCS=no-such-mkdocs
tap_check "without mkdocs make docs says what to install" \
    sh -c "[ $status != 0 ] && grep -q '^make docs: no no-such-mkdocs: apt-get install mkdocs' '$err'"
mkdocs=$(command -v mkdocs) || tap_skip_all "no mkdocs (apt-get install mkdocs mkdocs-material)"
site=$top_builddir/site
run_job 200 make -C "$top_builddir" docs "MKDOCS=$mkdocs"
if grep -q 'no theme material' "$err"; then tap_skip_all "no theme material (apt-get install mkdocs-material)"; fi
tap_check "make docs" test "$status" = 0
run_job 60 python3 "$links" --html "$site"
tap_check "links of the site: $(tail -n 1 "$out")" test "$status" = 0
for page in "$top_srcdir"/docs/guide/*.md; do
    name=$(basename "$page" .md)
    [ -f "$site/docs/guide/$name.html" ] || tap_fail "$name" "docs/guide/$name.md is not in the site"
done
tap_check "a routine for kernels stands there, with its manual page" \
    sh -c "grep -q 'shmem_TYPENAME_put_signal_nbi' '$site/device-api/signal.html' &&
        grep -q 'man/shmem_put_signal_nbi.3.html' '$site/device-api/signal.html'"

tap_check "a routine of Python stands there" grep -q 'id="put_signal"' "$site/python-api/index.html"

if [ -z "${WSH_TEST_LONG:-}" ]; then tap_skip "the site in a browser" "make check-long looks at it"; tap_done; fi
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome) ||
    { tap_skip "the site in a browser" "no chromium (apt-get install chromium)"; tap_done; }
screens=$top_builddir/test/docs/screens
mkdir -p "$screens"
for page in index docs/guide/gpus docs/guide/results docs/guide/settings man/index man/oshrun.1 device-api/coll python-api/index \
    docs/design/device-records; do
    image=$screens/$(echo "$page" | tr / _).png
    rm -f "$image"
    run_job 60 "$browser" --headless --no-sandbox --disable-gpu --hide-scrollbars --window-size=1400,2000 \
        "--screenshot=$image" "file://$(cd "$site" && pwd)/$page.html"
    # A page without text is a few KiB.
    tap_check "$page in a browser: $image" sh -c "[ -f '$image' ] && [ \$(wc -c <'$image') -gt 30000 ]"
done
tap_done
