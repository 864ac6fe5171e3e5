"""Sentences about rows that a run and the preview both say."""

from __future__ import annotations

from playground import language

FEW_HELD_OUT = "A difference measured on so few held-out rows ({count}) says little; hold out more."

language.words(__name__)
