"""One output medium per file: html (a page), terminal (a screen of text), json (the tables)."""
