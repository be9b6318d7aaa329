/** The composer, the tools, the words that pass, and how the columns fold on smaller screens. */
export const toolsStyle = String.raw`
.composer { flex: none; background: var(--panel); border-top: 1px solid var(--line); padding: 8px 14px max(10px, env(safe-area-inset-bottom)); position: relative; }
.composer .row { display: flex; gap: 8px; align-items: flex-end; }
.composer textarea { flex: 1; min-width: 0; min-height: 42px; resize: none; line-height: 1.4; padding: 9px 12px; background: var(--ground); }
.composer #attach { flex: none; width: 3.4em; min-height: 42px; }
.composer #send { min-height: 42px; }
.actors { border: 0; margin: 0 0 7px; padding: 0; display: flex; align-items: center; gap: 4px; flex-wrap: wrap; }
.actors legend { float: left; font-size: 0.82rem; color: var(--soft); margin-right: 8px; padding: 0; }
.actor { position: relative; }
.actor input { position: absolute; inset: 0; opacity: 0; margin: 0; cursor: pointer; }
.actor span { display: block; padding: 3px 12px; border-radius: 15px; border: 1px solid var(--line); font-size: 0.85rem; }
.actor input:checked + span { background: var(--accent); border-color: var(--accent); color: var(--on-accent); font-weight: 600; }
.actor input:disabled + span { opacity: 0.45; }
.actor input:focus-visible + span { outline: 2px solid var(--accent); outline-offset: 2px; }
.context { display: flex; align-items: center; gap: 8px; font-size: 0.85rem; border-left: 3px solid var(--accent); padding-left: 9px; margin-bottom: 6px; }
.context span { flex: 1; min-width: 0; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.suggestions { position: absolute; left: 14px; right: 14px; bottom: 100%; max-height: 46vh; overflow-y: auto; list-style: none; margin: 0 0 6px; padding: 4px; background: var(--panel); border: 1px solid var(--line); border-radius: var(--radius); box-shadow: 0 6px 24px rgb(0 0 0 / 18%); z-index: 3; }
.suggestions li { display: flex; gap: 10px; padding: 7px 10px; border-radius: 8px; cursor: pointer; }
.suggestions li[aria-selected=true], .suggestions li:hover { background: var(--raised); }
.suggestions b { color: var(--accent); }
.suggestions span { color: var(--soft); overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }

.tools { background: var(--panel); border-left: 1px solid var(--line); }
.tabs { display: flex; flex: 1; gap: 2px; min-width: 0; }
.tabs [role=tab] { flex: 1; border: 0; background: none; padding: 6px 4px; color: var(--soft); border-radius: 8px; }
.tabs [role=tab][aria-selected=true] { background: var(--raised); color: var(--text); font-weight: 600; }
.tabs .marked::after { content: ''; width: 7px; height: 7px; border-radius: 50%; background: var(--bad); margin-left: 5px; }
.panel { flex: 1; overflow-y: auto; padding: 14px; display: flex; flex-direction: column; gap: 12px; overscroll-behavior: contain; }
.stack, #place, #jumps { display: grid; gap: 10px; }
#jumps .buttons .primary { flex: 1 1 100%; }
.panel label { display: grid; gap: 3px; font-size: 0.88rem; color: var(--soft); }
.panel label > input, .panel label > select { color: var(--text); width: 100%; min-width: 0; }
.panel label.check { display: flex; align-items: center; gap: 8px; color: var(--text); min-height: 30px; }
.panel label.check input { width: 17px; height: 17px; margin: 0; flex: none; accent-color: var(--accent); }
.pair { display: flex; gap: 8px; align-items: flex-end; }
.pair label { flex: 1; }
.buttons { display: flex; flex-wrap: wrap; gap: 8px; }
.buttons > * { flex: 1; white-space: nowrap; }
.note { color: var(--soft); font-size: 0.85rem; }
.times { margin: 0; display: grid; gap: 2px; }
.times dt { font-size: 0.8rem; color: var(--soft); }
.times dd { margin: 0 0 6px; font-variant-numeric: tabular-nums; }
.plain { list-style: none; margin: 0; padding: 0; display: grid; gap: 7px; }
.line { display: flex; justify-content: space-between; align-items: center; gap: 8px; }
.line small { display: block; }
.calls { gap: 3px; }
.calls summary { display: flex; align-items: center; gap: 7px; padding: 6px 4px; cursor: pointer; border-radius: 8px; font-size: 0.86rem; }
.calls summary:hover { background: var(--raised); }
.call-name { flex: 1; min-width: 0; overflow: hidden; text-overflow: ellipsis; }
.calls time, .calls .ms { color: var(--soft); font-size: 0.76rem; font-variant-numeric: tabular-nums; }
.calls pre { margin: 2px 0; padding: 8px 10px; background: var(--raised); border-radius: 8px; overflow: auto; max-height: 260px; font: 0.78rem/1.4 ui-monospace, Menlo, Consolas, monospace; white-space: pre-wrap; overflow-wrap: anywhere; }
.answer { font-size: 0.82rem; padding: 0 4px 8px; overflow-wrap: anywhere; }
.tag.good { color: var(--good); }
.tag.bad { color: var(--bad); }

.toasts { position: fixed; left: 50%; bottom: 140px; transform: translateX(-50%); display: grid; gap: 8px; z-index: 8; width: min(92vw, 460px); pointer-events: none; }
.toast { justify-self: center; padding: 9px 16px; border-radius: 20px; background: light-dark(#222c38, #e6ebf1); color: light-dark(#fff, #10161d); box-shadow: 0 4px 18px rgb(0 0 0 / 25%); overflow-wrap: anywhere; }
.toast.fault { background: light-dark(#9c1f15, #ffb4ab); border-radius: 12px; }
.dialog { border: 1px solid var(--line); border-radius: var(--radius); background: var(--panel); color: var(--text); padding: 18px; max-width: min(90vw, 420px); }
.dialog::backdrop { background: rgb(0 0 0 / 40%); }
.dialog form { display: flex; justify-content: flex-end; gap: 8px; margin-top: 14px; }
.dialog p { white-space: pre-wrap; overflow-wrap: anywhere; }

@media (min-width: 1100px) { .only-medium { display: none; } }
@media (min-width: 720px) { .only-narrow { display: none; } }
@media (max-width: 1099px) {
  body { grid-template-columns: minmax(220px, 280px) minmax(0, 1fr); }
  .tools { position: fixed; inset: 0 0 0 auto; width: min(390px, 100vw); z-index: 5; visibility: hidden; transform: translateX(100%); transition: transform 0.18s ease-out, visibility 0.18s; box-shadow: -8px 0 30px rgb(0 0 0 / 22%); }
  .tools-open .tools { visibility: visible; transform: none; }
}
@media (max-width: 719px) {
  body { grid-template-columns: minmax(0, 1fr); }
  [data-screen=list] .chat, [data-screen=chat] .list { display: none; }
  .list { border: 0; }
  .tools { width: 100vw; }
  .bar { padding-inline: 8px; }
  .list .bar { padding-inline: 14px; }
  .scroll { padding-inline: 10px; }
  .message { max-width: 92%; }
  .key { font-size: 0.92rem; padding-inline: 4px; }
  .chat-row { padding: 10px 8px; }
  .topic-row { min-height: 44px; }
  textarea, input, select { font-size: 16px !important; }
}
`;
