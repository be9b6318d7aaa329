import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { counters, gauges, prefix, timings } from '../../src/app/operations/metrics.ts';
import { createMeter } from '../../src/system/meter.ts';
import { aBot, stopBots } from '../e2e/bot.ts';
import { pageOf } from './page.ts';

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly for?: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly summary: string; readonly action: string };
}

const file = new URL('../../fixtures/alerts.yaml', import.meta.url);
const { groups } = parse(readFileSync(file, 'utf8')) as {
  readonly groups: readonly { readonly name: string; readonly rules: readonly Rule[] }[];
};
const rules = groups.flatMap((group) => group.rules);
/** Words of the language of Prometheus that stand where a metric could stand. */
const ownNames = /\b(?:cronogram|nodejs|process)_\w+/g;
const named = [...new Set(rules.flatMap(({ expr }) => expr.match(ownNames) ?? []))];

let page = '';

beforeAll(async () => {
  const { server } = await aBot();
  // Node tells of the process, which is no matter of one server among many in a test, so it comes from a meter of its own.
  page = (await pageOf(server.url)).text + (await createMeter({ ofProcess: true }).page([]));
});

afterAll(stopBots);

/** As they stand in the list of what is measured. */
function labelsOf(name: string): readonly string[] | null {
  const plain = name.slice(prefix.length).replace(/_(?:bucket|sum|count)$/, '');
  const lists: readonly Readonly<Record<string, { readonly labels: readonly string[] }>>[] = [
    counters,
    timings,
    gauges,
  ];
  for (const list of lists) {
    const found = list[name.slice(prefix.length)] ?? list[plain];
    if (found !== undefined) return found.labels;
  }
  return null;
}

describe('the alert rules', () => {
  it('are enough to be worth reading', () => {
    expect(rules.length).toBeGreaterThan(25);
    expect(new Set(rules.map(({ alert }) => alert)).size).toBe(rules.length);
  });

  it.each(rules.map((rule) => [rule.alert, rule] as const))(
    '%s says how bad it is, what it is, and what to do',
    (_name, rule) => {
      expect(Object.keys(rule).sort()).toEqual(
        ['alert', 'annotations', 'expr', ...(rule.for === undefined ? [] : ['for']), 'labels'].sort(),
      );
      expect(rule.alert).toMatch(/^Cronogram[A-Z]\w+$/);
      expect(['critical', 'warning']).toContain(rule.labels.severity);
      expect(rule.for ?? '1m').toMatch(/^\d+[smh]$/);
      expect(rule.annotations.summary).toMatch(/^[A-Z].*\.$/);
      expect(rule.annotations.action.length).toBeGreaterThan(30);
      expect(balanced(rule.expr)).toBe(true);
    },
  );

  it('name only lines of the log that the server writes', () => {
    const events = rules.flatMap(({ annotations }) => annotations.action.match(/`[a-z]+_[a-z_]+`/g) ?? []);
    const written = sources().join('\n');
    expect(events.length).toBeGreaterThan(10);
    for (const event of new Set(events)) {
      const name = event.slice(1, -1);
      expect(written.includes(`'${name}'`), name).toBe(true);
    }
  });

  it.each(named)('name %s, which a running server tells', (name) => {
    const plain = name.replace(/_(?:bucket|sum|count)$/, '');
    expect(page).toMatch(new RegExp(`^# TYPE (?:${name}|${plain}) `, 'm'));
  });

  it.each(named.filter((name) => name.startsWith(prefix)))('filter %s by labels that it has', (name) => {
    const known = labelsOf(name);
    expect(known).not.toBeNull();
    for (const { expr } of rules) {
      for (const [, filters = ''] of expr.matchAll(new RegExp(`\\b${name}\\{([^}]*)\\}`, 'g')))
        for (const [, label = ''] of filters.matchAll(/(\w+)\s*[!=]/g)) expect(known).toContain(label);
    }
  });

  it('look at nothing that an alert would never see rise: what they take the increase of stands there from the start', () => {
    const exact = rules.flatMap(({ expr }) =>
      [...expr.matchAll(/increase\((cronogram_\w+\{[^}~!]*\})\[/g)].map(([, one = '']) => one),
    );
    expect(exact.length).toBeGreaterThan(3);
    for (const one of exact) {
      const [, name = '', filter = ''] = /^(\w+)\{(.*)\}$/.exec(one) ?? [];
      const wanted = filter.split(',');
      const found = page
        .split('\n')
        .some((line) => line.startsWith(`${name}{`) && wanted.every((part) => line.includes(part.trim())));
      expect(found, one).toBe(true);
    }
  });
});

function sources(): readonly string[] {
  const folder = fileURLToPath(new URL('../../src/', import.meta.url));
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => readFileSync(join(folder, name), 'utf8'));
}

function balanced(text: string): boolean {
  const depth = { '(': 0, '[': 0, '{': 0 };
  const closes = { ')': '(', ']': '[', '}': '{' } as const;
  for (const sign of text) {
    if (sign in depth) depth[sign as keyof typeof depth] += 1;
    if (sign in closes) depth[closes[sign as keyof typeof closes]] -= 1;
  }
  return Object.values(depth).every((open) => open === 0);
}
