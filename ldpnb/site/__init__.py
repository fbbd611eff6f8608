"""The site: the notebooks with live charts, the ledger, the planner and the library's reference, built by Sphinx.

``make site`` lays the notebooks and the pages that follow from the ledger and the package beside each other in
``build/pages`` (`ldpnb.site.__main__`) and builds them into ``build/site``. Nothing is executed: pictures become charts
from the numbers and the encoding committed with them, and a live section from the grid that its notebook has left.
"""
