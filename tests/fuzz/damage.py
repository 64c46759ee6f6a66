"""Ways to damage bytes."""

from random import Random

__all__ = ["damage"]


def damage(content: bytes, random: Random, *, spare: int = 0) -> bytes:
    """Return the bytes with a flipped bit, other bytes, a part moved, or without their end."""
    data = bytearray(content)
    for _ in range(random.choice((1, 1, 1, 2, 5))):
        if len(data) <= spare + 1:
            break
        random.choice(_WAYS)(data, random, spare)
    return bytes(data)


def _flip_bit(data: bytearray, random: Random, spare: int) -> None:
    data[random.randrange(spare, len(data))] ^= 1 << random.randrange(8)


def _set_byte(data: bytearray, random: Random, spare: int) -> None:
    data[random.randrange(spare, len(data))] = random.choice((0, 1, 0x7F, 0x80, 0xFF))


def _set_number(data: bytearray, random: Random, spare: int) -> None:
    """Overwrite an aligned number by an extreme one."""
    size = random.choice((4, 8))
    start = random.randrange(spare, len(data)) // size * size
    value = random.choice((0, 1, -1, 2**31 - 1, -(2**31), 10**6, 2 ** (8 * size - 1) - 1))
    number = value.to_bytes(size, "little", signed=True)
    data[start : start + size] = number[: len(data) - start]


def _truncate(data: bytearray, random: Random, spare: int) -> None:
    del data[random.randrange(spare, len(data)) :]


def _delete(data: bytearray, random: Random, spare: int) -> None:
    start = random.randrange(spare, len(data))
    del data[start : start + random.choice((1, 2, 8, 64))]


def _repeat(data: bytearray, random: Random, spare: int) -> None:
    start = random.randrange(spare, len(data))
    data[start:start] = data[start : start + random.choice((1, 8, 64))]


_WAYS = (_flip_bit, _flip_bit, _flip_bit, _set_byte, _set_number, _truncate, _delete, _repeat)
