"""Texts beside those that they are nearest to: pairs of near vectors, and duplicates."""
