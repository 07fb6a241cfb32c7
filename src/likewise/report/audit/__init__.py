"""Somebody's report in Markdown in; what in it contradicts itself, recomputed, out."""
