"""Steps of proofs for lopuhaa2020, decided for every parameter: each function returns the decider's answer."""
