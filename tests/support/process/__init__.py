"""Programs that are recorded, and what tests read of them."""
