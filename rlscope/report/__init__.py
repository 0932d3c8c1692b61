"""The report: panels draw what analysis computed, renderers put them on a medium."""
