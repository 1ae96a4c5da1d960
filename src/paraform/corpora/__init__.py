"""Readers: one per distributed format, each from a path to an iterator of records."""

from paraform.corpora.captions import read_captions
from paraform.corpora.clusters import clusters
from paraform.corpora.formats import FORMATS, read
from paraform.corpora.hub import read_dataset
from paraform.corpora.jsonl import read_jsonl, write_jsonl
from paraform.corpora.labelled import read_labelled
from paraform.corpora.pairs import read_pairs
from paraform.corpora.paranmt import read_paranmt
from paraform.corpora.qqp_pos import read_qqp_pos
from paraform.corpora.quora import read_quora
from paraform.corpora.text import read_text
from paraform.corpora.triples import read_triples

__all__ = [
    "FORMATS",
    "clusters",
    "read",
    "read_captions",
    "read_dataset",
    "read_jsonl",
    "read_labelled",
    "read_pairs",
    "read_paranmt",
    "read_qqp_pos",
    "read_quora",
    "read_text",
    "read_triples",
    "write_jsonl",
]
