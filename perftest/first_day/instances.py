# SPDX-License-Identifier: BSD-3-Clause
"""Rates of the NICs of AWS's instances with EFA and GPUs."""

# name: Gb/s of a NIC, as AWS publishes them
INSTANCES = {
    "p4d.24xlarge": 100,
    "p4de.24xlarge": 100,
    "p5.48xlarge": 100,
    "p5en.48xlarge": 200,
    "p6-b200.48xlarge": 400,
    "p6-b300.48xlarge": 400,
    "g5.48xlarge": 100,
}


def instance_name(path="/sys/devices/virtual/dmi/id/product_name"):
    """The instance's type, as its firmware says."""
    try:
        with open(path, encoding="ascii", errors="replace") as file:
            return file.read().strip() or "unknown"
    except OSError:
        return "unknown"
