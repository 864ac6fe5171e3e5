"""FP4 Playground: fine-tune a model with LoRA in FP16 and in NVFP4, and compare what each costs."""
