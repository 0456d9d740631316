#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Another user who claims to be the job's owner, and knows the port of oshrun's PMIx server and the process ids of the job,
# does not get in: oshrun closes the connection. Where the kernel does not say whose that is, the name space keeps others
# out, which carries the job's secret and is printed nowhere: so guesses are made by the owner, whom oshrun lets come.
set -u
. "${top_srcdir:-.}/test/common/tap.sh"
. "$top_srcdir/test/launch/lib.sh"

[ "$(id -u)" = 0 ] || tap_skip_all "only root can run the attacker as another user"
command -v setpriv >/dev/null || tap_skip_all "no setpriv (apt-get install util-linux)"
need_plain "a preloaded library does not go with"

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

other="setpriv --reuid=65534 --regid=65534 --clear-groups"
# intrude NAMESPACE [COMMAND]: as PE 1, by that command, with what the server told its PEs but for the name space and the folder, which is closed.
intrude()
{
    tr '\0' '\n' <"/proc/$pe/environ" | grep -E '^PMIX_' | grep -vE '^PMIX_(NAMESPACE|RANK)=' | sed "s|'|'\\\\''|g; s|=\(.*\)|='\1'|" \
        >"$tap_dir/words"
    (
        while read -r word; do eval "export $word"; done <"$tap_dir/words"
        export PMIX_NAMESPACE="$1" PMIX_RANK=1 TMPDIR="$tap_dir/theirs" LD_PRELOAD="$tap_dir/fakeuid.so"
        # shellcheck disable=SC2086
        exec ${2:-} timeout -k 5 20 "$tap_dir/intruder"
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

# With the name space another user does not get in either, and the owner does: so it was that which kept the owner out.
start_job 2 -n 2 "$course" wait
pe=$(find_pe)
space=$(tr '\0' '\n' <"/proc/$pe/environ" | sed -n 's/^PMIX_NAMESPACE=//p')
intrude "$space" "$other"
tap_comment "$tap_dir/did"
tap_check "another user does not get in with the name space" sh -c "kill -0 '$job' && ! grep -q joined '$tap_dir/did'"
intrude "$space"
tap_comment "$tap_dir/did"
tap_check "the owner gets in with the name space" grep -q 'joined' "$tap_dir/did"
kill "$job" 2>/dev/null
end_job 10000

# Another user's bytes do not reach libpmix, which some of them would end.
cat >"$tap_dir/rubbish.py" <<'END'
import os, socket, struct, sys
for i in range(int(sys.argv[2])):
    size = [0, 1, 20, 60, 200][i % 5]
    order = ">" if i % 2 else "<"
    try:
        with socket.create_connection(("127.0.0.1", int(sys.argv[1]))) as s:
            s.sendall(struct.pack(order + "iiQ", i % 256, i % 7, size) + struct.pack(order + "Q", size) * (i % 4 == 1) +
                      os.urandom(max(size, 8)))
    except ConnectionRefusedError:
        sys.exit(f"refused at {i}")
    except OSError:
        pass
END
python=
for name in python3 /usr/bin/python3; do
    $other $name -c '' 2>/dev/null && python=$name
done
if [ -n "$python" ]; then
    start_job 2 -n 2 "$course" wait
    port=$(tr '\0' '\n' <"/proc/$(find_pe)/environ" | sed -n 's|^PMIX_SERVER_URI.*tcp4://127.0.0.1:\([0-9]*\).*|\1|p' | head -n 1)
    $other "$python" "$tap_dir/rubbish.py" "$port" 300 >"$tap_dir/did" 2>&1
    tap_comment "$tap_dir/did"
    tap_check "300 connections of another user: the job goes on, without a line" sh -c "kill -0 '$job' && [ ! -s '$err' ]"
    kill "$job" 2>/dev/null
    end_job 10000
else
    tap_skip "300 connections of another user" "no python3 that other users may run"
fi

# Printed nowhere, and on no command line.
SHMEM_DEBUG=trace SHMEM_INFO=1 timeout 30 "$oshrun" -v -n 2 sh -c "\"$course\" hello; cat /proc/self/cmdline; echo; echo secret \${PMIX_NAMESPACE##*-}" \
    >"$out" 2>"$err" </dev/null
secret=$(sed -n 's/^secret //p' "$out" | head -n 1)
tap_check "the secret is printed nowhere" sh -c "[ ${#secret} = 32 ] && ! grep -av '^secret ' '$out' '$err' | grep -aq '$secret'"
tap_done
