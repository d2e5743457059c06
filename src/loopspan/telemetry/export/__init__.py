"""Spans on their way to an OTLP receiver: bounded in bytes, split where they are too large."""

from loopspan.telemetry.export.delivery import Delivery
from loopspan.telemetry.export.otlp import OtlpExporter
from loopspan.telemetry.export.processor import ExportProcessor

__all__ = ["Delivery", "ExportProcessor", "OtlpExporter"]
