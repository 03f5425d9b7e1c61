"""Zhang, Wang & Ma 2010."""
