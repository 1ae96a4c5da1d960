"""The version that is installed."""

from importlib import metadata

__version__ = metadata.version("paraform")
