"""The site: the notebooks, the ledger and the library's reference as pages, by stock Sphinx.

`make site` copies the notebooks beside the pages that follow from the ledger and the package
(`ldpnb.site.pages`, `ldpnb.site.notebooks`) into ``build/pages``, and builds them into
``build/site``. Nothing is executed. The pages open from disk and ask nobody for anything.
"""
