"""Readers: one per distributed format, each from a path to an iterator of records."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
