"""The random order of columns at a node, as the kernel draws it: splitmix64 and Fisher-Yates."""

MASK = 2**64 - 1


def mix_bits(x: int) -> int:
    x = (x + 0x9E3779B97F4A7C15) & MASK
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & MASK
    return x ^ (x >> 31)


def root_key(seed: int, tree: int) -> int:
    return mix_bits(mix_bits(seed) ^ (tree + 1))


def child_key(parent: int, branch: int) -> int:
    return mix_bits(parent ^ mix_bits(branch + 1))


def column_order(key: int, n_columns: int) -> list[int]:
    columns = list(range(n_columns))
    for n_drawn in range(n_columns):
        random = mix_bits((key + n_drawn) & MASK) >> 32
        chosen = n_drawn + ((random * (n_columns - n_drawn)) >> 32)
        columns[n_drawn], columns[chosen] = columns[chosen], columns[n_drawn]
    return columns
