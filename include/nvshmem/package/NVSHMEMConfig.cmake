# SPDX-License-Identifier: BSD-3-Clause
# CMake package NVSHMEM: targets nvshmem::nvshmem, nvshmem::nvshmem_host and nvshmem::nvshmem_device, all of them the
# headers of this folder and libwarpshmem, the first two libnvshmem_host, too. Found by CMAKE_PREFIX_PATH or
# NVSHMEM_ROOT, which name the folder above lib/.

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
            INTERFACE_LINK_LIBRARIES warpshmem::warpshmem)
    endif()
endforeach()
set_property(TARGET nvshmem::nvshmem APPEND PROPERTY INTERFACE_LINK_LIBRARIES nvshmem::nvshmem_host)
unset(_wsh_target)
unset(_wsh_libdir)
