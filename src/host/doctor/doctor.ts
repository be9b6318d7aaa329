import type { HostPorts, SettingsRead } from '../ports.ts';
import { counted, plain, toned, wrapped, type Screen, type Tone } from '../screen.ts';
import { databaseChecks } from './database.ts';
import { fail, type Check, type Examined, type Finding, type Level, type Patient, type Skipped } from './finding.ts';
import { doorChecks } from './port.ts';
import { runtimeChecks, settingsChecks } from './runtime.ts';
import { telegramChecks } from './telegram.ts';

/**
 * Looks at everything that the product depends on and changes nothing. It needs no lock, so that it works beside a server
 * that runs, and tells of a server that cannot.
 */
export interface Diagnosis {
  readonly ok: boolean;
  readonly version: string;
  readonly checks: readonly Finding[];
  readonly skipped: readonly Skipped[];
}

const all: readonly Check[] = [
  ...runtimeChecks,
  ...settingsChecks,
  ...databaseChecks,
  ...telegramChecks,
  ...doorChecks,
];

export async function examine(ports: HostPorts, isOffline: boolean): Promise<Diagnosis> {
  const read = ports.settings();
  const { token, apiRoot, isSandboxed } = read.settings;
  // Reading a large file holds up everything else, and an answer that came meanwhile would seem to be late.
  const seen = await examined(ports);
  const bot = token === null || isSandboxed || isOffline ? null : ports.telegram.bot(token, apiRoot);
  const line = bot === null ? null : { bot, me: bot.me() };
  const patient: Patient = { ports, read, line, examined: Promise.resolve(seen) };
  try {
    const results = await Promise.all(all.map((check) => run(check, patient, isOffline)));
    const checks = results.flatMap(({ findings }) => findings).map((finding) => scrubbed(finding, read));
    const skipped = results.flatMap((result) => result.skipped);
    return { ok: checks.every(({ level }) => level !== 'fail'), version: ports.version, checks, skipped };
  } finally {
    bot?.close();
  }
}

/** A driver that does not load is a finding of its own. */
async function examined({ data }: HostPorts): Promise<Examined> {
  try {
    return await data.inspect();
  } catch (error) {
    const [reason = ''] = (error instanceof Error ? error.message : String(error)).split('\n');
    return { inspected: { is: 'unreadable', reason }, held: { is: 'unknown', reason }, server: null };
  }
}

interface Result {
  readonly findings: readonly Finding[];
  readonly skipped: readonly Skipped[];
}

/** A check that fails by itself says so, and the others go on. */
async function run({ check, title, leftOut, look }: Check, patient: Patient, isOffline: boolean): Promise<Result> {
  const reason = leftOut?.(patient, isOffline) ?? null;
  if (reason !== null) return { findings: [], skipped: [{ check, reason }] };
  try {
    const verdicts = await look(patient);
    if (verdicts.length > 0)
      return { findings: verdicts.map((verdict) => ({ check, title, ...verdict })), skipped: [] };
    return { findings: [], skipped: [{ check, reason: 'what it depends on is not there' }] };
  } catch (error) {
    const text = `This could not be looked at: ${error instanceof Error ? error.message : String(error)}.`;
    const verdict = fail(text, 'Look at the other lines first, then run doctor again.');
    return { findings: [{ check, title, ...verdict }], skipped: [] };
  }
}

/** Whatever others answered, no secret of ours is shown. */
function scrubbed(finding: Finding, { secrets }: SettingsRead): Finding {
  const clean = (text: string) => secrets.reduce((rest, secret) => rest.replaceAll(secret, '[hidden]'), text);
  return { ...finding, text: clean(finding.text), fix: finding.fix === null ? null : clean(finding.fix) };
}

const tones: Readonly<Record<Level, Tone>> = { ok: 'good', warn: 'warn', fail: 'bad' };

export function diagnosisText({ version, checks, skipped }: Diagnosis, screen: Screen): string {
  const left = 8 + Math.max(...checks.map(({ title }) => title.length)) + 2;
  const lines = checks.map(({ title, level, text, fix }) => {
    const head = `  ${toned(level.padEnd(4), tones[level], screen)}  ${title.padEnd(left - 8)}`;
    const place = { columns: screen.columns, indent: left };
    const advice = fix === null ? '' : `\n${' '.repeat(left)}${wrapped(plain(`Fix: ${fix}`), place)}`;
    return `${head}${wrapped(plain(text), place)}${advice}\n`;
  });
  return `\n  ${toned(`Cronogram ${version}`, 'strong', screen)}\n\n${lines.join('')}${leftOutText(skipped, screen)}\n  ${verdictText(checks)}\n\n`;
}

function leftOutText(skipped: readonly Skipped[], screen: Screen): string {
  const reasons = [...new Set(skipped.map(({ reason }) => reason))];
  return reasons
    .map((reason) => {
      const names = skipped.filter((each) => each.reason === reason).map(({ check }) => check.replaceAll('_', ' '));
      const text = wrapped(`Not looked at (${reason}): ${names.join(', ')}.`, { columns: screen.columns, indent: 2 });
      return `\n  ${toned(text, 'dim', screen)}\n`;
    })
    .join('');
}

function verdictText(checks: readonly Finding[]): string {
  const [fails, warns] = (['fail', 'warn'] as const).map(
    (level) => checks.filter((each) => each.level === level).length,
  );
  if (fails === 0 && warns === 0) return 'Everything is well.';
  const parts = [counted(fails ?? 0, 'fault'), counted(warns ?? 0, 'warning')].filter((part) => !part.startsWith('0 '));
  return `${parts.join(', ')}. What to do stands above.`;
}
