"""Launches and bytes of one decoder layer's Linears, forward, in NVFP4 beside 16 bits.

    python -m benchmarks.traffic [--tokens 512]

Counted, not timed: what must move through memory if nothing stays in a cache between launches.
Four activations feed the seven Linears of a Llama layer; each is quantised once.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass

from kernels.format import NVFP4_BITS

SIXTEEN = 2  # bytes of a 16-bit value
PACKED = NVFP4_BITS / 8  # bytes of an NVFP4 value, its scale included


@dataclass(frozen=True)
class Layer:
    """Sizes of a Llama layer's Linears: SmolLM2-135M's by default."""

    hidden: int = 576
    key_value: int = 192
    ffn: int = 1536

    def activations(self) -> list[tuple[int, list[int]]]:
        """(K, [N, ...]) of each activation and of the Linears that read it."""
        return [
            (self.hidden, [self.hidden, self.key_value, self.key_value]),  # q, k, v
            (self.hidden, [self.hidden]),  # o
            (self.hidden, [self.ffn, self.ffn]),  # gate, up
            (self.ffn, [self.hidden]),  # down
        ]


@dataclass(frozen=True)
class Traffic:
    """Kernel launches, and bytes read and written."""

    launches: int
    bytes: int


def sixteen_bit(layer: Layer, tokens: int) -> Traffic:
    """Seven products, weights and activations in 16 bits."""
    moved = launches = 0
    for k, outputs in layer.activations():
        for n in outputs:
            moved += SIXTEEN * (tokens * k + n * k + tokens * n)
            launches += 1
    return Traffic(launches, moved)


def nvfp4(layer: Layer, tokens: int, *, whole_amax: int) -> Traffic:
    """Seven products of packed operands, and each activation quantised once before them.

    Args:
        whole_amax: largest activation, in values, that is quantised in one launch; above it the
            amax takes a launch and a read of its own.
    """
    moved, launches = 0.0, 0
    for k, outputs in layer.activations():
        values = tokens * k
        reads = 1 if values <= whole_amax else 2
        moved += values * (SIXTEEN * reads + PACKED)
        launches += reads
        for n in outputs:
            moved += PACKED * (values + n * k) + SIXTEEN * tokens * n
            launches += 1
    return Traffic(launches, round(moved))


def table(layer: Layer, tokens: list[int], whole_amax: int) -> str:
    """A Markdown table: one row for each number of tokens."""
    lines = [
        "| tokens | launches, 16 bits | launches, NVFP4 | MiB, 16 bits | MiB, NVFP4 | bytes |",
        "|---|---|---|---|---|---|",
    ]
    for count in tokens:
        wide, narrow = (
            sixteen_bit(layer, count),
            nvfp4(layer, count, whole_amax=whole_amax),
        )
        lines.append(
            f"| {count} | {wide.launches} | {narrow.launches} | {wide.bytes / 2**20:.2f} "
            f"| {narrow.bytes / 2**20:.2f} | {narrow.bytes / wide.bytes:.0%} |"
        )
    return "\n".join(lines)


def main() -> None:
    from kernels.quantize import WHOLE_AMAX

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tokens", type=int, action="append")
    parser.add_argument("--hidden", type=int, default=576)
    parser.add_argument("--key-value", type=int, default=192)
    parser.add_argument("--ffn", type=int, default=1536)
    arguments = parser.parse_args()
    layer = Layer(arguments.hidden, arguments.key_value, arguments.ffn)
    print(table(layer, arguments.tokens or [1, 64, 512, 4096], WHOLE_AMAX))


if __name__ == "__main__":
    main()
