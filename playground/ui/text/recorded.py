"""What runs and the machine say of themselves, as they write it: kept in English with each run.

The page says the same in the visitor's language; a sentence that is not here stays as it is.
"""

from __future__ import annotations

from playground import language

STAGES = {
    "starting": "starting",
    "libraries": "loading the libraries",
    "data": "reading the data",
    "hub": "asking the hub",
    "fetching": "fetching the model",
    "model": "loading the model",
    "tokenising": "tokenising",
    "rows": "{count} rows",
    "adapter": "adding the adapter",
    "compiling": "compiling",
    "longest": "trying the longest batch",
    "size": "{rows} x {width} tokens",
    "training": "training",
    "evaluating": "evaluating",
    "loss": "loss of {count} held-out rows",
    "loss_on": "loss of {count} held-out rows, on a base in {label}",
    "loss_merged": "loss of {count} held-out rows, merged into {label}",
    "answering": "answering {count} held-out rows",
    "healing": "healing",
    "gives_way": "{own} gives way to {wider}",
    "resuming": "resuming",
    "checkpoint": "saving a checkpoint",
    "step": "step {step}",
    "saving": "saving the adapter",
}
DEVICE = {
    "no_driver": "No NVIDIA GPU driver is installed, so every format but FP32 is emulated on the "
    "CPU.",
    "not_loaded": "NVIDIA's driver is installed but not loaded, so every format but FP32 is "
    "emulated.",
    "mismatch": "NVIDIA's driver was updated while an older one is loaded, so every format but "
    "FP32 is emulated; restart the machine to use the GPU.",
    "unusable": "NVIDIA's driver cannot be used ({error}), so every format but FP32 is emulated.",
    "silent": "NVIDIA's driver does not answer ({error}), so every format but FP32 is emulated.",
    "none": "NVIDIA's driver finds no GPU, so every format but FP32 is emulated.",
    "hidden": "CUDA_VISIBLE_DEVICES='{shown}' hides every GPU, so every format but FP32 is "
    "emulated.",
    "cpu_torch": "{name} is here, but the installed torch is built for CPUs only, so every format "
    "but FP32 is emulated; install torch's CUDA build to use the GPU.",
    "old_driver": "{name} is here, but its driver {driver} is for CUDA {offered} and torch needs "
    "{needs}, so every format but FP32 is emulated; update the driver.",
    "native": "{name}, compute capability {capability}, has FP4 tensor cores.",
    "decoded": "{name}, compute capability {capability}, has no FP4 tensor cores (Blackwell has "
    "them).",
}
HOW = {
    "sixteen": "Without a GPU, {label} is emulated: operands and results are rounded to {again}, "
    "products are summed in FP32.",
    "sixteen_old": "{name} has no {label} tensor cores, so its products are emulated.",
    "sixteen_native": "{label} products on {name}'s tensor cores.",
    "fp4": "A CPU has no FP4 units, so {label} is emulated: same bits, products in fp32.",
    "fp8": "A CPU has no FP8 units, so FP8 is emulated: same bits, products in fp32.",
    "nf4": "Without a GPU bitsandbytes' kernels are not used: this project's own code decodes the "
    "same table, and 16-bit products are emulated in fp32.",
    "tested": "{backend} agrees with the reference to {worst} on {shapes} shapes.",
}
KEPT = {
    "asked": "kept in 16 bits",
    "head": "the output head stays in the compute type",
    "kind": "a {kind} is not a plain Linear",
    "shared": "its matrix is shared with an embedding",
    "input": "its {k} input features are not a multiple of {block}",
    "output": "its {n} output features are not a multiple of {block}",
    "tensor": "a tensor of {dimensions} dimensions that {kind} multiplies with by itself, no "
    "Linear",
}
ENDINGS = {
    "loss": "At step {step} the loss became {value}; lower the learning rate or pick a precision "
    "with a larger range.",
    "gradients": "At step {step} the gradients became {value}; lower the learning rate or pick a "
    "precision with a larger range.",
    "scale": "At step {step} no loss scale was small enough for finite gradients; lower the "
    "learning rate or pick a precision with a larger range.",
    "after": "After step {step} the held-out loss became {value}; lower the learning rate or pick "
    "a precision with a larger range.",
    "crashed": "The worker crashed with {name} in native code; the end of its log says where.",
    "killed": "The worker was ended by {name} from outside; resume it.",
}
SOURCES = {
    "cuda": "CUDA allocator",
    "energy_counter": "NVML: the device's energy counter; power sampled at each step's ends",
    "energy_power": "NVML: power sampled at each step's ends, times the step's duration",
    "cpu": "counted tensor bytes (CPU)",
}

language.words(__name__)
