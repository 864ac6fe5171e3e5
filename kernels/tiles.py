"""How products are cut into tiles on each GPU, and which cut suits a shape."""

from __future__ import annotations

from typing import NamedTuple

_BAND = 8  # tiles of M that are worked on side by side, so that loads of N hit the L2


class Tile(NamedTuple):
    """How a product is cut up: values of M, N and K to a program, warps, and pipeline stages."""

    block_m: int
    block_n: int
    block_k: int
    num_warps: int
    num_stages: int

    @property
    def constants(self) -> dict[str, int]:
        """What a product's kernel is compiled for, by the names of its parameters."""
        return {
            "BLOCK_M": self.block_m,
            "BLOCK_N": self.block_n,
            "BLOCK_K": self.block_k,
            "GROUP_M": _BAND,
        }


# Chosen by what the compiler makes of them (``python -m benchmarks.compiled``): no spills, and on
# sm_120 the loop holds 1.9 to 5.1 other instructions to an FP4 one. On sm_100 and 103 a tile below
# 128 rows would silently become bf16.
NATIVE_TILES: dict[int, dict[str, Tile]] = {
    100: {
        "small": Tile(128, 64, 256, 4, 3),
        "large": Tile(128, 128, 256, 4, 3),
        "wide": Tile(128, 256, 256, 8, 3),
    },
    120: {
        "few rows": Tile(32, 128, 256, 4, 3),
        "small": Tile(64, 64, 256, 4, 3),
        "large": Tile(128, 128, 256, 8, 3),
    },
}
NATIVE_TILES[103] = NATIVE_TILES[100]
NATIVE_TILES[121] = NATIVE_TILES[120]

DECODED_TILES: dict[str, Tile] = {
    "few rows": Tile(32, 64, 64, 4, 3),
    "small": Tile(64, 128, 64, 4, 3),
    "large": Tile(128, 128, 64, 8, 3),
}

_MULTIPROCESSORS = 132  # of a typical large GPU: fewer tiles than this leave some idle


def pick_tile(tiles: dict[str, Tile], m: int, n: int) -> Tile:
    """The largest tile that leaves no multiprocessor without one, by a rule of thumb.

    Not measured: no tile has been timed on a real GPU yet.
    """
    if m <= 32 and "few rows" in tiles:
        return tiles["few rows"]
    usable = [tile for name, tile in tiles.items() if name != "few rows"]
    usable.sort(key=lambda tile: tile.block_m * tile.block_n, reverse=True)
    for tile in usable:
        if -(-m // tile.block_m) * -(-n // tile.block_n) >= _MULTIPROCESSORS:
            return tile
    return usable[-1]
