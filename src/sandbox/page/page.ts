import { readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import type { Answer } from '../control/answers.ts';

/** The policy lets the page load and ask this server alone, and runs nothing that stands in the markup itself. */
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

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
};

/** Reads the files of the page from disk and names each by its path. They lie beside this module, in the sources as in a build. */
export function pageAssets(): Readonly<Record<string, Answer>> {
  const page = asset('page.html');
  const files = ['script', 'style'].flatMap(filesIn).map((name) => [`/page/${name}`, asset(name)] as const);
  return { '': page, '/': page, ...Object.fromEntries(files) };
}

function filesIn(folder: string): readonly string[] {
  return readdirSync(join(import.meta.dirname, folder), { recursive: true, encoding: 'utf8' })
    .map((name) => `${folder}/${name.replaceAll('\\', '/')}`)
    .filter((name) => extname(name) in types);
}

function asset(name: string): Answer {
  return {
    status: 200,
    type: types[extname(name)] ?? '',
    body: readFileSync(join(import.meta.dirname, name), 'utf8'),
    headers: { 'content-security-policy': contentSecurity },
  };
}
