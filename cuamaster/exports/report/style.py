"""The report's style sheet: one set of colours for light, one for dark, and print as light."""

STYLE = """
:root {
  --page: #f7f7f5; --card: #ffffff; --ink: #1d1d1b; --soft: #6a6a66; --line: #e3e3df; --mark: #2a78d6; --on: #ffffff;
  --good: #00700f; --bad: #c2312f; --warn: #8a5a00;
  --s0: #2a78d6; --s1: #c9451f; --s2: #13855c; --s3: #8a5cd0; --s4: #b57600; --s5: #d04a86; --s6: #8b8b86;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #161615; --card: #1f1f1e; --ink: #ececea; --soft: #a3a39d; --line: #363633; --mark: #5598e7; --on: #0d1420;
    --good: #4cc36a; --bad: #f07a76; --warn: #e0ac4a;
    --s0: #5598e7; --s1: #f0835c; --s2: #3fbf8f; --s3: #b08bea; --s4: #dca63c; --s5: #ee86b4; --s6: #8b8b86;
  }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--ink); font: 15px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif; }
main { max-width: 900px; margin: 0 auto; padding: 40px 20px 64px; }
header p, section > p { color: var(--soft); margin: 0 0 14px; max-width: 68ch; }
h1 { font-size: 30px; line-height: 1.2; margin: 0 0 4px; letter-spacing: -0.01em; overflow-wrap: anywhere; }
h2 { font-size: 18px; margin: 0 0 4px; }
h3 { font-size: 14px; margin: 14px 0 6px; color: var(--soft); font-weight: 600; }
section { background: var(--card); border: 1px solid var(--line); border-radius: 12px; padding: 20px 22px; margin-top: 18px; }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(96px, 1fr)); gap: 18px; margin-top: 24px; }
.tiles b { display: block; font-size: 24px; line-height: 1.25; font-weight: 650; letter-spacing: -0.01em; }
.tiles span { color: var(--soft); font-size: 13px; }
.good b { color: var(--good); } .bad b { color: var(--bad); }
figure { margin: 0; overflow-x: auto; } figure + p { margin: 14px 0 0; }
svg { display: block; width: 100%; height: auto; }
svg text { font-size: 12px; fill: var(--ink); font-variant-numeric: tabular-nums; }
svg text.soft { fill: var(--soft); } svg text.on { fill: var(--on); }
.mark { fill: var(--mark); } .mark:hover { opacity: 0.8; }
.empty { fill: none; stroke: var(--line); } .grid { stroke: var(--line); } .frame { fill: none; stroke: var(--line); }
.dot { fill-opacity: 0.8; stroke: var(--card); stroke-width: 0.6; } .ring { fill: none; stroke-width: 1.3; stroke-opacity: 0.85; }
.dot.s0 { fill: var(--s0); } .dot.s1 { fill: var(--s1); } .dot.s2 { fill: var(--s2); } .dot.s3 { fill: var(--s3); }
.dot.s4 { fill: var(--s4); } .dot.s5 { fill: var(--s5); } .dot.s6 { fill: var(--s6); }
.ring.s0 { stroke: var(--s0); } .ring.s1 { stroke: var(--s1); } .ring.s2 { stroke: var(--s2); } .ring.s3 { stroke: var(--s3); }
.ring.s4 { stroke: var(--s4); } .ring.s5 { stroke: var(--s5); } .ring.s6 { stroke: var(--s6); }
.legend { display: flex; flex-wrap: wrap; gap: 4px 18px; font-size: 13px; }
.legend span { display: inline-flex; align-items: center; gap: 6px; } .legend svg { width: 14px; flex: none; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: 13.5px; }
th { text-align: left; font-weight: 600; color: var(--soft); } th, td { padding: 7px 14px 7px 0; border-bottom: 1px solid var(--line); vertical-align: top; }
tr:last-child td { border-bottom: 0; } td { overflow-wrap: break-word; } .n { text-align: right; font-variant-numeric: tabular-nums; }
td.soft { color: var(--soft); overflow-wrap: anywhere; }
.badge { font-size: 11.5px; font-weight: 600; border: 1px solid currentColor; border-radius: 999px; padding: 1px 8px; margin-right: 4px; }
.badge.blocking { color: var(--bad); } .badge.warning { color: var(--warn); }
code { font-size: 0.92em; }
@media (max-width: 560px) { main { padding: 24px 12px 40px; } section { padding: 16px 14px; } figure svg { min-width: 560px; } .wide table { min-width: 720px; } }
@media print { body { background: #fff; } section { break-inside: avoid; } }
"""
