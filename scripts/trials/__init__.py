"""What the long trials under scripts/ are made of: stores, faults at system calls, power cuts."""
