import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect, onTestFinished, test } from 'vitest';
import { ben, lab, noRights, openLab, refusal } from './lab.ts';

test('getMe follows the privacy mode, which is on at first', async () => {
  const { call, world } = await openLab();
  const readsAll = async () => (await call('getMe')).result['can_read_all_group_messages'];
  expect(await readsAll()).toBe(false);
  world.setFeatures({ isPrivacyOn: false });
  expect(await readsAll()).toBe(true);
  expect(world.features()).toEqual({ isEphemeralOn: true, isPrivacyOn: false });
  world.reset();
  expect(await readsAll()).toBe(false);
});

test('without privacy mode a plain member hears everything; with it, also its own name', async () => {
  const { world, updates } = await openLab();
  const say = (text: string) => world.say({ as: 'ben', chat: noRights, text });
  say('good morning');
  say('@cronogram_bot good morning');
  say('@someone_else good morning');
  world.say({ as: 'ben', chat: noRights, text: '/new', media: { kind: 'photo' } });
  world.setFeatures({ isPrivacyOn: false });
  say('good night');
  const heard = (await updates()).map(({ message }) => message?.['text'] ?? message?.['caption']);
  expect(heard).toEqual(['@cronogram_bot good morning', '/new', 'good night']);
});

test('a group that adds the bot by a link hears its rights, its coming, and the start with what the link carried', async () => {
  const { world, updates } = await openLab();
  world.setBotStatus(noRights, 'left', 'ada');
  world.setBotStatus(noRights, 'administrator', 'ada');
  world.say({ as: 'ada', chat: noRights, text: '/start@cronogram_bot setup' });
  const [, added, came, started] = await updates();
  expect(added?.['my_chat_member']?.['new_chat_member']).toMatchObject({
    status: 'administrator',
    can_manage_topics: true,
  });
  expect(came?.['message']?.['new_chat_members']).toMatchObject([{ is_bot: true }]);
  expect(started?.['message']).toMatchObject({ text: '/start@cronogram_bot setup', from: { first_name: 'Ada' } });
});

test('a message without a sound is shown as such', async () => {
  const { call, world } = await openLab();
  await call('sendMessage', { chat_id: lab, text: 'hush', disable_notification: true });
  await call('sendMessage', { chat_id: lab, text: 'ding', disable_notification: false });
  const parameters = { receiver_user_id: ben };
  await call('sendMessage', {
    chat_id: lab,
    text: 'hush, Ben',
    disable_notification: true,
    ephemeral_message_parameters: parameters,
  });
  expect(world.messages(lab).map(({ text, isSilent }) => [text, isSilent])).toEqual([
    ['hush', true],
    ['ding', false],
    ['hush, Ben', true],
  ]);
  expect(world.transcript(lab).split('\n')).toEqual([
    '[The Lab] Cronogram (silent): hush',
    '[The Lab] Cronogram: ding',
    '[The Lab] Cronogram (only Ben sees this) (silent): hush, Ben',
  ]);
});

test('reactions and deleted topics stand in the transcript', async () => {
  const { call, world, outcome } = await openLab();
  const { messageId } = world.say({ as: 'ben', chat: lab, text: 'done' });
  const react = (emoji: string) =>
    call('setMessageReaction', { chat_id: lab, message_id: messageId, reaction: [{ type: 'emoji', emoji }] });
  expect((await react('👍')).ok).toBe(true);
  expect(await refusal(react('🪴'))).toBe('400 Bad Request: REACTION_INVALID');
  const thread = world.createTopic(lab, 'ada', 'Plants');
  expect((await call('deleteForumTopic', { chat_id: lab, message_thread_id: thread })).ok).toBe(true);
  expect(await outcome('deleteForumTopic', { chat_id: lab, message_thread_id: thread })).toBe(
    '400 Bad Request: TOPIC_ID_INVALID',
  );
  expect(world.transcript(lab)).toContain('[The Lab] Cronogram reacts with 👍');
  expect(world.transcript(lab)).toContain('[The Lab > Plants] Cronogram deletes the topic');
});

const whisper = { chat_id: lab, text: 'psst', ephemeral_message_parameters: { receiver_user_id: ben } };

/** Names a file for a world, which goes with its test. */
function worldFile(): string {
  const file = join(tmpdir(), `sandbox-${randomUUID()}.db`);
  onTestFinished(async () => {
    for (const end of ['', '-wal', '-shm']) await rm(`${file}${end}`, { force: true });
  });
  return file;
}

test('a world keeps its ephemeral messages and its switches over a restart, and forgets them on a reset', async () => {
  const file = worldFile();
  const first = await openLab({ file });
  await first.call('sendMessage', whisper);
  first.world.setFeatures({ isPrivacyOn: false });
  await first.close();
  const { world, call, log } = await openLab({ file });
  expect(world.messages(lab)).toMatchObject([{ text: 'psst', onlyFor: 'ben', ephemeralId: 1 }]);
  expect(world.features().isPrivacyOn).toBe(false);
  expect(log.lines).toEqual([]);
  world.reset();
  expect(world.messages(lab)).toEqual([]);
  expect((await call('sendMessage', whisper)).result['ephemeral_message_id']).toBe(2);
});

test('a world of an earlier version begins anew, and goes on counting', async () => {
  const file = worldFile();
  const first = await openLab({ file });
  await first.call('sendMessage', whisper);
  first.world.say({ as: 'ben', chat: lab, text: '/start' });
  const [before] = await first.updates();
  await first.close();
  const connection = new Database(file);
  connection.pragma('user_version = 0');
  // Chats of the earliest version counted no ephemeral messages.
  connection.exec(`update rows set body = json_remove(body, '$.lastEphemeralId') where kind = 'chat'`);
  connection.close();
  const { world, call, updates, log } = await openLab({ file });
  expect(log.lines.map(({ event }) => event)).toEqual(['sandbox.begins_anew']);
  expect(world.messages(lab)).toEqual([]);
  expect(world.say({ as: 'ben', chat: lab, text: '/start' }).messageId).toBe(3);
  expect((await updates())[0]?.['update_id']).toBe(Number(before?.['update_id']) + 1);
  expect((await call('sendMessage', whisper)).result['ephemeral_message_id']).toBe(1);
});
