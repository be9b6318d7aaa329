import type { GrantView } from '../../../app/ports/tasks.ts';
import { actionScope, secretScope } from '../../../domain/grant.ts';
import type { Drawn } from '../../../domain/shown.ts';
import type { Task } from '../../../domain/task.ts';
import type { Answer, Buttons, ChatContext, Handler } from '../context.ts';
import { answer, answerWith, pageSize, redrawn, Refused, taskButton, triedTo } from '../kit/answers.ts';
import { settingFor, settingHere, taskName } from '../kit/card.ts';
import { aboutMoment, dayMoment } from '../kit/clock.ts';
import { endMoment } from '../kit/days.ts';
import { onChat, onNamedTask, onTask, targetOf } from '../kit/guards.ts';
import { arg, button, dataOf, inRows, longId, type Rows, shortId } from '../kit/press.ts';
import { blocks, drawn, lines, type Rich } from '../kit/rich.ts';
import { calledOf, demand, mayManage, shortName } from '../kit/rights.ts';
import { texts } from '../texts.ts';
import { contextCommand } from './contexts.ts';

/** The rights under which the tasks of a chat run: seen by everybody there, given and taken away by whoever may change the task. */

export async function grantsCommand(ctx: ChatContext): Promise<Answer> {
  return ctx.args.trim() === '' && ctx.place.topicTask === null ? answerWith(await listed(ctx, 0)) : ofTask(ctx);
}

const order = /^(renew|revoke|allow|give|add)\b\s*(.*)$/i;

const ofTask = onNamedTask(
  { deed: 'read', verb: 'grant', takes: (words) => (order.test(words) ? 'yes' : 'no') },
  async (ctx, { task, rest }) => {
    const said = rest.trim();
    const [, verb = '', scopes = ''] = order.exec(said) ?? [];
    if (verb === '' && said !== '') return answer(texts.grants.unread(task.number));
    if (verb !== '') await demand(ctx, 'change', task);
    switch (verb.toLowerCase()) {
      case '':
        return answerWith(await grantDrawn(ctx, task));
      case 'renew':
        return answerWith(
          await grantDrawn(ctx, (await ctx.tasks.renew(targetOf(ctx, task), { of: task.grantId })).task),
        );
      case 'revoke':
        await ctx.tasks.revoke(task.grantId, targetOf(ctx, task));
        return answerWith(await grantDrawn(ctx, task));
      default:
        return allowed(ctx, task, scopes);
    }
  },
);

/** A fresh grant with what the task has and the scopes that were said. */
async function allowed(ctx: ChatContext, task: Task, words: string): Promise<Answer> {
  const scopes = words.split(/[\s,]+/).filter((scope) => scope !== '');
  if (scopes.length === 0) return answer(texts.grants.allowHow(task.number));
  const had = (await ctx.store.readGrant(task.grantId))?.scopes ?? [];
  const tried = await triedTo(() =>
    ctx.tasks.grant(targetOf(ctx, task), { scopes: [...new Set([...had, ...scopes])] }),
  );
  if ('refusal' in tried) throw new Refused(tried.refusal.message);
  const fresh = await ctx.store.readTask(task.id);
  return answerWith(await grantDrawn(ctx, fresh ?? task));
}

/** Tasks that can still run, with what gives them the right to. */
async function listed(ctx: ChatContext, page: number): Promise<Drawn> {
  const { grants: words, button: pageWords } = texts;
  const { place, store, clock } = ctx;
  const query = { chatId: place.chat.id, filter: 'open', ownerId: null, text: null } as const;
  const { tasks, total } = await store.chatTasks({ ...query, limit: pageSize, offset: page * pageSize });
  if (total === 0) return drawn(words.none);
  const setting = settingHere({ place, clock });
  const rows: Rich[] = [];
  for (const task of tasks) {
    const grant = await store.readGrant(task.grantId);
    const owner = shortName(await calledOf(ctx, task.ownerId));
    rows.push(words.row(taskName(task), [owner, standing(grant, setting), scopesText(task, grant?.scopes ?? [])]));
  }
  const pages = Math.ceil(total / pageSize);
  const turn = (label: string, to: number) => button(label, dataOf('grants', to));
  return drawn(blocks(words.heading(total), lines(...rows)), [
    ...inRows(
      tasks.map((task) => taskButton(task, dataOf('grant', shortId(task.id)))),
      2,
    ),
    pages < 2
      ? []
      : [
          page > 0 ? turn(pageWords.previous, page - 1) : null,
          turn(pageWords.page(page + 1, pages), page),
          page < pages - 1 ? turn(pageWords.following, page + 1) : null,
        ],
  ]);
}

type Held = { readonly expiresAt: number | null; readonly revokedAt: number | null } | null;

function standing(grant: Held, setting: Parameters<typeof dayMoment>[1]): string {
  const { grants: words } = texts;
  if (grant === null) return words.missing;
  if (grant.revokedAt !== null) return words.revoked(aboutMoment(grant.revokedAt, setting));
  if (grant.expiresAt === null) return words.endless;
  const at = endMoment(grant.expiresAt, setting);
  return grant.expiresAt <= setting.now ? words.expired(at) : words.until(at);
}

/** The kind of its action goes without saying. */
function scopesText({ action }: Task, scopes: readonly string[]): string | null {
  const told = scopes.filter((scope) => scope !== actionScope(action.kind));
  return told.length === 0 ? null : told.join(', ');
}

/** Nothing where no secret is named, because only secrets of the operator are kept back. */
function unconfirmedText(grant: Pick<GrantView, 'scopes' | 'unconfirmed'> | null): string | null {
  const { scopes = [], unconfirmed = [] } = grant ?? {};
  const isOfSecrets = scopes.some((scope) => scope.startsWith(secretScope('')));
  return isOfSecrets && unconfirmed.length > 0 ? texts.grants.unconfirmed(unconfirmed) : null;
}

/** One right with all that it names, and what can be done with it. */
async function grantDrawn(ctx: ChatContext, task: Task): Promise<Drawn> {
  const { grants: words } = texts;
  const grant = await ctx.store.readGrant(task.grantId);
  const setting = settingFor(task, ctx);
  const mayChange = mayManage(ctx) || task.ownerId === ctx.person.actor;
  return drawn(
    blocks(
      words.title(taskName(task), standing(grant, setting)),
      lines(
        words.scopes(grant?.scopes ?? []),
        unconfirmedText(grant),
        words.owner(
          shortName(await calledOf(ctx, task.ownerId)),
          grant === null ? null : dayMoment(grant.createdAt, setting),
        ),
      ),
      mayChange ? words.how(task.number, holdsAt(grant, setting.now)) : null,
    ),
    [mayChange ? changeRow(ctx, task, grant) : [], [button(texts.button.back, dataOf('grants', 0))]],
  );
}

function holdsAt(grant: Held, now: number): boolean {
  return grant !== null && grant.revokedAt === null && (grant.expiresAt ?? Infinity) > now;
}

/** A right that holds for good is renewed by an owner of the bot alone, who confirms with that what others have named. */
function changeRow({ person, clock }: ChatContext, task: Task, grant: GrantView | null): Rows[number] {
  const holds = holdsAt(grant, clock.now());
  const mayConfirm = person.isOwner && grant !== null && grant.unconfirmed.length > 0;
  const isRenewable = !holds || grant?.expiresAt !== null || mayConfirm;
  const [id, of] = [shortId(task.id), shortId(task.grantId)];
  return [
    isRenewable ? button(texts.reminder.button.renew, dataOf('regrant', id, of)) : null,
    holds ? button(texts.grants.revoke, dataOf('revoke', id, of)) : null,
  ];
}

/** Commands of this story whose words are more than the name of a task. */
export const trustTyped: readonly (readonly [string, Handler])[] = [
  ['grants', grantsCommand],
  ['context', contextCommand],
];

/** Each button names the grant that was seen, so that a second press of the same one changes nothing. */
export const grantButtons = {
  grants: onChat('read', async (ctx) => {
    const page = /^\d{1,4}$/.test(arg(ctx, 0)) ? Number(arg(ctx, 0)) : 0;
    return redrawn(ctx, await listed(ctx, page));
  }),
  grant: onTask('read', async (ctx, task) => redrawn(ctx, await grantDrawn(ctx, task))),
  regrant: onTask('change', async (ctx, before) => {
    const of = longId(arg(ctx, 1));
    const { task, entryId } = await ctx.tasks.renew(targetOf(ctx, before), { of });
    const { reminder } = texts;
    const word = entryId === null ? reminder.renewedBefore : reminder.renewedBy(shortName(ctx.person.name), 1);
    return redrawn(ctx, await grantDrawn(ctx, task), word);
  }),
  revoke: onTask('change', async (ctx, task) => {
    const { entryId } = await ctx.tasks.revoke(longId(arg(ctx, 1)), targetOf(ctx, task));
    const shown = await grantDrawn(ctx, (await ctx.store.readTask(task.id)) ?? task);
    return redrawn(ctx, shown, entryId === null ? texts.grants.revokedBefore : texts.grants.revokedWord);
  }),
} satisfies Buttons;
