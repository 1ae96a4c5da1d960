"""What a release says of itself in several places says the same in all."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import yaml

import paraform

REPOSITORY = Path(__file__).resolve().parents[1]


def test_one_version_and_the_papers_of_the_readme() -> None:
    cited = yaml.safe_load((REPOSITORY / "CITATION.cff").read_text(encoding="utf-8"))
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    (newest, *_) = re.findall(r"^## \[(.*?)\]", (REPOSITORY / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert cited["version"] == project["version"] == paraform.__version__ == newest
    assert cited["license"] == project["license"]
    readme = (REPOSITORY / "README.md").read_text(encoding="utf-8")
    assert len(cited["references"]) == 4
    for paper in cited["references"]:
        assert f"*{paper['title']}.*" in readme
        assert str(paper["year"]) in readme.split(f"*{paper['title']}.*")[1].splitlines()[0]
