"""What a run would learn, computed in a process of its own, so that the page's stays light."""

from playground.preview.asking import ask

__all__ = ["ask"]
