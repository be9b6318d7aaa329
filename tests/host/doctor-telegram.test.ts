import { describe, expect, it, onTestFinished } from 'vitest';
import { aStub } from '../support/place.ts';
import { sandboxToken } from '../support/sandbox.ts';
import { aPlace, expectFinding, steppedTime, withTelegram } from './doctor-place.ts';
import { openedAt } from './place.ts';

describe('Telegram', () => {
  it('that is well is told as such, and nothing that waits for the bot is taken', async () => {
    const { look, telegram, database } = await withTelegram();
    const opened = await openedAt(database, 0);
    await opened.store.noteChat({
      newId: 'c1',
      address: '-1001000000001',
      title: 'The Lab',
      kind: 'supergroup',
      at: 0,
    });
    await opened.store.changeChat('c1', { state: 'approved', approvedBy: 'telegram:user:1001' }, 0);
    await opened.close();
    telegram.world.say({ as: 'ada', chat: 1001, text: 'hello' });
    const { level, found, exitCode } = await look();
    expect(['clock', 'token', 'updates', 'bot_settings', 'chats'].flatMap(level)).toEqual([
      'ok',
      'ok',
      'ok',
      'ok',
      'ok',
    ]);
    expect(found('token')[0]?.text).toBe('belongs to @cronogram_bot');
    expect(exitCode).toBe(0);
    const left = await fetch(`${telegram.apiRoot}/bot${telegram.token}/getUpdates`);
    expect(((await left.json()) as { result: unknown[] }).result).toHaveLength(1);
    expect(
      telegram.world
        .calls()
        .map(({ method }) => method)
        .toSorted(),
    ).toEqual(['getChat', 'getChatMember', 'getMe', 'getUpdates', 'getUpdates', 'getWebhookInfo']);
  });

  it('and rights that are missing in a group are told group by group', async () => {
    const { look, telegram, database } = await withTelegram();
    const opened = await openedAt(database, 0);
    const groups = [
      ['-1001000000001', 'The \u001b[31mLab'],
      ['-1001000000002', 'No Rights'],
      ['-2000003', 'Plain'],
      ['-1009999999999', 'Gone'],
    ] as const;
    for (const [address, title] of groups) {
      await opened.store.noteChat({ newId: address, address, title, kind: 'supergroup', at: 0 });
      await opened.store.changeChat(address, { state: 'approved', approvedBy: 'telegram:user:1001' }, 0);
    }
    await opened.close();
    telegram.world.setBotRights(-1_001_000_000_001, { can_pin_messages: false });
    const { found, exitCode, out } = await look();
    expect(found('chats').map(({ level, text }) => [level, text.split(':')[0]])).toEqual([
      ['warn', '"The [31mLab"'],
      ['fail', '"No Rights"'],
      ['fail', '"Gone"'],
      ['fail', '"Plain"'],
    ]);
    expect(exitCode).toBe(1);
    expect(out).not.toContain('\\u001b');
  });

  it('that does not know the token, and one that is away, are faults that do not show the token', async () => {
    const { look, telegram } = await withTelegram({ TELEGRAM_BOT_TOKEN: sandboxToken.replace('AAF', 'BBF') });
    const unknown = await look();
    expect([unknown.level('token'), unknown.exitCode]).toEqual([['fail'], 1]);
    expect(unknown.diagnosis.skipped.find(({ check }) => check === 'updates')?.reason).toBe(
      'what it depends on is not there',
    );
    await telegram.close();
    const away = await look();
    expect([away.level('clock'), away.level('token')]).toEqual([['fail'], ['fail']]);
    for (const { out } of [unknown, away]) expect(out).not.toContain('sandbox-token-of-the-tests');
  });

  it('whose clock is another one: two seconds are nothing, more is worth a word, half a minute is a fault', async () => {
    const levels = [];
    for (const offMs of [0, 5000, -5000, 60_000]) {
      const root = await aStub((_request, response) => {
        response.setHeader('date', new Date(Date.now() + offMs).toUTCString());
        response.writeHead(404).end();
      });
      const { look } = await aPlace({ environment: { TELEGRAM_BOT_TOKEN: sandboxToken, TELEGRAM_API_ROOT: root } });
      levels.push(...(await look()).level('clock'));
    }
    expect(levels).toEqual(['ok', 'warn', 'warn', 'fail']);
  });

  it('that gives updates to another program with the same token is a fault', async () => {
    const stepped = steppedTime();
    const { look, telegram } = await withTelegram({}, stepped.time);
    const over = new AbortController();
    onTestFinished(() => over.abort());
    const poll = async () => {
      while (!over.signal.aborted)
        await fetch(`${telegram.apiRoot}/bot${telegram.token}/getUpdates?timeout=50`, { signal: over.signal }).then(
          (answer) => answer.text(),
          () => '',
        );
    };
    void poll();
    await stepped.begins(50_000);
    const looking = look();
    // Telegram tells the second of two conflicts late.
    await stepped.begins(3000);
    await stepped.advance(3000);
    const { found } = await looking;
    expectFinding(found('updates')[0], 'fail', 'Another program');
  });

  it('that gives updates to a webhook nobody here set is worth a word', async () => {
    const { look, telegram } = await withTelegram();
    await fetch(`${telegram.apiRoot}/bot${telegram.token}/setWebhook?url=https://evil.example/path-with-secret`);
    const { found, out } = await look();
    expectFinding(found('updates')[0], 'warn', 'evil.example');
    expect(out).not.toContain('path-with-secret');
  });

  it('with topics off is worth a word where a private chat is used', async () => {
    const { look, telegram, database } = await withTelegram();
    telegram.world.setForum(1001, false);
    expect((await look()).level('bot_settings')).toEqual(['ok']);
    const opened = await openedAt(database, 0);
    await opened.store.noteChat({ newId: 'p', address: '1001', title: 'Ada', kind: 'private', at: 0 });
    await opened.store.changeChat('p', { state: 'approved', approvedBy: 'telegram:user:1001' }, 0);
    await opened.close();
    expect((await look()).level('bot_settings')).toEqual(['warn']);
  });

  it('is not asked in the sandbox, and not with --offline', async () => {
    const { look, telegram } = await withTelegram({ SANDBOX: '1' });
    expect((await look()).diagnosis.skipped.filter(({ reason }) => reason.includes('sandbox'))).toHaveLength(5);
    const offline = await withTelegram();
    await offline.look('--offline');
    expect([...telegram.world.calls(), ...offline.telegram.world.calls()]).toEqual([]);
  });
});
