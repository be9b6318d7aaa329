import type { Survey, Surveyed, SurveyedBot } from '../../telegram/survey.ts';
import type { Examined, Here, Settings } from '../here.ts';

export type Level = 'ok' | 'warn' | 'fail';

/** A finding before it is known whose it is. */
export interface Verdict {
  readonly level: Level;
  readonly text: string;
  /** The remedy; null when there is nothing to do. */
  readonly fix: string | null;
}

export interface Finding extends Verdict {
  /** The subject of the check, for machines. */
  readonly check: string;
  readonly title: string;
}

export interface Skipped {
  readonly check: string;
  readonly reason: string;
}

/** The facts that the checks share; each question is asked once. */
export interface Patient {
  readonly here: Here;
  readonly settings: Settings;
  /** Null where Telegram may not be asked, or where there is no token. */
  readonly line: { readonly survey: Survey; readonly me: Promise<Surveyed<SurveyedBot>> } | null;
  readonly examined: Examined;
}

export interface Check {
  readonly check: string;
  readonly title: string;
  /** Why it cannot be looked at here; null when it can. */
  readonly leftOut?: (patient: Patient, isOffline: boolean) => string | null;
  readonly look: (patient: Patient) => Promise<readonly Verdict[]> | readonly Verdict[];
}

export function ok(text: string): Verdict {
  return { level: 'ok', text, fix: null };
}

export function warn(text: string, fix: string): Verdict {
  return { level: 'warn', text, fix };
}

export function fail(text: string, fix: string): Verdict {
  return { level: 'fail', text, fix };
}

export function needsNetwork({ settings }: Patient, isOffline: boolean): string | null {
  if (isOffline) return '--offline';
  return settings.isSandboxed ? 'in the sandbox there is no Telegram' : null;
}

export function needsBot(patient: Patient, isOffline: boolean): string | null {
  return needsNetwork(patient, isOffline) ?? (patient.line === null ? 'there is no token' : null);
}
