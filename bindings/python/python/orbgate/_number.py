"""Formats numbers with nouns."""


def number(count: int, noun: str = "", nouns: str = "") -> str:
    """A number with an optional noun. `nouns` is the plural if it isn't formed with "s".

    >>> number(1), number(1, "call"), number(12345, "call"), number(0, "witness", "witnesses")
    ('1', '1 call', '12,345 calls', '0 witnesses')
    """
    return f"{count:,}" if not noun else f"{count:,} {noun if count == 1 else nouns or f'{noun}s'}"
