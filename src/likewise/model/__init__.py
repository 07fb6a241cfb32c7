"""A folder on disk in; its facts, its tokenizer and its weights, out."""
