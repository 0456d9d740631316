/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds NICs, GPUs and their locations in hwloc's tree. */
#define _GNU_SOURCE
#include "topo/topo.h"

#include "base/err.h"
#include "base/log.h"
#include "topo/hwloc_library.h"
#include "topo/read.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define VENDOR_NVIDIA 0x10de
#define CLASS_DISPLAY 0x03 /* PCI base class: display controllers, 3D ones too */

static const struct wsh_topo_location nowhere = {.numa = -1, .package = -1, .root = -1};

static int objs_count(hwloc_topology_t tree, hwloc_obj_type_t type)
{
    int depth = wsh_hwloc.get_type_depth(tree, type);

    return depth == HWLOC_TYPE_DEPTH_UNKNOWN || depth == HWLOC_TYPE_DEPTH_MULTIPLE
               ? 0
               : (int)wsh_hwloc.get_nbobjs_by_depth(tree, depth);
}

/* The others follow by next_cousin. */
static hwloc_obj_t obj_first(hwloc_topology_t tree, hwloc_obj_type_t type)
{
    return objs_count(tree, type) ? wsh_hwloc.get_obj_by_depth(tree, wsh_hwloc.get_type_depth(tree, type), 0)
                                  : NULL;
}

/* The one object of `type` whose processors include all of `set`, or NULL. */
static hwloc_obj_t obj_around(hwloc_topology_t tree, hwloc_obj_type_t type, hwloc_const_cpuset_t set)
{
    for (hwloc_obj_t obj = obj_first(tree, type); obj; obj = obj->next_cousin)
        if (obj->cpuset && wsh_hwloc.bitmap_isincluded(set, obj->cpuset))
            return obj;
    return NULL;
}

static struct wsh_topo_location location_of_set(hwloc_topology_t tree, hwloc_const_cpuset_t set)
{
    struct wsh_topo_location location = nowhere;
    hwloc_obj_t numa, package;

    if (!set || wsh_hwloc.bitmap_iszero(set))
        return location;
    numa = obj_around(tree, HWLOC_OBJ_NUMANODE, set);
    package = obj_around(tree, HWLOC_OBJ_PACKAGE, set);
    location.numa = numa ? (int)numa->os_index : -1;
    location.package = package ? (int)package->logical_index : -1;
    return location;
}

/* Devices have none of their own: those of what they hang at. */
static hwloc_const_cpuset_t cpus_of(hwloc_obj_t obj)
{
    while (obj && !obj->cpuset)
        obj = obj->parent;
    return obj ? obj->cpuset : NULL;
}

static struct wsh_topo_location location_of_pci(hwloc_topology_t tree, hwloc_obj_t pci)
{
    struct wsh_topo_location location = location_of_set(tree, cpus_of(pci));

    for (hwloc_obj_t up = pci->parent; up && up->type == HWLOC_OBJ_BRIDGE; up = up->parent) {
        if (up->attr->bridge.upstream_type == HWLOC_OBJ_BRIDGE_HOST)
            location.root = (int)up->logical_index;
        else if (location.n_bridges < WSH_TOPO_BRIDGES)
            location.bridge[location.n_bridges++] = (int)up->logical_index;
    }
    return location;
}

static void dev_describe(hwloc_topology_t tree, struct wsh_topo_dev *dev, hwloc_obj_t pci, const char *name)
{
    const struct hwloc_pcidev_attr_s *at = &pci->attr->pcidev;

    snprintf(dev->name, sizeof dev->name, "%s", name ? name : "");
    snprintf(dev->pci, sizeof dev->pci, "%04x:%02x:%02x.%x", at->domain, at->bus, at->dev, at->func);
    dev->location = location_of_pci(tree, pci);
}

static hwloc_obj_t pci_of(hwloc_obj_t obj)
{
    while (obj && obj->type != HWLOC_OBJ_PCI_DEVICE)
        obj = obj->parent;
    return obj;
}

static int by_pci(const void *a, const void *b)
{
    const struct wsh_topo_dev *left = a, *right = b;
    int order = strcmp(left->pci, right->pci);

    return order ? order : strcmp(left->name, right->name);
}

static void find_nics(struct wsh_topo *topo, hwloc_topology_t tree)
{
    hwloc_obj_t os = obj_first(tree, HWLOC_OBJ_OS_DEVICE);

    for (; os && topo->n_nics < WSH_TOPO_NICS; os = os->next_cousin)
        if (os->attr->osdev.type == HWLOC_OBJ_OSDEV_OPENFABRICS && pci_of(os))
            dev_describe(tree, &topo->nic[topo->n_nics++], pci_of(os), os->name);
    qsort(topo->nic, (size_t)topo->n_nics, sizeof topo->nic[0], by_pci);
}

static void find_gpus(struct wsh_topo *topo, hwloc_topology_t tree)
{
    hwloc_obj_t pci = obj_first(tree, HWLOC_OBJ_PCI_DEVICE);

    for (; pci && topo->n_gpus < WSH_TOPO_GPUS; pci = pci->next_cousin)
        if (pci->attr->pcidev.vendor_id == VENDOR_NVIDIA && pci->attr->pcidev.class_id >> 8 == CLASS_DISPLAY)
            dev_describe(tree, &topo->gpu[topo->n_gpus++], pci, pci->name);
    qsort(topo->gpu, (size_t)topo->n_gpus, sizeof topo->gpu[0], by_pci);
}

static void find_nodes(struct wsh_topo *topo, hwloc_topology_t tree)
{
    hwloc_obj_t node = obj_first(tree, HWLOC_OBJ_NUMANODE);

    for (int i = 0; i < WSH_TOPO_NODES && node; i++, node = node->next_cousin) {
        topo->node[i] = location_of_set(tree, node->cpuset);
        topo->node[i].numa = (int)node->os_index;
        for (unsigned cpu = 0; cpu < CPU_SETSIZE; cpu++)
            if (wsh_hwloc.bitmap_isset(node->cpuset, cpu))
                CPU_SET(cpu, &topo->cpus[i]);
    }
}

static struct wsh_topo_location find_binding(hwloc_topology_t tree)
{
    hwloc_cpuset_t set = wsh_hwloc.bitmap_alloc();
    struct wsh_topo_location location = nowhere;

    if (set && !wsh_hwloc.get_cpubind(tree, set, HWLOC_CPUBIND_PROCESS))
        location = location_of_set(tree, set);
    wsh_hwloc.bitmap_free(set);
    return location;
}

/* The driver's words for a GPU; without the driver they stay empty. */
static void query_driver(struct wsh_topo_dev *gpu)
{
    char path[64], line[128];
    FILE *file;

    snprintf(path, sizeof path, "/proc/driver/nvidia/gpus/%s/information", gpu->pci);
    file = fopen(path, "re");
    while (file && fgets(line, sizeof line, file)) {
        sscanf(line, "Model: %63[^\n]", gpu->name);
        sscanf(line, "GPU UUID: %47s", gpu->uuid);
    }
    if (file)
        fclose(file);
}

/* Parts of hwloc that start drivers or read databases; sysfs has all that is needed here. Absent ones do no harm. */
static void leave_out_parts(hwloc_topology_t tree)
{
    static const char *const parts[] = {"pci", "opencl", "cuda", "nvml", "rsmi", "levelzero", "gl"};

    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        wsh_hwloc.topology_set_components(tree, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST, parts[i]);
}

static int load_tree(hwloc_topology_t *tree, const char *xml)
{
    if (wsh_hwloc.topology_init(tree))
        return -ENOMEM;
    leave_out_parts(*tree);
    wsh_hwloc.topology_set_io_types_filter(*tree, HWLOC_TYPE_FILTER_KEEP_ALL);
    if (xml ? !wsh_hwloc.topology_set_xml(*tree, xml) && !wsh_hwloc.topology_load(*tree)
            : !wsh_hwloc.topology_load(*tree))
        return 0;
    wsh_hwloc.topology_destroy(*tree);
    if (xml)
        return -EINVAL;
    wsh_error("hwloc cannot read this machine's topology: %s; set SHMEM_TOPOLOGY to a topology XML of it",
              wsh_strerror(errno));
    return -EINVAL;
}

int wsh_topo_read(struct wsh_topo *topo, const char *xml)
{
    hwloc_topology_t tree;
    int rc;

    memset(topo, 0, sizeof *topo);
    topo->here = nowhere;
    if (wsh_hwloc_open())
        return xml ? -EINVAL : 0;
    if ((rc = load_tree(&tree, xml)))
        return rc;
    topo->packages = objs_count(tree, HWLOC_OBJ_PACKAGE);
    topo->cores = objs_count(tree, HWLOC_OBJ_CORE);
    topo->pus = objs_count(tree, HWLOC_OBJ_PU);
    topo->numa_nodes = objs_count(tree, HWLOC_OBJ_NUMANODE);
    find_nics(topo, tree);
    find_gpus(topo, tree);
    find_nodes(topo, tree);
    if (!xml)
        topo->here = find_binding(tree);
    for (int i = 0; i < topo->n_gpus && !xml; i++)
        query_driver(&topo->gpu[i]);
    wsh_hwloc.topology_destroy(tree);
    return 0;
}

void wsh_topo_locate(const struct wsh_topo *topo, struct wsh_topo_dev *nic)
{
    nic->location = nowhere;
    for (int i = 0; i < topo->n_nics; i++)
        if (!strcasecmp(topo->nic[i].pci, nic->pci) || (!*nic->pci && !strcmp(topo->nic[i].name, nic->name)))
            nic->location = topo->nic[i].location;
}
