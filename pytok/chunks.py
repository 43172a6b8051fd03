"""Cut a text into chunks that can be encoded one by one, with the ids of the whole.

A text is cut in front of a space only, and behind a character of which the kind of vocabulary
says that nothing reaches from it across a space (`CanCut`). Special tokens are cut out of text
before the kind sees it; so a place is also held against them: none may hold it, and none may end
there, since what follows a special may be encoded in another way, or be swallowed by it.
"""

from collections.abc import Callable, Iterable, Iterator

from pytok.unicode import is_white_space

# (a character) -> whether a text may be cut between it and a space.
CanCut = Callable[[str], bool]

# Characters of a chunk, at least: small against a document, large against what a chunk costs.
SIZE = 4096


class Chunker:
    """Finds the places for one vocabulary. ``specials`` are the texts that are cut out first."""

    def __init__(self, can_cut: CanCut, specials: Iterable[str]) -> None:
        self._can_cut = can_cut
        self._special_ends = {
            text[at - 1]
            for text in specials
            for at in range(1, len(text) + 1)
            if text[at : at + 1] in ("", " ")
        }

    def is_place(self, text: str, pos: int) -> bool:
        """Whether a text may be cut at a position: both of its ends are such places too."""
        if pos in (0, len(text)):
            return True
        char = text[pos - 1]
        return (
            text[pos] == " "
            and char not in self._special_ends
            and not is_white_space(ord(char))
            and self._can_cut(char)
        )

    def chunks(self, text: str) -> Iterator[str]:
        """Cut a text at places that lie `SIZE` characters apart, or more; joined it is whole."""
        start = 0
        while start < len(text):
            end = start + SIZE
            while (end := text.find(" ", end)) >= 0 and not self.is_place(text, end):
                end += 1
            yield text[start:] if end < 0 else text[start:end]
            start = len(text) if end < 0 else end
