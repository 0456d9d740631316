#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# What packaging/container/Dockerfile says, done step by step in two roots that debootstrap makes, as no container daemon is
# needed for that: the image has what a job needs, runs as a user without rights, and compiles programs. Its base with CUDA is
# not tried. Needs root, debootstrap, mounts and a Debian mirror; for `make check-long` alone. WSH_DEBIAN_ROOTS names a
# folder that keeps the root, for the next run.
# timeout: 3600
# shellcheck disable=SC2034,SC2086,SC2154
set -u
. "${top_srcdir:-.}/test/common/tap.sh"
top_srcdir=$(cd "$top_srcdir" && pwd)
top_builddir=$(cd "$top_builddir" && pwd)
suite=bookworm
roots=${WSH_DEBIAN_ROOTS:-$tap_dir}
root=$roots/$suite
log=$tap_dir/log
file=$top_srcdir/packaging/container/Dockerfile

skip()
{
    tap_skip_all "$*"
}

. "$top_srcdir/emulator/tests/root.sh"

# The instructions of the file, a line each.
instructions()
{
    awk '/^ *#/ { next } { if (sub(/\\$/, "")) { line = line $0; next } print line $0; line = "" }' "$file" | grep .
}

# --- What holds without a root ---
instructions >"$tap_dir/instructions"
tap_check "two stages, the last one of a user" \
    sh -c "[ \$(grep -c '^FROM ' '$tap_dir/instructions') = 2 ] && grep '^USER ' '$tap_dir/instructions' | grep -qv root"
grep -oE 'packaging/[a-z/]*[a-z]' "$tap_dir/instructions" | sort -u | while read -r name; do
    [ -x "$top_srcdir/$name" ] || echo "no such script: $name"
done >"$out"
tap_check "the scripts that it calls are there" test ! -s "$out"
for script in "$top_srcdir/packaging/container/build" "$top_srcdir/packaging/container/prepare"; do
    run_job 5 sh -n "$script"
    tap_check "$(basename "$script") can be read" test "$status" = 0
done
tap_check "the base is Debian with what configure needs" sh -c "
    for name in libfabric-dev libpmix-dev libhwloc-dev autoconf libtool; do grep -q \"^RUN .* \$name\" '$tap_dir/instructions' || exit 1; done"
[ "${WSH_TEST_LONG:-0}" = 1 ] || { tap_skip "the steps, in clean roots" "takes 10 minutes (make check-long)"; tap_done; }
[ "$(id -u)" = 0 ] || { tap_skip "the steps, in clean roots" "needs root"; tap_done; }

# --- The steps ---
cat >"$tap_dir/in_root" <<'END'
. "$top_srcdir/emulator/tests/root.sh"
in_root "$@"
END
export root top_srcdir top_builddir
inside="sh $tap_dir/in_root"
trap 'rm -rf --one-file-system "$tap_dir"' EXIT
chmod 755 "$tap_dir"
make_root
cp -a "$root" "$tap_dir/image"
cp -a "$root" "$tap_dir/build"
root=$tap_dir/build
cp /etc/resolv.conf "$root/etc/resolv.conf" 2>/dev/null
cp /etc/resolv.conf "$tap_dir/image/etc/resolv.conf" 2>/dev/null
$inside true 2>"$log" || skip "no mounts here: $(tail -n 1 "$log")"

copy()
{
    case $1 in
        --from=build) mkdir -p "$root$3" && cp -a "$tap_dir/build$2/." "$root$3" ;;
        .) mkdir -p "$root$2" && (cd "$top_srcdir" && tar $(sed '/^#/d; s|^|--exclude=./|' "$file.dockerignore") -cf - .) | tar -C "$root$2" -xf - ;;
        *) mkdir -p "$root$(dirname "$2")" && cp "$top_srcdir/$1" "$root$2" ;;
    esac
}

# stage NUMBER: its instructions, in $root. $exported and $folder are as the image has them afterwards.
stage()
{
    stage_now=0 exported=: folder=/
    while read -r word rest; do
        [ "$word" = FROM ] && { stage_now=$((stage_now + 1)); continue; }
        [ "$word" != ARG ] || [ $stage_now != 0 ] || continue
        [ $stage_now = "$1" ] || continue
        case $word in
            ARG | ENV) exported="$exported; export $rest" ;;
            WORKDIR) folder=$rest; mkdir -p "$root$folder" ;;
            COPY) copy $rest || return ;;
            RUN)
                run_job 2400 $inside env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root \
                    sh -c "$exported; cd $folder && $rest"
                tail -n 20 "$out" >"$tap_dir/tail"
                mv "$tap_dir/tail" "$out"
                tap_check "RUN $(echo "$rest" | cut -c 1-60)…" test "$status" = 0
                [ "$status" = 0 ] || return ;;
            USER) user=$rest ;;
            CMD) command=$(echo "$rest" | tr -d '[]",') ;;
        esac
    done <"$tap_dir/instructions"
}
stage 1 || tap_done
root=$tap_dir/image
before=$(du -sm "$root" | cut -f 1)
stage 2 || tap_done
echo "# the image is $(($(du -sm "$root" | cut -f 1) - before)) MB more than its base"

# as USER-OR-NUMBER COMMAND: in the image, as `docker run --user` does.
as()
{
    who=$1
    shift
    run_job 120 $inside setpriv --reuid="$who" --regid="$who" --clear-groups --no-new-privs --bounding-set=-all --inh-caps=-all \
        env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=$folder sh -c "$exported; cd $folder && $*"
}
as $user "$command"
tap_check "$command, as $user" test "$status" = 0
tap_comment "$out"
awk '/^```c$/ { inside = 1; next } /^```$/ { inside = 0 } inside' "$top_srcdir/README.md" >"$root$folder/ring.c"
chmod 644 "$root$folder/ring.c"
as $user 'oshcc -o ring ring.c && oshrun -n 4 ./ring'
tap_check "a program is compiled and runs" test "$status:$(grep -c '^PE [0-3] of 4 got' "$out")" = 0:4
as $user 'oshrun -n 4 --nodes-emulated 2 ./ring'
tap_check "two emulated hosts" test "$status" = 0
as 12345 "oshrun -n 2 $folder/ring"
tap_check "as a user of another number, who owns nothing" test "$status" = 0
as $user 'python3 -c "import warpshmem; warpshmem.init(); print(warpshmem.n_pes()); warpshmem.finalize()"'
tap_check "Python finds the package" test "$status:$(cat "$out")" = 0:1
as $user 'mkdir -p .ssh && ssh-keygen -q -t ed25519 -N "" -f .ssh/id_rsa && cp .ssh/id_rsa.pub .ssh/authorized_keys &&
    /usr/sbin/sshd -t -f /etc/ssh/sshd_warpshmem'
tap_check "sshd for workers takes its settings" test "$status" = 0
as $user '/usr/sbin/sshd -D -f /etc/ssh/sshd_warpshmem & sshd=$!; sleep 2
    ssh -p 2222 -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null 127.0.0.1 "oshrun --version && mpirun --version"; code=$?
    kill $sshd; exit $code'
tap_check "a login finds oshrun and mpirun" test "$status:$(grep -c 'oshrun (warpshmem)' "$out")" = 0:1
tap_done
