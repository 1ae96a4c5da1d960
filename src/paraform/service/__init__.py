"""Rewording, judging, embedding, parsing and searching over HTTP: one server, whether a program asks or the page."""
