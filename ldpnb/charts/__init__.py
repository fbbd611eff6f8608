"""Drawings of one source's figures where `ldpnb.figures.curves` does not serve: tidy table in, figure out, nothing computed."""
