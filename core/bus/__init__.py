"""The bus: publish, subscribe, ask and reply; its recorder and its replay. It knows no message's meaning."""
