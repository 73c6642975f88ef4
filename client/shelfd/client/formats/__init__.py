"""Files of other memories, cut into notes whose members are called as the daemon's plain formats have them.

What the members mean is for the daemon to know; here it is known which of a file's members become which.
"""
