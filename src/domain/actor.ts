/**
 * Who did something: a person, a named API token, or the product itself. The type is part of the text, so that a row in
 * the audit is readable without a join and two kinds of id can never be mixed up.
 */
export type Actor = `telegram:user:${number}` | `api:token:${string}` | 'system' | 'system:api';

/** The principal as which the bearer of API_TOKEN acts. It owns tasks in threads that no person has approved. */
export const apiPrincipal = 'system:api' satisfies Actor;

const shapes = /^(telegram:user:[1-9]\d{0,15}|api:token:[\w.-]{1,64}|system|system:api)$/;

export function isActor(text: string): text is Actor {
  return shapes.test(text);
}

export function isPerson(actor: Actor): boolean {
  return actor.startsWith('telegram:user:');
}
