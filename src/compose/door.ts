import type { Config } from '../config/config.ts';
import { ownAddress } from '../config/surroundings.ts';
import { serveHttp, type Listening } from '../http/server.ts';
import { standbyApp } from '../http/standby.ts';
import { keepAddress } from '../system/own-address.ts';
import { dataFolder } from './api.ts';
import type { World } from './assembly.ts';

type Serving = Pick<Parameters<typeof serveHttp>[0], 'app' | 'takeOver' | 'leave'>;

export type Door = ReturnType<typeof createDoor>;

/**
 * The port of the server. It is opened once: by the start, or before that by a standby, which tells what the process waits for; whoever
 * serves there last is the one who answers.
 */
export function createDoor(config: Config, version: string, { log }: Pick<World, 'log'>) {
  const { HTTP_HOST: host, HTTP_PORT: port, API_TOKEN: token } = config;
  let holder: string | null = null;
  const standby = { app: standbyApp({ version, token, holder: () => holder }) };
  let serving: Serving = standby;
  let listening: Promise<Listening> | null = null;
  let forgetAddress = () => {};
  let fail: (error: unknown) => void = () => undefined;
  const failed = new Promise<never>((_resolve, reject) => (fail = reject));
  failed.catch(() => undefined);

  const urlOf = (open: Listening) => ownAddress(host, String(open.port));
  const open = async (next: Serving): Promise<Listening> => {
    serving = next;
    listening ??= listen();
    return listening;
  };
  const listen = async (): Promise<Listening> => {
    const made = await serveHttp({
      app: { fetch: (request, env) => serving.app.fetch(request, env) },
      takeOver: (incoming, outgoing) => serving.takeOver?.(incoming, outgoing) === true,
      leave: async () => serving.leave?.(),
      host,
      port,
    });
    forgetAddress = keepAddress(dataFolder(config), urlOf(made), log);
    return made;
  };
  return {
    open: async (next: Serving) => {
      const made = await open(next);
      return { listening: made, url: urlOf(made) };
    },
    /** Another process has the database for itself, and who; null when it has ended. */
    standBy: (by: string | null): void => {
      holder = by;
      if (by === null) log.info('standby_over');
      else log.warn('standby', { held_by: by });
      if (serving === standby) open(standby).catch(fail);
    },
    /** Rejects when the port could not be opened for a standby. */
    failed,
    close: async (): Promise<void> => {
      forgetAddress();
      await (await listening?.catch(() => null))?.close();
    },
    forget: (): void => forgetAddress(),
  };
}
