"""One page that shows a dataset: self-contained HTML with inline SVG, readable in light and dark, no script, nothing to download."""
