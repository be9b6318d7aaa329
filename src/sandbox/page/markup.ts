/** The frame of the page; the script fills it with nodes whose texts are set as text, never as markup. */
export const markup = String.raw`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover">
<meta name="color-scheme" content="light dark">
<title>Cronogram sandbox</title>
<link rel="icon" href="data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Ccircle cx='8' cy='8' r='7' fill='%232a7de1'/%3E%3Cpath d='M8 4v4l3 2' stroke='white' stroke-width='1.6' fill='none' stroke-linecap='round'/%3E%3C/svg%3E">
<link rel="stylesheet" href="/sandbox/page.css">
<script type="module" src="/sandbox/page.js"></script>
</head>
<body data-screen="list">
<noscript><p class="noscript">This page needs JavaScript. The control API under /sandbox/control works without it.</p></noscript>
<a class="skip" href="#say">Skip to the message field</a>

<aside class="list" aria-label="Chats and topics">
  <header class="bar">
    <h1>Sandbox</h1>
    <span id="link-state" class="link-state" role="status" aria-live="polite">connecting</span>
  </header>
  <nav id="chats" class="chats" aria-label="Chats"></nav>
  <footer id="links" class="links"></footer>
</aside>

<main class="chat">
  <header class="bar">
    <button id="back" class="icon only-narrow" type="button" aria-label="Back to the chats">&#8592;</button>
    <div class="title"><h2 id="title">&nbsp;</h2><p id="subtitle"></p></div>
    <button id="clock-chip" class="clock-chip" type="button" title="Clock of the sandbox"></button>
    <button id="open-tools" class="icon only-medium" type="button" aria-label="Tools: clock, faults, chat, calls">&#9881;</button>
  </header>
  <button id="pinned" class="pinned" type="button" hidden></button>
  <div id="scroll" class="scroll" tabindex="-1">
    <div class="older"><button id="older" type="button" class="quiet" hidden>Show older messages</button></div>
    <ol id="messages" class="messages" aria-label="Messages"></ol>
    <div id="hint" class="hint" hidden></div>
  </div>
  <button id="to-newest" class="to-newest" type="button" hidden aria-label="Go to the newest message">&#8595;</button>
  <form id="composer" class="composer" autocomplete="off">
    <div id="context" class="context" hidden>
      <span id="context-text"></span>
      <button id="context-end" class="icon" type="button" aria-label="Stop replying or editing">&#10005;</button>
    </div>
    <ul id="suggestions" class="suggestions" role="listbox" aria-label="Commands of the bot" hidden></ul>
    <fieldset id="actors" class="actors"><legend>Write as</legend></fieldset>
    <div class="row">
      <select id="attach" aria-label="Send a file; the text becomes its caption" title="Send a file; the text becomes its caption">
        <option value="">&#128206;</option>
        <option value="photo">Photo</option>
        <option value="document">Document</option>
        <option value="video">Video</option>
        <option value="audio">Audio</option>
        <option value="voice">Voice message</option>
        <option value="animation">Animation</option>
      </select>
      <textarea id="say" rows="1" maxlength="16000" placeholder="Message" aria-label="Message" enterkeyhint="send"
        role="combobox" aria-expanded="false" aria-controls="suggestions" aria-autocomplete="list"></textarea>
      <button id="send" class="primary" type="submit" aria-label="Send">Send</button>
    </div>
  </form>
</main>

<aside id="tools" class="tools" aria-label="Tools">
  <header class="bar">
    <div class="tabs" role="tablist" aria-label="Tools">
      <button role="tab" type="button" id="tab-clock" aria-controls="panel-clock" aria-selected="true">Clock</button>
      <button role="tab" type="button" id="tab-faults" aria-controls="panel-faults" aria-selected="false" tabindex="-1">Faults</button>
      <button role="tab" type="button" id="tab-place" aria-controls="panel-place" aria-selected="false" tabindex="-1">Chat</button>
      <button role="tab" type="button" id="tab-calls" aria-controls="panel-calls" aria-selected="false" tabindex="-1">Calls</button>
    </div>
    <button id="close-tools" class="icon only-medium" type="button" aria-label="Close the tools">&#10005;</button>
  </header>

  <section role="tabpanel" id="panel-clock" class="panel" aria-labelledby="tab-clock">
    <dl class="times">
      <dt>Now here</dt><dd><time id="now-here"></time></dd>
      <dt>Now in UTC</dt><dd><time id="now-utc"></time></dd>
      <dt>Next run</dt><dd><time id="next-run"></time></dd>
    </dl>
    <div id="jumps">
      <div class="buttons">
        <button type="button" class="primary" data-jump="next">Go to the next run</button>
        <button type="button" data-jump="PT1H">+ 1 hour</button>
        <button type="button" data-jump="P1D">+ 1 day</button>
      </div>
      <form id="jump-form" class="stack">
        <label><span>Go to (<span id="zone"></span>)</span><input id="jump-at" type="datetime-local" step="1" required></label>
        <button type="submit">Go there</button>
      </form>
      <p class="note">A jump visits every run on its way, waits until the bot has nothing left to do, and never goes back.</p>
    </div>
    <p id="no-jumps" class="note" hidden>This sandbox runs on the real clock, which cannot jump.</p>
  </section>

  <section role="tabpanel" id="panel-faults" class="panel" aria-labelledby="tab-faults" hidden>
    <form id="fault-form" class="stack">
      <label>What goes wrong<select id="fault-kind"></select></label>
      <p id="fault-note" class="note"></p>
      <label>In which calls<select id="fault-method"></select></label>
      <div class="pair">
        <label>How many calls<input id="fault-count" type="number" min="1" max="10000" value="1" required></label>
        <label id="fault-seconds-label">Seconds<input id="fault-seconds" type="number" min="1" max="600" value="5"></label>
      </div>
      <label class="check"><input id="fault-here" type="checkbox">Only in this chat</label>
      <button type="submit" class="primary">Set the fault</button>
    </form>
    <h3>Set now</h3>
    <ul id="faults" class="plain"></ul>
  </section>

  <section role="tabpanel" id="panel-place" class="panel" aria-labelledby="tab-place" hidden>
    <div id="place"></div>
    <h3>The whole sandbox</h3>
    <div id="platform" class="stack"></div>
    <div class="buttons">
      <a class="button" href="/sandbox/control/transcript" target="_blank" rel="noopener">Open the transcript</a>
      <button id="reset" type="button" class="danger">Reset the chats</button>
    </div>
  </section>

  <section role="tabpanel" id="panel-calls" class="panel" aria-labelledby="tab-calls" hidden>
    <label class="check"><input id="calls-polls" type="checkbox">Show getUpdates too</label>
    <ol id="calls" class="plain calls"></ol>
  </section>
</aside>

<div id="toasts" class="toasts" role="status" aria-live="polite"></div>
<dialog id="alert" class="dialog" aria-labelledby="alert-text">
  <p id="alert-text"></p>
  <form method="dialog"><button id="alert-cancel" value="no" type="submit">Cancel</button><button class="primary" value="yes" type="submit" autofocus>OK</button></form>
</dialog>
</body>
</html>
`;
