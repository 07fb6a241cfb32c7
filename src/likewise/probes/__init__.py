"""The inputs that a verdict and a timing are made from; one file for each kind of item."""
