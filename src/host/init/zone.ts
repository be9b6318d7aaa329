import { parseEnv } from 'node:util';
import { zoneName } from '../../domain/schedule/time/zone-name.ts';
import type { Guide } from './guide.ts';

/** The zone of chats that have not chosen one; the time that it shows is what people can check. */
export async function chooseZone({ ports, isGuided, envText }: Guide, wished: string | null): Promise<string> {
  const present = parseEnv(envText)['DEFAULT_TIMEZONE'];
  const guess = zoneName(wished ?? present ?? '') ?? zoneName(ports.system.zoneGuess) ?? 'UTC';
  if (wished !== null || !isGuided) return guess;
  const { asking, clock } = ports;
  let zone = guess;
  while (!(await asking.confirm(`4/4  Is it ${timeIn(zone, clock.now())} for you now (${zone})?`, true))) {
    const fault = (text: string) =>
      zoneName(text.trim()) === null ? 'Give a zone such as Europe/Madrid or America/New_York.' : undefined;
    const text = await asking.text('Your time zone', { fault });
    zone = zoneName(text.trim()) ?? zone;
  }
  return zone;
}

function timeIn(timeZone: string, now: number): string {
  const format = new Intl.DateTimeFormat('en-GB', { timeZone, hour: '2-digit', minute: '2-digit', hourCycle: 'h23' });
  return format.format(new Date(now));
}
