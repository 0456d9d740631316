# SPDX-License-Identifier: BSD-3-Clause
"""Who `deep_ep` is in this process: warpshmem's package of that name, whatever lies in
site-packages, once install() has been called.

The wheel of warpshmem has each Python call plug_in() where WARPSHMEM_DEEP_EP=1, the distribution
deep-ep (python/front) has each one call front(), and frameworks call the plug-ins here in each of
their processes, so this file imports nothing that takes time.
"""

import os
import sys

NAME = "deep_ep"
HOME = "warpshmem.deep_ep"
SWITCH = "WARPSHMEM_DEEP_EP"
COMMAND = "pip install the front of warpshmem's deep_ep (docs/guide/deep-ep.md)"


class _Loader:
    """Loads a module of ours under its other name: it is the same one."""

    def __init__(self, real):
        self.real, self.spec = real, None

    def create_module(self, spec):
        import importlib

        module = importlib.import_module(self.real)
        self.spec = module.__spec__
        return module

    def exec_module(self, module):
        module.__spec__ = self.spec  # the import has put that of the other name there


class Finder:
    """Finds deep_ep and its submodules in warpshmem."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        if name != NAME and not name.startswith(NAME + "."):
            return None
        import importlib.machinery
        import importlib.util

        real = HOME + name[len(NAME) :]
        try:
            found = importlib.util.find_spec(real)
        except ModuleNotFoundError as error:
            if error.name != "warpshmem":
                raise
            found = None
        if found is None:
            return None
        spec = importlib.machinery.ModuleSpec(name, _Loader(real), origin=found.origin)
        spec.submodule_search_locations = found.submodule_search_locations
        return spec


def is_ours(module):
    """Is this module of sys.modules ours?"""
    return getattr(module, "__name__", "").startswith(HOME)


def install():
    """From now on `import deep_ep` is ours. ImportError where another one is loaded already."""
    there = sys.modules.get(NAME)
    if there is not None and not is_ours(there):
        raise ImportError(
            "warpshmem: another deep_ep (%s) is loaded in this process already; import "
            "warpshmem.deep_ep.install before it, or %s"
            % (getattr(there, "__file__", None) or there, COMMAND)
        )
    if not any(isinstance(finder, Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, Finder())


def front():
    """What the distribution deep-ep calls when a Python starts; WARPSHMEM_DEEP_EP=0 forbids it."""
    if os.environ.get(SWITCH) != "0":
        install()


def plug_in():
    """What a Python with WARPSHMEM_DEEP_EP=1 calls at its start, and plug-ins call again, for
    folders of `pip install --target`. Never raises: frameworks do not catch it."""
    if os.environ.get(SWITCH) == "1":
        try:
            install()
        except ImportError as error:
            sys.stderr.write("%s\n" % error)


def sglang():
    """The plug-in of SGLang."""
    plug_in()


def vllm():
    """The plug-in of vLLM."""
    plug_in()
