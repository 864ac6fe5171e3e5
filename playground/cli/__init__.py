"""Commands of the terminal that ``playground/__main__.py`` registers, a module each."""
