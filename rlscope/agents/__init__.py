"""Answers for programs that read in a user's place, such as chat agents: `rlscope mcp`.

folder.py   which paths a client may name
quoted.py   text of a recorded program, marked as data
answer.py   what every answer has
tools/      a file for each tool: arguments -> answer, without any protocol
server.py   the tools in the Model Context Protocol; the only file that needs its SDK
"""
