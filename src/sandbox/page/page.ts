import type { Answer } from '../control/answers.ts';
import { markup } from './markup.ts';
import { chatsScript } from './script-chats.ts';
import { composerScript } from './script-composer.ts';
import { coreScript } from './script-core.ts';
import { messagesScript } from './script-messages.ts';
import { placeScript } from './script-place.ts';
import { startScript } from './script-start.ts';
import { toolsScript } from './script-tools.ts';
import { baseStyle } from './style-base.ts';
import { toolsStyle } from './style-tools.ts';

/** Nothing is fetched from elsewhere, and nothing that stands in the markup can run. */
const contentSecurity = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/**
 * The files of the page by their path. They are texts of the program itself, so that a build that copies nothing carries
 * them along. The script is one module in several pieces: they share their names, and the last piece starts it.
 */
export function pageAssets(): Readonly<Record<string, Answer>> {
  const page = asset('text/html; charset=utf-8', markup);
  const script = [coreScript, chatsScript, messagesScript, composerScript, toolsScript, placeScript, startScript].join(
    '\n',
  );
  return {
    '': page,
    '/': page,
    '/page.js': asset('text/javascript; charset=utf-8', script),
    '/page.css': asset('text/css; charset=utf-8', [baseStyle, toolsStyle].join('\n')),
  };
}

function asset(type: string, body: string): Answer {
  return { status: 200, type, body, headers: { 'content-security-policy': contentSecurity } };
}
