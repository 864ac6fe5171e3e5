"""Pictures of every page and state, to look at; ``__main__.py`` says how to ask for them."""
