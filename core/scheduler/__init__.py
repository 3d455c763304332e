"""The scheduler: calls in, results out in call order; readers together, mutators one by one."""
