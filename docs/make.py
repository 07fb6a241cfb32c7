"""The types in; ``docs/report.schema.json``, made from them, out."""

import json
from pathlib import Path

from likewise.report.record import schema

page = Path(__file__).parent / "report.schema.json"
page.write_text(json.dumps(schema(), indent=2) + "\n", encoding="utf-8")
