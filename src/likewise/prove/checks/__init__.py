"""One question a file: the evidence in; measures, each held to its limit, out."""
