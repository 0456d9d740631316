#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# PEs of one machine listen on loopback, on emulated hosts too; SHMEM_INTERFACE chooses otherwise; where the launcher is
# wrong in that all are on one machine, the job still comes up, on an address that other machines reach.
set -u
. "${top_srcdir:-.}/test/common/tap.sh"
hello=$(test_program test/mp/hello)
export SHMEM_DEBUG=info,TRANSPORT SHMEM_TRANSPORTS=efa

# listens NAME INTERFACE: the job ended well, and all of its PEs opened that interface last.
listens()
{
    grep -o 'network: [^,]*' "$err" | tail -n 2 | sort -u >"$tap_dir/network"
    if [ "$status" != 0 ]; then tap_fail "$1" "the job did not end well"
    elif [ "$(wc -l <"$tap_dir/network")" = 1 ] && grep -q "($2)" "$tap_dir/network"; then tap_ok "$1"
    else tap_fail "$1" "wanted $2: $(cat "$tap_dir/network")"
    fi
}

for provider in tcp net; do
    SHMEM_LIBFABRIC_PROVIDER=$provider
    export SHMEM_LIBFABRIC_PROVIDER
    run_job 30 "$oshrun" -n 2 "$hello"
    listens "$provider: one machine" lo
    run_job 30 env -u SHMEM_TRANSPORTS "$oshrun" --nodes-emulated 2 -n 2 "$hello"
    listens "$provider: two emulated hosts" lo
done

run_job 30 env SHMEM_INTERFACE=nosuch0 "$oshrun" -n 1 "$hello"
tap_check "an interface that is not there is an error" test "$status" != 0
tap_check "… of one line that names those that are" \
    test "$(grep -c "SHMEM_INTERFACE='nosuch0'.*name some of: .*lo 127" "$err")" = 1

# Another interface with an address, as the fourth word of what ip prints.
other=$(ip -4 -o addr show scope global up 2>/dev/null | awk '{ print $2, $4; exit }')
if [ -z "$other" ]; then
    tap_skip "SHMEM_INTERFACE" "no interface but loopback has an address"
    tap_done
fi
name=${other% *}
for choice in "$name" "${other#* }" "nosuch0,$name"; do
    run_job 30 env "SHMEM_INTERFACE=$choice" "$oshrun" -n 2 "$hello"
    listens "SHMEM_INTERFACE=$choice" "$name"
done

# PE 1 sees another network name space than PE 0: as on another machine.
cat >"$tap_dir/elsewhere.c" <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int stat(const char *path, struct stat *st)
{
    int (*real)(const char *, struct stat *) = (int (*)(const char *, struct stat *))dlsym(RTLD_NEXT, "stat");
    int rc = real(path, st);

    if (!strcmp(path, "/proc/self/ns/net") && !strcmp(getenv("PMIX_RANK"), "1"))
        st->st_ino++;
    return rc;
}
END
${CC:-cc} -shared -fPIC -o "$tap_dir/elsewhere.so" "$tap_dir/elsewhere.c" -ldl || exit 99
case ${WSH_TEST_VARIANT:-clang} in
    clang)
        run_job 30 env "LD_PRELOAD=$tap_dir/elsewhere.so" "$oshrun" -n 2 "$hello"
        listens "not on one machine, as the launcher said" "$name" ;;
    *) tap_skip "not on one machine, as the launcher said" "a preloaded library does not go with $WSH_TEST_VARIANT" ;;
esac
tap_done
