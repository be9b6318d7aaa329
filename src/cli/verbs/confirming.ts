import { CliFault, interrupted, usage } from '../faults.ts';
import { measureFor, shown, wrapped } from '../layout.ts';
import type { LocalSession } from '../session.ts';

/** Goes on only when somebody says yes, on the command line or when asked. */
export async function confirmed(
  session: LocalSession,
  { question, yes }: { readonly question: string; readonly yes: boolean },
): Promise<void> {
  if (yes) return;
  const { terminal } = session;
  if (!terminal.canAsk) throw usage(`${question} Nobody is there to answer: say so with --yes.`);
  const text = shown(question);
  const lines = wrapped(`${text} [y/N]`, terminal.columns - 2, await measureFor([text]));
  const answer = await terminal.ask(`${lines.join('\n')} `);
  if (session.interrupted.aborted) throw interrupted('Interrupted; nothing was changed.');
  if (!/^y(?:es)?$/i.test(answer.trim())) throw new CliFault('declined', 'Nothing was changed.');
}
