import { describe, expect, it } from 'vitest';
import { fuzzCli } from './cli.ts';
import { fuzzHttp } from './http.ts';
import { kinds, rare } from './outcome.ts';

/** The same requests on every run: what is found can be found again. Every night `tests/fuzz/main.ts` looks farther. */
const seed = 6;
const cases = { http: 800, cli: 120 };
/** What is spoiled shows soon: at the end of the first round at the latest. */
const spoiledCases = 260;

describe('input by chance', () => {
  it('of requests to every operation: each gets an answer as described, or an error in the envelope, and touches nothing else', async () => {
    const { faults, counts } = await fuzzHttp(seed, cases.http);

    expect(faults.join('\n')).toBe('');
    expect(rare(counts, kinds.http, 1)).toEqual([]);
    expect(counts.get(200) ?? 0).toBeGreaterThan(cases.http / 5);
  });

  it('of command lines: each ends with an exit code that is described, and says what is wrong', async () => {
    const { faults, counts } = await fuzzCli(seed, cases.cli);

    expect(faults.join('\n')).toBe('');
    expect(rare(counts, kinds.cli, cases.cli / 10)).toEqual([]);
  });
});

describe('a fuzz of a product that is broken', () => {
  it('finds a fault of the server', async () => {
    const { faults } = await fuzzHttp(seed, spoiledCases, ({ rooms }) => {
      Object.assign(rooms.tasks, { get: () => Promise.reject(new TypeError('spoiled')) });
    });

    expect(faults.join('\n')).toContain('a fault of the server');
  });

  it('finds an answer that is not as described', async () => {
    const { faults } = await fuzzHttp(seed, spoiledCases, ({ rooms }) => {
      const schedule = { kind: 'once', onceAt: 0, timezone: 'UTC' };
      const definition = {
        title: '',
        instructions: '',
        action: { kind: 'message' },
        schedule,
        policies: {},
        subject: null,
        tags: [],
      };
      Object.assign(rooms.tasks, { versions: async () => [{ version: 1.5, at: 0, actor: 'system', definition }] });
    });

    expect(faults.join('\n')).toMatch(/not what is described/);
  });

  it('finds a task that changed although nobody named it', async () => {
    const { faults } = await fuzzHttp(seed, spoiledCases, ({ database }) => {
      database.exec(
        `create trigger spoil after update on tasks begin update tasks set title = 'spoiled' where subject = 'aside'; end`,
      );
    });

    expect(faults.join('\n')).toContain('that nobody named');
  });
});
