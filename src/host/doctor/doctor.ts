import { flat, toned, type Terminal, type Tone } from '../../cli/layout.ts';
import { counted } from '../../cli/times.ts';
import { errorText } from '../../domain/errors.ts';
import { openSurvey } from '../../telegram/survey.ts';
import { examineDatabase, type Examined, type Here, type Settings } from '../here.ts';
import { hanging } from '../words.ts';
import { databaseChecks } from './database.ts';
import { fail, type Check, type Finding, type Level, type Patient, type Skipped } from './finding.ts';
import { portChecks } from './port.ts';
import { processChecks } from './processes.ts';
import { runtimeChecks, settingsChecks } from './runtime.ts';
import { telegramChecks } from './telegram.ts';

export type Diagnosis = Awaited<ReturnType<typeof examine>>;

const all: readonly Check[] = [
  ...runtimeChecks,
  ...settingsChecks,
  ...databaseChecks,
  ...processChecks,
  ...telegramChecks,
  ...portChecks,
];

/**
 * Looks at all that the product depends on and changes nothing. It needs no lock, so that it works beside a server
 * that runs, and tells of a server that cannot. `pending` holds meanwhile what is still looked at.
 */
export async function examine(here: Here, isOffline: boolean, pending: Set<string> = new Set()) {
  const settings = here.settings();
  const { TELEGRAM_BOT_TOKEN: token, TELEGRAM_API_ROOT: apiRoot } = settings.config;
  // Reading a large file holds up everything else, and an answer that came meanwhile would seem to be late.
  const examined = await examineLeniently(settings);
  const isAsked = token !== undefined && !settings.isSandboxed && !isOffline;
  const survey = isAsked ? openSurvey({ token, apiRoot, timer: here.timer }) : null;
  const line = survey === null ? null : { survey, me: survey.me() };
  const patient: Patient = { here, settings, line, examined };
  try {
    pending.clear();
    const results = await Promise.all(
      all.map(async (check) => {
        pending.add(check.title);
        const result = await run(check, patient, isOffline);
        pending.delete(check.title);
        return result;
      }),
    );
    const checks = results.flatMap(({ findings }) => findings).map((finding) => scrubbed(finding, settings));
    const skipped = results.flatMap((result) => result.skipped);
    return { ok: checks.every(({ level }) => level !== 'fail'), version: here.version, checks, skipped };
  } finally {
    survey?.close();
  }
}

/** A driver that does not load is a finding of its own. */
async function examineLeniently(settings: Settings): Promise<Examined> {
  try {
    return await examineDatabase(settings);
  } catch (error) {
    const [reason = ''] = errorText(error).split('\n');
    return { inspection: { is: 'unreadable', reason }, lock: { is: 'unknown', reason }, server: null };
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
    const text = `This could not be looked at: ${errorText(error)}.`;
    const verdict = fail(text, 'Look at the other lines first, then run doctor again.');
    return { findings: [{ check, title, ...verdict }], skipped: [] };
  }
}

/** Secrets of ours are never shown, whatever others answered. */
function scrubbed(finding: Finding, { secrets }: Settings): Finding {
  const clean = (text: string) => secrets.reduce((rest, secret) => rest.replaceAll(secret, '[hidden]'), text);
  return { ...finding, text: clean(finding.text), fix: finding.fix === null ? null : clean(finding.fix) };
}

const tones: Readonly<Record<Level, Tone>> = { ok: 'good', warn: 'warn', fail: 'bad' };

export async function diagnosisText({ version, checks, skipped }: Diagnosis, terminal: Terminal): Promise<string> {
  const left = 8 + Math.max(...checks.map(({ title }) => title.length)) + 2;
  const lines = checks.map(async ({ title, level, text, fix }) => {
    const head = `  ${toned(level.padEnd(4), tones[level], terminal.hasColours)}  ${title.padEnd(left - 8)}`;
    const advice = fix === null ? '' : `\n${' '.repeat(left)}${await hanging(flat(`Fix: ${fix}`), left, terminal)}`;
    return `${head}${await hanging(flat(text), left, terminal)}${advice}\n`;
  });
  const title = toned(`Cronogram ${version}`, 'strong', terminal.hasColours);
  const found = (await Promise.all(lines)).join('');
  return `\n  ${title}\n\n${found}${await leftOutText(skipped, terminal)}\n  ${verdictText(checks)}\n\n`;
}

async function leftOutText(skipped: readonly Skipped[], terminal: Terminal): Promise<string> {
  const reasons = [...new Set(skipped.map(({ reason }) => reason))];
  const lines = reasons.map(async (reason) => {
    const names = skipped.filter((each) => each.reason === reason).map(({ check }) => check.replaceAll('_', ' '));
    const text = await hanging(`Not looked at (${reason}): ${names.join(', ')}.`, 2, terminal);
    return `\n  ${toned(text, 'dim', terminal.hasColours)}\n`;
  });
  return (await Promise.all(lines)).join('');
}

function verdictText(checks: readonly Finding[]): string {
  const [fails, warns] = (['fail', 'warn'] as const).map(
    (level) => checks.filter((each) => each.level === level).length,
  );
  if (fails === 0 && warns === 0) return 'Everything is well.';
  const parts = [counted(fails ?? 0, 'fault'), counted(warns ?? 0, 'warning')].filter((part) => !part.startsWith('0 '));
  return `${parts.join(', ')}. What to do stands above.`;
}
