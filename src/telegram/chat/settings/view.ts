import { momentsIn } from '../../../app/why/moments.ts';
import { dateStyles, type ChatSettings, type DateStyle } from '../../../domain/chat-settings.ts';
import type { Quiet } from '../../../domain/quiet.ts';
import type { Drawn } from '../../../domain/shown.ts';
import { clockIn } from '../kit/clock.ts';
import { button, dataOf, type Rows, inRows } from '../kit/press.ts';
import { blocks, lines, drawn } from '../kit/rich.ts';
import { texts } from '../texts.ts';

/** The settings of a chat: one message, with everything that can be changed about it on its buttons. */
export interface SettingsFacts {
  readonly settings: ChatSettings;
  readonly timezone: string;
  readonly now: number;
  /** In a private chat there is nobody else who could create anything. */
  readonly isPrivate: boolean;
  readonly mayChange: boolean;
  /** Whom somebody who may not can ask. */
  readonly admins: readonly string[];
  /** When the digest comes; null when none does. */
  readonly digest: string | null;
}

export function settingsDrawn(facts: SettingsFacts): Drawn {
  const { settings, timezone, now, isPrivate, mayChange, admins, digest } = facts;
  const { create, quiet, reactions, dates } = settings;
  const words = texts.settings;
  return drawn(
    blocks(
      words.title(),
      lines(
        isPrivate ? null : words.create(create),
        words.quiet(quiet, timezone),
        words.reactions(reactions),
        words.dates(dates, example(dates, facts)),
        words.zone(timezone, clockIn(timezone, now)),
        words.digest(digest),
      ),
      mayChange ? words.ownHours() : lines(words.adminsOnly(admins), words.ownQuiet()),
    ),
    mayChange ? settingsRows(facts) : [],
  );
}

function example(dates: DateStyle, { timezone, now }: Pick<SettingsFacts, 'timezone' | 'now'>): string {
  return momentsIn(timezone, now, dates).full(Math.floor(now / 60_000) * 60_000);
}

/** The hours that most people sleep. */
const presets: readonly Pick<Quiet, 'from' | 'to'>[] = [
  { from: '22:00', to: '07:00' },
  { from: '23:00', to: '08:00' },
];

function settingsRows({ settings, isPrivate }: SettingsFacts): Rows {
  const { create, quiet, reactions } = settings;
  const words = texts.settings;
  return [
    isPrivate
      ? []
      : [
          choice(words.membersCreate, ['create', 'members'], create === 'members'),
          choice(words.adminsCreate, ['create', 'admins'], create === 'admins'),
        ],
    quietRow(quiet),
    quiet === null
      ? []
      : [
          choice(words.hold, ['mode', 'hold'], quiet.mode === 'hold'),
          choice(words.silent, ['mode', 'silent'], quiet.mode === 'silent'),
        ],
    [
      choice(words.reactionsOn, ['reactions', 'on'], reactions),
      choice(words.reactionsOff, ['reactions', 'off'], !reactions),
    ],
    [
      button(words.datesButton, dataOf('set', 'open', 'dates')),
      button(words.zoneButton, dataOf('zones')),
      button(words.digestButton, dataOf('digest', 'open')),
    ],
  ];
}

/** Own hours stand beside the usual ones, so that they can be seen to hold. */
function quietRow(quiet: Quiet | null): Rows[number] {
  const isOwn = quiet !== null && !presets.some((one) => isSame(one, quiet));
  const all = isOwn ? [...presets, quiet] : presets;
  return [
    choice(texts.settings.quietOff, ['quiet', 'off'], quiet === null),
    ...all.map((one) => choice(hours(one), ['quiet', dense(one)], quiet !== null && isSame(one, quiet))),
  ];
}

type Hours = Pick<Quiet, 'from' | 'to'>;

function isSame(one: Hours, other: Hours): boolean {
  return one.from === other.from && one.to === other.to;
}

function hours({ from, to }: Hours): string {
  const short = (clock: string) => clock.replace(/^0/, '').replace(/:00$/, '');
  return `${short(from)}–${short(to)}`;
}

/** A colon separates what a button carries. */
function dense({ from, to }: Hours): string {
  return `${from}-${to}`.replaceAll(':', '');
}

function choice(label: string, [key, value]: readonly [string, string], isCurrent: boolean) {
  return button(isCurrent ? texts.settings.current(label) : label, dataOf('set', key, value));
}

/** Every way to write a date, each with what it makes of now. */
export function dateStylesDrawn({ settings, timezone, now }: SettingsFacts): Drawn {
  const { styles, pickDates } = texts.settings;
  const all = dateStyles.map((style) => choice(styles[style], ['dates', style], style === settings.dates));
  const examples = dateStyles.map((style) => `${styles[style]}: ${example(style, { timezone, now })}`);
  return drawn(blocks(pickDates, lines(...examples)), [
    ...inRows(all, 3),
    [button(texts.button.back, dataOf('set', 'open', 'all'))],
  ]);
}
