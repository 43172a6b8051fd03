"""Merge adjacent symbols, best pair first: the heart of SPM and BPE."""

from array import array
from collections.abc import Callable, Iterable, Mapping
from heapq import heapify, heappop, heappush
from itertools import pairwise, repeat
from typing import AnyStr

# Up to this many symbols a search of all pairs for the best one beats a heap.
SHORT = 48
# No pair: worse than any rank.
_NONE = 1 << 62


def merge(
    symbols: list[AnyStr], ranks: Mapping[AnyStr, int], joint: AnyStr, short: int = SHORT
) -> list[AnyStr]:
    """Merge symbols until no adjacent pair has a rank; return what is left.

    The pair whose ``left + joint + right`` has the lowest rank goes first, of equal ones the
    leftmost. Ranks are not negative. ``symbols`` is used up. Time O(n log n), whatever the
    symbols.

    >>> merge(list("abcab"), {"a b": 0, "ab c": 1}, " ")
    ['abc', 'ab']

    Source: llama-vocab.cpp, llm_tokenizer_spm_session and llm_tokenizer_bpe_session @ pin.
    """
    count = len(symbols)
    if count <= short:
        return _merge_short(symbols, ranks, joint)
    get = ranks.get
    # Rank of the pair that each symbol makes with the one after it now; -1 if it has none.
    pair_rank = [get(left + joint + right, -1) for left, right in pairwise(symbols)]
    # rank * count + left: one int a pair sorts as llama.cpp's queue does, and costs the
    # garbage collector nothing.
    heap = [rank * count + left for left, rank in enumerate(pair_rank) if rank >= 0]
    if not heap:
        return symbols
    heapify(heap)
    pair_rank.append(-1)
    empty = joint[:0]
    before = array("i", range(-1, count - 1))
    after = array("i", range(1, count + 1))
    while heap:
        rank, left = divmod(heappop(heap), count)
        if pair_rank[left] != rank:
            continue  # a symbol of the pair has been merged since
        right = after[left]
        merged = symbols[left] = symbols[left] + symbols[right]
        symbols[right] = empty
        pair_rank[right] = -1
        follower = after[left] = after[right]
        if follower < count:
            before[follower] = left
            rank = pair_rank[left] = get(merged + joint + symbols[follower], -1)
            if rank >= 0:
                heappush(heap, rank * count + left)
        else:
            pair_rank[left] = -1
        leader = before[left]
        if leader >= 0:
            rank = pair_rank[leader] = get(symbols[leader] + joint + merged, -1)
            if rank >= 0:
                heappush(heap, rank * count + leader)
    return [symbol for symbol in symbols if symbol]


def _merge_short(symbols: list[AnyStr], ranks: Mapping[AnyStr, int], joint: AnyStr) -> list[AnyStr]:
    get: Callable[[AnyStr, int], int] = ranks.get
    join: Callable[[Iterable[AnyStr]], AnyStr] = joint.join
    pair_rank: list[int] = [*map(get, map(join, pairwise(symbols)), repeat(_NONE))]
    while pair_rank:
        best = min(pair_rank)
        if best == _NONE:
            break
        left = pair_rank.index(best)
        merged = symbols[left] = symbols[left] + symbols.pop(left + 1)
        del pair_rank[left]
        if left < len(pair_rank):
            pair_rank[left] = get(merged + joint + symbols[left + 1], _NONE)
        if left:
            pair_rank[left - 1] = get(symbols[left - 1] + joint + merged, _NONE)
    return symbols
