"""Texts, tables and pairs of any size: reworded, augmented or judged in shards, on all cores or on a Ray cluster."""
