/* SPDX-License-Identifier: BSD-3-Clause */
/* The emulated device does what an EFA device does, seen through the verbs calls. */
#include "emulator/unit/verbs.h"

#include "test/common/unit.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define WAIT_MS 5000
#define NEVER_MS 30

static const struct wish srd = {.type = IBV_QPT_DRIVER, .flags = EMU_QP_UNSOLICITED};

static unsigned status_of_next(struct end *end)
{
    struct completion c = {.status = 99};

    CU_ASSERT_EQUAL(verbs_poll(end, WAIT_MS, &c), 0);
    return c.status;
}

static void sends_arrive(void)
{
    struct completion c;
    struct end end[2];

    verbs_open(end, &srd);
    memset(end[0].buf, 'x', 8928);
    CU_ASSERT_EQUAL(verbs_receive(&end[1], 5, 10000), 0);
    CU_ASSERT_EQUAL(verbs_send(&end[0], &end[1], 6, 8928), 0);
    CU_ASSERT_EQUAL(verbs_poll(&end[1], WAIT_MS, &c), 0);
    CU_ASSERT_TRUE(c.wr_id == 5 && c.opcode == IBV_WC_RECV && c.len == 8928 && c.src_qp == end[0].qp->qp_num);
    CU_ASSERT_TRUE(end[1].buf[0] == 'x' && end[1].buf[8927] == 'x' && !end[1].buf[8928]);
    CU_ASSERT_EQUAL(verbs_poll(&end[0], WAIT_MS, &c), 0);
    CU_ASSERT_TRUE(c.wr_id == 6 && c.opcode == IBV_WC_SEND && !c.status);
    CU_ASSERT_EQUAL(verbs_send(&end[0], &end[1], 7, 8929), 0);
    CU_ASSERT_EQUAL(status_of_next(&end[0]), EMU_BAD_LENGTH);
    verbs_close(end);
}

static void datagrams_leave_room_for_their_header(void)
{
    struct wish ud = {.type = IBV_QPT_UD};
    struct completion c;
    struct end end[2];

    verbs_open(end, &ud);
    end[0].buf[0] = 9;
    CU_ASSERT_EQUAL(verbs_receive(&end[1], 1, 100), 0);
    CU_ASSERT_EQUAL(verbs_send(&end[0], &end[1], 2, 60), 0);
    CU_ASSERT_EQUAL(verbs_poll(&end[1], WAIT_MS, &c), 0);
    CU_ASSERT_TRUE(c.len == 100 && end[1].buf[40] == 9 && !end[1].buf[0]);
    verbs_close(end);
}

static void an_immediate_comes_after_all_segments(void)
{
    struct completion c;
    struct end end[2];

    verbs_open(end, &srd);
    for (unsigned round = 1; round <= 50; round++) {
        memset(end[0].buf, (int)round, BUF_BYTES);
        CU_ASSERT_EQUAL(verbs_write(&end[0], &end[1], round, BUF_BYTES, end[1].mr->rkey, true), 0);
        CU_ASSERT_EQUAL(verbs_poll(&end[1], WAIT_MS, &c), 0);
        CU_ASSERT_TRUE(c.opcode == IBV_WC_RECV_RDMA_WITH_IMM && c.imm == round && c.unsolicited &&
                       c.len == BUF_BYTES);
        CU_ASSERT_EQUAL(memcmp(end[0].buf, end[1].buf, BUF_BYTES), 0);
        CU_ASSERT_EQUAL(status_of_next(&end[0]), 0);
    }
    verbs_close(end);
}

/* Some moment finds a late segment of the write in place and an early one not. */
static bool lands_out_of_order(struct end end[2], unsigned char mark)
{
    volatile unsigned char *to = end[1].buf;
    struct ibv_poll_cq_attr attr = {0};
    bool seen = false;

    memset(end[0].buf, mark, BUF_BYTES);
    CU_ASSERT_EQUAL(verbs_write(&end[0], &end[1], 1, BUF_BYTES, end[1].mr->rkey, false), 0);
    while (ibv_start_poll(end[0].cq, &attr) == ENOENT)
        for (unsigned i = 1; i < BUF_BYTES / EMU_MTU && !seen; i++)
            seen = to[i * EMU_MTU] == mark && to[(i - 1) * EMU_MTU] != mark;
    ibv_end_poll(end[0].cq);
    return seen;
}

static void segments_land_out_of_order(void)
{
    struct end end[2];
    unsigned seen = 0;

    verbs_open(end, &srd);
    for (unsigned char mark = 1; mark <= 50; mark++)
        seen += lands_out_of_order(end, mark);
    CU_ASSERT_TRUE(seen > 5);
    verbs_close(end);
}

static void without_unsolicited_writes_a_receive_is_taken(void)
{
    struct wish wish = {.type = IBV_QPT_DRIVER};
    struct completion c;
    struct end end[2];

    verbs_open(end, &wish);
    CU_ASSERT_EQUAL(verbs_write(&end[0], &end[1], 3, 100000, end[1].mr->rkey, true), 0);
    CU_ASSERT_EQUAL(verbs_poll(&end[1], NEVER_MS, &c), ENOENT);
    CU_ASSERT_EQUAL(verbs_receive(&end[1], 8, 0), 0);
    CU_ASSERT_EQUAL(verbs_poll(&end[1], WAIT_MS, &c), 0);
    CU_ASSERT_TRUE(c.wr_id == 8 && c.imm == 3 && !c.unsolicited);
    CU_ASSERT_EQUAL(status_of_next(&end[0]), 0);
    verbs_close(end);
}

static void reads_bring_the_data(void)
{
    struct end end[2];

    verbs_open(end, &srd);
    memset(end[1].buf, 4, 50000);
    CU_ASSERT_EQUAL(verbs_read(&end[0], &end[1], 1, 50000), 0);
    CU_ASSERT_EQUAL(status_of_next(&end[0]), 0);
    CU_ASSERT_TRUE(end[0].buf[0] == 4 && end[0].buf[49999] == 4 && !end[0].buf[50000]);
    verbs_close(end);
}

static void queues_have_their_depth(void)
{
    struct wish wish = {.type = IBV_QPT_DRIVER, .sends = 4, .receives = 64};
    struct completion c;
    struct end end[2];

    verbs_open(end, &wish);
    for (unsigned i = 0; i < 4; i++)
        CU_ASSERT_EQUAL(verbs_write(&end[0], &end[1], i, 8, end[1].mr->rkey, false), 0);
    CU_ASSERT_EQUAL(verbs_write(&end[0], &end[1], 4, 8, end[1].mr->rkey, false), ENOMEM);
    CU_ASSERT_EQUAL(verbs_poll(&end[0], WAIT_MS, &c), 0);
    CU_ASSERT_EQUAL(verbs_write(&end[0], &end[1], 4, 8, end[1].mr->rkey, false), 0);
    for (unsigned i = 0; i < 64; i++)
        CU_ASSERT_EQUAL(verbs_receive(&end[1], i, 64), 0);
    CU_ASSERT_EQUAL(verbs_receive(&end[1], 64, 64), ENOMEM);
    verbs_close(end);
}

static void inline_data_has_its_limit(void)
{
    unsigned char data[EMU_INLINE_MAX + 1] = {3};
    struct completion c;
    struct ibv_qp_ex *qp;
    struct end end[2];

    verbs_open(end, &srd);
    qp = ibv_qp_to_qp_ex(end[0].qp);
    CU_ASSERT_EQUAL(verbs_receive(&end[1], 0, 64), 0);
    for (size_t len = sizeof data; len >= sizeof data - 1; len--) {
        ibv_wr_start(qp);
        ibv_wr_send(qp);
        ibv_wr_set_inline_data(qp, data, len);
        ibv_wr_set_ud_addr(qp, end[0].ah, end[1].qp->qp_num, QKEY);
        CU_ASSERT_EQUAL(ibv_wr_complete(qp), len > EMU_INLINE_MAX ? EINVAL : 0);
    }
    CU_ASSERT_EQUAL(verbs_poll(&end[1], WAIT_MS, &c), 0);
    CU_ASSERT_TRUE(c.len == EMU_INLINE_MAX && end[1].buf[0] == 3);
    verbs_close(end);
}

/* A key is known to the NIC that the memory was registered with. */
static void keys_are_of_one_nic(void)
{
    const int access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE;
    struct end end[2];
    struct ibv_mr *target, *source, *own;

    verbs_open(end, &srd);
    own = end[0].mr;
    target = ibv_reg_mr(end[0].pd, end[1].buf, BUF_BYTES, access);
    source = ibv_reg_mr(end[1].pd, end[0].buf, BUF_BYTES, access);
    verbs_write(&end[0], &end[1], 1, 8, target->rkey, false);
    CU_ASSERT_EQUAL(status_of_next(&end[0]), EMU_REMOTE_BAD_ADDRESS);
    end[0].mr = source;
    verbs_write(&end[0], &end[1], 1, 8, end[1].mr->rkey, false);
    CU_ASSERT_EQUAL(status_of_next(&end[0]), EMU_INVALID_LKEY);
    end[0].mr = own;
    verbs_write(&end[0], &end[1], 1, 8, end[1].mr->rkey, false);
    CU_ASSERT_EQUAL(status_of_next(&end[0]), 0);
    ibv_dereg_mr(target);
    ibv_dereg_mr(source);
    verbs_close(end);
}

static void errors_have_their_codes(void)
{
    struct ibv_qp_attr rnr = {.rnr_retry = 2};
    struct end end[2];

    verbs_open(end, &srd);
    verbs_write(&end[0], &end[1], 1, 8, end[1].mr->rkey + 1, false);
    CU_ASSERT_EQUAL(status_of_next(&end[0]), EMU_REMOTE_BAD_ADDRESS);
    verbs_read(&end[0], &end[1], 1, BUF_BYTES);
    CU_ASSERT_EQUAL(status_of_next(&end[0]), 0);
    CU_ASSERT_EQUAL(ibv_modify_qp(end[0].qp, &rnr, IBV_QP_RNR_RETRY), 0);
    verbs_send(&end[0], &end[1], 1, 8);
    CU_ASSERT_EQUAL(status_of_next(&end[0]), EMU_REMOTE_RNR);
    CU_ASSERT_EQUAL(verbs_receive(&end[1], 0, 7), 0);
    verbs_send(&end[0], &end[1], 1, 8);
    CU_ASSERT_EQUAL(status_of_next(&end[0]), EMU_REMOTE_BAD_LENGTH);
    end[0].mr->lkey++;
    verbs_send(&end[0], &end[1], 1, 8);
    CU_ASSERT_EQUAL(status_of_next(&end[0]), EMU_INVALID_LKEY);
    end[0].mr->lkey--;
    end[1].qp->qp_num += 100;
    verbs_send(&end[0], &end[1], 1, 8);
    CU_ASSERT_EQUAL(status_of_next(&end[0]), EMU_REMOTE_BAD_QPN);
    verbs_close(end);
}

static void a_stranger_is_refused(void)
{
    struct wish wish = {.type = IBV_QPT_DRIVER, .stranger = true};
    struct completion c;
    struct end end[2];

    verbs_open(end, &wish);
    verbs_write(&end[0], &end[1], 1, 8, end[1].mr->rkey, false);
    CU_ASSERT_EQUAL(status_of_next(&end[0]), EMU_UNKNOWN_PEER);
    CU_ASSERT_EQUAL(verbs_receive(&end[1], 0, 64), 0);
    CU_ASSERT_EQUAL(verbs_send(&end[0], &end[1], 1, 8), 0);
    CU_ASSERT_EQUAL(verbs_poll(&end[1], WAIT_MS, &c), 0);
    CU_ASSERT_EQUAL(c.slid, EMU_AH_UNKNOWN);
    verbs_close(end);
}

static void nobody_there_is_unreachable(void)
{
    struct ibv_ah_attr attr = {.is_global = 1, .grh.dgid.raw = {0xfe, 0x80, [15] = 1}};
    struct end end[2];

    verbs_open(end, &srd);
    ibv_destroy_ah(end[0].ah);
    end[0].ah = ibv_create_ah(end[0].pd, &attr);
    CU_ASSERT_EQUAL(verbs_send(&end[0], &end[1], 1, 8), 0);
    CU_ASSERT_EQUAL(status_of_next(&end[0]), EMU_UNREACHABLE);
    verbs_close(end);
}

static void handles_have_their_limit(void)
{
    struct ibv_ah_attr attr = {.is_global = 1, .grh.dgid.raw = {0xfe, 0x80, [15] = 1}};
    struct ibv_ah *same;
    struct end end[2];

    verbs_open(end, &srd);
    emu.settings.handles = 1;
    errno = 0;
    CU_ASSERT_PTR_NULL(ibv_create_ah(end[0].pd, &attr));
    CU_ASSERT_EQUAL(errno, ENOMEM);
    CU_ASSERT_EQUAL(ibv_query_gid(end[1].context, 1, 0, &attr.grh.dgid), 0);
    same = ibv_create_ah(end[0].pd, &attr);
    CU_ASSERT_PTR_NOT_NULL_FATAL(same);
    ibv_destroy_ah(same);
    emu.settings.handles = EMU_AHS_PER_NIC;
    verbs_close(end);
}

static void an_overrun_is_an_error(void)
{
    struct wish wish = {.type = IBV_QPT_DRIVER, .flags = EMU_QP_UNSOLICITED, .cq_entries = 64, .sends = 256};
    struct completion c;
    struct end end[2];
    int rc = 0;

    verbs_open(end, &wish);
    for (unsigned i = 0; i < 100; i++) {
        CU_ASSERT_EQUAL(verbs_write(&end[0], &end[1], i, 8, end[1].mr->rkey, true), 0);
        CU_ASSERT_EQUAL(status_of_next(&end[0]), 0);
    }
    for (unsigned i = 0; i < 100 && !rc; i++)
        rc = verbs_poll(&end[1], NEVER_MS, &c);
    CU_ASSERT_EQUAL(rc, EIO);
    verbs_close(end);
}

static void channels_report_completions(void)
{
    struct completion c;
    struct ibv_cq *cq = NULL;
    struct end end[2];
    void *context;

    verbs_open(end, &srd);
    CU_ASSERT_EQUAL(ibv_req_notify_cq(ibv_cq_ex_to_cq(end[1].cq), 0), 0);
    CU_ASSERT_EQUAL(poll(&(struct pollfd){end[1].channel->fd, POLLIN, 0}, 1, 0), 0);
    CU_ASSERT_EQUAL(verbs_write(&end[0], &end[1], 1, 8, end[1].mr->rkey, true), 0);
    CU_ASSERT_EQUAL(poll(&(struct pollfd){end[1].channel->fd, POLLIN, 0}, 1, WAIT_MS), 1);
    CU_ASSERT_EQUAL(ibv_get_cq_event(end[1].channel, &cq, &context), 0);
    CU_ASSERT_PTR_EQUAL(cq, ibv_cq_ex_to_cq(end[1].cq));
    ibv_ack_cq_events(cq, 1);
    CU_ASSERT_EQUAL(verbs_poll(&end[1], 0, &c), 0);
    CU_ASSERT_EQUAL(verbs_write(&end[0], &end[1], 2, 8, end[1].mr->rkey, true), 0);
    CU_ASSERT_EQUAL(verbs_poll(&end[1], WAIT_MS, &c), 0);
    CU_ASSERT_EQUAL(poll(&(struct pollfd){end[1].channel->fd, POLLIN, 0}, 1, NEVER_MS), 0);
    verbs_close(end);
}

static void descriptors_of_memory_are_registered(void)
{
    int fd = memfd_create("pages", MFD_CLOEXEC), access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE;
    unsigned char *pages;
    struct ibv_mr *mr;
    struct end end[2];

    CU_ASSERT_EQUAL_FATAL(ftruncate(fd, 8192), 0);
    pages = mmap(NULL, 8192, PROT_READ, MAP_SHARED, fd, 0);
    verbs_open(end, &srd);
    mr = ibv_reg_dmabuf_mr(end[1].pd, 4096, 4096, (uintptr_t)end[1].buf, fd, access);
    CU_ASSERT_PTR_NOT_NULL_FATAL(mr);
    end[0].buf[0] = 6;
    CU_ASSERT_EQUAL(verbs_write(&end[0], &end[1], 1, 1, mr->rkey, false), 0);
    CU_ASSERT_EQUAL(status_of_next(&end[0]), 0);
    CU_ASSERT_TRUE(pages[4096] == 6 && !pages[0]);
    CU_ASSERT_EQUAL(ibv_dereg_mr(mr), 0);
    verbs_close(end);
    munmap(pages, 8192);
    close(fd);
}

/* A child takes the lock of our region and dies: `half` leaves a delivery begun. */
static void die_with_lock(bool half)
{
    pid_t child = fork();
    int status;

    if (child == 0) {
        emu_region_lock(emu.mine);
        emu.mine->cq[9].prod = 4;
        emu.mine->journal.qp = UINT32_MAX;
        emu.mine->journal.cq = 9;
        emu.mine->journal.prod = 5;
        atomic_store_explicit(&emu.mine->journal.valid, half, memory_order_relaxed);
        raise(SIGKILL);
    }
    waitpid(child, &status, 0);
    CU_ASSERT_TRUE(WIFSIGNALED(status));
    emu_region_lock(emu.mine);
    CU_ASSERT_EQUAL(atomic_load_explicit(&emu.mine->cq[9].prod, memory_order_relaxed), half ? 5 : 4);
    CU_ASSERT_EQUAL(atomic_load_explicit(&emu.mine->journal.valid, memory_order_relaxed), 0);
    emu_region_unlock(emu.mine);
}

static void a_lock_outlives_its_holder(void)
{
    die_with_lock(false);
    die_with_lock(true);
}

__attribute__((constructor)) static void start(void)
{
    verbs_start("timeout 20ms");
}

const struct unit_test unit_tests[] = {
    {"sends arrive, up to the largest", sends_arrive},
    {"datagrams leave room for their header", datagrams_leave_room_for_their_header},
    {"an immediate comes after all segments of its write", an_immediate_comes_after_all_segments},
    {"segments of a write land out of order", segments_land_out_of_order},
    {"without unsolicited writes an immediate takes a receive",
     without_unsolicited_writes_a_receive_is_taken},
    {"reads bring the data", reads_bring_the_data},
    {"queues have their depth", queues_have_their_depth},
    {"inline data has its limit", inline_data_has_its_limit},
    {"keys are of one NIC", keys_are_of_one_nic},
    {"errors have their codes", errors_have_their_codes},
    {"RDMA needs an address handle of the initiator at the target", a_stranger_is_refused},
    {"nobody there is unreachable", nobody_there_is_unreachable},
    {"address handles have their limit", handles_have_their_limit},
    {"an overrun of a completion queue is an error", an_overrun_is_an_error},
    {"channels report completions", channels_report_completions},
    {"memory can be registered by descriptor", descriptors_of_memory_are_registered},
    {"a region's lock outlives its holder", a_lock_outlives_its_holder},
    {NULL, NULL},
};
