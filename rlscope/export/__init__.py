"""Recorded runs as files that other tools read (`rlscope export`).

formats/      one file and one row of the registry per format
exporter.py   what a format is
window.py     the part of the run that is written
timeline.py   tracks with their slices, and readings over time: what viewers show
viewers.py    the file that a timeline goes into
tables.py     the relations, a file each
output.py     files and folders that appear whole or not at all
"""
