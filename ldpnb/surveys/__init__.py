"""What comes after a plan: the plan that the field keeps, the reports that come back, and estimates from them."""
