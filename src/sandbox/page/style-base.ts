/** The frame, the chats and the messages, in both color schemes and from a phone up. */
export const baseStyle = String.raw`
:root {
  color-scheme: light dark;
  --ground: light-dark(#eef1f5, #0f1419);
  --panel: light-dark(#ffffff, #171d24);
  --raised: light-dark(#f4f6f9, #1f2730);
  --line: light-dark(#dde2e9, #2b3540);
  --text: light-dark(#18202a, #e6ebf1);
  --soft: light-dark(#5b6776, #97a3b1);
  --accent: light-dark(#1b69c9, #5aa5f5);
  --on-accent: light-dark(#ffffff, #08131f);
  --mine: light-dark(#dcecff, #1d3a5a);
  --theirs: light-dark(#ffffff, #1c242d);
  --bad: light-dark(#b42318, #ff8a7d);
  --good: light-dark(#1a7f42, #62cf8b);
  --mark: light-dark(#fff3c9, #4a3f16);
  --radius: 12px;
  font: 15px/1.45 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif;
}
* { box-sizing: border-box; }
[hidden] { display: none !important; }
html, body { height: 100%; margin: 0; }
body {
  display: grid;
  grid-template-columns: minmax(230px, 290px) minmax(0, 1fr) minmax(290px, 350px);
  height: 100dvh;
  background: var(--ground);
  color: var(--text);
  overflow: hidden;
}
h1, h2, h3, h4, p { margin: 0; }
h1 { font-size: 1.1rem; }
h2 { font-size: 1.02rem; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
h3 { font-size: 0.95rem; }
h4 { font-size: 0.85rem; color: var(--soft); margin-top: 8px; }
small { font-size: 0.78rem; color: var(--soft); font-weight: 400; }
a { color: var(--accent); }
button, input, select, textarea { font: inherit; color: inherit; }
button, .button, select, input:not([type=checkbox], [type=radio]), textarea {
  min-height: 36px;
  border: 1px solid var(--line);
  border-radius: 9px;
  background: var(--raised);
  padding: 6px 11px;
}
button, .button { cursor: pointer; text-decoration: none; color: var(--text); display: inline-flex; align-items: center; justify-content: center; }
button:hover:not(:disabled), .button:hover { border-color: var(--accent); }
button:disabled { opacity: 0.55; cursor: default; }
button[aria-busy=true] { cursor: progress; }
button.primary { background: var(--accent); border-color: var(--accent); color: var(--on-accent); font-weight: 600; }
button.danger { color: var(--bad); }
button.icon { border: 0; background: none; min-width: 36px; padding: 4px; font-size: 1.1rem; }
button.quiet { background: none; border-color: transparent; color: var(--accent); }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 1px; }
.hidden-text { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
.skip { position: absolute; left: -999px; top: 8px; z-index: 9; background: var(--panel); padding: 8px 12px; border-radius: 8px; }
.skip:focus { left: 8px; }
.noscript { position: fixed; inset: 0 0 auto; padding: 16px; background: var(--mark); z-index: 9; }

.bar { display: flex; align-items: center; gap: 8px; min-height: 56px; padding: 6px 14px; border-bottom: 1px solid var(--line); background: var(--panel); flex: none; }
.list, .chat, .tools { display: flex; flex-direction: column; min-height: 0; min-width: 0; position: relative; }
.list { background: var(--panel); border-right: 1px solid var(--line); }
.link-state { margin-left: auto; font-size: 0.78rem; color: var(--soft); }
.link-state::before { content: ''; display: inline-block; width: 8px; height: 8px; border-radius: 50%; background: var(--bad); margin-right: 6px; }
.link-state.good::before { background: var(--good); }
.chats { flex: 1; overflow-y: auto; padding: 8px; }
.chat-row, .topic-row { display: flex; align-items: center; gap: 10px; color: inherit; text-decoration: none; border-radius: 10px; padding: 8px; }
.chat-row:hover, .topic-row:hover { background: var(--raised); }
.chat-row.open { background: var(--raised); }
.topic-row.open { background: var(--accent); color: var(--on-accent); }
.topic-row.open .sign, .topic-row.open small { color: inherit; }
.chat-words { flex: 1; min-width: 0; display: flex; flex-direction: column; }
.chat-title { display: flex; justify-content: space-between; align-items: baseline; gap: 6px; font-weight: 600; }
.chat-last { color: var(--soft); font-size: 0.85rem; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.avatar { flex: none; width: 38px; height: 38px; border-radius: 50%; display: grid; place-items: center; font-weight: 700; color: #fff; background: var(--tone); }
.tone-0 { --tone: #b3492f; } .tone-1 { --tone: #2c6fb8; } .tone-2 { --tone: #2d7d4f; } .tone-3 { --tone: #7c4fc4; } .tone-4 { --tone: #9a6a12; } .tone-5 { --tone: #12798a; }
.dot { flex: none; width: 10px; height: 10px; border-radius: 50%; background: var(--accent); position: relative; }
.topics { list-style: none; margin: 0 0 6px; padding: 0 0 0 30px; }
.topic-row { padding: 5px 8px; gap: 6px; min-height: 34px; }
.topic-name { flex: 1; min-width: 0; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.sign { color: var(--soft); }
.tag { padding: 0 7px; border-radius: 8px; background: var(--raised); border: 1px solid var(--line); white-space: nowrap; }
.links { display: flex; flex-wrap: wrap; gap: 4px 14px; padding: 10px 14px; font-size: 0.85rem; border-top: 1px solid var(--line); }
.links:empty { display: none; }

.title { flex: 1; min-width: 0; }
.title p { color: var(--soft); font-size: 0.82rem; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.clock-chip { font-variant-numeric: tabular-nums; border-radius: 18px; }
.pinned { display: block; text-align: left; border: 0; border-bottom: 1px solid var(--line); border-left: 3px solid var(--accent); border-radius: 0; background: var(--panel); overflow: hidden; text-overflow: ellipsis; white-space: nowrap; flex: none; padding-inline: 12px; font-size: 0.88rem; }
.pinned b { color: var(--accent); }
.scroll { flex: 1; overflow-y: auto; overflow-x: hidden; padding: 10px 14px; outline: 0; overscroll-behavior: contain; overflow-anchor: none; }
.older { text-align: center; }
.messages { list-style: none; margin: 0; padding: 0; display: flex; flex-direction: column; gap: 6px; }
.day, .service { align-self: center; text-align: center; font-size: 0.82rem; color: var(--soft); max-width: 90%; }
.day span, .service span { display: inline-block; padding: 2px 11px; border-radius: 12px; background: var(--raised); border: 1px solid var(--line); overflow-wrap: anywhere; }
.day { margin: 8px 0; }
.message { align-self: flex-start; max-width: min(86%, 620px); min-width: 0; }
.message.mine { align-self: flex-end; }
.bubble { background: var(--theirs); border: 1px solid var(--line); border-radius: var(--radius) var(--radius) var(--radius) 4px; padding: 6px 11px 5px; }
.mine .bubble { background: var(--mine); border-color: transparent; border-radius: var(--radius) var(--radius) 4px var(--radius); }
.lit .bubble { outline: 2px solid var(--accent); }
.service.lit span { outline: 2px solid var(--accent); }
.head { display: flex; justify-content: space-between; gap: 8px; }
.name { font-size: 0.83rem; font-weight: 650; color: light-dark(var(--tone), color-mix(in srgb, var(--tone) 55%, white)); }
.marks { display: flex; gap: 4px; }
.silent { opacity: 0.6; font-size: 0.8rem; }
.only { font-size: 0.78rem; color: var(--soft); font-style: italic; }
.secret .bubble { border-style: dashed; border-color: var(--accent); }
.text { white-space: pre-wrap; overflow-wrap: anywhere; }
.text pre { margin: 4px 0; padding: 8px 10px; background: var(--raised); border-radius: 8px; overflow-x: auto; white-space: pre; }
.text pre[data-language]::before { content: attr(data-language); display: block; font-size: 0.72rem; color: var(--soft); }
code { font: 0.9em ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
.text > code { background: var(--raised); padding: 1px 4px; border-radius: 5px; }
.text blockquote { margin: 2px 0; padding: 1px 0 1px 9px; border-left: 3px solid var(--accent); }
.spoiler:not(:hover, :focus) { background: var(--soft); color: transparent; border-radius: 4px; }
.command { display: inline; min-height: 0; padding: 0; border: 0; background: none; color: var(--accent); }
.command:hover { text-decoration: underline; }
.quote { display: block; width: 100%; text-align: left; min-height: 0; padding: 2px 8px; margin: 2px 0 4px; border: 0; border-left: 3px solid var(--accent); border-radius: 4px; background: color-mix(in srgb, var(--accent) 9%, transparent); font-size: 0.85rem; }
.quote b, .quote span { display: block; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; max-width: 520px; }
.foot { display: flex; justify-content: flex-end; align-items: center; gap: 8px; font-size: 0.75rem; color: var(--soft); margin-top: 1px; }
.deed { min-height: 0; padding: 0 4px; border: 0; background: none; color: var(--soft); font-size: 0.75rem; opacity: 0; }
.deed:first-child { margin-left: auto; }
.message:hover .deed, .deed:focus-visible { opacity: 1; }
.deed:hover { color: var(--accent); text-decoration: underline; }
.document { display: flex; align-items: center; gap: 10px; color: inherit; text-decoration: none; padding: 4px 0; }
.document b, .document small { display: block; overflow-wrap: anywhere; }
.sheet { font-size: 1.5rem; }
.photo img { display: block; max-width: 100%; max-height: 320px; border-radius: 8px; }
.reactions { display: flex; gap: 4px; margin-top: 3px; }
.reactions span { background: var(--raised); border-radius: 12px; padding: 0 8px; }
.keyboard { display: grid; gap: 4px; margin-top: 4px; min-width: min(330px, 76vw); }
.keys { display: flex; gap: 4px; }
.key { flex: 1 1 0; min-width: 0; min-height: 38px; border: 1px solid var(--line); border-radius: 9px; background: var(--panel); padding: 5px 8px; text-align: center; text-decoration: none; color: var(--accent); font-weight: 550; overflow-wrap: anywhere; display: inline-flex; align-items: center; justify-content: center; }
.key[aria-busy=true] { animation: pulse 1s infinite alternate; }
@keyframes pulse { to { opacity: 0.35; } }
.hint { max-width: 420px; margin: 8vh auto 0; padding: 18px; text-align: center; background: var(--panel); border: 1px solid var(--line); border-radius: var(--radius); display: grid; gap: 10px; }
.starter { margin: 3px; color: var(--accent); }
.to-newest { position: absolute; right: 18px; bottom: 128px; width: 42px; height: 42px; border-radius: 50%; background: var(--panel); padding: 0; }
@media (hover: none) { .deed { opacity: 1; padding: 6px 4px; } }
@media (prefers-reduced-motion: reduce) { * { animation: none !important; scroll-behavior: auto !important; } }
`;
