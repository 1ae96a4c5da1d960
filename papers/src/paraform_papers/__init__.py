"""The laboratory beside paraform: tables of four papers, their rivals, and how the embedded models are made.

Everything is imported when it is first asked for; `paraform` finds the systems and the command by entry points.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
