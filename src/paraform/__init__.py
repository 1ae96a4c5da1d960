"""What a sentence says, apart from how it says it: the public API.

Everything comes from a module of its own and is imported when it is first asked for, so that `import paraform` is
cheap and the command line can answer `--help` without torch.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
