"""The page that `paraform demo` shows: what the embedded models do, in a browser, on this machine alone.

`answers` asks the models, as anybody may: by `paraform` itself. `server` has the page and its addresses, over the same
server that `paraform serve` is.
"""
