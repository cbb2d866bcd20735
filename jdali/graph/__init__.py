"""Pipelines as graphs: nodes, conditionals, and the plan of what runs when."""
