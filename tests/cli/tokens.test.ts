import { afterEach, describe, expect, it } from 'vitest';
import { stopBots } from '../e2e/bot.ts';
import { aPlace } from './place.ts';

afterEach(stopBots);

const daily = 'task create --cron "0 9 * * *" --timezone UTC';

describe('a token for a program', () => {
  it('is made, told once, listed and revoked', async () => {
    const { well, type } = await aPlace();
    const made = await well('token create ci --scope run --chat cli:default');
    expect([made.out, made.err]).toEqual([
      expect.stringMatching(/^cgm_[a-z0-9]{8}_[\w-]{43}\n$/),
      expect.stringContaining('it is kept nowhere'),
    ]);
    const listed = await well('token list', { columns: 160 });
    expect(listed.out).toMatch(/ci +active +run +cli:default +never/);
    expect(listed.out).not.toContain(made.out.trim());
    const same = await type('token create ci');
    expect([same.code, same.err]).toEqual([2, expect.stringContaining('called ci already')]);
    expect((await well('token revoke ci')).out).toBe('Token ci is revoked.\n');
    expect((await type('token revoke ci')).code).toBe(3);
    expect((await well('audit --json --limit 1')).json['entries']).toMatchObject([{ verb: 'revoke_token' }]);
  });

  it('is refused with the scope that it lacks, and finds nothing of other chats', async () => {
    const { well, type } = await aPlace();
    await well(`${daily} Ours`);
    await well(`${daily} Theirs --thread-key cli:theirs`);
    const token = (await well('token create ci --scope run --chat cli:default')).out.trim();
    const own = { environment: { CRONOGRAM_API_TOKEN: token } };
    expect((await well('task list', own)).out).toContain('Ours');
    expect((await well('task list --thread-key cli:theirs', own)).out).not.toContain('Theirs');
    expect((await type('task run 1 --thread-key cli:theirs', own)).code).toBe(3);
    const paused = await type('task pause 1 --json', own);
    expect([paused.code, JSON.parse(paused.out)]).toMatchObject([4, { error: { code: 'forbidden' } }]);
    expect((await type('task pause 1', own)).err).toContain(
      'needs a token with the scope manage, and this one has run',
    );
  });
});

describe('the value of a secret that is asked for', () => {
  it('is one line: what has several is refused, with the way from its file', async () => {
    const { well, type } = await aPlace();
    const key = '-----BEGIN PRIVATE KEY-----\n-----END PRIVATE KEY-----';
    const pasted = await type('secret set SHOP_KEY', { answers: [key] });
    expect([pasted.code, pasted.err]).toEqual([
      2,
      expect.stringMatching(/read from its file: cat key.pem \| cronogram secret\s+set SHOP_KEY/),
    ]);
    expect((await well('secret list')).out).toBe('No secrets.\n');
    expect((await well('secret set SHOP_KEY', { input: `${key}\n` })).out).toBe('SHOP_KEY is set.\n');
    expect((await well('secret set OTHER', { answers: ['one line'] })).out).toBe('OTHER is set.\n');
  });
});
