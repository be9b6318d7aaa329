import { Script } from 'node:vm';
import type { Opinion, SlotQuestion } from '../../app/ports/second-opinion.ts';
import { answerTo } from './answer.ts';
import type { FromChild } from './child.ts';

/**
 * The second opinion as a process of its own: a question comes in as a message, its answer goes out as one. The parent ends
 * it when an answer takes too long. It ends by itself when no question comes for a while, when the parent is gone, and when it
 * calculates for longer than any parent waits, because a busy process does not notice that the parent is gone.
 */

const [, , idleMs] = process.argv;
const longestMs = 2000;

/** `vm` stops what runs inside it after a while, whatever it does; the work itself is plain code of this process. */
const work = new Script('answerNow()');
const world: typeof globalThis & { answerNow?: () => Opinion } = globalThis;

function tell(message: FromChild): void {
  process.send?.(message);
}

const idle = setTimeout(() => process.exit(0), Number(idleMs));
process.on('disconnect', () => process.exit(0));
process.on('message', (question: SlotQuestion) => {
  world.answerNow = () => answerTo(question);
  tell(work.runInThisContext({ timeout: longestMs }) as Opinion);
  idle.refresh();
});
tell('ready');
