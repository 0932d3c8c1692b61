"""Opens trace directories: files -> relations -> SQL.

trace.Trace    the opened directory: what analyses and reports take
store          the relations, column by column
tables         DIR/tables, or tables in memory where that cannot be written
build, events  make the relations from the files
"""
