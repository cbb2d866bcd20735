"""The machine: processors, files, devices, optional packages."""
