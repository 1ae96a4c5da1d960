"""A command's clause at its other end, from trees written by hand."""

from __future__ import annotations

import pytest

from paraform.rewording.command_clauses import turned
from paraform.syntax.trees import Tree

IF = "(SBAR (IN {}) (S (NP (PRP I)) (VP (VBP lose) (NP (PRP$ my) (NN card)))))"
CALL = "(VP (VB call) (NP (DT a) (NN taxi)){})"
AIM = "(S (VP (TO to) (VP (VB get) (ADVP (RB home)))))"


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        (f"{IF.format('If')} (, ,) {CALL.format('')} (. .)", "call a taxi If I lose my card ."),
        (CALL.format(" " + IF.format("unless")), "unless I lose my card , call a taxi"),
        (f"{AIM} (, ,) {CALL.format('')}", "call a taxi to get home"),
        (CALL.format(" " + AIM), ""),  # what for, or which taxi
        (CALL.format(" (PP (IN on) (NP (NNP Monday)))"), ""),  # called, or coming, on Monday
        (f"{IF.format('If')} (, ,) (VP (VB call) (NP (PRP it)))", ""),
        (f"(VP (VB show) (NP (PRP me)) {IF.format('when')})", ""),
        (f"(VP (VB tell) (NP (PRP me)) {IF.format('if')})", ""),
        (f"(VP (VB note) (NP (DT the) (NN time)) {IF.format('when')})", ""),
        (f"(VP (VB call) {IF.format('before')})", ""),
        (f"(VP (VB call) (CC and) (VB go) {IF.format('before')})", ""),
        (f"(VP (VBZ hits) (NP (DT the) (NN spot)) {IF.format('when')})", ""),
        (f"(ADVP (UH Please)) {CALL.format(' ' + IF.format('unless'))}", "unless I lose my card , Please call a taxi"),
        (f"{IF.format('If')} (, ,) (ADVP (UH please)) {CALL.format('')}", "please call a taxi If I lose my card"),
        (f"(ADVP (RB Maybe)) {CALL.format(' ' + IF.format('unless'))}", ""),
        (
            f"(VP (VB do) (RB n't) (VP (VB call) (NP (DT a) (NN taxi)) {IF.format('unless')}))",
            "unless I lose my card , do n't call a taxi",
        ),
        (f"(VP (VB do) (RB n't) (VP (VB call) (NP (DT a) (NN taxi)) {IF.format('until')}))", ""),
        (f"(VP (VB call) (NP (PRP me)) (NP (CD two) (NNS days)) {IF.format('before')})", ""),
        (f"(VP (VB book) (NP (DT a) (NN taxi)) {IF.format('before')})", ""),
        (f"(VP (VB go) (ADVP (RB there)) {IF.format('when')})", ""),
        (f"(S (VP (TO to) (VP (VB be) (ADJP (JJ honest))))) (, ,) {CALL.format('')}", ""),
        ("(VP (VB hold) (NP (PRP it)) (SBAR (IN until) (S (NP (PRP it)) (VP (VBZ is) (ADJP (JJ dry))))))", ""),
        (f"{IF.format('If')} (, ,) (VP (VBZ is) (NP (DT a) (NN taxi)))", ""),
    ],
)
def test_of_a_command_a_clause_alone_is_moved(parts: str, expected: str) -> None:
    found = [" ".join(one.words) for one in turned(Tree.parse(f"(ROOT (S {parts}))"))]
    assert found == [expected] * bool(expected)
