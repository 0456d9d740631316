/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * THE table of settings: one row each, nothing else reads the environment.
 *   WSH_ENV(field, kind, "NAME", "default", "aliases", "help")
 * kind: STR (const char *, NULL when empty), BOOL (bool), INT (long), SIZE (size_t bytes, suffixes
 * k m g t and fractions), SECONDS (double), or ENUM(words) with the words separated by '|' (int: index).
 * INT(1..8) has limits, SIZE(16k) a least, STR(file) must be a file that can be read.
 * Aliases are separated by spaces; SMA_<name> is accepted for every SHMEM_<name> without being listed.
 * Rows whose help begins with "internal" are written by oshrun and not shown by default.
 */
WSH_ENV(version, BOOL, "SHMEM_VERSION", "0", "",
        "print the version of the library at start")
WSH_ENV(info, BOOL, "SHMEM_INFO", "0", "NVSHMEM_INFO", "print every setting at start")
WSH_ENV(symmetric_size, SIZE(4k), "SHMEM_SYMMETRIC_SIZE", "1G", "NVSHMEM_SYMMETRIC_SIZE SHMEM_SYMMETRIC_HEAP_SIZE",
        "bytes of symmetric heap per PE (reserved at start; memory is taken by shmem_malloc)")
WSH_ENV(device_size, SIZE, "SHMEM_DEVICE_SYMMETRIC_SIZE", "1G", "NVSHMEM_SYMMETRIC_SIZE",
        "bytes of symmetric device memory per PE that the first call which asks for device memory allocates; "
        "more is added as it is asked for")
WSH_ENV(device_max, SIZE, "SHMEM_DEVICE_SYMMETRIC_MAX", "0", "NVSHMEM_MAX_MEMORY_PER_GPU",
        "bytes that the device heap of a PE may grow to (0 = the memory of its GPU)")
WSH_ENV(free_later, BOOL, "SHMEM_FREE_LATER", "0", "",
        "shmem_free, shmemx_free_device and nvshmem_free meet nobody, as shmemx_free_later: for programs that call "
        "them in destructors; memory is free when all PEs have freed it. Deprecated: goes with version 0.2")
WSH_ENV(nvidia_code, BOOL, "SHMEM_NVIDIA_DEVICE_CODE", "0", "",
        "start programs in which NVIDIA's library of device code is linked, as torch with its NVSHMEM backend: "
        "routines of the host and on streams serve them, but their own kernels that call NVSHMEM fail")
WSH_ENV(disable_vmm, BOOL, "SHMEM_DISABLE_CUDA_VMM", "0", "NVSHMEM_DISABLE_CUDA_VMM",
        "share device memory with peers through CUDA IPC instead of the driver's virtual memory management")
WSH_ENV(device_pull, BOOL, "SHMEM_DEVICE_PULL", "1", "",
        "waiting kernels apply operations that arrive from other hosts for their device memory; 0: the CUDA "
        "driver copies them")
WSH_ENV(debug, STR, "SHMEM_DEBUG", "", "NVSHMEM_DEBUG",
        "what to print: warn, info, trace, and subsystems INIT,COLL,P2P,PROXY,TRANSPORT,MEM,BOOTSTRAP,TOPO; "
        "check: examine the arguments of every call, and find collectives that do not match")
WSH_ENV(debug_file, STR, "SHMEM_DEBUG_FILE", "", "NVSHMEM_DEBUG_FILE",
        "file for info and trace lines; %h = host name, %p = process id")
WSH_ENV(backtrace, ENUM(execinfo|gdb|none), "SHMEM_BACKTRACE", "execinfo", "",
        "what is printed of a PE that crashes, unless the program handles the signal itself: execinfo (the routine and "
        "the program's calls that led there, with lines if it was compiled with -g and addr2line is installed), gdb "
        "(also what gdb prints of all threads) or none")
WSH_ENV(trace, STR, "SHMEM_TRACE", "", "",
        "file into which libwarpshmem-trace.so, which has to be preloaded (oshrun --trace FILE does both), writes what "
        "all PEs did and when, for ui.perfetto.dev")
WSH_ENV(nvtx, BOOL, "SHMEM_NVTX", "0", "",
        "1: each call is an NVTX range of the domain warpshmem, for Nsight Systems; by libwarpshmem-trace.so, which "
        "has to be preloaded (oshrun --nvtx does both)")
WSH_ENV(trace_events, INT(1024..1000000000), "SHMEM_TRACE_EVENTS", "262144", "",
        "events of 32 bytes of each PE that a trace keeps, the latest ones; rounded up to a power of two")
WSH_ENV(strict, BOOL, "SHMEM_STRICT", "0", "",
        "make every fallback to something slower an error")
WSH_ENV(bootstrap, ENUM(auto|pmix|pmi|single), "SHMEM_BOOTSTRAP", "auto", "",
        "how PEs find each other: auto, pmix (oshrun, srun --mpi=pmix, mpirun), pmi (PMI-1 and PMI-2: "
        "MPICH's mpiexec.hydra, srun --mpi=pmi2) or single (one PE)")
WSH_ENV(mpi_plugin, STR, "SHMEM_BOOTSTRAP_MPI_PLUGIN", "", "",
        "shared object, built with the program's mpicc, by which shmemx_init_attr starts from an MPI communicator "
        "(empty = libwarpshmem_bootstrap_mpi.so in the folder of the library)")
WSH_ENV(uid_ifname, STR, "SHMEM_BOOTSTRAP_UID_IFNAME", "", "NVSHMEM_BOOTSTRAP_UID_SOCK_IFNAME",
        "interfaces where whoever makes a unique id listens for the other PEs: beginnings of names, separated by "
        "commas; a leading = means whole names, a leading ^ all but these (empty = the default route's, then others "
        "that are no bridges of containers)")
WSH_ENV(uid_family, ENUM(AF_UNSPEC|AF_INET|AF_INET6), "SHMEM_BOOTSTRAP_UID_FAMILY", "AF_UNSPEC",
        "NVSHMEM_BOOTSTRAP_UID_SOCK_FAMILY", "addresses of these interfaces: AF_INET (IPv4), AF_INET6 or both")
WSH_ENV(uid_seconds, SECONDS, "SHMEM_BOOTSTRAP_UID_SECONDS", "60", "",
        "seconds that PEs started by a unique id wait for its root, and for each other, to come (0 = one year)")
WSH_ENV(uid_secret, STR, "SHMEM_BOOTSTRAP_UID_SECRET", "", "",
        "a random word of 16 characters or more, the same on all PEs, or file: and the path of a file of mode 0600 "
        "that has it: the Python package's stores then carry the unique id so that only who knows the word reads it")
WSH_ENV(transports, STR, "SHMEM_TRANSPORTS", "", "",
        "transports that may be used: local,nvlink,efa,stage (empty = all)")
WSH_ENV(transports_static, STR, "SHMEM_TRANSPORTS_STATIC", "", "",
        "transports for static data alone, where it is to take another path than the heap, as some tests "
        "want (empty = SHMEM_TRANSPORTS)")
WSH_ENV(hmem, ENUM(auto|on|off), "SHMEM_HMEM", "auto", "",
        "let NICs read and write device memory directly, if libfabric's provider can (FI_HMEM): auto (if "
        "there is an NVIDIA driver), on (ask the provider in any case) or off (device memory of other hosts "
        "is reached through host memory)")
WSH_ENV(provider, STR, "SHMEM_LIBFABRIC_PROVIDER", "", "NVSHMEM_LIBFABRIC_PROVIDER SHMEM_OFI_PROVIDER",
        "libfabric provider of the efa transport, for example efa, tcp, shm (empty = the best that is found)")
WSH_ENV(domain, STR, "SHMEM_LIBFABRIC_DOMAIN", "", "SHMEM_OFI_DOMAIN",
        "libfabric domain (NIC) of the efa transport, which then uses no other (empty = those that "
        "SHMEM_NICS* choose, or the first)")
WSH_ENV(interface, STR, "SHMEM_INTERFACE", "", "",
        "where PEs listen when the network is sockets: names of interfaces, addresses or networks such as 10.0.0.0/8, "
        "separated by commas (empty = loopback where all PEs are on one machine, else the first that others reach)")
WSH_ENV(nics, STR, "SHMEM_NICS", "", "NVSHMEM_HCA_LIST",
        "NICs that may be used: names or PCI addresses, separated by commas; * and ? are wildcards; a "
        "leading ^ means all but these (empty = all)")
WSH_ENV(nics_exclude, STR, "SHMEM_NICS_EXCLUDE", "", "",
        "NICs that may not be used, in the form of SHMEM_NICS")
WSH_ENV(nics_per_pe, INT(0..8), "SHMEM_NICS_PER_PE", "0", "NVSHMEM_LIBFABRIC_MAX_NIC_PER_PE",
        "number of NICs of each PE, 1 to 8 (0 = those nearest to its GPU or processors, divided among the "
        "PEs of the host)")
WSH_ENV(endpoint_sets, ENUM(auto|1|2|3|4), "SHMEM_ENDPOINT_SETS", "auto", "SHMEM_LANES",
        "number of independent sets of endpoints that each PE has on its NICs, 1 to 4: threads whose "
        "contexts use different sets do not wait for each other. auto: with SHMEM_THREAD_MULTIPLE one for "
        "each processor of the PE, with several proxy threads one for each of them, at most 4; else 1")
WSH_ENV(peers_at_start, INT, "SHMEM_PEERS_AT_START", "64", "",
        "jobs of at most so many PEs prepare the way to every PE at the start, larger ones to a PE of another host at "
        "its first use, which saves memory and time (with PMIx; else all at the start)")
WSH_ENV(nics_policy, ENUM(adaptive|fixed|roundrobin), "SHMEM_NICS_POLICY", "adaptive", "",
        "how a PE with several NICs uses them: adaptive (each operation by the NIC with the fewest bytes in "
        "progress, large ones in pieces by every NIC that has room), fixed (large ones in equal pieces, one "
        "per NIC) or roundrobin (each operation whole, NICs in turn)")
WSH_ENV(gpu_pes, INT(0..4096), "SHMEM_GPU_PES", "0", "",
        "PEs, those of other jobs too, that use a GPU at the same time under MPS: none takes more than this "
        "part of it for kernels whose blocks wait for other PEs (0 = those of the job)")
WSH_ENV(pe_gpu, STR, "SHMEM_PE_GPU", "", "",
        "GPU to which the NICs of a PE should be near: numbers or PCI addresses separated by commas, one "
        "for each PE of a host in turn, or none (empty = by CUDA_VISIBLE_DEVICES and the number of the PE "
        "on its host)")
WSH_ENV(topology, STR(file), "SHMEM_TOPOLOGY", "", "",
        "hwloc XML file, as lstopo writes it, that describes the machine (empty = examine the machine "
        "itself)")
WSH_ENV(static_data, ENUM(auto|on|off), "SHMEM_STATIC", "auto", "",
        "make global and static variables of the program remotely accessible: auto (if the executable, or a library "
        "that it needs, is linked with this library, which interpreters such as python are not), on or off")
WSH_ENV(core_dump, ENUM(own|none|all), "SHMEM_CORE_DUMP", "own", "",
        "symmetric memory that a core dump of a PE holds: own (its variables, and of its heap what shmem_malloc has "
        "taken), none (its variables alone) or all (the whole heap, and those of the other PEs of the host, for which "
        "the kernel takes as much memory while it writes them). Static arrays of more than 64 MiB that were untouched "
        "at shmem_init are there with all alone")
WSH_ENV(huge_pages, ENUM(auto|on|off), "SHMEM_HUGE_PAGES", "auto", "",
        "huge pages for the symmetric heap: auto (ask for transparent ones), on (2 MiB hugetlb pages; an "
        "error if there are none) or off")
WSH_ENV(progress, ENUM(auto|thread|call), "SHMEM_PROGRESS", "auto", "",
        "what serves peers of the network while the program computes: auto (one thread, which sleeps while "
        "the program itself waits in the library), thread (a thread for each set of endpoints, which never "
        "sleeps for that reason) or call (no thread: peers wait until the program calls the library, which "
        "the specification does not allow). The threads run near the NICs; with auto only if the program "
        "may use all processors there")
WSH_ENV(proxy, ENUM(auto|on|off), "SHMEM_PROXY", "auto", "",
        "threads that execute what kernels ask for in memory that their GPU does not reach, and their "
        "atomics in host memory: auto (if some PE is on another host), on, or off (such calls of kernels "
        "are refused)")
WSH_ENV(gda, ENUM(auto|on|off), "SHMEM_GDA", "auto", "",
        "kernels write puts and gets into the queues of NICs themselves, without a CPU: auto (where GPU, NICs and "
        "drivers can: p5en and p6 instances; `warpshmem-info --check` lists what it takes), on (an error where they "
        "cannot) or off (all goes by the proxy)")
WSH_ENV(gda_queues, INT, "SHMEM_GDA_QUEUES", "0", "",
        "queues of NICs that kernels of a PE write themselves: a power of two up to 32 (0 = 8, fewer where many PEs "
        "share a NIC); blocks are distributed over them")
WSH_ENV(gda_inline, ENUM(auto|on|off), "SHMEM_GDA_INLINE", "auto", "",
        "p and blocking puts of up to 80 bytes of kernels carry their data in the request to the NIC, in further "
        "queues for such requests (one for every four of SHMEM_GDA_QUEUES): auto (where the NICs have such requests), "
        "on (an error where they have not) or off")
WSH_ENV(proxy_threads, INT(1..8), "SHMEM_PROXY_THREADS", "1", "",
        "threads of the proxy, 1 to 8, which run near the NICs; target PEs are divided among them, so a PE "
        "that talks to few others needs few")
WSH_ENV(proxy_rings, INT(1..16), "SHMEM_PROXY_RINGS", "8", "",
        "queues from kernels to each thread of the proxy, 1 to 16; blocks are distributed over them")
WSH_ENV(queues, INT(0..4096), "SHMEM_QUEUES", "0", "NVSHMEM_IBGDA_NUM_RC_PER_PE",
        "queues of kernels that there are from the start, at most 4096; programs make more by "
        "nvshmemx_qp_create or shmemx_queue_create")
WSH_ENV(spin_us, INT, "SHMEM_SPIN_US", "-1", "",
        "microseconds that a wait spins before it yields the core (-1 = by the number of PEs and cores)")
WSH_ENV(hang_seconds, SECONDS, "SHMEM_HANG_SECONDS", "60", "",
        "seconds after which a PE reports what it waits for in init, barrier, quiet or wait (0 = never)")
WSH_ENV(stats, BOOL, "SHMEM_STATS", "0", "",
        "count puts, gets and atomics of every PE too, and print a table of at most 30 lines at shmem_finalize: bytes, "
        "rates, the longest waits and for whom they were")
WSH_ENV(stats_file, STR, "SHMEM_STATS_FILE", "", "",
        "file of JSON for the figures of all PEs, which PE 0 writes at shmem_finalize and perftest/plot draws; %j = "
        "number of the job, %h = host name, %p = process id")
WSH_ENV(metrics_file, STR, "SHMEM_METRICS_FILE", "", "",
        "file of metrics of each PE in Prometheus' text format, for node_exporter's textfile collector; %j = number of "
        "the job, %h = host name, %p = process id, which it must have; removed at the end")
WSH_ENV(metrics_seconds, SECONDS, "SHMEM_METRICS_SECONDS", "10", "",
        "seconds between two times that SHMEM_METRICS_FILE is written")
WSH_ENV(sync_linear_max, INT, "SHMEM_SYNC_LINEAR_MAX", "32", "",
        "most PEs of one host that meet in one step of a barrier, in which each reads the words of all others; more "
        "meet in several steps of at most so many each (with fewer cores than PEs always in one)")
WSH_ENV(team_memory, SIZE(16k), "SHMEM_TEAM_MEMORY", "4M", "",
        "bytes of symmetric memory per PE, beside the heap, for teams (a team of 8 PEs takes 16 to 19 KiB)")
WSH_ENV(counters, INT(8..65536), "SHMEM_COUNTERS", "16384", "",
        "counters of counted puts that a PE can have at a time, at most 65536; 16 bytes each")
WSH_ENV(nic_counters, INT, "SHMEM_NIC_COUNTERS", "-1", "",
        "counters of counted puts that NICs count for each PE, at most 256, each by a queue pair of every NIC of the "
        "PE; CPUs count for the others (-1 = as many as half of the NICs' queue pairs allow, at most 32; 0 where NICs "
        "keep no counters)")
WSH_ENV(device_epoch, INT, "SHMEM_DEVICE_EPOCH", "0", "",
        "internal: number of the last collective before a team's first one in kernels, to test where numbers wrap")
WSH_ENV(node_emulated, INT, "SHMEM_NODE_EMULATED", "-1", "",
        "internal: number of the emulated node of this PE (oshrun --nodes-emulated)")
WSH_ENV(on_pe_failure, ENUM(abort|continue), "SHMEM_ON_PE_FAILURE", "abort", "",
        "what the failure of a PE means for the others: abort (the job ends) or continue (they go on)")
WSH_ENV(failure_lease, SECONDS, "SHMEM_FAILURE_LEASE", "5", "",
        "where PEs go on without one that has failed: seconds (at least 0.5) without word of the job's root after "
        "which a PE ends; after twice as many without word of a PE the root takes it for failed")
WSH_ENV(oshrun_file, STR, "SHMEM_OSHRUN_FILE", "", "",
        "internal: file through which the PEs of oshrun tell each other their addresses")
WSH_ENV(oshrun_pid, INT, "SHMEM_OSHRUN_PID", "-1", "", "internal: process id of the oshrun that started this PE")
WSH_ENV(oshrun_stats, INT, "SHMEM_OSHRUN_STATS", "-1", "",
        "internal: descriptor of the pages on which the PEs of oshrun show what they do")
