import { chownSync, statSync } from 'node:fs';

/** What root makes for somebody else's server belongs to that somebody, or the server could not use it. */
export function giveToOwnerOf(like: string, ...paths: readonly string[]): void {
  if (process.getuid?.() !== 0) return;
  const { uid, gid } = statSync(like);
  if (uid === 0) return;
  for (const path of paths) chownSync(path, uid, gid);
}
