import { Api, InputFile } from 'grammy';
import { expect, test } from 'vitest';
import { ada, openLab, token } from './lab.ts';

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
