import { type ActionForm, type ActionWords, settingLines } from '../../../app/actions/form.ts';
import { forms } from '../../../app/actions/forms.ts';
import type { Outlook } from '../../../app/actions/kinds.ts';
import type { BudgetView } from '../../../app/ports/metering.ts';
import type { TaskRun } from '../../../app/ports/runs.ts';
import type { SecretSent } from '../../../app/ports/secrets.ts';
import { policyOf, retryWindowMs } from '../../../domain/policy.ts';
import { type MediaKind, mediaKinds } from '../../../domain/shown.ts';
import type { ActionSpec, Task } from '../../../domain/task.ts';
import type { ChatContext } from '../context.ts';
import { texts } from '../texts.ts';
import { span } from './clock.ts';
import { code, type Rich, say, shortened } from './rich.ts';

/** Actions of tasks besides sending a text, in words. */

/** In the language that is spoken; in the words of the action itself where that has none for it. */
export function wordsOfKind({ kind, words }: ActionForm): ActionWords {
  return texts.action.kinds[kind] ?? words;
}

/** A task that is shown may be of a kind that this server does not have any more. */
export function formOf(kind: string): ActionForm | undefined {
  return Object.values<ActionForm>(forms).find((form) => form.kind === kind);
}

/** Null for a text, which says by itself what it does. */
export function briefOf(spec: ActionSpec, form = formOf(spec.kind)): string | null {
  if (spec.kind === 'message') return null;
  return form?.brief?.(spec) ?? (form === undefined ? spec.kind : wordsOfKind(form).name);
}

/** Each setting on a line of its own, but for those that the brief tells. */
export function settingsTold(spec: ActionSpec, form = formOf(spec.kind)): readonly string[] {
  const fields = form?.fields ?? [];
  const told = new Set(fields.filter(({ inBrief }) => inBrief).map(({ name }) => name));
  return settingLines({ fields }, spec).flatMap(([name, value]) => {
    if (told.has(name)) return [];
    return [value.includes('\n') ? `${name}:\n${value}` : `${name}: ${value}`];
  });
}

/** The action of a task, and what came of it last; null for one that says a text. */
export function actionLine({ action }: Pick<Task, 'action'>, { last }: Shown): Rich | null {
  const httpStatus = last?.answered ?? null;
  const brief = briefOf(action);
  if (brief === null || formOf(action.kind)?.brief === undefined) return null;
  const told = code(shortened(brief, briefMax));
  return httpStatus === null ? told : say`${told} – ${texts.action.lastStatus(httpStatus)}`;
}

/** The last answer of the other side, where a run calls one. */
export function answeredIn({ attempts }: Pick<TaskRun, 'attempts'>): number | null {
  return attempts.at(-1)?.httpStatus ?? null;
}

export const briefMax = 200;

interface Shown {
  readonly last?: { readonly answered?: number | null } | null;
}

/** Its settings, and for how long a run of it is tried. */
export function actionLines({ action, policies, minGapMs }: Pick<Task, 'action' | 'policies' | 'minGapMs'>) {
  if (formOf(action.kind)?.brief === undefined) return [];
  const policy = policyOf(policies, { actionKind: action.kind, minGapMs });
  const window = { attempts: policy.retry.attempts, retryWindowMs: retryWindowMs(policy) };
  return [...settingsTold(action), windowLine(window)];
}

/** Its reach, the cost with its share of budgets, and for how long it is tried; nothing where it reaches nothing. */
export function outlookLines(outlook: Outlook | null, budgets: readonly BudgetView[]): readonly string[] {
  if (outlook === null) return [];
  const { action: words } = texts;
  return [
    ...(outlook.reaches.length === 0 ? [] : [words.reaches(outlook.reaches)]),
    ...secretLines(outlook.secrets),
    ...outlook.costs.map(({ kind, currency, perRun, often, within }) => {
      const of = (quantity: number) => ({ kind, currency, quantity });
      return often === null ? words.costsOnce(of(perRun)) : words.costs(of(often.count), often.per, of(within.month));
    }),
    ...shareLines(outlook, budgets),
    windowLine(outlook),
    ...worstLines(outlook),
  ];
}

/** Names alone, what is done with the values, and for which host. */
function secretLines(secrets: readonly SecretSent[]): readonly string[] {
  const lineOf = ({ use, host }: SecretSent) => {
    const alike = secrets.filter((one) => one.use === use && one.host === host);
    return texts.action.usesSecrets(
      use,
      alike.map(({ name }) => name),
      host,
    );
  };
  return [...new Set(secrets.map(lineOf))];
}

/** Secret lines of an action that was changed, without those that it had before. */
export function newSecretLines({ kinds }: Pick<ChatContext, 'kinds'>, before: unknown, after: unknown) {
  const [had, has] = [before, after].map((action) => (isSpec(action) ? kinds.secretsOf(action) : []));
  const known = new Set(had?.map((one) => JSON.stringify(one)));
  return secretLines(has?.filter((one) => !known.has(JSON.stringify(one))) ?? []);
}

function isSpec(action: unknown): action is ActionSpec {
  return typeof action === 'object' && action !== null && 'kind' in action;
}

/** For how long a run is tried at most. */
function windowLine({ attempts, retryWindowMs }: Pick<Outlook, 'attempts' | 'retryWindowMs'>): string {
  return texts.action.window(attempts, span(retryWindowMs));
}

/** The most that slots made up after an outage can bring at once; nothing where none are. */
export function worstLines(outlook: Outlook | null): readonly string[] {
  const { catchUp = null, costs = [] } = outlook ?? {};
  if (catchUp === null) return [];
  return costs.map(({ kind, currency, atOnce }) =>
    texts.action.worst(catchUp, { kind, currency, quantity: atOnce ?? 0 }),
  );
}

/** The part that it will use of each budget that it falls under. */
function shareLines({ costs }: Outlook, budgets: readonly BudgetView[]): readonly string[] {
  return budgets.flatMap((budget) => {
    const { kind, currency, per, quantity } = budget;
    const cost = costs.find((one) => one.kind === kind && (currency === null || one.currency === currency));
    if (cost === undefined) return [];
    return texts.spending.share(Math.ceil((100 * cost.within[per]) / quantity), budget);
  });
}

/** The kinds of the files that a message brings with it. */
export function filesOf(action: Readonly<Record<string, unknown>>): readonly MediaKind[] {
  const media = action['media'] ?? [];
  const files = (Array.isArray(media) ? media : [media]) as readonly ({ readonly kind?: unknown } | null)[];
  return files.flatMap((file) => mediaKinds.find((kind) => kind === file?.kind) ?? []);
}
