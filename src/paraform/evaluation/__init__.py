"""Metrics that carry their settings. Evaluation knows callables and no model class."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
