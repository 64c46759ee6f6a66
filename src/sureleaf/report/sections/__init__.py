"""The sections of a report, one file each: its types, and the function that computes it.

`sureleaf.report.document` lists them; the page draws each with the template of the same name.
"""

__all__: list[str] = []
