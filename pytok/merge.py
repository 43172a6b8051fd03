"""Merge adjacent symbols, best pair first: the heart of SPM and BPE."""

from collections.abc import Mapping
from heapq import heapify, heappop, heappush
from typing import AnyStr


def merge(symbols: list[AnyStr], priorities: Mapping[AnyStr, float], joint: AnyStr) -> list[AnyStr]:
    """Merge symbols until no adjacent pair has a priority; return what is left.

    The pair whose ``left + joint + right`` has the lowest priority goes first, of equal
    ones the leftmost. ``symbols`` is used up. Time O(n log n), whatever the symbols.

    >>> merge(list("abcab"), {"a b": 0, "ab c": 1}, " ")
    ['abc', 'ab']

    Source: llama-vocab.cpp, llm_tokenizer_spm_session and llm_tokenizer_bpe_session @ pin.
    """
    count = len(symbols)
    get = priorities.get
    heap = []
    for left in range(count - 1):
        priority = get(symbols[left] + joint + symbols[left + 1])
        if priority is not None:
            heap.append((priority, left, len(symbols[left]) + len(symbols[left + 1])))
    if not heap:
        return symbols
    heapify(heap)
    empty = joint[:0]
    before = list(range(-1, count - 1))
    after = list(range(1, count + 1))
    while heap:
        _, left, size = heappop(heap)
        right = after[left]
        # A pair is stale if a symbol of it has been merged since: then the lengths differ.
        if right == count or not symbols[left]:
            continue
        merged = symbols[left] + symbols[right]
        if len(merged) != size:
            continue
        symbols[left] = merged
        symbols[right] = empty
        follower = after[left] = after[right]
        if follower < count:
            before[follower] = left
            priority = get(merged + joint + symbols[follower])
            if priority is not None:
                heappush(heap, (priority, left, size + len(symbols[follower])))
        leader = before[left]
        if leader >= 0:
            priority = get(symbols[leader] + joint + merged)
            if priority is not None:
                heappush(heap, (priority, leader, len(symbols[leader]) + size))
    return [symbol for symbol in symbols if symbol]
