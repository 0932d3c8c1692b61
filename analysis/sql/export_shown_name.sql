-- The texts of table shown_name, which export_name made, in their order.
SELECT text FROM shown_name ORDER BY name
