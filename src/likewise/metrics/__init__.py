"""Two arrays of matching rows, in; one figure about them in float64, out."""
