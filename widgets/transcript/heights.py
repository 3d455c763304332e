"""Heights of blocks and the way from a row of the whole to its block: every step logarithmic (Fenwick, 1994)."""

from __future__ import annotations


class HeightIndex:
    """A list of heights with running sums."""

    def __init__(self) -> None:
        self._heights: list[int] = []
        self._tree: list[int] = [0]

    def __len__(self) -> int:
        return len(self._heights)

    def __getitem__(self, index: int) -> int:
        return self._heights[index]

    @property
    def total(self) -> int:
        """The sum of all heights."""
        return self.top(len(self._heights))

    def append(self, height: int) -> None:
        """Add a height at the end."""
        self._heights.append(height)
        position = len(self._heights)
        start = position - (position & -position)
        self._tree.append(height + self._prefix(position - 1) - self._prefix(start))

    def set(self, index: int, height: int) -> None:
        """Change one height."""
        change = height - self._heights[index]
        if not change:
            return
        self._heights[index] = height
        position = index + 1
        while position < len(self._tree):
            self._tree[position] += change
            position += position & -position

    def top(self, index: int) -> int:
        """Return the row at which block `index` starts; that of the end for the number of blocks."""
        return self._prefix(index)

    def find(self, row: int) -> tuple[int, int]:
        """Return the block that holds `row` and the row inside it; rows beyond the ends count as the nearest one."""
        if not self._heights:
            return 0, 0
        row = max(0, min(row, self.total - 1))
        position = 0
        step = 1 << (len(self._heights).bit_length() - 1)
        left = row
        while step:
            ahead = position + step
            if ahead < len(self._tree) and self._tree[ahead] <= left:
                position = ahead
                left -= self._tree[ahead]
            step >>= 1
        return min(position, len(self._heights) - 1), left

    def _prefix(self, position: int) -> int:
        total = 0
        while position:
            total += self._tree[position]
            position -= position & -position
        return total
