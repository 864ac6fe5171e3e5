"""Rows to batches: read, recognise the format, apply the chat template, mask, split, pad."""
