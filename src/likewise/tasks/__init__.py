"""What the numbers mean: raw items in, arrays and answers out; one file, one task."""
