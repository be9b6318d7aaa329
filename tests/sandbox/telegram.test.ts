import { Api, InputFile } from 'grammy';
import { expect, test } from 'vitest';
import { ada, lab, openLab, token } from './lab.ts';

test('grammY sends, edits, makes topics and hears of what people say and press', async () => {
  const { apiRoot, world } = await openLab();
  const api = new Api(token, { apiRoot });
  expect((await api.getMe()).has_topics_enabled).toBe(true);
  const topic = await api.createForumTopic(lab, 'Water the plants');
  const sent = await api.sendMessage(lab, 'Water them now', {
    message_thread_id: topic.message_thread_id,
    reply_markup: { inline_keyboard: [[{ text: 'Done', callback_data: 'v1:done' }]] },
  });
  expect(sent).toMatchObject({ message_thread_id: topic.message_thread_id, is_topic_message: true });
  world.say({ as: 'ada', chat: lab, thread: topic.message_thread_id, text: '/tasks@cronogram_bot now' });
  const { callbackId } = world.press({ as: 'ben', chat: lab, messageId: sent.message_id, button: 'Done' });
  const updates = await api.getUpdates();
  expect(updates.map((update) => Object.keys(update)[1])).toEqual(['message', 'message', 'callback_query']);
  await api.answerCallbackQuery(callbackId, { text: 'Well done' });
  expect(world.callbackAnswer(callbackId)).toEqual({ text: 'Well done', alert: false });
  await api.editMessageText(lab, sent.message_id, 'Watered');
  expect(world.messages(lab).at(-2)).toMatchObject({ text: 'Watered', buttons: [] });
});

test('a file that grammY uploads arrives whole, and can be fetched again', async () => {
  const { apiRoot, world, call } = await openLab();
  const api = new Api(token, { apiRoot });
  world.say({ as: 'ada', chat: ada, text: '/start' });
  const bytes = Buffer.from('a,b\r\n1,2\r\n');
  const sent = await api.sendDocument(ada, new InputFile(bytes, 'report.csv'), { caption: 'The numbers' });
  expect(sent.document).toMatchObject({ file_name: 'report.csv', file_size: bytes.byteLength });
  const { result } = await call('getFile', { file_id: sent.document.file_id });
  const fetched = await fetch(`${apiRoot}/file/bot${token}/${JSON.parse(JSON.stringify(result['file_path']))}`);
  expect(Buffer.from(await fetched.arrayBuffer())).toEqual(bytes);
  expect(world.file(sent.document.file_id)?.name).toBe('report.csv');
});
