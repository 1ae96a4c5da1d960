"""Records to tensors: vocabulary, ragged tables of ids or states, batches by length.

The last place that sees strings in training.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
