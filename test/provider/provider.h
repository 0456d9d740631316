/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A libfabric provider inside a program: what all of them have alike, objects and descriptions. A program has one: it
 * defines `provider`, and is linked with --wrap=wsh_efa_lib_open and --wrap=wsh_topo_load, which lead the efa transport
 * here instead of to libfabric and to the machine's NICs.
 */
#ifndef WSH_TEST_PROVIDER_PROVIDER_H
#define WSH_TEST_PROVIDER_PROVIDER_H

#include <arpa/inet.h>
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>

#include <stddef.h>
#include <stdint.h>

/* What libfabric knows of an object comes first. */
struct provider_object {
    union {
        struct fid fid;
        struct fid_fabric fabric;
        struct fid_domain domain;
        struct fid_cq cq;
        struct fid_eq eq;
        struct fid_av av;
        struct fid_ep ep;
        struct fid_mr mr;
    } as;
    unsigned nic;
    struct provider_object *queue; /* an endpoint's */
};

/* An endpoint's description, in one piece but for the two names that hints bring. */
struct provider_info {
    struct fi_info info;
    struct fi_tx_attr tx;
    struct fi_rx_attr rx;
    struct fi_ep_attr ep;
    struct fi_domain_attr domain;
    struct fi_fabric_attr fabric;
    struct fid_nic nic;
    struct fi_device_attr device;
    struct fi_bus_attr bus;
    struct sockaddr_in address;
    char device_name[16], fabric_name[8];
    unsigned number; /* of the NIC */
};

/* What one provider has of its own. */
struct provider {
    struct fi_ops_msg message;
    struct fi_ops_rma rma;
    struct fi_ops_cq queue;
    struct fi_ops_eq events;
    struct fi_ops_cm name;
    struct fi_ops_av address;
    struct fi_ops_mr region;
    size_t queue_size; /* bytes of a queue, which begins with struct provider_object */
    /* Either may be NULL. */
    void (*queue_opened)(struct provider_object *queue);
    void (*queue_closing)(struct provider_object *queue);
    unsigned (*nics)(void);
    int (*getinfo)(uint32_t version, const char *node, const char *service, uint64_t flags,
                   const struct fi_info *hints, struct fi_info **list);
    const char *(*error)(int err);
};

extern const struct provider provider;

/* Objects that are open. */
extern unsigned provider_objects;

/* A new object of a class of libfabric's (FI_CLASS_…) and of `size` bytes, zeroed but for what stands above. */
struct provider_object *provider_object_new(size_t size, size_t class, unsigned nic);

unsigned provider_nic(const void *object);

/* A description of an endpoint of a NIC, by this name of its provider. */
struct provider_info *provider_info_new(const char *name, unsigned nic);

int provider_fabric_open(struct fi_fabric_attr *attr, struct fid_fabric **fabric, void *context);

#endif
