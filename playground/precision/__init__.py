"""Precisions put into layers: what a frozen Linear stores, and how it multiplies."""
