# SPDX-License-Identifier: BSD-3-Clause
# The version whose names the headers have (non_abi/nvshmem_version.h); programs for an older one of its major compile.

set(PACKAGE_VERSION 3.8.0)
if(PACKAGE_FIND_VERSION_MAJOR STREQUAL "3" AND NOT PACKAGE_FIND_VERSION VERSION_GREATER PACKAGE_VERSION)
    set(PACKAGE_VERSION_COMPATIBLE TRUE)
endif()
if(PACKAGE_FIND_VERSION VERSION_EQUAL PACKAGE_VERSION)
    set(PACKAGE_VERSION_EXACT TRUE)
endif()
