"""Where policies fail, and what the next round should therefore look for."""
