import type { ChatRow, SettingsRow } from './rows.ts';
import type { BotRights, BotShown, Person } from './world.ts';

export const people: readonly Person[] = [
  { key: 'ada', id: 1001, firstName: 'Ada', username: 'ada' },
  { key: 'ben', id: 1002, firstName: 'Ben', username: 'ben' },
  { key: 'mallory', id: 1003, firstName: 'Mallory', username: 'mallory' },
];

export const bot: BotShown = { id: 777_000_001, name: 'Cronogram', username: 'cronogram_bot' };

/** The key of the bot wherever a message or a topic says who made it. */
export const botKey = 'bot';

const noRights: BotRights = { can_manage_topics: false, can_pin_messages: false, can_delete_messages: false };
export const allRights: BotRights = { can_manage_topics: true, can_pin_messages: true, can_delete_messages: true };

const plain: Omit<ChatRow, 'id' | 'kind' | 'title'> = {
  isForum: false,
  members: {},
  botStatus: 'member',
  botRights: noRights,
  person: null,
  isStarted: true,
  // The first message of a group tells that it was made; the topic that it would open is General.
  lastMessageId: 1,
  lastEphemeralId: 0,
  migratedTo: null,
};

const inGroups = { ada: 'creator', ben: 'member' } as const;

/** `moreForums`: groups like the first one, for a test that needs many; see `forumId`. */
export function firstChats(moreForums = 0): readonly ChatRow[] {
  return [
    ...people.map((person) => privateChat(person)),
    forum(-1_001_000_000_001, 'The Lab'),
    forum(-1_001_000_000_004, 'Home'),
    { ...plain, id: -1_001_000_000_002, kind: 'supergroup', title: 'No Rights', isForum: true, members: inGroups },
    { ...plain, id: -2_000_003, kind: 'group', title: 'Plain', members: inGroups },
    ...Array.from({ length: moreForums }, (_, index) => forum(forumId(index + 1), `Forum ${index + 1}`)),
  ];
}

/** The id of one of the further forums, which count from 1. */
export function forumId(number: number): number {
  return -1_001_000_001_000 - number;
}

function forum(id: number, title: string): ChatRow {
  const rights = { botStatus: 'administrator', botRights: allRights } as const;
  return { ...plain, id, kind: 'supergroup', title, isForum: true, members: inGroups, ...rights };
}

/** A private chat begins when the person writes first: a bot cannot start a conversation. */
function privateChat({ key, id, firstName }: Person): ChatRow {
  const members = { [key]: 'member' } as const;
  const isForum = key === 'ada';
  return { ...plain, id, kind: 'private', title: firstName, person: key, members, isForum, isStarted: false };
}

export const firstSettings: SettingsRow = {
  mailbox: 0,
  lastUpdate: 100_000_000,
  lastCallback: 0,
  lastFile: 0,
  lastAlbum: 0,
  lastFault: 0,
  lastLine: 0,
  lastCall: 0,
  lastMigration: 0,
  isEphemeralOn: true,
  isPrivacyOn: true,
  allowedUpdates: null,
  webhook: null,
  commands: {},
};
