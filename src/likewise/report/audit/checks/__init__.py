"""One question a file: the read report in; findings, each with what was recomputed, out."""
