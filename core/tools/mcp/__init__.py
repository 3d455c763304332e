"""Servers of the Model Context Protocol: started beside the session, their tools registered, their ends survived."""
