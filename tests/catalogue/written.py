"""A catalogue that has something in each of its tables."""

from pathlib import Path

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
