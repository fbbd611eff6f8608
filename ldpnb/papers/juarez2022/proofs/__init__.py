"""Proofs for every parameter of what juarez2022 says, step by step: privacy and budgets, errors and their crossings."""
