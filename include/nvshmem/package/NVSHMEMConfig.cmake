# SPDX-License-Identifier: BSD-3-Clause
# CMake package NVSHMEM: targets nvshmem::nvshmem, nvshmem::nvshmem_host and nvshmem::nvshmem_device, all of them the
# headers of this folder, libnvshmem_host and libwarpshmem. Found by CMAKE_PREFIX_PATH or NVSHMEM_ROOT, which name the
# folder above lib/.

get_filename_component(NVSHMEM_HOME "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
get_filename_component(_wsh_libdir "${NVSHMEM_HOME}/../.." ABSOLUTE)
set(NVSHMEM_INCLUDE_DIRS "${NVSHMEM_HOME}/include")

foreach(_wsh_file "${_wsh_libdir}/libwarpshmem.so" "${NVSHMEM_HOME}/lib/libnvshmem_host.so.3")
    if(NOT EXISTS "${_wsh_file}")
        set(NVSHMEM_FOUND FALSE)
        set(NVSHMEM_NOT_FOUND_MESSAGE "there is no ${_wsh_file}: install warpshmem as a whole")
        return()
    endif()
endforeach()
unset(_wsh_file)

if(NOT TARGET warpshmem::warpshmem)
    add_library(warpshmem::warpshmem SHARED IMPORTED)
    set_target_properties(warpshmem::warpshmem PROPERTIES IMPORTED_LOCATION "${_wsh_libdir}/libwarpshmem.so")
endif()

if(NOT TARGET nvshmem::nvshmem_host)
    add_library(nvshmem::nvshmem_host SHARED IMPORTED)
    set_target_properties(nvshmem::nvshmem_host PROPERTIES
        IMPORTED_LOCATION "${NVSHMEM_HOME}/lib/libnvshmem_host.so.3"
        IMPORTED_SONAME libnvshmem_host.so.3
        INTERFACE_INCLUDE_DIRECTORIES "${NVSHMEM_INCLUDE_DIRS}"
        INTERFACE_LINK_LIBRARIES warpshmem::warpshmem)
endif()

foreach(_wsh_target nvshmem nvshmem_device)
    if(NOT TARGET nvshmem::${_wsh_target})
        add_library(nvshmem::${_wsh_target} INTERFACE IMPORTED)
        set_target_properties(nvshmem::${_wsh_target} PROPERTIES
            INTERFACE_INCLUDE_DIRECTORIES "${NVSHMEM_INCLUDE_DIRS}"
            INTERFACE_LINK_LIBRARIES nvshmem::nvshmem_host)
    endif()
endforeach()

# Collectives of CUDA sources with CUDA_SEPARABLE_COMPILATION come from the library of device code, where it was compiled
# (make device-library): else it is an archive with nothing in it.
set(_wsh_archive "${NVSHMEM_HOME}/lib/libnvshmem_device.a")
set(_wsh_size 0)
if(EXISTS "${_wsh_archive}")
    file(SIZE "${_wsh_archive}" _wsh_size)
endif()
if(_wsh_size GREATER 100000 AND NOT TARGET warpshmem::device)
    add_library(warpshmem::device STATIC IMPORTED)
    set_target_properties(warpshmem::device PROPERTIES
        IMPORTED_LOCATION "${_wsh_archive}"
        INTERFACE_COMPILE_DEFINITIONS $<$<COMPILE_LANGUAGE:CUDA>:SHMEMX_DEVICE_LIBRARY>
        INTERFACE_LINK_LIBRARIES warpshmem::warpshmem)
    foreach(_wsh_target nvshmem nvshmem_device)
        set_property(TARGET nvshmem::${_wsh_target} APPEND PROPERTY INTERFACE_LINK_LIBRARIES warpshmem::device)
    endforeach()
endif()
unset(_wsh_archive)
unset(_wsh_size)
unset(_wsh_target)
unset(_wsh_libdir)
