import { describe, expect, it } from 'vitest';
import { createTemplates } from '../../src/system/templates.ts';

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
