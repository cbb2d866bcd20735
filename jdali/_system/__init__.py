"""What the package needs of the machine: processors, files, devices, optional packages."""
