"""What comes with the playground: a tiny base model, three datasets, and the scripts that made them."""
