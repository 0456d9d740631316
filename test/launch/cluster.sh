# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
# Sourced by test/launch/slurm.sh and ssh.sh: two nodes made of namespaces, wsn1 and wsn2, joined by a veth, with Debian's
# Slurm or sshd. Each has its own network, host name, processes, IPC, /run, /dev/shm and /proc. All of it lives below one
# process, so that the kernel removes it (processes, mounts, links) when that process ends, however it ends.
#   cluster_service         slurm, or ssh if the script says so before anything else
#   cluster_missing         prints what this machine lacks for it, nothing when all is there
#   cluster_enter SCRIPT    runs SCRIPT as process 1 of wsn1; returns its exit status
#   cluster_start           in wsn1: node 2, munge, slurmctld, slurmd, or sshd; returns once both nodes take jobs
#   $cluster_ssh            the ssh command that reaches the nodes
#   cluster_kill_node       node 2 disappears at once, as by a power cut; cluster_start_node brings it back

cluster_service=${cluster_service:-slurm}
PATH=$PATH:/usr/sbin:/sbin

cluster_missing()
{
    case $cluster_service in
        slurm) tools="munged slurmctld slurmd srun salloc scancel squeue sinfo" ;;
        ssh) tools="sshd ssh ssh-keygen mpirun" ;;
    esac
    for tool in $tools ip unshare setpriv pgrep; do
        command -v "$tool" >/dev/null || {
            echo "no $tool (Debian: slurm-wlm munge openssh-server openmpi-bin iproute2 procps)"
            return
        }
    done
    [ "$(id -u)" = 0 ] || { echo "only root may make the namespaces"; return; }
    unshare --mount --net --uts --ipc --pid --fork --mount-proc sh -c '
        mount -t tmpfs none /run && ip link add wsx type veth peer name wsy && ip link add wsz type bridge' >/dev/null 2>"$tap_dir/refused" ||
        echo "this machine refuses namespaces, veth or bridges: $(head -n 1 "$tap_dir/refused")"
}

cluster_enter()
{
    setpriv --pdeathsig KILL \
        unshare --mount --net --uts --ipc --pid --fork --kill-child --mount-proc sh "$@" &
    cluster=$!
    trap 'kill -9 "$cluster" 2>/dev/null; rm -rf "$tap_dir"' EXIT
    wait "$cluster"
}

# node_open NUMBER: the folders and the name of a node, in its own namespaces.
node_open()
{
    mount -t tmpfs none /run
    mount -t tmpfs none /dev/shm
    mount -t sysfs sysfs /sys
    mount -t tmpfs none /sys/fs/cgroup # slurmd does not start without one
    mkdir -p /run/munge /run/slurmd /run/slurmctld /run/pmix /run/sshd
    [ -e /etc/hosts ] || : >/etc/hosts
    mount --bind "$cluster_dir/hosts" /etc/hosts
    hostname "wsn$1"
    ip link set lo up
}

# node_join NUMBER DEVICE: its end of the wire is there.
node_join()
{
    ip addr add "10.77.0.$1/24" dev "$2"
    ip link set "$2" up
}

node_serve()
{
    "${cluster_service}_serve" "$1"
}

ssh_serve()
{
    "$(command -v sshd)" -D -f "$cluster_dir/sshd_config" -E "$cluster_dir/sshd$1.log" &
}

slurm_serve()
{
    munged --force --foreground --key-file="$cluster_dir/munge.key" --socket=/run/munge/munge.socket.2 \
        --pid-file=/run/munge/munged.pid --seed-file=/run/munge/seed >"$cluster_dir/munged$1.log" 2>&1 &
    while [ ! -S /run/munge/munge.socket.2 ]; do sleep 0.1; done
    slurmd -D -L "$cluster_dir/slurmd$1.log" >/dev/null 2>&1 &
}

# Node 2 as process 1 of its own namespaces.
cluster_node()
{
    cluster_dir=$1
    node_open 2
    : >"$cluster_dir/node2.open"
    until ip link show eth0 >/dev/null 2>&1; do sleep 0.05; done
    node_join 2 eth0
    node_serve 2
    wait
    exit
}

cluster_start_node()
{
    rm -f "$cluster_dir/node2.open"
    unshare --mount --net --uts --ipc --pid --fork --kill-child --mount-proc sh "$0" node "$cluster_dir" &
    node2=$!
    while [ ! -f "$cluster_dir/node2.open" ]; do sleep 0.05; done
    ip link add port type veth peer name wsn2
    ip link set port master eth0 up
    ip link set wsn2 netns "$node2" name eth0
}

# What the kernel does for a machine that loses power: its end of the wire goes first, so that nothing says goodbye.
cluster_kill_node()
{
    ip link del port
    kill -9 "$node2"
    wait "$node2" 2>/dev/null
}

cluster_settings()
{
    cat <<END
ClusterName=warpshmem
SlurmctldHost=wsn1(10.77.0.1)
SlurmUser=root
AuthType=auth/munge
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
ReturnToService=2
SlurmdTimeout=10
StateSaveLocation=/run/slurmctld
SlurmdSpoolDir=/run/slurmd
SlurmctldPidFile=/run/slurmctld.pid
SlurmdPidFile=/run/slurmd.pid
NodeName=wsn1 NodeAddr=10.77.0.1 CPUs=8
NodeName=wsn2 NodeAddr=10.77.0.2 CPUs=8
PartitionName=all Nodes=wsn1,wsn2 Default=YES MaxTime=INFINITE State=UP
END
}

cluster_is_ready()
{
    [ "$(sinfo -h -N -o '%N %t' | grep -c ' idle$')" = 2 ]
}

cluster_await()
{
    for _ in $(seq 300); do
        cluster_is_ready 2>/dev/null && return 0
        sleep 0.2
    done
    return 1
}

# Keys of the test's own; nothing of the user's is read.
ssh_prepare()
{
    for key in host user; do ssh-keygen -q -t ed25519 -N '' -f "$cluster_dir/$key.key" || return; done
    sed 's/^/wsn1,wsn2 /' "$cluster_dir/host.key.pub" >"$cluster_dir/known_hosts"
    cat >"$cluster_dir/sshd_config" <<END
HostKey $cluster_dir/host.key
AuthorizedKeysFile $cluster_dir/user.key.pub
StrictModes no
UsePAM no
PermitRootLogin yes
PasswordAuthentication no
KbdInteractiveAuthentication no
END
    cat >"$cluster_dir/ssh_config" <<END
Host *
IdentityFile $cluster_dir/user.key
IdentitiesOnly yes
UserKnownHostsFile $cluster_dir/known_hosts
StrictHostKeyChecking yes
BatchMode yes
ConnectTimeout 5
END
    cluster_ssh="ssh -F $cluster_dir/ssh_config"
}

ssh_start()
{
    for node in wsn1 wsn2; do
        for _ in $(seq 50); do
            $cluster_ssh $node true 2>/dev/null && break
            sleep 0.2
        done
        $cluster_ssh $node true || return
    done
}

cluster_start()
{
    cluster_dir=$1
    printf '127.0.0.1 localhost\n10.77.0.1 wsn1\n10.77.0.2 wsn2\n' >"$cluster_dir/hosts"
    "${cluster_service}_prepare" || return
    node_open 1
    ip link add eth0 type bridge # not the wire itself, so that the address stays when node 2 is gone
    node_join 1 eth0
    cluster_start_node
    node_serve 1
    "${cluster_service}_start"
}

slurm_prepare()
{
    SLURM_CONF=$cluster_dir/slurm.conf
    SLURM_PMIX_TMPDIR=/run/pmix # of Slurm's PMIx plugin: else /tmp, which the nodes share here
    export SLURM_CONF SLURM_PMIX_TMPDIR
    cluster_settings >"$SLURM_CONF"
    echo 'CgroupPlugin=cgroup/v1' >"$cluster_dir/cgroup.conf"
    head -c 128 /dev/urandom >"$cluster_dir/munge.key"
    chmod 600 "$cluster_dir/munge.key"
}

slurm_start()
{
    slurmctld -D -L "$cluster_dir/slurmctld.log" >/dev/null 2>&1 &
    cluster_await
}
