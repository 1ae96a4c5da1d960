"""Estimators for latent-variable models of text, which are bounds when they say that they are."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
