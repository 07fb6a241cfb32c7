"""Faults by kind, one file a kind: an opened plan in; the same plan, spoilt, out."""
