/* SPDX-License-Identifier: BSD-3-Clause */
/* The verbs calls on devices: the list, opening, attributes, ports. */
#include "emulator/verbs/objects.h"

#include "emulator/say.h"
#include "emulator/sysfs.h"
#include "emulator/wire/wire.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#undef ibv_get_device_list
#undef ibv_query_port

#define AMAZON 0x1d0f

static struct emu_device *make_device(uint32_t nic)
{
    struct emu_device *device = calloc(1, sizeof *device);

    if (!device)
        return NULL;
    device->nic = nic;
    device->ibv.node_type = IBV_NODE_UNSPECIFIED;
    device->ibv.transport_type = IBV_TRANSPORT_UNSPECIFIED;
    snprintf(device->ibv.name, sizeof device->ibv.name, "%s", emu.settings.nic[nic].name);
    snprintf(device->ibv.dev_name, sizeof device->ibv.dev_name, "uverbs%u", nic);
    snprintf(device->ibv.dev_path, sizeof device->ibv.dev_path, "%s/sys/class/infiniband_verbs/uverbs%u",
             emu.settings.dir, nic);
    emu_sysfs_device_path(&emu.settings, device->ibv.name, device->ibv.ibdev_path,
                          sizeof device->ibv.ibdev_path);
    return device;
}

static bool nic_is_there(uint32_t nic)
{
    struct emu_end end = {emu.mine->rank, (int)nic};

    return (emu.settings.visible & 1u << nic) &&
           !emu_faults_removed(&emu.settings.faults, emu_wire_now(), end);
}

/* Devices live as long as the process: a context points to its own after the list is freed. */
static struct emu_device *device_of(uint32_t nic)
{
    static struct emu_device *devices[EMU_NICS_MAX];
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    struct emu_device *device;

    pthread_mutex_lock(&mutex);
    if (!devices[nic])
        devices[nic] = make_device(nic);
    device = devices[nic];
    pthread_mutex_unlock(&mutex);
    return device;
}

static struct ibv_device **refuse_list(int error, int *count)
{
    if (count)
        *count = 0;
    errno = error;
    return NULL;
}

struct ibv_device **ibv_get_device_list(int *count)
{
    struct ibv_device **list;
    int rc = emu_fabric_join(), n = 0;

    if (!rc)
        rc = emu_sysfs_make(&emu.settings);
    if (rc)
        return refuse_list(-rc, count);
    list = calloc(EMU_NICS_MAX + 1, sizeof *list);
    if (!list)
        return refuse_list(ENOMEM, count);
    for (uint32_t nic = 0; nic < emu.settings.nnics; nic++) {
        struct emu_device *device = nic_is_there(nic) ? device_of(nic) : NULL;

        if (device)
            list[n++] = &device->ibv;
    }
    if (count)
        *count = n;
    return list;
}

void ibv_free_device_list(struct ibv_device **list)
{
    free(list);
}

const char *ibv_get_device_name(struct ibv_device *device)
{
    return device->name;
}

__be64 ibv_get_device_guid(struct ibv_device *device)
{
    return ((struct emu_device *)device)->nic + 1;
}

static int query_port(struct ibv_context *context, uint8_t port, struct ibv_port_attr *attr, size_t size)
{
    uint32_t nic = emu_context_of(context)->nic;
    struct ibv_port_attr full = {
        .state = nic_is_there(nic) ? IBV_PORT_ACTIVE : IBV_PORT_DOWN,
        .max_mtu = IBV_MTU_4096,
        .active_mtu = IBV_MTU_4096,
        .gid_tbl_len = 1,
        .pkey_tbl_len = 1,
        .max_msg_sz = EMU_MESSAGE_MAX,
        .active_width = 2, /* 4x */
        .active_speed = emu.settings.profile->gbps >= 200 ? 64 : 32,
        .phys_state = 5,
        .link_layer = IBV_LINK_LAYER_UNSPECIFIED,
    };

    if (port != 1)
        return EINVAL;
    memset(attr, 0, size);
    memcpy(attr, &full, size < sizeof full ? size : sizeof full);
    return 0;
}

/* The symbol is that of the first ABI: the structure without what was added behind. */
int ibv_query_port(struct ibv_context *context, uint8_t port, struct _compat_ibv_port_attr *attr)
{
    return query_port(context, port, (struct ibv_port_attr *)attr,
                      offsetof(struct ibv_port_attr, link_layer) + 2);
}

int ibv_query_device(struct ibv_context *context, struct ibv_device_attr *attr)
{
    uint32_t nic = emu_context_of(context)->nic;

    *attr = (struct ibv_device_attr){
        .node_guid = nic + 1,
        .max_mr_size = 1ull << 46,
        .page_size_cap = ~4095ull,
        .vendor_id = AMAZON,
        .vendor_part_id = emu.settings.profile->part_id,
        .max_qp = EMU_QPS_PER_NIC - 1,
        .max_qp_wr = EMU_RQ_DEPTH,
        .max_sge = EMU_SQ_SGES,
        .max_sge_rd = 1,
        .max_cq = EMU_CQS_MAX / EMU_NICS_MAX,
        .max_cqe = EMU_CQ_DEPTH,
        .max_mr = EMU_MRS_MAX,
        .max_pd = 256,
        .max_ah = (int)emu.settings.handles,
        .phys_port_cnt = 1,
    };
    snprintf(attr->fw_ver, sizeof attr->fw_ver, "emulated");
    return 0;
}

static int query_device_ex(struct ibv_context *context, const struct ibv_query_device_ex_input *input,
                           struct ibv_device_attr_ex *attr, size_t size)
{
    (void)input;
    memset(attr, 0, size);
    return ibv_query_device(context, &attr->orig_attr);
}

int ibv_query_gid(struct ibv_context *context, uint8_t port, int index, union ibv_gid *gid)
{
    if (port != 1 || index) {
        errno = EINVAL;
        return -1;
    }
    emu_gid_make(emu.mine->slot, emu_context_of(context)->nic, gid);
    return 0;
}

int ibv_query_pkey(struct ibv_context *context, uint8_t port, int index, __be16 *pkey)
{
    (void)context;
    (void)port;
    (void)index;
    *pkey = 0xffff;
    return 0;
}

static struct ibv_cq_ex *create_cq_ex(struct ibv_context *context, struct ibv_cq_init_attr_ex *attr)
{
    return emu_cq_create(context, attr);
}

static struct ibv_qp *create_qp_ex(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr)
{
    if (attr->qp_type == IBV_QPT_UD)
        return emu_qp_create(context, attr, 0);
    errno = EOPNOTSUPP;
    return NULL;
}

struct ibv_context *ibv_open_device(struct ibv_device *device)
{
    struct emu_context *context = emu_fabric_usable() ? calloc(1, sizeof *context) : NULL;

    if (!context)
        return NULL;
    context->nic = ((struct emu_device *)device)->nic;
    context->verbs.sz = sizeof context->verbs;
    context->verbs.query_port = query_port;
    context->verbs.query_device_ex = query_device_ex;
    context->verbs.create_cq_ex = create_cq_ex;
    context->verbs.create_qp_ex = create_qp_ex;
    context->verbs.context = (struct ibv_context){.device = device,
                                                  .cmd_fd = -1,
                                                  .async_fd = -1,
                                                  .num_comp_vectors = 1,
                                                  .abi_compat = __VERBS_ABI_IS_EXTENDED};
    context->verbs.context.ops.post_send = emu_qp_post_send;
    context->verbs.context.ops.post_recv = emu_qp_post_recv;
    context->verbs.context.ops.poll_cq = emu_cq_poll;
    context->verbs.context.ops.req_notify_cq = emu_cq_arm;
    pthread_mutex_init(&context->verbs.context.mutex, NULL);
    return &context->verbs.context;
}

int ibv_close_device(struct ibv_context *context)
{
    free(emu_context_of(context));
    return 0;
}

/* No page is pinned: nothing needs protection from fork(). */
int ibv_fork_init(void)
{
    return 0;
}

enum ibv_fork_status ibv_is_fork_initialized(void)
{
    return IBV_FORK_UNNEEDED;
}
