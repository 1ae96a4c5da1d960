"""Slots of sentence frames, as patterns over tagged words.

A sentence is one string, so that a slot is a regular expression: of each word "word \\t tag NEWLINE". A slot stands for
words by their Penn Treebank tags:

    {v} begins with a base verb          {n} {m} a noun phrase          {b} {e} one without prepositions
    {g} one of doing, not of being       {r} one that one can be unable to, not "help" or "stand"
    {find} one of doing at a place       {ask} {o} one that can be asked for, {o} as an order
    {s} a clause: subject and verb       {c} a clause before another    {f} the same, with one finite verb
    {told} the same before "when", of which it does not tell the time
    {they} a clause, not about "I"       {ing} begins with a gerund     {done} what may happen to a card or a payment
    {q} a question before another clause, and no "do you know" or "tell me"
    {p} the rest of a predicate          {d} a participle               {a} an adjective {j} no participle, no adverb
    {aux} be, have or a modal verb, {is} be, {do} do, {dont} do not     {w} what, which, who, where, when, why, how, if
    {i} a preposition {in} but "to"      {np} {n} beside any verb       {k} a noun phrase that is no pronoun but you, it
    {h} a noun phrase, no pronoun        {l} one of many, without prepositions
    {u} a superlative                    {z} a time: two days ago, yesterday
    {t} a noun phrase, no preposition at the end                        {x} {y} anything

`{v+s}` is what `{v}` stood for in the third person, where its subject is: `take` becomes `takes`.
A form names a slot once, so `{m}` and `{e}` are second slots of the same pattern as `{n}` and `{b}`.
"""

from __future__ import annotations

import functools
import re
from typing import TypeAlias

Form: TypeAlias = tuple[str, ...]
ENDINGS = {"?", ".", "!"}


@functools.cache
def compiled(form: Form) -> re.Pattern[str]:
    """The pattern of a form, a named group for each slot, without its full stop or question mark."""
    parts = []
    for word in form:
        if word.startswith("{"):
            parts.append(f"(?P<{word[1:-1]}>{SLOTS[word[1:-1]]})")
        elif word not in ENDINGS:
            parts.append(_word(text=re.escape(word)))
    return re.compile("".join(parts), re.IGNORECASE)


def _word(tag: str = r"[^\t\n]+", text: str = r"(?![.?!;]\t)[^\t\n]+") -> str:
    return f"(?:(?:{text})\t(?:{tag})\n)"


def _verb(but: str) -> str:
    return _word("VB|VBP", rf"(?!(?:{but})\t)[^\t\n]+")


def _some(least: int) -> str:
    return f"(?:{_word()}){{{least},}}"


_NOUN = _word(r"NNP?S?|CD|ADD|FW|SYM")
_MODIFIERS = r"DT|PDT|RBS|PRP\$|CD|JJ[RS]?|NNP?S?|POS|\$|VBN|VBG|HYPH|AFX|ADD|FW"
_PLAIN = _word(_MODIFIERS) + "*?" + _NOUN
_WHOLE = f"(?!{_word('NNP?S?|CD|POS')})"  # a noun phrase does not end before one of its nouns
_PREPOSITION = _word("IN|TO", "of|for|in|on|with|from|at|to|by|about|between")
_PHRASE = f"(?:{_word('PRP|EX')}|{_PLAIN}{_WHOLE}(?:{_PREPOSITION}{_PLAIN}{_WHOLE})*)"
_FINITE = _word("VBP|VBZ|VBD|MD")
_NO_COMMA = _word(text=r"(?![,.?!;]\t)[^\t\n]+")
_NONFINITE = _word("(?!(?:VBP|VBZ|VBD|MD)\n).+", r"(?![,.?!;]\t)[^\t\n]+")
_CLAUSE = f"(?:{_PHRASE}|{_word('DT|WP|VBG')}){_some(0)}?{_FINITE}{_some(0)}"
_OPENERS, _BE, _DO = "what|which|who|where|when|why|how", "is|are|was|were", "do|does|did"
_ASKING = "know|tell|ask|say|see|check|confirm|explain|wonder|remember|understand|guess|sure|certain|out|me|us|matter"
_SURELY = r"(?!n['’]t\t|not\t)[^\t\n]+"  # an adverb that denies nothing
_WHEN = "times?|days?|moments?|years?|ages?|dates?"  # "the day when we met"
_UNITS = "minutes?|hours?|days?|weeks?|months?|years?|morning|afternoon|evening|night|while"
_STATES = "be|have|feel|look|sound|seem|smell|taste|go|like|love|hate|want|intend|plan|mean|fare|think|say|call|spell|"
_STATES += "pronounce|spend|value|expect|define|please"
_ABLE = "seem|help|wait|stand|bear|believe|imagine|think|thank|be|have|agree|care"  # "I can't seem to", "help laughing"
_NO_THING = "matter|deal|rush|hurry|hell|heck|use"  # "what is the matter"
_NO_FAVOUR = "see|enjoy|guess|suppose|imagine|bless|damn|mind|wish|hope|love|believe|trust|never|not|look|god"
_ADVICE = "keep|stay|prepare|avoid|beware|expect|skip|try|go|think|consider|agree|disagree"  # no order, by itself
_PLACED = (
    "find|buy|report|apply|sign|register|order|check|change|view|activate|exchange|withdraw|deposit|collect|learn|"
)
_PLACED += "download|submit|vote|complain"
_DONE = (
    "charged|declined|rejected|blocked|cancell?ed|stolen|sent|delivered|reverted|refunded|deducted|credited|debited|"
)
_DONE += "accepted|approved|delayed|lost|hacked|compromised|frozen|returned|suspended|deactivated|activated|swallowed|"
_DONE += (
    "taken|paid|transferred|verified|completed|processed|received|denied|deleted|applied|updated|confirmed|refused|"
)
_DONE += "shipped|issued|withdrawn|deposited|added|duplicated|topped|retained"
_AUXILIARIES = f"{_BE}|am|has|have|had|can|could|will|would|should|wo|ca"
SLOTS = {
    "v": _word("RB", r"(?!else\t)[^\t\n]+")
    + "?"
    + _word("VB|VBP", r"(?!(?:please|am|are|'m|'re)\t)[^\t\n]+")
    + _some(0),
    "g": f"(?!{_word('RB', 'not|never')}){_word('RB')}?(?:{_verb(f'do|know|{_STATES}')}{_some(0)}|"
    + f"{_word('VB|VBP', 'do')}{_some(1)})",
    "r": f"(?!{_word('RB', 'not|never|hardly|barely|scarcely')})" + _word("RB") + "?" + _verb(_ABLE) + _some(0),
    "find": _word("VB|VBP", _PLACED) + _some(0),
    "n": _PHRASE,
    "np": _PHRASE,
    "m": _PHRASE,
    "k": f"(?!{_word(text='i|he|she|we|they|there|this|that')}){_PHRASE}",
    "h": f"(?!{_word('PRP|EX')}){_PHRASE}",
    "l": f"(?:{_word(_MODIFIERS)}*?{_word('NNP?S')}){_WHOLE}",
    "u": f"(?:{_word('RBS')}{_word('JJ|VBN|VBG')}|{_word('JJS')})",
    "b": _PLAIN + _WHOLE,
    "e": _PLAIN + _WHOLE,
    "o": f"(?!{_word(text=f'need|want|seems?|thanks?|got|have|help|let|please|be|do|{_NO_FAVOUR}|{_ADVICE}')})"
    + _word("VB")
    + f"(?!(?:{_word('NNP?S?|CD')}){{0,2}}{_FINITE})"  # "Lay had refused", "Wait staff did not": no order
    + f"(?!{_some(0)}{_word(text=',')}{_word('PRP')}{_FINITE})"  # "shoot, I would go"
    + _some(1),
    "ask": f"(?!{_word(text='do')}{_word('RB')})(?!{_word(text=f'please|{_NO_FAVOUR}')})"
    + _word("RB")
    + "?"
    + _word("VB|VBP")
    + _some(0),
    "they": f"(?!{_word(text='i')}){_CLAUSE}",
    "ing": _word("VBG") + _some(0),
    "s": _CLAUSE,
    "f": f"{_PHRASE}{_NONFINITE}*?{_FINITE}{_NONFINITE}*?",
    "c": f"{_PHRASE}{_NO_COMMA}*?{_FINITE}{_NO_COMMA}*?",
    "q": f"(?!{_word('MD')}{_word('RB', _SURELY)})"  # "will definitely go again if …" has no subject
    + _word("WP|WRB|WDT|MD|VB[ZPD]", f"{_OPENERS}|{_AUXILIARIES}|{_DO}")
    + _NO_COMMA
    + "*?"
    + _word(
        text=rf"(?!(?:[,.?!;]|{_ASKING}|{_WHEN})\t)[^\t\n]+"
    ),  # "do you know if", "tell me when": no clause of its own
    "told": f"{_PHRASE}{_NO_COMMA}*?{_FINITE}{_NO_COMMA}*?"
    + _word(text=rf"(?!(?:[,.?!;]|{_ASKING}|{_WHEN})\t)[^\t\n]+"),
    "p": f"(?!{_word('IN|TO|CC|,|DT|PRP|NN.*|POS|WDT|WP')})(?!{_word('JJ')}+{_word('NN.*')}){_some(1)}",
    "d": _word("VBN|VBD") + _word("RB|RP") + "?",
    "done": _word("VBN|VBD", _DONE) + _word("RB|RP") + "?",
    "j": _word("RB", "very|so|too") + "*" + _word("JJ"),
    "a": f"(?!{_word(text='far')})" + _word("RB|JJ[RS]?") + "*" + _word("JJ[RS]?|VBN|VBG|RB"),
    "aux": _word("MD|VB[ZPD]", _AUXILIARIES) + _word("RB", "not|n't") + "?",
    "is": _word("VB[ZPD]", _BE),
    "do": _word("VB[ZPD]|MD", _DO),
    "dont": _word("VB[ZPD]|MD", _DO) + _word("RB", "not|n't"),
    "w": _word("WP|WRB|WDT|IN", f"{_OPENERS}|if|whether"),
    "i": _word("IN|TO", "of|for|in|on|to|with|from|at|under|near|around|after|before|during|by|about|like"),
    "in": _word("IN", "of|for|in|on|with|from|at|under|near|around|after|before|during|by|about|like"),
    "t": f"(?!{_word(text=_NO_THING)}){_PLAIN}{_WHOLE}(?:{_some(0)}{_word('(?!IN|TO|RP|WDT)[A-Z].*')})?",
    "z": f"(?:{_word('DT|CD|JJ|NN')}{{0,3}}{_word('NNS?', _UNITS)}{_word(text='ago')}|"
    f"{_word('DT|JJ', 'this|last')}{_word('NN', _UNITS)}|{_word(text='yesterday|today')})",
    "x": _some(1),
    "y": _some(1),
}
