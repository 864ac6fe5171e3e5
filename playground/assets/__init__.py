"""What comes along: a tiny base model, three datasets, and the scripts that made them."""
