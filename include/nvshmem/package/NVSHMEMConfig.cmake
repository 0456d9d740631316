# SPDX-License-Identifier: BSD-3-Clause
# CMake package NVSHMEM: targets nvshmem::nvshmem, nvshmem::nvshmem_host and nvshmem::nvshmem_device, all of them the
# headers of this folder and libwarpshmem. Found by CMAKE_PREFIX_PATH or NVSHMEM_ROOT, which name the folder above lib/.

get_filename_component(NVSHMEM_HOME "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
get_filename_component(_wsh_libdir "${NVSHMEM_HOME}/../.." ABSOLUTE)
set(NVSHMEM_INCLUDE_DIRS "${NVSHMEM_HOME}/include")

if(NOT EXISTS "${_wsh_libdir}/libwarpshmem.so")
    set(NVSHMEM_FOUND FALSE)
    set(NVSHMEM_NOT_FOUND_MESSAGE "there is no ${_wsh_libdir}/libwarpshmem.so: install warpshmem as a whole")
    return()
endif()

if(NOT TARGET warpshmem::warpshmem)
    add_library(warpshmem::warpshmem SHARED IMPORTED)
    set_target_properties(warpshmem::warpshmem PROPERTIES IMPORTED_LOCATION "${_wsh_libdir}/libwarpshmem.so")
endif()

foreach(_wsh_target nvshmem nvshmem_host nvshmem_device)
    if(NOT TARGET nvshmem::${_wsh_target})
        add_library(nvshmem::${_wsh_target} INTERFACE IMPORTED)
        set_target_properties(nvshmem::${_wsh_target} PROPERTIES
            INTERFACE_INCLUDE_DIRECTORIES "${NVSHMEM_INCLUDE_DIRS}"
            INTERFACE_LINK_LIBRARIES warpshmem::warpshmem)
    endif()
endforeach()
unset(_wsh_target)
unset(_wsh_libdir)
