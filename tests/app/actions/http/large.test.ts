import { describe, expect, it } from 'vitest';
import { hour, texts } from '../../../support/pipeline.ts';
import { caller, json } from './caller.ts';

describe('an answer that is too long for a chat', () => {
  it('brings a file of text with its beginning above it', async () => {
    const rows = `day,cents\n${'2026-11-19,400\n'.repeat(20_000)}`;
    const { p, pass, fetching } = await caller((response) =>
      response
        .writeHead(200, { 'content-type': 'text/csv', 'content-disposition': 'attachment; filename="week.csv"' })
        .end(rows),
    );
    await fetching({});
    await pass(hour);
    expect(texts(p).join()).toMatch(/^day,cents\n2026-11-19,400\n[\s\S]*…\n\nAll of it is in the file \(293 kB\)\.$/);
    const stored = p.database.prepare("select content from deliveries where content like '%week.csv%'").pluck().all();
    expect(stored).toHaveLength(1);
  });

  it.each([
    [
      'select',
      { select: '$count(items)' },
      'select reads text and JSON of 256 kB at most, and the answer is too long: 293 kB',
    ],
    [
      'template',
      { template: '{{ body.items | size }}' },
      'template reads text and JSON of 256 kB at most, and the answer is too long: 293 kB',
    ],
  ])('fails and says so where its %s would read an answer that is too long', async (_name, settings, error) => {
    const { p, pass, fetching } = await caller(json({ items: 'x'.repeat(300_000) }));
    const task = await fetching(settings);
    await pass(hour);
    expect(await p.history(task.id)).toMatchObject([{ status: 'failed', error, attempts: [{ httpStatus: 200 }] }]);
  });
});
