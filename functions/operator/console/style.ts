/** The one style sheet. System fonts, one accent, and three quiet colours for states; light and dark from the system. */
export const STYLE = `
:root {
  color-scheme: light dark;
  --bg: #fafaf8; --card: #ffffff; --ink: #1c2024; --soft: #5a626b; --line: #e4e4df; --faint: #f1f1ed;
  --accent: #3a4fc4; --accent-ink: #ffffff; --accent-soft: #eceefa;
  --good: #1b7a49; --wait: #8a5800; --bad: #b42318; --bad-soft: #fdf1ef;
  --mono: ui-monospace, "SF Mono", "Cascadia Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace;
}
@media (prefers-color-scheme: dark) {
  :root {
    --bg: #131517; --card: #1a1d20; --ink: #e8e9ea; --soft: #9da5ae; --line: #2c3136; --faint: #202428;
    --accent: #a3b1ff; --accent-ink: #12162b; --accent-soft: #23283f;
    --good: #6cc495; --wait: #dcae5b; --bad: #ff9387; --bad-soft: #2b1c1b;
  }
}
* { box-sizing: border-box; }
html { font: 15px/1.6 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", "Liberation Sans", sans-serif; -webkit-text-size-adjust: 100%; }
body { margin: 0; background: var(--bg); color: var(--ink); overflow-wrap: anywhere; }
a { color: var(--accent); text-decoration: none; }
a:hover { text-decoration: underline; text-underline-offset: .2em; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; border-radius: 4px; }
abbr { text-decoration: none; color: var(--soft); font-size: .85em; }
small { font-size: .87em; color: var(--soft); }
time { white-space: nowrap; }
code, .id { font-family: var(--mono); font-size: .93em; }
.hid { font-family: var(--mono); font-size: .85em; color: var(--bad); background: var(--bad-soft); border-radius: 3px; padding: 0 .2em; }
.skip { position: absolute; left: -99rem; }
.skip:focus { left: 1rem; top: .5rem; background: var(--card); padding: .5rem 1rem; z-index: 2; }

header.top { border-bottom: 1px solid var(--line); background: var(--card); }
header.top > div, main, footer { max-width: 74rem; margin: 0 auto; padding: 0 1.75rem; }
header.top > div { display: flex; align-items: center; gap: .5rem 1.25rem; min-height: 3.6rem; }
.brand { display: flex; align-items: center; gap: .6rem; font-weight: 600; letter-spacing: -.01em; color: var(--ink); }
.brand svg { width: 1.35rem; height: 1.35rem; }
nav.main { display: flex; gap: .1rem; flex: 1; min-width: 0; }
nav.main a { color: var(--soft); padding: .3rem .6rem; border-radius: 6px; white-space: nowrap; }
nav.main a:hover { color: var(--ink); background: var(--faint); text-decoration: none; }
nav.main a[aria-current] { color: var(--ink); background: var(--faint); }
.find input { width: 10.5rem; padding: .3rem .7rem; }
.who { display: flex; align-items: center; gap: .75rem; color: var(--soft); font-size: .93em; white-space: nowrap; }
.who span { max-width: 9rem; overflow: hidden; text-overflow: ellipsis; }
.who button { padding: 0; border: 0; background: none; color: var(--soft); font-weight: 400; min-height: 1.6rem; }
.who button:hover { color: var(--ink); text-decoration: underline; background: none; }

main { padding-top: 2.4rem; padding-bottom: 4rem; display: block; }
footer { padding-bottom: 2.5rem; color: var(--soft); font-size: .87em; display: flex; justify-content: space-between; gap: 1rem; flex-wrap: wrap; }
h1 { font-size: 1.7rem; line-height: 1.25; font-weight: 600; letter-spacing: -.02em; margin: 0; }
h1 .id { font-size: .88em; letter-spacing: -.03em; }
h2 { font-size: 1.05rem; font-weight: 600; margin: 0 0 .9rem; letter-spacing: -.005em; }
h2 small { font-weight: 400; margin-left: .4rem; }
p { margin: 0 0 .8rem; max-width: 46rem; }
.crumb { color: var(--soft); font-size: .93em; margin: 0 0 .35rem; }
.crumb a { color: var(--soft); }
.head { display: flex; justify-content: space-between; align-items: flex-end; gap: 1rem 2rem; flex-wrap: wrap; margin-bottom: 1.9rem; }
.head > div:first-child { min-width: 0; flex: 1 1 20rem; }
.head p { margin: .45rem 0 0; color: var(--soft); }
.acts { display: flex; gap: .5rem; flex-wrap: wrap; }
section { margin: 0 0 2.6rem; }
.card { background: var(--card); border: 1px solid var(--line); border-radius: 10px; padding: 1.4rem 1.6rem; }
.split { display: grid; grid-template-columns: repeat(auto-fit, minmax(20rem, 1fr)); gap: 1.4rem; align-items: start; }
@media (min-width: 60rem) { .split.lopsided { grid-template-columns: 3fr 2fr; } }
.split > * { min-width: 0; margin-bottom: 0; }
section.split { margin-bottom: 2.6rem; }

button, .button { font: inherit; font-weight: 500; padding: .42rem .95rem; border-radius: 7px; border: 1px solid var(--line); background: var(--card); color: var(--ink); cursor: pointer; display: inline-block; }
button:hover, .button:hover { background: var(--faint); text-decoration: none; }
.primary { background: var(--accent); border-color: var(--accent); color: var(--accent-ink); }
.primary:hover { background: var(--accent); filter: brightness(1.08); }
button[disabled] { opacity: .55; cursor: default; }
input, select, textarea { font: inherit; color: inherit; background: var(--card); border: 1px solid var(--line); border-radius: 7px; padding: .45rem .7rem; max-width: 100%; }
input:not([type=checkbox]):not([type=radio]), select, textarea { border-color: color-mix(in srgb, var(--soft) 45%, var(--line)); }
input::placeholder { color: var(--soft); opacity: 1; }
input[type=checkbox], input[type=radio] { accent-color: var(--accent); width: 1.05rem; height: 1.05rem; margin: .25rem .55rem 0 0; flex: none; }
form.stack > * { margin-bottom: 1.25rem; }
form.stack label.field { display: block; }
label.field > span, fieldset legend { display: block; font-weight: 500; margin-bottom: .3rem; padding: 0; }
label.field small, fieldset small { display: block; margin-top: .25rem; }
label.field input, label.field textarea, label.field select { width: 100%; max-width: 34rem; }
label.tick { display: flex; align-items: flex-start; max-width: 40rem; }
fieldset { border: 0; padding: 0; margin: 0 0 1.25rem; }
fieldset label.tick { margin-bottom: .35rem; }
.row { display: flex; gap: 1.25rem; flex-wrap: wrap; }
.row > label.field { flex: 1 1 11rem; max-width: 34rem; }

.says { margin: 0 0 1.6rem; padding: 0; list-style: none; max-width: 46rem; }
.says li { padding: .5rem 0 .5rem 1.5rem; position: relative; }
.says li + li { border-top: 1px solid var(--line); }
.says li::before { content: ""; position: absolute; left: .2rem; top: 1.12rem; width: .4rem; height: .4rem; border-radius: 50%; background: var(--accent); }
.note { border-left: 3px solid var(--accent); background: var(--accent-soft); padding: .8rem 1.1rem; border-radius: 0 8px 8px 0; margin: 0 0 1.6rem; max-width: 52rem; }
.note.bad { border-color: var(--bad); background: var(--bad-soft); }
.note p:last-child { margin: 0; }

table { width: 100%; border-collapse: collapse; font-variant-numeric: tabular-nums; }
.tablebox { background: var(--card); border: 1px solid var(--line); border-radius: 10px; overflow: hidden; }
caption { text-align: left; }
th { text-align: left; font-weight: 500; color: var(--soft); font-size: .87em; padding: .7rem 1rem .6rem; border-bottom: 1px solid var(--line); white-space: nowrap; }
td { padding: .62rem 1rem; border-top: 1px solid var(--line); vertical-align: baseline; }
tbody tr:first-child td { border-top: 0; }
tbody tr:hover td { background: var(--faint); }
thead td { border-top: 0; border-bottom: 1px solid var(--line); }
.after, dl.facts.after { margin-top: 1.1rem; }
.nowrap { white-space: nowrap; }
td.num, th.num { text-align: right; }
td:first-child, th:first-child { padding-left: 1.4rem; }
td.pick { width: 2.6rem; padding-right: 0; }
td.pick input { margin: 0; vertical-align: middle; }
tr.at td { background: var(--accent-soft) !important; }
.more { display: flex; gap: .6rem; margin-top: 1.1rem; align-items: center; }
.empty { text-align: center; padding: 3.2rem 1.5rem; color: var(--soft); }
.empty strong { display: block; color: var(--ink); font-weight: 600; font-size: 1.05rem; margin-bottom: .25rem; }
.empty p { margin: 0 auto; max-width: 32rem; }

.state { white-space: nowrap; }
.state::before { content: ""; display: inline-block; width: .5rem; height: .5rem; border-radius: 50%; background: var(--soft); margin-right: .5rem; vertical-align: .05em; }
.state.good::before { background: var(--good); } .state.wait::before { background: var(--wait); } .state.bad::before { background: var(--bad); }
.state.live::before { background: var(--accent); } .state.off::before { background: none; box-shadow: inset 0 0 0 1.5px var(--soft); }
.state.good { color: var(--good); } .state.wait { color: var(--wait); } .state.bad { color: var(--bad); } .state.live { color: var(--accent); }
.state small { color: var(--soft); white-space: normal; }

.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(9.5rem, 1fr)); gap: 1px; background: var(--line); border: 1px solid var(--line); border-radius: 10px; overflow: hidden; margin-bottom: 2.6rem; }
.tile { background: var(--card); padding: 1.2rem 1.4rem 1.1rem; color: var(--ink); }
a.tile:hover { background: var(--faint); text-decoration: none; }
a.tile:focus-visible { outline-offset: -3px; }
.tile b { display: block; font-size: 1.85rem; line-height: 1.2; font-weight: 600; letter-spacing: -.03em; font-variant-numeric: tabular-nums; }
.tile span { color: var(--soft); font-size: .93em; }
.tile.bad b { color: var(--bad); } .tile.wait b { color: var(--wait); } .tile.good b { color: var(--good); }

dl.facts { display: grid; grid-template-columns: max-content 1fr; gap: .45rem 1.6rem; margin: 0; }
dl.facts dt { color: var(--soft); }
dl.facts dd { margin: 0; min-width: 0; }
pre { font-family: var(--mono); font-size: .87em; white-space: pre-wrap; background: var(--faint); border-radius: 7px; padding: .8rem 1rem; margin: .3rem 0 0; max-height: 16rem; overflow: auto; }
.answer { font-size: 1.12rem; line-height: 1.55; margin: 0 0 .6rem; max-width: 50rem; }
.answer { font-weight: 500; }
.soft { color: var(--soft); max-width: none; }
.parts { display: grid; grid-template-columns: repeat(auto-fit, minmax(15rem, 1fr)); gap: 1.2rem 2rem; border-top: 1px solid var(--line); padding-top: 1.1rem; margin-top: 1.1rem; }
.parts h2 { font-size: .87rem; font-weight: 500; color: var(--soft); margin-bottom: .35rem; }
.parts ul { margin: 0; padding: 0; list-style: none; font-size: .95em; }
.parts li + li { margin-top: .35rem; }

.tabs { display: flex; gap: 1.5rem; border-bottom: 1px solid var(--line); margin: 0 0 1.5rem; overflow-x: auto; }
.tabs a { color: var(--soft); padding: .45rem 0; margin-bottom: -1px; border-bottom: 2px solid transparent; white-space: nowrap; }
.tabs a[aria-current] { color: var(--ink); border-color: var(--accent); font-weight: 550; }
.filter { display: flex; gap: .6rem; flex-wrap: wrap; align-items: center; margin-bottom: 1.4rem; }
.filter input, .filter select { width: 15rem; }
.bulk { position: sticky; bottom: 0; background: var(--card); border: 1px solid var(--line); border-radius: 10px; padding: .8rem 1.4rem; margin-top: 1rem; display: flex; gap: .75rem 1rem; align-items: center; flex-wrap: wrap; box-shadow: 0 -6px 18px -14px rgb(0 0 0 / .4); }
.bulk span { flex: 1; color: var(--soft); }

svg text { font: 11.5px system-ui, sans-serif; fill: var(--soft); }
svg text.strong { fill: var(--ink); font-weight: 550; }
.chart { display: block; width: 100%; height: auto; }
.bar { display: block; width: 100%; height: 10px; border-radius: 5px; overflow: hidden; }
.scroll { overflow-x: auto; }
.scroll svg { display: block; max-width: none; }
svg .axis { stroke: var(--line); } svg .lane { fill: var(--faint); }
svg .fill { fill: var(--accent); } svg .fill.soft { fill: color-mix(in srgb, var(--accent) 30%, var(--card)); }
svg .good { fill: var(--good); } svg .wait { fill: var(--wait); } svg .bad { fill: var(--bad); } svg .quiet { fill: var(--soft); } svg .person { fill: var(--accent); }
svg .hatch { fill: none; stroke: var(--wait); stroke-dasharray: 2 4; stroke-width: 6; opacity: .75; }
svg .now { stroke: var(--accent); stroke-dasharray: 3 3; }
svg .track { fill: var(--faint); }
.legend { display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; margin: .9rem 0 0; padding: 0; list-style: none; font-size: .87em; color: var(--soft); }
.legend svg { width: .7rem; height: .7rem; margin-right: .4rem; }
.beats { display: flex; gap: .3rem 1.4rem; flex-wrap: wrap; margin: 0; padding: 0; list-style: none; }
.meter { width: 5.5rem; height: .5rem; vertical-align: .05em; margin-right: .5rem; }

ol.journal { list-style: none; margin: 0; padding: 0; }
ol.journal > li { display: grid; grid-template-columns: 10.5rem 1fr; gap: .1rem 1.25rem; padding: .6rem 0; border-top: 1px solid var(--line); }
ol.journal > li:first-child { border-top: 0; padding-top: 0; }
ol.journal .when { color: var(--soft); font-variant-numeric: tabular-nums; font-size: .93em; }
ol.journal .when small { display: block; margin: 0; }
ol.journal small { display: inline-block; margin-right: .9rem; }

dialog { border: 1px solid var(--line); border-radius: 12px; background: var(--card); color: var(--ink); padding: 2rem 2.2rem; width: min(44rem, calc(100vw - 2rem)); max-height: calc(100vh - 3rem); box-shadow: 0 24px 60px -20px rgb(0 0 0 / .45); }
dialog:focus-visible { outline: none; }
dialog::backdrop { background: rgb(15 17 22 / .45); }
dialog .crumb { display: none; }
dialog .card { border: 0; padding: 0; }
dialog .head { margin-bottom: 1.2rem; }
dialog h1 { font-size: 1.35rem; }
kbd { font-family: var(--mono); font-size: .85em; border: 1px solid var(--line); border-bottom-width: 2px; border-radius: 4px; padding: .05rem .4rem; background: var(--faint); }
.keys { display: grid; grid-template-columns: max-content 1fr; gap: .5rem 1.4rem; margin: 0; }
.keys dd { margin: 0; }
.sign { max-width: 26rem; margin: 12vh auto 0; }
.sign .brand { font-size: 1.15rem; margin-bottom: 1.6rem; }
.sign input { width: 100%; }
.sign h1 { font-size: 1.35rem; margin-bottom: .4rem; }
.sign p { color: var(--soft); }
.nojs-only { display: inline; } .js .nojs-only { display: none; }
.js-only { display: none !important; } .js .js-only { display: revert !important; }

@media (max-width: 46rem) {
  header.top > div, main, footer { padding-left: 1.1rem; padding-right: 1.1rem; }
  header.top > div { padding-top: .7rem; gap: .4rem 1rem; flex-wrap: wrap; }
  nav.main { order: 3; flex: 1 0 100%; overflow-x: auto; margin: 0 -.65rem; padding-bottom: .5rem; scrollbar-width: none; }
  .find { flex: 1; } .find input { width: 100%; }
  .who span { display: none; }
  main { padding-top: 1.5rem; }
  h1 { font-size: 1.4rem; }
  .card { padding: 1.1rem 1.15rem; }
  .tiles { grid-template-columns: 1fr 1fr; }
  .tile:first-child { grid-column: 1 / -1; }
  dl.facts { grid-template-columns: minmax(5rem, max-content) 1fr; gap: .35rem 1rem; }
  ol.journal > li { grid-template-columns: 1fr; }
  ol.journal .when small { display: inline; margin-left: .5rem; }
  table.wide thead { position: absolute; left: -99rem; }
  table.wide tr { display: block; padding: .7rem 1.15rem; border-top: 1px solid var(--line); }
  table.wide tbody tr:first-child { border-top: 0; }
  table.wide td { display: flex; justify-content: space-between; gap: 1rem; padding: .15rem 0 !important; border: 0; text-align: right; width: auto; min-width: 0; }
  table.wide td > * { min-width: 0; }
  table.wide td.pick { position: absolute; right: 1.4rem; }
  table.wide tr { position: relative; }
  table.wide td::before { content: attr(data-label); color: var(--soft); flex: none; text-align: left; }
  table.wide td.lead { text-align: left; } table.wide td.lead::before { content: none; }
  table.wide td:empty { display: none; }
  table.wide tbody tr:hover td { background: none; }
  .minor { display: none !important; }
  svg.chart text { font-size: 15px; }
  dialog { padding: 1.4rem 1.2rem; }
  .filter input:not([type=hidden]) { flex: 1; width: auto; min-width: 0; }
  .filter input[type=date] { min-width: 9rem; }
}
@media (prefers-reduced-motion: no-preference) {
  a, button, .button, .tile { transition: background-color .12s, color .12s; }
}
`;
