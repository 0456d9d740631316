/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Copies payload from one process's memory into another's: by the kernel's call for that or, where it is refused and
 * for GPU memory, as a packet that the other process's service thread copies.
 */
#include "emulator/fabric/copy.h"

#include "emulator/fabric/futex.h"
#include "emulator/gpu.h"
#include "emulator/say.h"

#include <errno.h>
#include <string.h>
#include <sys/uio.h>

#define PATIENCE_NS 10000000ull

/* One contiguous piece of the local buffers. */
struct piece {
    uint64_t addr;
    uint32_t len;
    uint32_t gpu;
};

static _Atomic bool refused; /* the kernel's call is not for us */

static unsigned pieces_of(const struct emu_op *op, uint32_t offset, uint32_t len, struct piece *pieces)
{
    unsigned n = 0;

    if (op->is_inline) {
        pieces[0] = (struct piece){(uintptr_t)op->data + offset, len, 0};
        return 1;
    }
    for (uint32_t i = 0; i < op->nsge && len; i++) {
        const struct emu_sge *sge = &op->sge[i];
        uint32_t take;

        if (offset >= sge->len) {
            offset -= sge->len;
            continue;
        }
        take = sge->len - offset < len ? sge->len - offset : len;
        pieces[n++] = (struct piece){sge->addr + offset, take, op->gpu[i]};
        offset = 0;
        len -= take;
    }
    return n;
}

/* The kernel reports a hole in the own memory as it does one in a peer's: nothing here dies of it. */
static int copy_own(uint64_t addr, void *data, uint32_t len, bool into_memory)
{
    struct iovec local = {data, len}, memory = {(void *)(uintptr_t)addr, len};
    ssize_t done = into_memory ? process_vm_writev(emu.pid, &local, 1, &memory, 1, 0)
                               : process_vm_readv(emu.pid, &local, 1, &memory, 1, 0);

    if (done == (ssize_t)len)
        return 0;
    if (done >= 0 || errno == EFAULT)
        return -EFAULT;
    memcpy(into_memory ? (void *)(uintptr_t)addr : data, into_memory ? data : (void *)(uintptr_t)addr, len);
    return 0;
}

int emu_copy_local(uint64_t addr, void *data, uint32_t len, uint32_t gpu, bool into_memory)
{
    return gpu ? emu_gpu_copy(gpu, addr, data, len, into_memory) : copy_own(addr, data, len, into_memory);
}

/* Gathers the pieces into `data`, or scatters it to them. */
static int pieces_pack(const struct piece *pieces, unsigned n, unsigned char *data, bool gather)
{
    for (unsigned i = 0; i < n; i++) {
        int rc = emu_copy_local(pieces[i].addr, data, pieces[i].len, pieces[i].gpu, !gather);

        if (rc)
            return rc;
        data += pieces[i].len;
    }
    return 0;
}

int emu_copy_gather(const struct emu_op *op, uint32_t offset, uint32_t len, void *data)
{
    struct piece pieces[EMU_SQ_SGES];

    return pieces_pack(pieces, pieces_of(op, offset, len, pieces), data, true);
}

/* With the peer's lock, so that the packet is ours alone. */
static int packet_exchange(struct emu_peer *peer, uint64_t addr, uint32_t len, uint32_t gpu, uint32_t request)
{
    struct emu_packet *packet = &peer->region->packet;
    uint32_t state = request;

    packet->addr = addr;
    packet->len = len;
    packet->gpu = gpu;
    /* release: pairs with the service thread's acquire, for the packet's contents */
    atomic_store_explicit(&packet->state, request, memory_order_release);
    emu_region_wake(peer->region);
    while (state == request) {
        emu_futex_wait(&packet->state, request, PATIENCE_NS);
        /* acquire: pairs with the service thread's release, for the result and the payload of a read */
        state = atomic_load_explicit(&packet->state, memory_order_acquire);
        if (state == request && !emu_peer_alive(peer))
            return -ESRCH;
    }
    return packet->result;
}

static int copy_by_packet(const struct emu_op *op, const struct piece *pieces, unsigned n, uint32_t len,
                          struct emu_peer *peer, uint64_t raddr, uint32_t gpu)
{
    struct emu_packet *packet = &peer->region->packet;
    bool read = op->kind == EMU_READ;
    int rc = read ? 0 : pieces_pack(pieces, n, packet->data, true);

    if (!rc && peer->region == emu.mine)
        rc = emu_copy_local(raddr, packet->data, len, gpu, !read);
    else if (!rc)
        rc = packet_exchange(peer, raddr, len, gpu, read ? EMU_PACKET_READ : EMU_PACKET_WRITE);
    if (!rc && read)
        rc = pieces_pack(pieces, n, packet->data, false);
    atomic_store_explicit(&packet->state, EMU_PACKET_IDLE, memory_order_relaxed);
    return rc;
}

static int copy_direct(const struct emu_op *op, const struct piece *pieces, unsigned n, uint32_t len,
                       struct emu_peer *peer, uint64_t raddr)
{
    struct iovec local[EMU_SQ_SGES], remote = {(void *)(uintptr_t)raddr, len};
    ssize_t done;

    for (unsigned i = 0; i < n; i++)
        local[i] = (struct iovec){(void *)(uintptr_t)pieces[i].addr, pieces[i].len};
    done = op->kind == EMU_READ ? process_vm_readv(peer->region->pid, local, n, &remote, 1, 0)
                                : process_vm_writev(peer->region->pid, local, n, &remote, 1, 0);
    if (done == (ssize_t)len)
        return 0;
    return done < 0 ? -errno : -EFAULT;
}

static bool any_on_gpu(const struct piece *pieces, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        if (pieces[i].gpu)
            return true;
    return false;
}

static bool is_refusal(int rc)
{
    return rc == -EPERM || rc == -ENOSYS || rc == -EACCES;
}

int emu_copy(const struct emu_op *op, uint32_t offset, uint32_t len, struct emu_peer *peer, uint64_t raddr,
             uint32_t gpu)
{
    struct piece pieces[EMU_SQ_SGES];
    unsigned n = pieces_of(op, offset, len, pieces);
    bool helper =
        emu.settings.copy == EMU_COPY_HELPER || atomic_load_explicit(&refused, memory_order_relaxed);
    int rc;

    if (helper || gpu || any_on_gpu(pieces, n))
        return copy_by_packet(op, pieces, n, len, peer, raddr, gpu);
    rc = copy_direct(op, pieces, n, len, peer, raddr);
    if (!is_refusal(rc) || emu.settings.copy == EMU_COPY_DIRECT)
        return rc;
    if (!atomic_exchange_explicit(&refused, true, memory_order_relaxed) && !emu.settings.quiet)
        emu_say("the kernel refuses process_vm_writev (%s): payload goes through a thread of its target",
                strerror(-rc));
    return copy_by_packet(op, pieces, n, len, peer, raddr, gpu);
}
