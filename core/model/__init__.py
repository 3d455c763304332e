"""Models behind one seam (`core.contract.model.Provider`): Gemini, a script, the offline assistant, and retries."""
