"""What every request passes through, whatever its resource: middleware, keys, bodies, conditions, answers."""
