"""The catalogue file `loopspan.toml`: configurations, skills, snippets, tools, prices."""

from loopspan.catalogue.catalogue import Catalogue
from loopspan.catalogue.lock import SkillState, lock_path, lock_skills
from loopspan.catalogue.watched import CatalogueFile

__all__ = ["Catalogue", "CatalogueFile", "SkillState", "lock_path", "lock_skills"]
