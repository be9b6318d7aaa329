import { namesSecrets, refuseSecrets } from '../../../domain/secrets/mentions.ts';
import type { WrittenText } from '../../ports/outside.ts';
import { isTemplate, sampleVariables } from '../variables.ts';
import { secretsOfAuth, type SecretRef } from './auth.ts';
import { refused } from './refusal.ts';
import { isContextName, secretsNamedIn } from './secret-marks.ts';
import { carriesBody, type HttpSettings } from './settings.ts';

/** The texts of an http action that are evaluated: templates of the request before it is made, those of the answer after it. */

/** Each is rendered on its own, which takes its time. */
const templatesMax = 50;

/** The answer, by example; what is null may be anything. */
const answerSample = { status: 200, headers: null, body: null, value: null, previous: null, difference: null };

/** Everything that is to be tried before there is a task. */
export function writtenIn(settings: HttpSettings, instructions: string): readonly WrittenText[] {
  const { select, template } = settings;
  const texts = requestTexts(settings, instructions);
  if (texts.length > templatesMax)
    throw refused('body', `and the other settings hold at most ${templatesMax} templates`, '"{{ context.name }}"');
  if (select !== null) refuseSecrets('action.select', select);
  if (template !== null) refuseSecrets('action.template', template);
  refuseSecrets('instructions', instructions);
  return [
    ...texts.map(({ field, text }) => ({
      language: 'liquid' as const,
      field,
      text,
      variables: sampleFor(field, text),
    })),
    ...(select === null ? [] : [{ language: 'jsonata' as const, field: 'action.select', text: select, variables: {} }]),
    ...(template === null || !isTemplate(template)
      ? []
      : [
          {
            language: 'liquid' as const,
            field: 'action.template',
            text: template,
            variables: { ...sampleVariables, ...answerSample },
          },
        ]),
  ];
}

/** A name that the context holds is known to a run alone. */
function sampleFor(field: string, text: string) {
  const names = secretsNamedIn(settingOf(field), text).filter((ref) => !isContextName(ref));
  return namesSecrets(text)
    ? { ...sampleVariables, secrets: Object.fromEntries(names.map((name) => [name, 'value'])) }
    : sampleVariables;
}

const secretsRead = new WeakMap<HttpSettings, readonly SecretRef[]>();

/** Everything that names a secret: the texts of the request, and `auth` behind them. */
export function secretsIn(settings: HttpSettings): readonly SecretRef[] {
  const known = secretsRead.get(settings);
  if (known !== undefined) return known;
  const found = [...secretsInTexts(settings), ...secretsOfAuth(settings.auth)];
  secretsRead.set(settings, found);
  return found;
}

export function secretsInTexts(settings: HttpSettings): readonly SecretRef[] {
  const texts = requestTexts({ ...settings, ...('body' in settings ? {} : { body: '' }) }, '');
  return texts.flatMap(({ field, text }) => secretsNamedIn(settingOf(field), text));
}

function settingOf(field: string): string {
  return field.replace(/^action\./, '');
}

export interface Piece {
  readonly field: string;
  readonly text: string;
}

/** The templates of the request. The instructions are one where the envelope carries them. */
export function requestTexts(settings: HttpSettings, instructions: string): readonly Piece[] {
  const pieces = new Map<string, string>();
  const note = (field: string) => (text: string) => {
    if (isTemplate(text)) pieces.set(field, text);
    return text;
  };
  filledBy(settings, note);
  if (carriesEnvelope(settings)) note('instructions')(instructions);
  return [...pieces].map(([field, text]) => ({ field, text }));
}

/** The settings with what each template came to, by its field. */
export function filled(settings: HttpSettings, made: ReadonlyMap<string, string>): HttpSettings {
  return filledBy(settings, (field) => (text) => made.get(field) ?? text);
}

export function carriesEnvelope(settings: HttpSettings): boolean {
  return carriesBody(settings.method) && !('body' in settings);
}

type Fill = (field: string) => (text: string) => string;

function filledBy(settings: HttpSettings, fill: Fill): HttpSettings {
  const { url, query, headers } = settings;
  return {
    ...settings,
    url: fill('action.url')(url),
    query: query.map(([name, value], index) => [name, fill(`action.query.${name}.${index}`)(value)]),
    headers: Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name, fill(`action.headers.${name}`)(value)]),
    ),
    ...('body' in settings ? { body: filledLeaf(settings.body, 'action.body', fill) } : {}),
  };
}

/** Of JSON each text by itself, so that no value can break out of its quotes. */
function filledLeaf(value: unknown, field: string, fill: Fill): unknown {
  if (typeof value === 'string') return fill(field)(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((one, index) => filledLeaf(one, `${field}.${index}`, fill));
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [name, filledLeaf(one, `${field}.${name}`, fill)]),
  );
}
