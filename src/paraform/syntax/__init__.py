"""Words, tags, trees, and the exemplars found by them.

Everything is imported when it is first asked for: a tag needs no compiler, as the search does.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
