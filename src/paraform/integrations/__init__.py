"""paraform inside other libraries: a module for each, which imports that library and is imported by nothing else here.

Rewordings of a column need none: `paraform.reworder().column("text")`.
"""
