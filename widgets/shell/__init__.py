"""The shell pane: the terminals of all jobs. It draws frames and tells what the user does; it knows no process."""
