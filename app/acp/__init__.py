"""Editors drive the agent: the Agent Client Protocol (agentclientprotocol.com) as another front of the same bus."""
