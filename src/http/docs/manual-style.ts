/** Style of the manual's prose, in addition to that of the API reference. */
export const manualStyle = String.raw`
.pages a[aria-current] { font-weight: 650; color: var(--accent); }
.manual { padding-bottom: 24px; }
.manual h1 { font-size: 1.8rem; line-height: 1.25; margin-top: 12px; }
.manual h2 { padding-top: 8px; scroll-margin-top: 12px; }
.manual h3 { font-size: 1.05rem; margin-top: 28px; scroll-margin-top: 12px; }
.manual h2 a { color: inherit; text-decoration: none; }
.manual h2 a:hover, .manual h3 a:hover { text-decoration: underline; }
.manual > p, .manual ul, .manual ol { max-width: 76ch; }
.manual > p, .manual > ul, .manual > ol { margin: 12px 0 0; }
.manual ul, .manual ol { padding-left: 1.4em; }
.manual li + li { margin-top: 5px; }
.manual li > pre { max-width: 100%; }
.manual img { display: block; max-width: 100%; height: auto; border: 1px solid var(--line); border-radius: 10px; }
.manual td p + p { margin-top: 4px; }
.sheet { margin: 12px 0; }
.sheet th { font-weight: 600; }
.sheet .number { text-align: right; white-space: nowrap; }

@media (max-width: 999px) {
  .pages { display: flex; flex-wrap: wrap; gap: 2px 4px; padding-bottom: 8px; border-bottom: 1px solid var(--line); }
}
@media (max-width: 640px) {
  .manual h1 { font-size: 1.5rem; }
  .sheet thead { display: none; }
  .sheet, .sheet tbody, .sheet tr, .sheet td { display: block; width: 100%; }
  .sheet tr { border-top: 1px solid var(--line); padding: 8px 0; }
  .sheet td { border: 0; padding: 2px 0; }
  .sheet td:first-child { font-weight: 600; }
  .sheet td:empty { display: none; }
  .sheet .number { text-align: left; }
  .sheet td:nth-child(n + 2):not(:nth-child(2):last-child)::before { content: attr(data-title) ': '; color: var(--soft); }
}
`;
