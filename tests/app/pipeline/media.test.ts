import { describe, expect, it } from 'vitest';
import { messageAction } from '../../../src/app/actions/message.ts';
import { captionLengthMax } from '../../../src/domain/limits.ts';
import { promptTemplates } from '../../support/fakes.ts';
import { type Pipeline, hourly, afterAnHour } from '../../support/pipeline.ts';

const file = { kind: 'photo', file_id: 'AgACAgIAAx-0_1' };
const media = { kind: 'photo', fileId: 'AgACAgIAAx-0_1' };

async function contents(instructions: string, sent: object = file): Promise<{ p: Pipeline; parts: unknown[] }> {
  const { p } = await afterAnHour({
    schedule: hourly,
    instructions,
    title: 'Plants',
    action: { kind: 'message', media: sent },
  });
  const rows = p.database.prepare(`select content from deliveries where kind = 'result' order by part`).all();
  return { p, parts: (rows as { content: string }[]).map(({ content }) => JSON.parse(content) as unknown) };
}

describe('a message with a file', () => {
  it('is one part as long as its words fit below the file', async () => {
    const text = 'x'.repeat(captionLengthMax);
    const { parts } = await contents(text);
    expect(parts).toMatchObject([{ view: 'result', text, media }]);
  });

  it('needs no words', async () => {
    const { p, parts } = await contents('');
    expect(parts).toMatchObject([{ view: 'result', text: '', media }]);
    expect(p.chat.shown.map((one) => one.text)).toEqual(['']);
    await expect(p.create({ schedule: hourly, instructions: ' ', title: 'Plants' })).rejects.toThrow(
      'needs instructions',
    );
  });

  it('is the file first and then the words, where they do not fit', async () => {
    const text = 'x'.repeat(captionLengthMax + 1);
    const { p, parts } = await contents(text);
    expect(parts).toMatchObject([
      { text: '', media },
      { view: 'result', text },
    ]);
    expect(parts[1]).not.toHaveProperty('media');
    expect(p.chat.shown.map((one) => one.text)).toEqual(['', text]);
  });

  it('is split as ever behind the file', async () => {
    const { parts } = await contents(`${'x'.repeat(4000)}\n\n${'y'.repeat(4000)}`);
    expect(parts).toMatchObject([{ text: '', media }, { text: 'x'.repeat(4000) }, { view: 'result' }]);
  });

  it('is an album first and then the words, which bear the buttons', async () => {
    const { p, parts } = await contents('Look.', [file, file]);
    const item = { ...media, caption: '' };
    expect(parts).toMatchObject([
      { text: '', album: [item, item] },
      { view: 'result', text: 'Look.' },
    ]);
    const { output } = p.database.prepare('select output from runs').get() as { output: string };
    expect(JSON.parse(output)).toMatchObject({ attachments: [file, file] });
  });

  it('has a file that was sent to the bot, and says what is wrong otherwise', () => {
    const action = messageAction(promptTemplates(), async () => null);
    const refusal = (value: unknown): string => {
      try {
        action.check({ kind: 'message', media: value }, 'Water them.');
      } catch (error) {
        return String(error);
      }
      return 'fine';
    };
    expect(refusal(file)).toBe('fine');
    expect(refusal(undefined)).toBe('fine');
    for (const wrong of [
      null,
      'AgAC',
      {},
      { kind: 'photo' },
      { kind: 'sticker', file_id: 'AgAC' },
      { kind: 'photo', file_id: '' },
      { kind: 'photo', file_id: 7 },
      { kind: 'photo', file_id: 'https://example.org/cat.png' },
      { kind: 'photo', file_id: 'x'.repeat(301) },
      { ...file, more: true },
      [],
      [file],
      [file, { kind: 'photo' }],
      Array.from({ length: 11 }, () => file),
    ]) {
      expect(refusal(wrong)).toContain('action.media is {"kind": "photo" |');
    }
    expect(refusal([file, { ...file, kind: 'video' }])).toBe('fine');
    for (const [one, other] of [
      ['photo', 'document'],
      ['audio', 'document'],
      ['voice', 'voice'],
    ])
      expect(
        refusal([
          { ...file, kind: one },
          { ...file, kind: other },
        ]),
      ).toContain('an album holds photos and videos');
  });
});
