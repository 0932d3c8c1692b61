"""The tools, a file each: answer(folder, ...) -> a JSON object (docs/reference/mcp.md)."""
