import { readFileSync } from 'node:fs';
import { hostRulesExample, readHostRule } from '../domain/outbound/host-rules.ts';
import { type OperatorSecret, nameFault, secretNameExample, valueFault } from '../domain/secrets/secret.ts';
import { wordsIn } from './fields.ts';
import type { Environment } from './surroundings.ts';

export interface ConfigFault {
  readonly variable: string;
  readonly problem: string;
  readonly example: string;
}

const beginning = 'SECRET_';
const valueExample = 'the key as the service showed it';
const chatsExample = '-1001234567890,1234567';

/** A variable that names a secret of the operator, or says something about one. */
export function isOperatorSecret(variable: string): boolean {
  return variable.startsWith(beginning);
}

interface Written {
  value?: string;
  file?: string;
  hosts?: string;
  chats?: string;
}

const parts = { FILE: 'file', HOSTS: 'hosts', CHATS: 'chats' } as const;

/** `SECRET_<NAME>` or `SECRET_<NAME>_FILE`, and with it `_HOSTS` and `_CHATS`. An empty variable counts as absent. */
export function readOperatorSecrets(environment: Environment): {
  readonly secrets: readonly OperatorSecret[];
  readonly faults: readonly ConfigFault[];
} {
  const written = new Map<string, Written>();
  for (const [variable, text] of Object.entries(environment)) {
    if (!isOperatorSecret(variable) || text === undefined || text === '') continue;
    const [, name = '', part] = /^SECRET_(.*?)(?:_(FILE|HOSTS|CHATS))?$/s.exec(variable) ?? [];
    const one = written.get(name) ?? {};
    one[part === undefined ? 'value' : parts[part as keyof typeof parts]] = text;
    written.set(name, one);
  }
  const read = [...written].map(([name, one]) => readOne(name, one));
  return { secrets: read.flatMap(({ secret }) => secret ?? []), faults: read.flatMap(({ faults }) => faults) };
}

function readOne(
  name: string,
  written: Written,
): { readonly secret: OperatorSecret | null; readonly faults: readonly ConfigFault[] } {
  const variable = `${beginning}${name}`;
  const faults: ConfigFault[] = [];
  const fault = (ending: string, problem: string, example: string) =>
    faults.push({ variable: `${variable}${ending}`, problem, example });
  const wrongName = nameFault(name);
  if (wrongName !== null)
    fault('', `is no name of a secret: behind SECRET_ it ${wrongName}`, `SECRET_${secretNameExample}`);
  const value = valueOf(written, variable, fault);
  const hosts = wordsIn(written.hosts ?? '');
  const unread = hosts.find((host) => readHostRule(host) === null);
  if (unread !== undefined)
    fault(
      '_HOSTS',
      `holds ${unread.slice(0, 60)}, which is no host, host:port, *.suffix, address or range`,
      hostRulesExample,
    );
  const chats = wordsIn(written.chats ?? '');
  if (!chats.every((chat) => /^-?[1-9]\d{0,15}$/.test(chat)))
    fault('_CHATS', 'is a list of chat ids, separated by commas', chatsExample);
  return { secret: value === null ? null : { name, value, hosts, chats }, faults };
}

function valueOf(
  { value, file, hosts, chats }: Written,
  variable: string,
  fault: (ending: string, problem: string, example: string) => void,
): string | null {
  const fileExample = `/run/secrets/${variable.toLowerCase()}`;
  if (value !== undefined && file !== undefined) {
    fault('_FILE', `is set together with ${variable}; set one of the two`, fileExample);
    return null;
  }
  if (value === undefined && file === undefined) {
    const ending = hosts === undefined ? '_CHATS' : '_HOSTS';
    fault(ending, `says something about ${variable}, which is not set`, hosts === undefined ? (chats ?? '') : hosts);
    return null;
  }
  const read = file === undefined ? { text: value ?? '' } : readSecretFile(file);
  if ('fault' in read) {
    fault('_FILE', read.fault, fileExample);
    return null;
  }
  // An editor ends a file with an end of line that belongs to no key.
  const text = file === undefined ? read.text : read.text.replace(/\r?\n$/, '');
  const wrong = valueFault(text);
  if (wrong === null) return text;
  fault(file === undefined ? '' : '_FILE', wrong, file === undefined ? valueExample : fileExample);
  return null;
}

/** The text of a file that holds a secret. */
export function readSecretFile(file: string): { readonly text: string } | { readonly fault: string } {
  try {
    return { text: readFileSync(file, 'utf8') };
  } catch (error) {
    return { fault: `cannot be read (${(error as { code?: string }).code ?? 'unknown'})` };
  }
}
