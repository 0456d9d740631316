#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Another user who claims to be the job's owner, and knows the port of oshrun's PMIx server and the process ids of the job,
# does not get in without the name space, which carries the job's secret and is printed nowhere.
set -u
. "${top_srcdir:-.}/test/common/tap.sh"
. "$top_srcdir/test/launch/lib.sh"

[ "$(id -u)" = 0 ] || tap_skip_all "only root can run the attacker as another user"
command -v setpriv >/dev/null || tap_skip_all "no setpriv (apt-get install util-linux)"
case ${WSH_TEST_VARIANT:-clang} in clang) ;; *) tap_skip_all "a preloaded library does not go with $WSH_TEST_VARIANT" ;; esac

chmod 755 "$tap_dir"
cp "$(test_program test/launch/helper/intruder)" "$tap_dir/intruder"
mkdir -m 777 "$tap_dir/theirs"
cat >"$tap_dir/fakeuid.c" <<'END'
#include <unistd.h>
uid_t getuid(void) { return 0; }
uid_t geteuid(void) { return 0; }
gid_t getgid(void) { return 0; }
gid_t getegid(void) { return 0; }
END
${CC:-cc} -shared -fPIC -o "$tap_dir/fakeuid.so" "$tap_dir/fakeuid.c" || exit 99

# intrude NAMESPACE: as PE 1, with what the server told its PEs but for the name space and the folder, which is closed.
intrude()
{
    tr '\0' '\n' <"/proc/$pe/environ" | grep -E '^PMIX_' | grep -vE '^PMIX_(NAMESPACE|RANK)=' | sed "s|'|'\\\\''|g; s|=\(.*\)|='\1'|" \
        >"$tap_dir/words"
    (
        while read -r word; do eval "export $word"; done <"$tap_dir/words"
        export PMIX_NAMESPACE="$1" PMIX_RANK=1 TMPDIR="$tap_dir/theirs" LD_PRELOAD="$tap_dir/fakeuid.so"
        exec setpriv --reuid=65534 --regid=65534 --clear-groups timeout -k 5 20 "$tap_dir/intruder"
    ) >"$tap_dir/did" 2>&1
    intruded=$?
}

# A PE's: the one whose parent is oshrun and whose rank is 1.
find_pe()
{
    for pid in $(processes); do
        tr '\0' '\n' <"/proc/$pid/environ" 2>/dev/null | grep -q '^PMIX_RANK=1$' && echo "$pid" && return
    done
}

start_job 2 -n 2 "$course" wait
pe=$(find_pe)
space=$(tr '\0' '\n' <"/proc/$pe/environ" | sed -n 's/^PMIX_NAMESPACE=//p')
tap_check "the name space carries 128 bits" sh -c "echo '$space' | grep -qE '^oshrun-$job-[0-9a-f]{32}\$'"
guesses=0
for guess in "oshrun-$job" "oshrun-$job-" "oshrun-$job-00000000000000000000000000000000" "oshrun" "$(echo "$space" | tr 0-9 1-90)"; do
    intrude "$guess"
    tap_comment "$tap_dir/did"
    guesses=$((guesses + 1))
    if [ "$intruded" != 0 ] && kill -0 "$job"; then tap_ok "refused with guess $guesses"
    else tap_fail "refused with guess $guesses" "exit status $intruded: it got in, or the job has ended"; fi
done
began=$(now_ms)
kill "$job"
end_job 10000
tap_check "the job went on until it was ended" test "$status" = 143

# The same program with the name space gets in: so it was that which kept it out.
start_job 2 -n 2 "$course" wait
pe=$(find_pe)
space=$(tr '\0' '\n' <"/proc/$pe/environ" | sed -n 's/^PMIX_NAMESPACE=//p')
intrude "$space"
tap_comment "$tap_dir/did"
tap_check "with the name space it gets in" grep -q 'joined' "$tap_dir/did"
kill "$job" 2>/dev/null
end_job 10000

# Printed nowhere, and on no command line.
SHMEM_DEBUG=trace SHMEM_INFO=1 timeout 30 "$oshrun" -v -n 2 sh -c "\"$course\" hello; cat /proc/self/cmdline; echo; echo secret \${PMIX_NAMESPACE##*-}" \
    >"$out" 2>"$err" </dev/null
secret=$(sed -n 's/^secret //p' "$out" | head -n 1)
tap_check "the secret is printed nowhere" sh -c "[ ${#secret} = 32 ] && ! grep -av '^secret ' '$out' '$err' | grep -aq '$secret'"
tap_done
