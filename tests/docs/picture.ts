import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { aBot, stopBots } from '../e2e/bot.ts';
import { openPage, type BrowserPage } from './chromium.ts';
import { playScene } from './scene.ts';

/** Makes docs/sandbox.png from the product: the sandbox page of a server on a clock by hand, after a short scene. */

const viewport = { width: 1280, height: 800 };
const file = fileURLToPath(new URL('../../docs/sandbox.png', import.meta.url));

const page = await openPage(viewport);
if (page === null) {
  process.stderr.write(
    'There is no Chromium on this computer. Install one (apt-get install chromium) and try again.\n',
  );
  process.exitCode = 1;
} else {
  try {
    await take(page);
    process.stdout.write('docs/sandbox.png is made.\n');
  } finally {
    await page.close();
    await stopBots();
  }
}

async function take(browser: BrowserPage): Promise<void> {
  const bot = await aBot({ DEFAULT_TIMEZONE: 'Europe/Madrid' });
  const { thread } = await playScene(bot);
  await browser.open(`${bot.server.url}/sandbox#lab/${thread}`);
  for (const text of ['live', 'Done by Ada'])
    await browser.until(`document.body.innerText.includes(${JSON.stringify(text)})`);
  // Fonts and the last change of the layout need a moment.
  await browser.evaluate('document.fonts.ready.then(() => new Promise((done) => setTimeout(done, 500)))');
  writeFileSync(file, await browser.picture());
}
