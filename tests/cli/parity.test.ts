import type { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { operations } from '../../src/api/operations.ts';
import { authKinds } from '../../src/app/actions/http/auth-form.ts';
import { composeCli } from '../../src/compose/cli.ts';
import { buttons } from '../../src/telegram/chat/chat.ts';
import { commands } from '../../src/telegram/chat/commands.ts';
import { rows, type Row, type Way } from './parity.ts';
import { typed } from './terminal.ts';

const ways: readonly Way[] = ['command', 'button', 'operation', 'cli'];

function program(): Command {
  return composeCli({
    terminal: {
      out: () => undefined,
      err: () => undefined,
      showsProgress: false,
      canAsk: false,
      hasColours: false,
      columns: 80,
      read: async () => '',
      ask: async () => '',
      askHidden: async () => '',
    },
    interrupted: new AbortController().signal,
    version: '1.2.3',
    environment: {},
  }).command;
}

/** `task list`, for every verb that has no verbs of its own. */
function leaves(group: Command, path = ''): readonly string[] {
  return group.commands.flatMap((one) =>
    one.commands.length > 0 ? leaves(one, `${path}${one.name()} `) : [`${path}${one.name()}`],
  );
}

const registries: Readonly<Record<Way, readonly string[]>> = {
  command: commands.map(({ name }) => name),
  button: [...buttons.keys()],
  operation: Object.keys(operations),
  cli: leaves(program()),
};

/** Entries of the registries that the table lacks, and entries of the table beyond them. */
function gaps(table: readonly Row[], all: Readonly<Record<Way, readonly string[]>>): readonly string[] {
  return ways.flatMap((way) => {
    const named = new Set(table.flatMap(({ [way]: names }) => (typeof names === 'string' ? names.split(', ') : [])));
    return [
      ...all[way].filter((name) => !named.has(name)).map((name) => `${way} ${name} is not in the table`),
      ...[...named].filter((name) => !all[way].includes(name)).map((name) => `${way} ${name} is not there any more`),
    ];
  });
}

describe('the ways in', () => {
  it('offer the same verbs, or say why not', () => {
    expect(gaps(rows, registries)).toEqual([]);
  });

  it('are really looked at', () => {
    for (const way of ways) expect(registries[way].length).toBeGreaterThan(20);
  });

  it('are told when one of them learns or forgets a verb', () => {
    expect(gaps(rows, { ...registries, command: [...registries.command, 'dance'] })).toEqual([
      'command dance is not in the table',
    ]);
    expect(gaps(rows, { ...registries, button: registries.button.filter((verb) => verb !== 'seen') })).toEqual([
      'button seen is not there any more',
    ]);
  });
});

describe('the help', () => {
  const paths = ['', 'task', 'run', 'schedule', 'thread', 'message', 'grant', 'sandbox', 'service', ...registries.cli];

  it.each(paths)('of "%s" fits 80 columns', async (path) => {
    const said = await typed([...path.split(' ').filter((word) => word !== ''), '--help']);
    expect(said).toMatchObject({ code: 0, err: '' });
    for (const line of said.out.split('\n')) expect(line.length).toBeLessThanOrEqual(80);
  });

  it.each(['task create', 'task update', 'task test'])(
    'of "%s" names each kind of auth with its parts',
    async (path) => {
      const said = (await typed([...path.split(' '), '--help'])).out.replace(/\s+/g, ' ');
      for (const { kind, fields } of authKinds) {
        const at = said.indexOf(` ${kind} `);
        expect(at, kind).toBeGreaterThan(0);
        for (const { name } of fields) expect(said.slice(at).toLowerCase(), `${kind} ${name}`).toContain(name);
      }
    },
  );

  it.each(registries.cli)('of "%s" has an example that can be typed', async (path) => {
    const said = await typed([...path.split(' '), '--help']);
    expect(said.out).toMatch(/\n {2,}(?:\$ )?(?:\S.*)?\bcronogram /);
  });
});
