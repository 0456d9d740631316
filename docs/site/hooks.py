# SPDX-License-Identifier: BSD-3-Clause
"""mkdocs' hooks: anchors of headings as forges make them, so that links hold in both."""

import re
from typing import Any


def slug(text: str, separator: str = "-") -> str:
    """`What's there` becomes `whats-there`."""
    kept = re.sub(r"[^\w\- ]", "", text.strip().lower())
    return kept.replace(" ", separator)


def on_config(config: Any, **_: Any) -> Any:
    config["mdx_configs"].setdefault("toc", {})["slugify"] = slug
    return config
