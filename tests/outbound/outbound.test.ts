import { describe, expect, it } from 'vitest';
import { consoleSink } from '../../src/adapters/outbound/console-sink.ts';
import { createTemplates } from '../../src/adapters/outbound/templates.ts';
import { memoryLog } from '../support/fakes.ts';

describe('templates', () => {
  const templates = createTemplates();

  it('fill in variables, with filters and conditions', () => {
    const text = '{% if n > 1 %}{{ name | upcase }}{% else %}none{% endif %}, {{ missing | default: "?" }}';
    expect(() => templates.render(text, { n: 2, name: 'ada' })).toThrow(/undefined variable: missing/);
    expect(templates.render('{% if n > 1 %}{{ name | upcase }}{% endif %}', { n: 2, name: 'ada' })).toBe('ADA');
  });

  it.each(['{{ a', '{% if %}', '{% nonsense %}', '{{ a | nofilter }}', '{% for x in %}{% endfor %}'])(
    '%j is refused with a way out',
    (text) => {
      expect(() => templates.check(text)).toThrow(/action\.plain/);
    },
  );

  it('see no prototypes, no files and no time without bounds', () => {
    expect(() => templates.render('{{ a.constructor.name }}', { a: {} })).toThrow(/undefined variable/);
    expect(() => templates.render('{% include "x" %}', {})).toThrow(/Failed to lookup/);
    expect(() => templates.render('{% for i in (1..100000000) %}x{% endfor %}', {})).toThrow(/memory alloc limit/);
    expect(() => templates.check('{{ a }}'.repeat(20_000))).toThrow(/parse length limit/);
  });

  it('do not take a value for a template', () => {
    expect(templates.render('{{ a }}', { a: '{{ b }}' })).toBe('{{ b }}');
  });
});

describe('the console as a chat', () => {
  it('hands out ids that count up, also after a restart, and puts no text into the log', async () => {
    const log = memoryLog();
    const route = { provider: 'telegram', address: '-100', topic: 7 };
    const part = { deliveryId: 'd', route, text: 'a secret of Ada' };
    const first = await consoleSink(log, 1_000_000).send(part);
    const later = await consoleSink(log, 2_000_000).send(part);
    expect(first).toEqual({ is: 'sent', ids: { chatId: '-100', threadId: 7, messageId: 1_000_001 } });
    expect(later).toMatchObject({ ids: { messageId: 2_000_001 } });
    expect(JSON.stringify(log.lines)).not.toContain('Ada');
  });
});
