"""DIR/tables: the relations of a trace as Parquet files, made once and shared by readers.

    tables/manifest.json   what the files were made from, by which version, and which they are
    tables/event.json      the same for `event`, which is made on request
    tables/lock            shared by readers, exclusive for the one that writes

A reader holds the lock while its trace is open. If it finds the files out of date and is the only
reader, it writes new ones. Otherwise, or where the folder cannot be written, the same rows go into
tables in memory. So no reader ever sees the files change below it. Each file appears under a
temporary name first and is renamed, and the manifest comes last: if a process is killed half way,
the tables are made again.
"""
