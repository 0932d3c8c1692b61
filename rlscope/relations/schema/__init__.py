"""The relations, column by column, as SQLAlchemy tables."""
