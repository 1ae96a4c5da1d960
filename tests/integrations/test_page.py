"""docs/integrations.md's Python lines, run as they stand, in order."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

PAGE = Path(__file__).resolve().parents[2] / "docs" / "integrations.md"


def test_what_the_page_says_can_be_typed() -> None:
    names: dict[str, Any] = {}
    blocks = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    assert len(blocks) == 3
    for block in blocks:
        exec(compile(block, PAGE.name, "exec"), names)
    assert names["beside"]["text_reworded"][1] == "I have not yet received the PIN."
    assert len(names["more"]) > len(names["table"]) == len(names["known"]) == len(names["judged"])
    assert names["judged"]["same"][0] > 0.5 and len(names["known"]["text_vector"][0]) == 384
    (found,) = names["store"].similarity_search("Where is my card?", k=1)
    assert found.page_content == "My card was lost abroad."
    assert names["pipeline"].predict(["Where is the card?"]).tolist() == ["card"]
