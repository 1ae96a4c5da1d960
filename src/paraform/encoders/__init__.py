"""Pretrained text encoders by name: hub id, folder, or the offline MiniLM."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
