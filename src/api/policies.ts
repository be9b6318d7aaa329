import { z } from 'zod';
import { type Form, type Policies, type PolicyName, policyTable } from '../domain/policy.ts';
import { duration, instantSent, strict } from './operation.ts';

/** How a task deals with time, with failure and with people: the table of the policies as schemas. */

function schemaOf(form: Form): z.ZodType {
  const { about: description, example } = form;
  return plainOf(form).meta({ description, ...(example === undefined ? {} : { example }) });
}

function plainOf(form: Form): z.ZodType {
  switch (form.kind) {
    case 'choice':
      return z.enum(form.of);
    case 'whole':
      return z.int().min(form.min).max(form.max);
    case 'number':
      return z.number().min(form.min).max(form.max);
    case 'length':
      return duration;
    case 'instant':
      return instantSent;
    case 'clock':
      return z.string().max(5);
    case 'fields':
      return strict(schemasOf(form.fields, (one, schema) => (one.needed === true ? schema : schema.optional())));
  }
}

function schemasOf(forms: Readonly<Record<string, Form>>, each: (form: Form, schema: z.ZodType) => z.ZodType) {
  return Object.fromEntries(Object.entries(forms).map(([name, form]) => [name, each(form, schemaOf(form))]));
}

// The compiler cannot follow a table through a loop; the types say what the loop makes of it.
type Chosen = { [K in PolicyName]: z.ZodOptional<z.ZodType<NonNullable<Policies[K]>>> };
const chosen = schemasOf(policyTable, (_form, schema) => schema.optional()) as Chosen;
type Changed = { [K in PolicyName]: z.ZodOptional<z.ZodNullable<z.ZodType<NonNullable<Policies[K]>>>> };
const changed = schemasOf(policyTable, (_form, schema) => schema.nullish()) as Changed;

const onExisting = z.enum(['fail', 'upsert', 'add']).meta({
  description: 'When the task is there already, by its title and subject: refuse, change that one, or add another.',
});

export const policies = strict({ ...chosen, on_existing: onExisting.optional() }).meta({
  id: 'Policies',
  description: 'Each of them has a default that fits the task.',
});

export const policyChanges = strict(changed).meta({
  id: 'PolicyChanges',
  description: 'The policies to change; one that is null goes back to its default.',
});
