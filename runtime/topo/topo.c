/* SPDX-License-Identifier: BSD-3-Clause */
/* Knows how to find NICs and GPUs in hwloc's tree. */
#include "runtime/topo/topo.h"

#include "runtime/base/err.h"
#include "runtime/base/log.h"

#include <hwloc.h>
#include <string.h>

#define VENDOR_NVIDIA 0x10de
#define CLASS_DISPLAY 0x03 /* PCI base class: display controllers, 3D ones too */

static int numa_of(hwloc_obj_t obj)
{
    while (obj && !obj->nodeset)
        obj = obj->parent;
    return obj ? hwloc_bitmap_first(obj->nodeset) : -1;
}

static void describe(struct wsh_topo_dev *dev, hwloc_obj_t pci, const char *name)
{
    const struct hwloc_pcidev_attr_s *at = &pci->attr->pcidev;

    snprintf(dev->name, sizeof dev->name, "%s", name ? name : "");
    snprintf(dev->pci, sizeof dev->pci, "%04x:%02x:%02x.%x", at->domain & 0xffff, at->bus, at->dev, at->func);
    dev->numa = numa_of(pci);
}

static hwloc_obj_t pci_of(hwloc_obj_t obj)
{
    while (obj && obj->type != HWLOC_OBJ_PCI_DEVICE)
        obj = obj->parent;
    return obj;
}

static void find_nics(struct wsh_topo *topo, hwloc_topology_t tree)
{
    for (hwloc_obj_t os = NULL; (os = hwloc_get_next_osdev(tree, os)) && topo->n_nics < WSH_TOPO_NICS;)
        if (os->attr->osdev.type == HWLOC_OBJ_OSDEV_OPENFABRICS && pci_of(os))
            describe(&topo->nic[topo->n_nics++], pci_of(os), os->name);
}

static void find_gpus(struct wsh_topo *topo, hwloc_topology_t tree)
{
    for (hwloc_obj_t pci = NULL; (pci = hwloc_get_next_pcidev(tree, pci)) && topo->n_gpus < WSH_TOPO_GPUS;)
        if (pci->attr->pcidev.vendor_id == VENDOR_NVIDIA && pci->attr->pcidev.class_id >> 8 == CLASS_DISPLAY)
            describe(&topo->gpu[topo->n_gpus++], pci, pci->name);
}

static int count(hwloc_topology_t tree, hwloc_obj_type_t type)
{
    int n = hwloc_get_nbobjs_by_type(tree, type);

    return n < 0 ? 0 : n;
}

int wsh_topo_load(struct wsh_topo *topo, const char *xml)
{
    hwloc_topology_t tree;

    memset(topo, 0, sizeof *topo);
    if (hwloc_topology_init(&tree))
        return -ENOMEM;
    hwloc_topology_set_io_types_filter(tree, HWLOC_TYPE_FILTER_KEEP_ALL);
    if ((xml && hwloc_topology_set_xml(tree, xml)) || hwloc_topology_load(tree)) {
        wsh_error("cannot read the machine's topology%s%s: %s", xml ? " from " : "", xml ? xml : "",
                  wsh_strerror(errno));
        hwloc_topology_destroy(tree);
        return -EINVAL;
    }
    topo->packages = count(tree, HWLOC_OBJ_PACKAGE);
    topo->cores = count(tree, HWLOC_OBJ_CORE);
    topo->pus = count(tree, HWLOC_OBJ_PU);
    topo->numa_nodes = count(tree, HWLOC_OBJ_NUMANODE);
    find_nics(topo, tree);
    find_gpus(topo, tree);
    hwloc_topology_destroy(tree);
    return 0;
}
