import { describe, expect, it } from 'vitest';
import { readCliConfig } from '../../src/config/surroundings.ts';

describe('the surroundings of the command line', () => {
  it.each([
    [{}, 'http://127.0.0.1:8787'],
    [{ HTTP_PORT: '9000' }, 'http://127.0.0.1:9000'],
    [{ HTTP_HOST: '0.0.0.0', HTTP_PORT: '9000' }, 'http://127.0.0.1:9000'],
    [{ HTTP_HOST: '::' }, 'http://[::1]:8787'],
    [{ HTTP_HOST: 'fd00::1' }, 'http://[fd00::1]:8787'],
    [{ HTTP_HOST: '10.0.0.5' }, 'http://10.0.0.5:8787'],
    [{ HTTP_PORT: '9000', CRONOGRAM_API_URL: 'https://cron.example.org' }, 'https://cron.example.org'],
    [{ CRONOGRAM_API_URL: '' }, 'http://127.0.0.1:8787'],
  ])('name the server of this folder unless another is named: %o', (environment, apiUrl) => {
    expect(readCliConfig(environment).apiUrl).toBe(apiUrl);
  });

  it.each([
    [{}, 'data/api-token'],
    [{ DATABASE_URL: 'file:/var/lib/cronogram/cronogram.db' }, '/var/lib/cronogram/api-token'],
    [{ DATABASE_URL: 'postgres://user:hidden@host/database' }, 'data/api-token'],
    [{ API_TOKEN_FILE: '/run/secrets/api_token' }, '/run/secrets/api_token'],
  ])('name the file of its token: %o', (environment, file) => {
    expect(readCliConfig(environment).ownTokenFile).toBe(file);
  });

  it('name the thread, and whether colours are wanted', () => {
    expect(readCliConfig({})).toMatchObject({ threadKey: 'cli:default', noColour: false });
    expect(readCliConfig({ CRONOGRAM_THREAD_KEY: 'cli:other', NO_COLOR: '1' })).toMatchObject({
      threadKey: 'cli:other',
      noColour: true,
    });
    expect(readCliConfig({ TERM: 'dumb' }).noColour).toBe(true);
  });

  it('are not refused for what the server alone would refuse', () => {
    expect(() => readCliConfig({ MIN_INTERVAL: 'soon', LOG_LEVEL: 'loud', TELEGRAM_BOT_TOKEN: 'none' })).not.toThrow();
  });
});
