"""Formulas of results that no source states."""
