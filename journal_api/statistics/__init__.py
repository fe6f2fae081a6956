"""What numbers mean: facts, fold, groups, intervals, edges, histories of goals, standings."""
