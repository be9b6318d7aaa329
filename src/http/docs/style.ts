/** Style of the pages: in both color schemes, from a phone up, and on paper. */
export const docsStyle = String.raw`
:root {
  color-scheme: light dark;
  --ground: light-dark(#f6f7f9, #0f1419);
  --panel: light-dark(#ffffff, #171d24);
  --sunken: light-dark(#f0f2f6, #10161c);
  --line: light-dark(#dde2e9, #2b3540);
  --text: light-dark(#18202a, #e3e9f0);
  --soft: light-dark(#5b6776, #97a3b1);
  --accent: light-dark(#1b5fb8, #6fb1f8);
  font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif;
  scroll-padding-top: 16px;
}
* { box-sizing: border-box; }
[hidden] { display: none !important; }
body { margin: 0; background: var(--ground); color: var(--text); }
a { color: var(--accent); }
h1, h2, h3, p { margin: 0; }
h1 { font-size: 1.5rem; }
h2 { font-size: 1.3rem; margin-top: 44px; }
h3 { font-size: 1rem; overflow-wrap: anywhere; }
h3 a { color: inherit; text-decoration: none; }
h3 a:hover code { text-decoration: underline; }
p + p { margin-top: 8px; }
code { font: 0.875em ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
p code, td code, li code { overflow-wrap: anywhere; }
pre { margin: 10px 0; padding: 12px 14px; background: var(--sunken); border: 1px solid var(--line); border-radius: 8px; overflow-x: auto; line-height: 1.45; }
.soft { color: var(--soft); font-weight: 400; font-size: 0.85em; }
.soft code { font-size: 1em; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
.skip { position: absolute; left: -999px; }
.skip:focus { left: 8px; top: 8px; background: var(--panel); padding: 8px 12px; z-index: 2; }

.frame { max-width: 1180px; margin: 0 auto; padding: 0 20px 80px; }
header { padding: 28px 0 8px; }
header p { color: var(--soft); }
nav ul { list-style: none; margin: 0; padding: 0; }
nav a { display: block; padding: 2px 6px; border-radius: 6px; text-decoration: none; color: var(--text); overflow-wrap: anywhere; }
nav a small { display: block; font-size: 0.78rem; line-height: 1.3; padding-bottom: 3px; }
nav a:hover { background: var(--sunken); color: var(--accent); }
nav .group { margin-top: 12px; font-size: 0.75rem; font-weight: 650; letter-spacing: 0.04em; color: var(--soft); }
nav { font-size: 0.87rem; }
nav > details > summary { font-weight: 600; padding: 8px 0; }
.find { width: 100%; font: inherit; color: inherit; background: var(--panel); border: 1px solid var(--line); border-radius: 8px; padding: 7px 10px; margin: 8px 0; }
summary { cursor: pointer; }

.operation { background: var(--panel); border: 1px solid var(--line); border-radius: 10px; padding: 16px 18px; margin-top: 18px; scroll-margin-top: 12px; }
.operation:target { border-color: var(--accent); }
.lead { margin-top: 6px; }
.method { display: inline-block; min-width: 62px; text-align: center; padding: 1px 8px; border-radius: 6px; font-size: 0.72rem; font-weight: 700; letter-spacing: 0.03em; color: #fff; background: var(--tone); }
.get { --tone: #1b6a9e; } .post { --tone: #2a7446; } .patch { --tone: #8a5a0b; } .delete { --tone: #a83227; }
.operation details { margin-top: 12px; border-top: 1px solid var(--line); padding-top: 10px; }
.operation summary { font-size: 0.87rem; }
table { border-collapse: collapse; width: 100%; margin: 6px 0; font-size: 0.9rem; }
th, td { text-align: left; vertical-align: top; padding: 6px 12px 6px 0; border-top: 1px solid var(--line); font-weight: 400; }
thead th { border-top: 0; font-size: 0.8rem; color: var(--soft); }

@media (min-width: 1000px) {
  .frame { display: grid; grid-template-columns: 250px minmax(0, 1fr); gap: 0 44px; }
  header { grid-column: 1 / -1; }
  nav { position: sticky; top: 0; align-self: start; max-height: 100vh; overflow-y: auto; padding: 12px 4px 24px 0; }
}
@media (max-width: 640px) {
  .frame { padding: 0 14px 60px; }
  .operation { padding: 14px 12px; }
}
@media print { nav, .find { display: none; } .operation { break-inside: avoid; } }
`;
