"""The page that `paraform demo` shows: what the embedded models do, in a browser, on this machine alone.

`answers` asks the models, `asking` reads what a browser sent, `worker` does one thing at a time, `server` has the page
and its addresses. Everything of ours is used as anybody may: from `paraform` itself.
"""
