"""Guest image builders."""
