"""Checks schedules of parameters and gradients that other systems print:
`python -m zero check-schedule`."""
