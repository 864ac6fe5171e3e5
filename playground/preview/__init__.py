"""What rows are and what a run would learn of them, found out in a process of its own.

The page's process stays light that way, and whatever a stranger's file does, it does to the child.
"""

from playground.preview.asking import ask, ask_columns, ask_upload

__all__ = ["ask", "ask_columns", "ask_upload"]
