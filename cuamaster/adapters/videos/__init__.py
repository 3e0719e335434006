"""Where videos come from: folders, feeds, video sites."""
