"""Fine-tuning as a stream of events: ``loop.train`` is where to start reading."""
