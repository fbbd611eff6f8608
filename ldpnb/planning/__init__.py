"""How many clients, what budget, which mechanism: plans for frequencies, means and gaps.

`questions` states what is known and what is asked, `solve` answers it for every mechanism, and `command` is the command
line. Underneath, `designs` says who reports and what is released of it, `candidates` lists the mechanisms, and `laws`
bounds how often an estimate is off, over all data. The formulas are those of `ldpnb.accuracy` and `ldpnb.privacy`; what
is new here holds at the worst data rather than on average.
"""
