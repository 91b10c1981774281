# Turns the plain comments of the public headers into those that Doxygen reads: the comment at the head
# describes the file, one behind code what is before it, one on a line of its own what comes next. The
# SPDX lines and dividers are left alone.
/SPDX-FileCopyrightText/b
/\/\* ----/b
4s#^/\* #/** \\file\n * #
s#^\([ \t]*[^ \t/*].*\)/\* #\1/**< #
s#^\([ \t]*\)/\* #\1/** #
