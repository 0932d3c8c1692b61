"""The process of rls-prof: it runs a program, follows its processes, and samples the machine."""
