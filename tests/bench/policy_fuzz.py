"""Fuzzes the policy of commands: every text that it allows is run in a real bash and must run only what was allowed.

Usage: `python -m tests.bench.policy_fuzz [TEXTS [SEED]]`, 100,000 texts by default.
"""

from __future__ import annotations

import sys
import time

from core.policy.engine import PolicyEngine
from core.policy.rules import SHELL_TOOL, Rule, Verdict
from tests.fakes.shell_texts import ALLOWED, TracedBash, shell_texts


def main(count: int, seed: int) -> int:
    """Fuzz, print the numbers, and return how many texts ran something else."""
    engine = PolicyEngine([Rule(SHELL_TOOL, "allow", prefix) for prefix in ALLOWED])
    started = time.perf_counter()
    allowed = {text for text in shell_texts(seed, count) if engine.check_command(text).verdict is Verdict.ALLOW}
    deciding = time.perf_counter() - started
    violations = []
    with TracedBash() as bash:
        if not bash.is_there:
            print("There is no bash to run what was allowed.")
            return 1
        for text in sorted(allowed):
            if problem := bash.violation(text):
                violations.append((text, problem))
    for text, problem in violations[:20]:
        print(f"VIOLATION {text!r}: {problem}")
    print(f"{count:,} texts, {deciding / count * 1e3:.3f} ms each; {len(allowed):,} were allowed, and run in bash")
    print(f"ran something else: {len(violations)} (target 0)")
    return min(len(violations), 100)


if __name__ == "__main__":
    numbers = [int(argument.replace(",", "").replace("_", "")) for argument in sys.argv[1:3]]
    sys.exit(main(*(numbers + [100_000, 20_260_101][len(numbers) :])))
