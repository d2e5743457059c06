"""Where runs come from: this process, a file, Jaeger, Tempo. One interface, sync and async."""

from loopspan.runs.sources.files import FileSource
from loopspan.runs.sources.jaeger import JaegerSource
from loopspan.runs.sources.memory import MemorySource
from loopspan.runs.sources.query import Query
from loopspan.runs.sources.source import Fetched, Listing, Source, trace_id
from loopspan.runs.sources.summary import RunSummary
from loopspan.runs.sources.tempo import TempoSource

__all__ = [
    "Fetched",
    "FileSource",
    "JaegerSource",
    "Listing",
    "MemorySource",
    "Query",
    "RunSummary",
    "Source",
    "TempoSource",
    "trace_id",
]
