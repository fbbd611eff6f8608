"""Proofs of bun2022 for every parameter, each step answered by a decider."""
