import type { PartsOf } from '../../api/operations.ts';
import { wire } from '../../api/wire.ts';
import type { ActionField, ActionForm, FieldVariant } from '../../app/actions/form.ts';
import type { Outlook } from '../../app/actions/kinds.ts';
import { checkPolicies } from '../../domain/policy.ts';
import type { KindPause } from '../../domain/processes/process.ts';
import { parseSchedule } from '../../domain/schedule/schedule.ts';
import { titleFrom } from '../../domain/task.ts';
import type { Handlers } from '../serving.ts';
import { present } from './tasks.ts';
import { wirePause, wireRun } from './wire.ts';

/** The kinds of actions, and trying one out. */
export const actionHandlers = {
  listActions: async (_asked, { kinds, kindPauses }) => {
    const paused = new Map((await kindPauses.list()).map((one) => [one.kind, pausedSince(one)]));
    return { actions: kinds.forms.map((form) => ({ ...wireForm(form), paused: paused.get(form.kind) ?? null })) };
  },
  pauseKind: async ({ params: { kind }, traceId }, { kindPauses, actor }) => {
    const { pause, entryId } = await kindPauses.pause(kind, { actor, traceId });
    return { kind, paused: pause === null ? null : pausedSince(pause), entry_id: entryId };
  },
  resumeKind: async ({ params: { kind }, traceId }, { kindPauses, actor }) => {
    const { entryId } = await kindPauses.resume(kind, { actor, traceId });
    return { kind, paused: null, entry_id: entryId };
  },
  previewAction: async ({ body }, { kinds, clock, testRuns, actor }) => {
    const { action, schedule: sent, policies: chosen = {} } = body;
    const { on_existing: _onExisting, ...policies } = chosen;
    const form = kinds.formOf(action.kind);
    // The text that it will work on is not asked for here.
    const instructions = form?.text === 'needed' ? 'text' : '';
    await testRuns.check({ threadKey: null, action, instructions, title: titleOf(form, action), actor });
    checkPolicies(policies);
    const now = clock.now();
    const schedule = parseSchedule(present(sent), now);
    return {
      action,
      brief: form?.brief?.(action) ?? action.kind,
      changes_things: kinds.changesThings(action),
      ...wireOutlook(kinds.outlook(action, { schedule, policies, now })),
    };
  },
  testAction: async ({ body, idempotencyKey, traceId }, { testRuns, kinds, actor }) => {
    const { action, instructions = '', context, timezone, thread_key: threadKey, confirm: isAgreed } = body;
    return wireRun(
      await testRuns.run({
        threadKey,
        title: titleFrom(instructions) || titleOf(kinds.formOf(action.kind), action),
        instructions,
        action,
        timezone,
        context,
        actor,
        isAgreed,
        idempotencyKey: idempotencyKey?.key ?? null,
        traceId,
      }),
    );
  },
} satisfies Partial<Handlers>;

function titleOf(form: ActionForm | undefined, action: { readonly kind: string }): string {
  return form?.title?.(action) ?? action.kind;
}

/** An action that reaches nothing costs nothing, and does no harm when it is done again. */
function wireOutlook(found: Outlook | null) {
  const {
    repeatable = true,
    reaches = [],
    secrets = [],
    costs = [],
    attempts = null,
    retryWindowMs,
    catchUp = null,
  } = found ?? {};
  return {
    repeatable,
    reaches: [...reaches],
    secrets: secrets.map(({ name, host, use }) => ({ name, host, use })),
    costs: costs.map(({ kind, currency, perRun, often, within, atOnce }) => ({
      kind,
      currency,
      often,
      per_month: within.month,
      ...wire({ perRun, atOnce }),
    })),
    attempts,
    retry_window_seconds: retryWindowMs === undefined ? null : retryWindowMs / 1000,
    catch_up_runs: catchUp,
  };
}

function pausedSince(pause: KindPause) {
  const { since, by } = wirePause(pause);
  return { since, by };
}

function wireForm(form: ActionForm): Omit<PartsOf<'listActions'>['answer']['actions'][number], 'paused'> {
  const { kind, words, text, fields, example } = form;
  return {
    kind,
    name: words.name,
    does: words.menu.replace(/: \/.*$/, ''),
    needs_text: text === 'needed',
    fields: fields.map((field) => ({
      ...wirePart(field),
      ...(field.kinds === undefined ? {} : { kinds: field.kinds.map(wireVariant) }),
    })),
    example: { ...example },
  };
}

function wireVariant({ kind, does, fields, example }: FieldVariant) {
  return { kind, does, fields: fields.map(wirePart), example: { ...example } };
}

function wirePart({ name, is, of, isRequired, does, example }: ActionField) {
  const required = isRequired === true;
  return { name, is, ...(of === undefined ? {} : { of: [...of] }), required, does, example };
}
