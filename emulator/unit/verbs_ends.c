/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes the two ends, posts on one and polls either. */
#include "emulator/unit/verbs.h"

#include "test/common/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct emu_efadv_qp_init_attr {
    uint64_t comp_mask;
    uint32_t driver_qp_type;
    uint16_t flags, reserved;
};

struct emu_efadv_cq_init_attr {
    uint64_t comp_mask, wc_flags, flags;
    unsigned char *buffer;
    uint64_t length, offset;
    int32_t fd, reserved;
};

struct ibv_cq_ex *efadv_create_cq(struct ibv_context *context, struct ibv_cq_init_attr_ex *attr,
                                  struct emu_efadv_cq_init_attr *efa, uint32_t len);
struct ibv_qp *efadv_create_qp_ex(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr,
                                  struct emu_efadv_qp_init_attr *efa, uint32_t len);
struct emu_efadv_cq *efadv_cq_from_ibv_cq_ex(struct ibv_cq_ex *cq);

static char folder[40] = "/tmp/efa-emulator-unit.XXXXXX";

static void remove_folder(void)
{
    char command[80];

    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    if (system(command))
        perror(command);
}

void verbs_start(const char *faults)
{
    if (!mkdtemp(folder)) {
        perror(folder);
        exit(99);
    }
    setenv("EFA_EMULATOR_DIR", folder, 1);
    setenv("EFA_EMULATOR_FAULTS", faults, 1);
    setenv("EFA_EMULATOR_QUIET", "1", 1);
    setenv("EFA_EMULATOR_SEED", "1", 1);
    unsetenv("EFA_EMULATOR_PROFILE");
    unsetenv("EFA_EMULATOR_NICS");
    atexit(remove_folder);
}

struct ibv_qp *verbs_create_srd(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr, uint32_t flags)
{
    struct emu_efadv_qp_init_attr efa = {.flags = (uint16_t)flags};

    return efadv_create_qp_ex(context, attr, &efa, sizeof efa);
}

void verbs_make_ready(struct ibv_qp *qp)
{
    struct ibv_qp_attr attr = {.qkey = QKEY, .port_num = 1};

    for (attr.qp_state = IBV_QPS_INIT; attr.qp_state <= IBV_QPS_RTS; attr.qp_state++)
        CU_ASSERT_EQUAL(
            ibv_modify_qp(qp, &attr, IBV_QP_STATE | (attr.qp_state == IBV_QPS_INIT ? IBV_QP_QKEY : 0)), 0);
}

static void open_end(struct end *end, struct ibv_device *device, const struct wish *wish)
{
    struct ibv_cq_init_attr_ex cq = {.cqe = wish->cq_entries ? wish->cq_entries : 256};
    struct ibv_qp_init_attr_ex qp = {.qp_type = wish->type,
                                     .comp_mask = IBV_QP_INIT_ATTR_PD,
                                     .cap = {.max_send_wr = wish->sends ? wish->sends : 64,
                                             .max_recv_wr = wish->receives ? wish->receives : 64,
                                             .max_inline_data = wish->max_inline,
                                             .max_send_sge = 2,
                                             .max_recv_sge = 2}};
    struct emu_efadv_cq_init_attr location = {.flags = 1, .fd = wish->cq_fd, .offset = end->cq_offset};
    int access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;

    end->context = ibv_open_device(device);
    CU_ASSERT_PTR_NOT_NULL_FATAL(end->context);
    qp.pd = end->pd = ibv_alloc_pd(end->context);
    cq.channel = end->channel = ibv_create_comp_channel(end->context);
    location.length = (uint64_t)cq.cqe * 32;
    end->cq = wish->cq_fd ? efadv_create_cq(end->context, &cq, &location, sizeof location)
                          : ibv_create_cq_ex(end->context, &cq);
    CU_ASSERT_PTR_NOT_NULL_FATAL(end->cq);
    qp.send_cq = qp.recv_cq = ibv_cq_ex_to_cq(end->cq);
    end->qp = wish->type == IBV_QPT_UD ? ibv_create_qp_ex(end->context, &qp)
                                       : verbs_create_srd(end->context, &qp, wish->flags);
    CU_ASSERT_PTR_NOT_NULL_FATAL(end->qp);
    verbs_make_ready(end->qp);
    end->buf = calloc(1, BUF_BYTES);
    end->mr = ibv_reg_mr(end->pd, end->buf, BUF_BYTES, access);
    CU_ASSERT_PTR_NOT_NULL_FATAL(end->mr);
}

static struct ibv_ah *handle_of(struct end *end, struct end *other)
{
    struct ibv_ah_attr attr = {.is_global = 1, .port_num = 1};

    CU_ASSERT_EQUAL(ibv_query_gid(other->context, 1, 0, &attr.grh.dgid), 0);
    return ibv_create_ah(end->pd, &attr);
}

void verbs_open(struct end end[2], const struct wish *wish)
{
    int n;
    struct ibv_device **list = ibv_get_device_list(&n);

    CU_ASSERT_PTR_NOT_NULL_FATAL(list);
    CU_ASSERT_TRUE_FATAL(n >= 2);
    memset(end, 0, 2 * sizeof *end);
    for (int i = 0; i < 2; i++) {
        end[i].cq_offset = wish->cq_fd ? (unsigned)i * CQ_LOCATION : 0;
        open_end(&end[i], list[i], wish);
    }
    end[0].ah = handle_of(&end[0], &end[1]);
    end[1].ah = wish->stranger ? NULL : handle_of(&end[1], &end[0]);
    ibv_free_device_list(list);
}

void verbs_close(struct end end[2])
{
    for (int i = 0; i < 2; i++) {
        CU_ASSERT_EQUAL(ibv_destroy_qp(end[i].qp), 0);
        CU_ASSERT_EQUAL(ibv_destroy_cq(ibv_cq_ex_to_cq(end[i].cq)), 0);
        CU_ASSERT_EQUAL(ibv_destroy_comp_channel(end[i].channel), 0);
        if (end[i].ah)
            ibv_destroy_ah(end[i].ah);
        ibv_dereg_mr(end[i].mr);
        free(end[i].buf);
        ibv_dealloc_pd(end[i].pd);
        ibv_close_device(end[i].context);
    }
}

static int ring(struct end *from, const struct end *to, uint32_t len)
{
    struct ibv_qp_ex *qp = ibv_qp_to_qp_ex(from->qp);

    ibv_wr_set_sge(qp, from->mr->lkey, (uintptr_t)from->buf, len);
    ibv_wr_set_ud_addr(qp, from->ah, to->qp->qp_num, QKEY);
    return ibv_wr_complete(qp);
}

static struct ibv_qp_ex *begin(struct end *from, uint64_t wr_id)
{
    struct ibv_qp_ex *qp = ibv_qp_to_qp_ex(from->qp);

    ibv_wr_start(qp);
    qp->wr_id = wr_id;
    return qp;
}

int verbs_send(struct end *from, const struct end *to, uint64_t wr_id, uint32_t len)
{
    ibv_wr_send(begin(from, wr_id));
    return ring(from, to, len);
}

int verbs_write(struct end *from, const struct end *to, uint64_t wr_id, uint32_t len, uint32_t rkey, bool imm)
{
    struct ibv_qp_ex *qp = begin(from, wr_id);

    if (imm)
        ibv_wr_rdma_write_imm(qp, rkey, (uintptr_t)to->buf, (uint32_t)wr_id);
    else
        ibv_wr_rdma_write(qp, rkey, (uintptr_t)to->buf);
    return ring(from, to, len);
}

int verbs_read(struct end *from, const struct end *to, uint64_t wr_id, uint32_t len)
{
    ibv_wr_rdma_read(begin(from, wr_id), to->mr->rkey, (uintptr_t)to->buf);
    return ring(from, to, len);
}

int verbs_receive(struct end *end, uint64_t wr_id, uint32_t len)
{
    struct ibv_sge sge = {(uintptr_t)end->buf, len, end->mr->lkey};
    struct ibv_recv_wr wr = {.wr_id = wr_id, .sg_list = &sge, .num_sge = 1}, *bad;

    return ibv_post_recv(end->qp, &wr, &bad);
}

int verbs_poll(struct end *end, unsigned ms, struct completion *c)
{
    struct ibv_poll_cq_attr attr = {0};
    uint64_t stop = emu_now_ns() + ms * 1000000ull;
    struct emu_efadv_cq *dv = efadv_cq_from_ibv_cq_ex(end->cq);
    int rc;

    while ((rc = ibv_start_poll(end->cq, &attr)) == ENOENT && emu_now_ns() < stop)
        continue;
    if (rc)
        return rc;
    *c = (struct completion){.wr_id = end->cq->wr_id,
                             .status = ibv_wc_read_vendor_err(end->cq),
                             .opcode = ibv_wc_read_opcode(end->cq),
                             .flags = ibv_wc_read_wc_flags(end->cq),
                             .len = ibv_wc_read_byte_len(end->cq),
                             .imm = ibv_wc_read_imm_data(end->cq),
                             .src_qp = ibv_wc_read_src_qp(end->cq),
                             .slid = ibv_wc_read_slid(end->cq),
                             .unsolicited = dv->wc_is_unsolicited(dv)};
    CU_ASSERT_EQUAL(end->cq->status == IBV_WC_SUCCESS, c->status == 0);
    ibv_end_poll(end->cq);
    return 0;
}
