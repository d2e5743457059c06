"""Catalogues that are written for a test, and what is wrong with them."""

import os
from pathlib import Path

import pytest

from loopspan import ConfigurationError
from loopspan.catalogue import Catalogue

TEXT = """
[configurations.a]
model = "demo:"
description = "d"
system_prompt_file = "prompt.md"
skills = ["s/one"]
snippets = ["n"]
snippet_tags = ["t"]
tools = []
max_rounds = 7
context_window = 100
content = "metadata"
unrecorded_tools = ["current_time"]
[configurations.a.parameters]
temperature = 1.0
stop_sequences = ["END"]
extra = { user = "x" }
[configurations.a.budget]
tokens = 5
[skill_sources.s]
path = "skills"
disabled = ["two"]
[snippets.n]
text = "Be brief."
name = "N"
tags = ["t"]
metadata = { owner = "me" }
[prices."demo:demo-1"]
input = 1.0
output = 2.0
"""


def write(folder: Path, text: str = TEXT) -> Path:
    (folder / "prompt.md").write_text("You help.\n")
    for name, allowed in (("one", "allowed-tools: a, b\n"), ("two", "allowed-tools: []\n")):
        (folder / "skills" / name).mkdir(parents=True, exist_ok=True)
        skill = folder / "skills" / name / "SKILL.md"
        skill.write_text(f"---\nname: {name.title()}\n{allowed}---\n\nDo {name}.\n\n")
    path = folder / "loopspan.toml"
    path.write_text(text)
    return path


GOOD = '[configurations.a]\nmodel = "demo:"\n'
GOOD_B = '[configurations.b]\nmodel = "demo:"\n'
SKILL = "---\nname: S\n---\nDo.\n"


SOURCE = '[skill_sources.s]\npath = "skills"\n'


def load(folder: Path, text: str | bytes) -> Catalogue:
    path = folder / "loopspan.toml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return Catalogue.load(path)


def error_of(folder: Path, text: str | bytes) -> str:
    with pytest.raises(ConfigurationError) as caught:
        load(folder, text)
    return str(caught.value).replace(str(folder) + os.sep, "")
