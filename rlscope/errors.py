"""Everything that rlscope raises.

RlscopeError                what `rlscope` prints as one line, exit code 1
├── TraceError              not a trace, or nothing of it can be read
├── DirectoryInUse          the output directory holds another run
├── RecordingError          recording cannot begin here
├── QueryError              the SQL statement failed
└── Refused                 an agent asks for what it may not have, or for what is not there
"""


class RlscopeError(Exception):
    """A failure that rlscope states in one sentence: what happened, to what, and the remedy."""


class TraceError(RlscopeError):
    """The path is not a trace, or no part of it can be read."""


class DirectoryInUse(RlscopeError):
    """The output directory already holds a run."""


class RecordingError(RlscopeError):
    """Recording cannot begin: the directory cannot be written, or the libraries disagree."""


class QueryError(RlscopeError):
    """An SQL statement failed; the message is DuckDB's, in one line."""


class Refused(RlscopeError):
    """What a client of `rlscope mcp` asks for is outside of its folder, or not there. Text of a
    program in the message is marked (rlscope/agents/quoted.py)."""
