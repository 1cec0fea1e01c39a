"""Files on this machine's disks."""
